"""What the page of a run shows first: verdict, score, gates, what to fix, what moved."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import number, plain, show, signed
from markscheme.tell import charts, colours
from markscheme.tell.bad_rows import name_of, place_of
from markscheme.tell.item_rows import link, status_word, tag_link
from markscheme.tell.language import say, told
from markscheme.tell.markdown import limit_of
from markscheme.tell.reports import ItemStatus
from markscheme.vocabulary import Level, Outcome
from markscheme.weigh.summaries import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.reports import Report
    from markscheme.weigh.distribution import Estimate
    from markscheme.weigh.outcomes import BaselineReport, GateOutcome, ItemChange
    from markscheme.weigh.patterns import Pattern

_LOSSES = 8
_CHANGES = 30
_BAD_ROWS = 50
_SMALL = Fraction(1, 10_000)


def verdict(report: Report) -> dict[str, str]:
    """Return what follows from all gates, in a word and a sentence."""
    words = {
        Outcome.PASS: say("PASS"),
        Outcome.FAIL: say("FAIL"),
        Outcome.UNDECIDED: say("CANNOT TELL"),
    }
    found = report.gates
    return {
        "kind": found.verdict.value,
        "word": words[found.verdict],
        "because": told(found.because),
    }


def heading(report: Report) -> str:
    """Say in short what was examined."""
    past = report.past
    who = past.run.subject or say("run {run}", run=past.run.name)
    return say("{subject} on {exam}", subject=who, exam=past.exam.name)


def facts(report: Report) -> list[tuple[str, str]]:
    """Return which run it is, as pairs of a term and what it is."""
    past, stored, beside = report.past, report.stored, report.baseline
    missing = sum(item.status is ItemStatus.MISSING for item in report.items)
    found = [
        (say("run"), past.run.name),
        (say("rubric"), f"{past.rubric.name} v{past.rubric.version}"),
        (say("items"), f"{len(past.exam.items):,}"),
    ]
    if missing:
        found.append((say("no answer"), f"{missing:,}"))
    if stored is not None:
        found.append((say("when"), f"{stored.started:%Y-%m-%d %H:%M} UTC"))
    if beside is not None:
        found.append((say("baseline"), beside.id))
    return found


def score(report: Report) -> dict[str, Any] | None:
    """Return the score with its interval, beside the limits that it is held against."""
    known = report.distribution
    if known is None:
        return None
    mean = Scale(report.past.rubric).totals(report.past.run.marks.counts()).mean or Fraction(0)
    limits = list(_score_limits(report))
    bounds = None
    if known.score.lower is not None and known.score.upper is not None:
        bounds = (known.score.lower, known.score.upper)
    missed = {Outcome.FAIL, Outcome.WARN}
    met = not any(found.outcome in missed for found in _on_score(report))
    return {
        "shown": show(mean),
        "interval": _interval(known.score),
        "svg": charts.score_strip(number(mean) or 0.0, bounds, limits, met=met),
        "says": "; ".join(
            (
                say("Score {score}", score=show(mean)),
                _interval(known.score),
                *(limit.label for limit in limits),
            )
        ),
        "passed": say(
            "{passed} of {n} items pass",
            passed=f"{int(known.passed.mean * known.items):,}",
            n=f"{known.items:,}",
        ),
    }


def _on_score(report: Report) -> Iterator[GateOutcome]:
    """Yield the gates on the score of the whole run."""
    for found in report.gates.outcomes:
        if found.gate.metric == "score" and not found.gate.axis and not found.gate.tags:
            yield found


def _score_limits(report: Report) -> Iterator[charts.Limit]:
    for gate in (found.gate for found in _on_score(report)):
        if gate.at_least is not None:
            label = say("{gate}: at least {limit}", gate=gate.name, limit=plain(gate.at_least))
            colour = colours.BAD if gate.level is Level.HARD else colours.WARN
            yield charts.Limit(at=float(gate.at_least), label=label, colour=colour)
        if gate.target is not None:
            target = say("target {limit}", limit=plain(gate.target))
            yield charts.Limit(at=float(gate.target), label=target, colour=colours.GOOD)


def _interval(found: Estimate) -> str:
    if found.lower is None or found.upper is None:
        return say("no interval: one item")
    return say(
        "95 % interval {lower} to {upper}",
        lower=f"{found.lower:.3f}",
        upper=f"{found.upper:.3f}",
    )


def gates(report: Report) -> list[dict[str, str]]:
    """Return each gate: met or not, what was seen, its limit, and why."""
    return [_gate(found) for found in report.gates.outcomes]


def _gate(found: GateOutcome) -> dict[str, str]:
    words = {
        Outcome.PASS: say("met"),
        Outcome.WARN: say("not met, a warning"),
        Outcome.FAIL: say("not met"),
        Outcome.UNDECIDED: say("cannot tell"),
        Outcome.NOT_APPLICABLE: say("does not apply"),
    }
    gate = found.gate
    return {
        "name": gate.name,
        "level": say("hard") if gate.level is Level.HARD else say("soft"),
        "kind": found.outcome.value.split()[0],
        "word": words[found.outcome],
        "observed": show(found.observed),
        "limit": limit_of(gate),
        "margin": signed(found.margin),
        "because": told(found.because),
    }


def patterns(report: Report) -> list[dict[str, Any]]:
    """Return the faults that show in many items, with their evidence."""
    return [_pattern(found) for found in report.patterns]


def _pattern(found: Pattern) -> dict[str, Any]:
    luck = ""
    if found.p is not None:
        p = "< 0.0001" if found.p < _SMALL else f"{float(found.p):.2g}"
        luck = say("chance of seeing this by luck: {p}", p=p)
    state = {"axis": found.axis} if found.axis else {}
    return {
        "sentence": told(found.sentence),
        "action": told(found.action),
        "evidence": [told(line) for line in found.evidence],
        "count": say("{hits} of {of}", hits=f"{found.hits:,}", of=f"{found.of:,}"),
        "luck": luck,
        "href": tag_link(found.tags, **state) if found.tags or state else "",
        "items": [(item, link(open=item)) for item in found.items[:_LOSSES]],
        "more": max(0, len(found.items) - _LOSSES),
    }


def bad_rows(report: Report) -> dict[str, Any] | None:
    """Return the rows that were no answers: how many, and the first of them."""
    total = report.past.run.marks.errors
    if not total:
        return None
    shown = report.bad_rows[:_BAD_ROWS]
    more = say("… and {n:,} more", n=total - len(shown)) if total > len(shown) else ""
    return {
        "name": name_of(total, live=report.is_live),
        "rows": [
            (place_of(row, live=report.is_live), told(row.reason), row.excerpt) for row in shown
        ],
        "more": more if shown else say("The result file lists them."),
    }


def losses(report: Report) -> list[dict[str, Any]]:
    """Return the items that cost most, the worst first: without a score, then by what they lose."""
    lossy = [item for item in report.items if item.score != 1]
    lossy.sort(key=lambda item: -1.0 if item.score is None else float(item.score))
    return [
        {
            "item": item.item,
            "href": link(open=item.item),
            "lost": "–" if item.score is None else f"−{show(1 - item.score)}",
            "axes": status_word(item.status)
            if item.score is None
            else ", ".join(axis for axis, value in item.axes.items() if value != 1),
        }
        for item in lossy[:_LOSSES]
    ]


def comparisons(report: Report) -> list[dict[str, Any]]:
    """Return what moved since the baseline."""
    return [_comparison(found) for found in report.comparisons]


def _comparison(found: BaselineReport) -> dict[str, Any]:
    evidence = found.evidence
    return {
        "baseline": found.baseline,
        "rows": [
            (say("score"), show(found.before), show(found.after), signed(found.change)),
            *(
                (moved.axis, show(moved.before), show(moved.after), signed(moved.change))
                for moved in found.axes
            ),
        ],
        "evidence": told(evidence.because) if evidence else "",
        "warning": told(found.warning) if found.warning else "",
        "lists": [
            (told_, len(changes), [_change(change) for change in changes[:_CHANGES]])
            for told_, changes in (
                (say("Went from pass to fail"), found.regressed),
                (say("Went from fail to pass"), found.recovered),
            )
            if changes
        ],
        "moved": len(found.moved),
        "href": link(show="changed"),
    }


def _change(change: ItemChange) -> tuple[str, str, str]:
    return change.item, link(open=change.item), f"{show(change.before)} → {show(change.after)}"

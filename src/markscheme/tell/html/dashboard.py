"""What the page of a run shows first: verdict, score, gates, what to fix, what moved."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.tell.bad_rows import format_bad_row_count, get_bad_row_place
from markscheme.tell.charts import colours
from markscheme.tell.charts import drawing as charts
from markscheme.tell.html.item_rows import build_items_link, build_tag_link, translate_status
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.markdown import format_gate_limit
from markscheme.vocabulary import (
    ItemStatus,
    Level,
    Outcome,
    format_decimal,
    format_plain,
    format_signed,
    to_float,
)
from markscheme.weigh.totals import WeightScale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.distribution import MeanEstimate
    from markscheme.weigh.gates import BaselineReport, GateOutcome, ItemChange
    from markscheme.weigh.patterns import Pattern
    from markscheme.workflows.run_report import RunReport

_LOSSES_LISTED = 8
_CHANGES_LISTED = 30
_BAD_ROWS_LISTED = 50
_SMALL_PROBABILITY = Fraction(1, 10_000)


def build_verdict_view(report: RunReport) -> dict[str, str]:
    """Return what follows from all gates, in a word and a sentence."""
    words = {
        Outcome.PASS: translate("PASS"),
        Outcome.FAIL: translate("FAIL"),
        Outcome.UNDECIDED: translate("CANNOT TELL"),
    }
    found = report.gates
    return {
        "kind": found.verdict.value,
        "word": words[found.verdict],
        "because": translate_stored(found.because),
    }


def format_heading(report: RunReport) -> str:
    """Say in short what was examined."""
    past = report.past
    who = past.run.subject or translate("run {run}", run=past.run.name)
    return translate("{subject} on {exam}", subject=who, exam=past.exam.name)


def build_facts_view(report: RunReport) -> list[tuple[str, str]]:
    """Return which run it is, as pairs of a term and what it is."""
    past, stored, beside = report.past, report.stored, report.baseline
    missing = sum(item.status is ItemStatus.MISSING for item in report.items)
    found = [
        (translate("run"), past.run.name),
        (translate("rubric"), f"{past.rubric.name} v{past.rubric.version}"),
        (translate("items"), f"{len(past.exam.items):,}"),
    ]
    if missing:
        found.append((translate("no answer"), f"{missing:,}"))
    if stored is not None:
        found.append((translate("when"), f"{stored.started:%Y-%m-%d %H:%M} UTC"))
    if beside is not None:
        found.append((translate("baseline"), beside.id))
    return found


def build_score_view(report: RunReport) -> dict[str, Any] | None:
    """Return the score with its interval, beside the limits that it is held against."""
    known = report.distribution
    if known is None:
        return None
    mean = WeightScale(report.past.rubric).sum_answers(
        report.past.run.marks.counts()
    ).mean or Fraction(0)
    limits = list(_build_score_limits(report))
    bounds = None
    if known.score.lower is not None and known.score.upper is not None:
        bounds = (known.score.lower, known.score.upper)
    missed = {Outcome.FAIL, Outcome.WARN}
    met = not any(found.outcome in missed for found in _find_score_gates(report))
    return {
        "shown": format_decimal(mean),
        "interval": _format_interval(known.score),
        "svg": charts.draw_score_strip(to_float(mean) or 0.0, bounds, limits, met=met),
        "says": "; ".join(
            (
                translate("Score {score}", score=format_decimal(mean)),
                _format_interval(known.score),
                *(limit.label for limit in limits),
            )
        ),
        "passed": translate(
            "{passed} of {n} items pass",
            passed=f"{int(known.passed.mean * known.items):,}",
            n=f"{known.items:,}",
        ),
    }


def _find_score_gates(report: RunReport) -> Iterator[GateOutcome]:
    """Yield the gates on the score of the whole run."""
    for found in report.gates.outcomes:
        if found.gate.metric == "score" and not found.gate.axis and not found.gate.tags:
            yield found


def _build_score_limits(report: RunReport) -> Iterator[charts.ChartLimit]:
    for gate in (found.gate for found in _find_score_gates(report)):
        if gate.at_least is not None:
            label = translate(
                "{gate}: at least {limit}", gate=gate.name, limit=format_plain(gate.at_least)
            )
            colour = colours.BAD if gate.level is Level.HARD else colours.WARN
            yield charts.ChartLimit(at=float(gate.at_least), label=label, colour=colour)
        if gate.target is not None:
            target = translate("target {limit}", limit=format_plain(gate.target))
            yield charts.ChartLimit(at=float(gate.target), label=target, colour=colours.GOOD)


def _format_interval(found: MeanEstimate) -> str:
    if found.lower is None or found.upper is None:
        return translate("no interval: one item")
    return translate(
        "95 % interval {lower} to {upper}",
        lower=f"{found.lower:.3f}",
        upper=f"{found.upper:.3f}",
    )


def build_gate_views(report: RunReport) -> list[dict[str, str]]:
    """Return each gate: met or not, what was seen, its limit, and why."""
    return [_build_gate_view(found) for found in report.gates.outcomes]


def _build_gate_view(found: GateOutcome) -> dict[str, str]:
    words = {
        Outcome.PASS: translate("met"),
        Outcome.WARN: translate("not met, a warning"),
        Outcome.FAIL: translate("not met"),
        Outcome.UNDECIDED: translate("cannot tell"),
        Outcome.NOT_APPLICABLE: translate("does not apply"),
    }
    gate = found.gate
    return {
        "name": gate.name,
        "level": translate("hard") if gate.level is Level.HARD else translate("soft"),
        "kind": found.outcome.value.split()[0],
        "word": words[found.outcome],
        "observed": format_decimal(found.observed),
        "limit": format_gate_limit(gate),
        "margin": format_signed(found.margin),
        "because": translate_stored(found.because),
    }


def build_pattern_views(report: RunReport) -> list[dict[str, Any]]:
    """Return the faults that show in many items, with their evidence."""
    return [_build_pattern_view(found) for found in report.patterns]


def _build_pattern_view(found: Pattern) -> dict[str, Any]:
    luck = ""
    if found.p is not None:
        p = "< 0.0001" if found.p < _SMALL_PROBABILITY else f"{float(found.p):.2g}"
        luck = translate("chance of seeing this by luck: {p}", p=p)
    state = {"axis": found.axis} if found.axis else {}
    return {
        "sentence": translate_stored(found.sentence),
        "action": translate_stored(found.action),
        "evidence": [translate_stored(line) for line in found.evidence],
        "count": translate("{hits} of {of}", hits=f"{found.hits:,}", of=f"{found.of:,}"),
        "luck": luck,
        "href": build_tag_link(found.tags, **state) if found.tags or state else "",
        "items": [(item, build_items_link(open=item)) for item in found.items[:_LOSSES_LISTED]],
        "more": max(0, len(found.items) - _LOSSES_LISTED),
    }


def build_bad_rows_view(report: RunReport) -> dict[str, Any] | None:
    """Return the rows that were no answers: how many, and the first of them."""
    total = report.past.run.marks.errors
    if not total:
        return None
    shown = report.bad_rows[:_BAD_ROWS_LISTED]
    more = translate("… and {n:,} more", n=total - len(shown)) if total > len(shown) else ""
    return {
        "name": format_bad_row_count(total, live=report.is_live),
        "rows": [
            (get_bad_row_place(row, live=report.is_live), translate_stored(row.reason), row.excerpt)
            for row in shown
        ],
        "more": more if shown else translate("The result file lists them."),
    }


def build_loss_views(report: RunReport) -> list[dict[str, Any]]:
    """Return the items that cost most, the worst first: without a score, then by what they lose."""
    lossy = [item for item in report.items if item.score != 1]
    lossy.sort(key=lambda item: -1.0 if item.score is None else float(item.score))
    return [
        {
            "item": item.item,
            "href": build_items_link(open=item.item),
            "lost": "–" if item.score is None else f"−{format_decimal(1 - item.score)}",
            "axes": translate_status(item.status)
            if item.score is None
            else ", ".join(axis for axis, value in item.axes.items() if value != 1),
        }
        for item in lossy[:_LOSSES_LISTED]
    ]


def build_baseline_views(report: RunReport) -> list[dict[str, Any]]:
    """Return what moved since the baseline."""
    return [_build_baseline_view(found) for found in report.comparisons]


def _build_baseline_view(found: BaselineReport) -> dict[str, Any]:
    evidence = found.evidence
    return {
        "baseline": found.baseline,
        "rows": [
            (
                translate("score"),
                format_decimal(found.before),
                format_decimal(found.after),
                format_signed(found.change),
            ),
            *(
                (
                    moved.axis,
                    format_decimal(moved.before),
                    format_decimal(moved.after),
                    format_signed(moved.change),
                )
                for moved in found.axes
            ),
        ],
        "evidence": translate_stored(evidence.because) if evidence else "",
        "warning": translate_stored(found.warning) if found.warning else "",
        "lists": [
            (
                told_,
                len(changes),
                [_build_change_view(change) for change in changes[:_CHANGES_LISTED]],
            )
            for told_, changes in (
                (translate("Went from pass to fail"), found.regressed),
                (translate("Went from fail to pass"), found.recovered),
            )
            if changes
        ],
        "moved": len(found.moved),
        "href": build_items_link(show="changed"),
    }


def _build_change_view(change: ItemChange) -> tuple[str, str, str]:
    return (
        change.item,
        build_items_link(open=change.item),
        f"{format_decimal(change.before)} → {format_decimal(change.after)}",
    )

"""A judged run as one HTML file, which needs no other file and no network.

`page.build_report_page` gives the texts that every format shows. This module adds what only the
HTML page has: facts, the score with its interval, links into the list of items, and charts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.tell import charts
from markscheme.tell.html import figures
from markscheme.tell.html.item_rows import (
    build_item_listing,
    build_items_link,
    build_tag_link,
    translate_status,
)
from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.tell.page import (
    BadRowsView,
    BaselineView,
    GateView,
    PatternView,
    build_report_page,
)
from markscheme.tell.templates import HtmlPage, render_page
from markscheme.tell.words import format_mean
from markscheme.vocabulary import (
    ItemStatus,
    Level,
    Outcome,
    format_decimal,
    format_plain,
    sentence,
    to_float,
)
from markscheme.weigh.totals import WeightScale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.vocabulary import ScoreBounds
    from markscheme.weigh.distribution import MeanEstimate
    from markscheme.weigh.gates import GateOutcome
    from markscheme.workflows.report import RunReport

_LOSSES_LISTED = 8
_CHANGES_LISTED = 30
_BAD_ROWS_LISTED = 50
_SMALL_PROBABILITY = Fraction(1, 10_000)


def render_run_html(report: RunReport, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    return render_page(build_run_page(report), version)


def build_run_page(report: RunReport) -> HtmlPage:
    """Return what the page of a run shows, and what its script reads."""
    items, page, past = build_item_listing(report), build_report_page(report), report.past
    who = past.run.subject or translate("run {run}", run=past.run.name)
    view = {
        "title": page.title,
        "heading": translate("{subject} on {exam}", subject=who, exam=past.exam.name),
        "verdict": {
            "kind": page.verdict.outcome.value,
            "word": page.verdict.word,
            "because": page.verdict.because,
        },
        "facts": _build_facts_view(report),
        "score": _build_score_view(report),
        "commands": list(_build_commands(report)),
        "gates": list(map(_build_gate_view, page.gates)),
        "patterns": list(map(_build_pattern_view, page.patterns)),
        "losses": _build_loss_views(report),
        "bad_rows": _build_bad_rows_view(page.bad_rows),
        "comparisons": list(map(_build_baseline_view, page.baselines)),
        "axes": figures.build_axis_views(report),
        "bars": figures.draw_item_bars(report),
        "means": figures.build_axis_means_figure(report),
        "latency": figures.draw_latency(report),
        "trends": list(figures.build_trend_figures(report)),
        "heat_maps": figures.build_heat_maps(report, items.tags),
        "by_tag": figures.build_tag_views(report),
        "listing": items,
        "rubric": past.rubric,
        "exam": past.exam,
    }
    data = {**items.data, "words": _build_script_words()}
    return HtmlPage(template="run.html", view=view, data=data)


def _build_facts_view(report: RunReport) -> list[tuple[str, str]]:
    """Return the facts about the run as pairs of a term and its value."""
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


def _build_commands(report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield what a reader may want to do next with a stored run, and the command for it."""
    if report.stored is None:
        return
    run, beside = report.past.run.name, report.baseline
    yield translate("see the answers"), f"markscheme show {run}"
    if beside is not None and beside.id != run:
        yield translate("compare with the baseline"), f"markscheme compare {beside.id} {run}"
        yield translate("see the baseline"), f"markscheme show {beside.id}"
    yield translate("make it the baseline"), f"markscheme baseline set {run}"


def _build_score_view(report: RunReport) -> dict[str, Any] | None:
    """Return the score with its interval, and the limits of the gates on it."""
    known = report.distribution
    if known is None:
        return None
    limits = list(_build_score_limits(report))
    totals = WeightScale(report.past.rubric).sum_answers(report.past.run.marks.counts())
    if totals.bounds is not None:
        return _build_bounds_view(report, totals.bounds, limits)
    mean, bounds = totals.mean or Fraction(0), None
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


def _build_bounds_view(
    report: RunReport, bounds: ScoreBounds, limits: Sequence[charts.ChartLimit]
) -> dict[str, Any]:
    """Return the bounds of a score that is not known, because some answers have none."""
    missed = {Outcome.FAIL, Outcome.WARN}
    met = not any(found.outcome in missed for found in _find_score_gates(report))
    unscored = translate_plural(
        "{n:,} answer has no score", "{n:,} answers have no score", report.past.run.marks.unscored
    )
    shown = format_mean(None, bounds, 2)
    drawn = (to_float(bounds.low) or 0.0, to_float(bounds.high) or 0.0)
    passed = sum(item.status is ItemStatus.PASSED for item in report.items)
    return {
        "shown": shown,
        "interval": unscored,
        "svg": charts.draw_score_strip(None, drawn, limits, met=met),
        "says": "; ".join(
            (
                translate("Score {score}", score=shown),
                unscored,
                *(limit.label for limit in limits),
            )
        ),
        "passed": translate(
            "{passed} of {n} items pass", passed=f"{passed:,}", n=f"{len(report.items):,}"
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
            colour = charts.BAD if gate.level is Level.HARD else charts.WARN
            yield charts.ChartLimit(at=float(gate.at_least), label=label, colour=colour)
        if gate.target is not None:
            target = translate("target {limit}", limit=format_plain(gate.target))
            yield charts.ChartLimit(at=float(gate.target), label=target, colour=charts.GOOD)


def _format_interval(found: MeanEstimate) -> str:
    if found.lower is None or found.upper is None:
        return translate("no interval: one item")
    return translate(
        "95 % interval {lower} to {upper}",
        lower=f"{found.lower:.3f}",
        upper=f"{found.upper:.3f}",
    )


_GATE_WORDS = {
    Outcome.PASS: sentence("met"),
    Outcome.WARN: sentence("not met, a warning"),
    Outcome.FAIL: sentence("not met"),
    Outcome.UNDECIDED: sentence("cannot tell"),
    Outcome.NOT_APPLICABLE: sentence("does not apply"),
}


def _build_gate_view(view: GateView) -> dict[str, str]:
    return {
        "name": view.name,
        "level": view.level_word,
        "kind": view.outcome.value.split()[0],
        "word": translate_stored(_GATE_WORDS[view.outcome]),
        "because": view.because,
    }


def _build_pattern_view(view: PatternView) -> dict[str, Any]:
    """Return a pattern with its chance by luck, and links to the items that it is about."""
    pattern, luck = view.pattern, ""
    if pattern.p is not None:
        p = "< 0.0001" if pattern.p < _SMALL_PROBABILITY else f"{float(pattern.p):.2g}"
        luck = translate("chance of seeing this by luck: {p}", p=p)
    state = {"axis": pattern.axis} if pattern.axis else {}
    return {
        "sentence": view.sentence,
        "action": view.action,
        "evidence": view.evidence,
        "count": translate("{hits} of {of}", hits=f"{pattern.hits:,}", of=f"{pattern.of:,}"),
        "luck": luck,
        "href": build_tag_link(pattern.tags, **state) if pattern.tags or state else "",
        "items": [(item, build_items_link(open=item)) for item in pattern.items[:_LOSSES_LISTED]],
        "more": max(0, len(pattern.items) - _LOSSES_LISTED),
    }


def _build_bad_rows_view(view: BadRowsView | None) -> dict[str, Any] | None:
    if view is None:
        return None
    shown = view.rows[:_BAD_ROWS_LISTED]
    left = view.total - len(shown)
    more = translate("… and {n:,} more", n=left) if left > 0 else ""
    return {
        "name": view.title,
        "rows": [(row.place, row.reason, row.excerpt) for row in shown],
        "more": more if shown else translate("The result file lists them."),
    }


def _build_loss_views(report: RunReport) -> list[dict[str, Any]]:
    """Return the items that lost most; those without a score come first."""
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


def _build_baseline_view(view: BaselineView) -> dict[str, Any]:
    """Return what moved since the baseline."""
    return {
        "baseline": view.baseline,
        "rows": [
            (moved.name, moved.before, moved.after, moved.change)
            for moved in (view.score, *view.axes)
        ],
        "evidence": view.evidence_because,
        "warning": view.warning,
        "lists": [
            (
                title,
                len(changes),
                [
                    (change.item, build_items_link(open=change.item), change.scores)
                    for change in changes[:_CHANGES_LISTED]
                ],
            )
            for title, changes in (
                (translate("Went from pass to fail"), view.regressed),
                (translate("Went from fail to pass"), view.recovered),
            )
            if changes
        ],
        "moved": len(view.moved),
        "href": build_items_link(show="changed"),
    }


def _build_script_words() -> dict[str, str]:
    """Return the words that the script of the page shows, in the current language."""
    return {
        "after": translate("now"),
        "answer": translate("answer"),
        "attempt": translate("attempt {n}"),
        "axis": translate("axis"),
        "copied": translate("copied"),
        "copy": translate("copy"),
        "before": translate("baseline"),
        "cost": translate("cost"),
        "count": translate("{shown} of {all} items"),
        "expected": translate("expected"),
        "got": translate("got"),
        "latency": translate("latency"),
        "missing": translate("There is no answer to this item."),
        "more": translate("{n} more answers are not in this report."),
        "near": translate("near miss"),
        "none": translate("No item is like that."),
        "output": translate("raw output"),
        "prompt": translate("prompt"),
        "reading": translate("read as"),
        "reason": translate("why"),
        "score": translate("score"),
        "tags": translate("tags"),
        "tokens": translate("tokens in and out"),
        "unheld": translate("The raw output is in the store of the run, not in a result file."),
        "untagged": translate("without this tag"),
        "value": translate("value"),
        "weight": translate("weight"),
    }

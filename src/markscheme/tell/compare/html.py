"""A comparison as one HTML file: the decision first, then what it rests on, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markscheme.tell.charts import ChartRange, DotPair, draw_paired_dots
from markscheme.tell.compare.tables import build_axis_rows, build_metric_rows
from markscheme.tell.compare.text import format_comparison_title, format_decision, format_statistics
from markscheme.tell.html import render_page
from markscheme.tell.language import translate, translate_stored
from markscheme.vocabulary import DecisionOutcome, format_decimal, format_signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markupsafe import Markup

    from markscheme.weigh.compare import (
        Aggregate,
        CheckSummary,
        Comparison,
        MetricSummary,
        Query,
        Sides,
    )

MAX_DRAWN_QUERIES = (
    30  # queries with a chart of their own; with more the page would grow without bounds
)
_DECISION_KINDS = {
    DecisionOutcome.GO: "pass",
    DecisionOutcome.GO_WITH_MONITORING: "warn",
    DecisionOutcome.CONDITIONAL: "undecided",
    DecisionOutcome.NO_GO: "fail",
    None: "undecided",
}
_VERDICT_KINDS = {
    "superior": "pass",
    "equivalent": "pass",
    "acceptable": "warn",
    "degraded": "fail",
    None: "undecided",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckCell:
    """One check on one answer: how it is drawn, and why."""

    item: str
    variant: str
    kind: str
    word: str
    reason: str


def render_comparison_html(found: Comparison, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    return render_page(
        "comparison.html",
        {"words": {}},
        version=version,
        title=format_comparison_title(found),
        axes=_draw_axes(found, found.overall.axes),
        **build_comparison_view(found),
    )


def build_comparison_view(
    found: Comparison, *, colour: int = 0, drawn: int = MAX_DRAWN_QUERIES
) -> dict[str, Any]:
    """Return what a page shows of two variants; so many queries have a chart of their own."""
    decision = found.decision
    return {
        "found": found,
        "decision": {
            "kind": _DECISION_KINDS[decision.outcome],
            "word": format_decision(decision.outcome),
            "because": translate_stored(decision.because),
            "next": translate_stored(decision.next),
            "rule": decision.rule,
        },
        "overall": _format_sides(found.overall.mean),
        "modes": [
            (mode, part.n, *_format_sides(part.mean)) for mode, part in _list_parts(found).items()
        ],
        "table": list(_build_table_rows(found)),
        "queries": [
            {
                **_build_query_view(found, query),
                "svg": _draw_axes(found, query.axes, colour) if at < drawn else None,
            }
            for at, query in enumerate(found.queries)
        ],
        "axis_rows": build_axis_rows(found),
        "checks": [_build_check_view(check, found) for check in found.structural],
        "metrics": build_metric_rows(found),
        "measured": [_build_metric_view(metric) for metric in found.operational],
        "plain": list(format_statistics(found.statistics)),
        "watch": [translate_stored(line) for line in decision.monitoring],
    }


def _list_parts(found: Comparison) -> Mapping[str, Aggregate]:
    return {translate("all"): found.overall, **found.by_mode}


def _format_sides(sides: Sides) -> tuple[str, str, str]:
    return (
        format_decimal(sides.baseline, 2),
        format_decimal(sides.candidate, 2),
        format_signed(sides.difference, 2),
    )


def _build_table_rows(found: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the rows of the decision table, with those that hold and the one that decided."""
    table = found.rubric.decision_table
    for row in table.rows if table else ():
        yield {
            "name": row.name,
            "outcome": format_decision(row.decided),
            "kind": _DECISION_KINDS[row.decided],
            "next": translate_stored(row.next),
            "holds": row.name in found.decision.rules,
            "decided": row.name == found.decision.rule,
        }


def _build_query_view(found: Comparison, query: Query) -> dict[str, Any]:
    return {
        "item": query.item,
        "mode": query.mode,
        "prompt": next((item.prompt for item in found.exam.items if item.id == query.item), ""),
        "kind": _VERDICT_KINDS.get(query.verdict, ""),
        "verdict": query.verdict or translate("no verdict"),
        "because": translate_stored(query.because),
        "numbers": _format_sides(query.mean),
        "below_floor": query.baseline_below_floor,
        "meaningful": query.meaningful_axes,
        "missing": query.missing,
        "first": query.first,
        "notes": query.notes,
        "rows": list(_build_axis_cells(query)),
    }


def _build_axis_cells(query: Query) -> Iterator[tuple[str, str, str, str, bool]]:
    for axis, sides in query.axes.items():
        yield axis, *_format_sides(sides), axis in query.meaningful_axes


def _draw_axes(found: Comparison, axes: Mapping[str, Sides], colour: int = 0) -> Markup | None:
    labels = {scale.name: scale.label for scale in found.rubric.scales}
    pairs = [
        DotPair(
            name=labels.get(axis, axis),
            baseline=None if sides.baseline is None else float(sides.baseline),
            candidate=None if sides.candidate is None else float(sides.candidate),
        )
        for axis, sides in axes.items()
    ]
    if all(pair.baseline is None and pair.candidate is None for pair in pairs):
        return None
    return draw_paired_dots(pairs, get_chart_range(found), colour)


def get_chart_range(found: Comparison) -> ChartRange:
    """Return from where to where the scales go."""
    scales = found.rubric.scales
    return ChartRange(lowest=min(s.lowest for s in scales), highest=max(s.highest for s in scales))


def _build_check_view(check: CheckSummary, found: Comparison) -> dict[str, Any]:
    """Return one row of the matrix of checks: a cell for each query and variant."""
    cells = [
        _build_check_cell(check, query.item, variant, value)
        for query in found.queries
        for variant, value in zip(
            (found.baseline, found.candidate), _get_sides(check.pairs.get(query.item)), strict=True
        )
    ]
    passed = [f"{j - f}/{j}" for j, f in zip(check.judged, check.failed, strict=True)]
    lost = [(cell.item, cell.variant, cell.reason) for cell in cells if cell.kind != "pass"]
    return {"axis": check.axis, "cells": cells, "passed": passed, "reasons": lost}


def _get_sides(sides: Sides | None) -> tuple[Any, Any]:
    return (None, None) if sides is None else (sides.baseline, sides.candidate)


def _build_check_cell(check: CheckSummary, item: str, variant: str, value: Any) -> _CheckCell:
    kind, word = "fail", translate("failed")
    if value is None:
        kind, word = "undecided", translate("not judged")
    elif value == 1:
        kind, word = "pass", translate("passed")
    reason = translate_stored(check.reasons.get((item, variant), ""))
    return _CheckCell(item=item, variant=variant, kind=kind, word=word, reason=reason)


def _build_metric_view(metric: MetricSummary) -> dict[str, Any]:
    pairs = [(item, *_format_sides(sides)) for item, sides in metric.pairs.items()]
    return {"metric": metric.metric, "rows": pairs}

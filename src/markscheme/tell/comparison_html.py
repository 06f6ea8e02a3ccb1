"""A comparison as one HTML file: the decision first, then what it rests on, query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.exact import show, signed
from markscheme.tell.comparison_charts import Pair, Range, paired_dots
from markscheme.tell.comparison_tables import axis_rows, metric_rows
from markscheme.tell.comparisons import outcome_words, statistics_lines, title
from markscheme.tell.language import say, told
from markscheme.tell.templates import page
from markscheme.values import dataclass
from markscheme.verdicts import Decided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markupsafe import Markup

    from markscheme.weigh.comparison import (
        Aggregate,
        CheckSummary,
        Comparison,
        MetricSummary,
        Query,
        Sides,
    )

DRAWN = 30  # queries with a chart of their own; with more the page would grow without bounds
_KINDS = {
    Decided.GO: "pass",
    Decided.GO_WITH_MONITORING: "warn",
    Decided.CONDITIONAL: "undecided",
    Decided.NO_GO: "fail",
    None: "undecided",
}
_VERDICTS = {
    "superior": "pass",
    "equivalent": "pass",
    "acceptable": "warn",
    "degraded": "fail",
    None: "undecided",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """One check on one answer: how it is drawn, and why."""

    item: str
    variant: str
    kind: str
    word: str
    reason: str


def comparison_html(found: Comparison, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    return page(
        "comparison.html",
        {"words": {}},
        version=version,
        title=title(found),
        axes=_drawn_axes(found, found.overall.axes),
        **comparison_view(found),
    )


def comparison_view(found: Comparison, *, colour: int = 0, drawn: int = DRAWN) -> dict[str, Any]:
    """Return what a page shows of two variants; so many queries have a chart of their own."""
    decision = found.decision
    return {
        "found": found,
        "decision": {
            "kind": _KINDS[decision.outcome],
            "word": outcome_words(decision.outcome),
            "because": told(decision.because),
            "next": told(decision.next),
            "rule": decision.rule,
        },
        "overall": _numbers(found.overall.mean),
        "modes": [(mode, part.n, *_numbers(part.mean)) for mode, part in _parts(found).items()],
        "table": list(_table(found)),
        "queries": [
            {
                **_query(found, query),
                "svg": _drawn_axes(found, query.axes, colour) if at < drawn else None,
            }
            for at, query in enumerate(found.queries)
        ],
        "axis_rows": axis_rows(found),
        "checks": [_check(check, found) for check in found.structural],
        "metrics": metric_rows(found),
        "measured": [_measured(metric) for metric in found.operational],
        "plain": list(statistics_lines(found.statistics)),
        "watch": [told(line) for line in decision.monitoring],
    }


def _parts(found: Comparison) -> Mapping[str, Aggregate]:
    return {say("all"): found.overall, **found.by_mode}


def _numbers(sides: Sides) -> tuple[str, str, str]:
    return show(sides.baseline, 2), show(sides.candidate, 2), signed(sides.difference, 2)


def _table(found: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the rows of the decision table, with those that hold and the one that decided."""
    table = found.rubric.decision_table
    for row in table.rows if table else ():
        yield {
            "name": row.name,
            "outcome": outcome_words(row.decided),
            "kind": _KINDS[row.decided],
            "next": told(row.next),
            "holds": row.name in found.decision.rules,
            "decided": row.name == found.decision.rule,
        }


def _query(found: Comparison, query: Query) -> dict[str, Any]:
    return {
        "item": query.item,
        "mode": query.mode,
        "prompt": next((item.prompt for item in found.exam.items if item.id == query.item), ""),
        "kind": _VERDICTS.get(query.verdict, ""),
        "verdict": query.verdict or say("no verdict"),
        "because": told(query.because),
        "numbers": _numbers(query.mean),
        "below_floor": query.baseline_below_floor,
        "meaningful": query.meaningful_axes,
        "missing": query.missing,
        "first": query.first,
        "notes": query.notes,
        "rows": list(_axis_cells(query)),
    }


def _axis_cells(query: Query) -> Iterator[tuple[str, str, str, str, bool]]:
    for axis, sides in query.axes.items():
        yield axis, *_numbers(sides), axis in query.meaningful_axes


def _drawn_axes(found: Comparison, axes: Mapping[str, Sides], colour: int = 0) -> Markup | None:
    labels = {scale.name: scale.label for scale in found.rubric.scales}
    pairs = [
        Pair(
            name=labels.get(axis, axis),
            baseline=None if sides.baseline is None else float(sides.baseline),
            candidate=None if sides.candidate is None else float(sides.candidate),
        )
        for axis, sides in axes.items()
    ]
    if all(pair.baseline is None and pair.candidate is None for pair in pairs):
        return None
    return paired_dots(pairs, range_of(found), colour)


def range_of(found: Comparison) -> Range:
    """Return from where to where the scales go."""
    scales = found.rubric.scales
    return Range(lowest=min(s.lowest for s in scales), highest=max(s.highest for s in scales))


def _check(check: CheckSummary, found: Comparison) -> dict[str, Any]:
    """Return one row of the matrix of checks: a cell for each query and variant."""
    cells = [
        _cell(check, query.item, variant, value)
        for query in found.queries
        for variant, value in zip(
            (found.baseline, found.candidate), _both(check.pairs.get(query.item)), strict=True
        )
    ]
    passed = [f"{j - f}/{j}" for j, f in zip(check.judged, check.failed, strict=True)]
    lost = [(cell.item, cell.variant, cell.reason) for cell in cells if cell.kind != "pass"]
    return {"axis": check.axis, "cells": cells, "passed": passed, "reasons": lost}


def _both(sides: Sides | None) -> tuple[Any, Any]:
    return (None, None) if sides is None else (sides.baseline, sides.candidate)


def _cell(check: CheckSummary, item: str, variant: str, value: Any) -> _Cell:
    kind, word = "fail", say("failed")
    if value is None:
        kind, word = "undecided", say("not judged")
    elif value == 1:
        kind, word = "pass", say("passed")
    reason = told(check.reasons.get((item, variant), ""))
    return _Cell(item=item, variant=variant, kind=kind, word=word, reason=reason)


def _measured(metric: MetricSummary) -> dict[str, Any]:
    pairs = [(item, *_numbers(sides)) for item, sides in metric.pairs.items()]
    return {"metric": metric.metric, "rows": pairs}

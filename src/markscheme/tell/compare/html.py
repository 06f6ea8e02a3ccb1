"""Renders comparisons as one HTML file: the outcome first, then what it rests on, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from markscheme.tell.charts import (
    AXIS_COLOURS,
    ChartRange,
    DotPair,
    draw_dot_rows,
    draw_paired_dots,
)
from markscheme.tell.compare.answers_html import (
    build_answer_views,
    build_price_rows,
    compute_answer_limit,
)
from markscheme.tell.compare.run_pair_html import (
    EVIDENCE_KINDS,
    MovedItemsView,
    build_run_pair_view,
    compute_text_limit,
    draw_run_gaps,
)
from markscheme.tell.compare.tables import (
    TableRows,
    build_aggregate_rows,
    build_measured_rows,
    build_metric_rows,
    build_run_pair_rows,
    build_scale_rows,
    build_variant_pair_rows,
    format_check_counts,
    format_measured_sides,
    format_sides,
)
from markscheme.tell.compare.words import (
    format_comparison_title,
    format_decision,
    format_evidence,
    format_rounds,
    format_runs_title,
    format_statistics,
    format_variants_title,
)
from markscheme.tell.language import translate, translate_stored
from markscheme.tell.templates import HtmlPage, render_page
from markscheme.vocabulary import DecisionOutcome, DecisionRow, format_decimal, to_float
from markscheme.weigh.compare import (
    CheckSummary,
    Comparison,
    Query,
    RunsComparison,
    Sides,
    VariantsComparison,
    rename_by_subject,
)
from markscheme.workflows.compare import RunsReport

# Queries with a chart of their own on one page; more would let the page grow without bound.
_MAX_DRAWN_QUERIES = 30
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


def render_comparison_html(
    comparison: Comparison | VariantsComparison | RunsReport, version: str
) -> str:
    """Return the whole page; `version` is that of the program that writes it."""
    return render_page(build_comparison_page(comparison), version)


def build_comparison_page(comparison: Comparison | VariantsComparison | RunsReport) -> HtmlPage:
    """Return what the page of a comparison shows."""
    if isinstance(comparison, Comparison):
        template, view = "comparison.html", _build_comparison_page(comparison)
    elif isinstance(comparison, VariantsComparison):
        template, view = "variants.html", _build_variants_page(comparison)
    else:
        template, view = "runs.html", _build_runs_page(comparison)
    return HtmlPage(template=template, view=view, data={"words": {}})


def _build_comparison_page(comparison: Comparison) -> dict[str, Any]:
    return {
        "title": format_comparison_title(comparison),
        "axes": _draw_axes(comparison, comparison.overall.axes),
        **_build_comparison_view(comparison),
    }


def _build_comparison_view(
    comparison: Comparison, *, colour: int = 0, sharing: int = 1
) -> dict[str, Any]:
    """Return what a page shows of two variants; `sharing` comparisons share the page."""
    decision, drawn = comparison.decision, _MAX_DRAWN_QUERIES // sharing
    limit = compute_answer_limit(comparison, sharing)
    return {
        "found": comparison,
        "decision": {
            "kind": _DECISION_KINDS[decision.outcome],
            "word": format_decision(decision.outcome),
            "because": translate_stored(decision.because),
            "next": translate_stored(decision.next),
            "rule": decision.rule,
            "rounds": list(format_rounds(decision)),
            "warnings": [translate_stored(line) for line in decision.warnings],
        },
        "overall": format_sides(comparison.overall.mean, 2),
        "price": build_price_rows(comparison),
        "modes": build_aggregate_rows(comparison, 2),
        "table": list(_build_table_rows(comparison)),
        "queries": [
            {
                **_build_query_view(comparison, query),
                "place": at + 1,
                "answers": build_answer_views(comparison, query, limit),
                "svg": _draw_axes(comparison, query.axes, colour) if at < drawn else None,
            }
            for at, query in enumerate(comparison.queries)
        ],
        "axis_rows": build_scale_rows(comparison),
        "checks": [_build_check_view(check, comparison) for check in comparison.structural],
        "metrics": build_metric_rows(comparison),
        "measured": [
            (metric.metric, _build_sides_rows(translate("query"), comparison, metric.pairs))
            for metric in comparison.operational
        ],
        "plain": list(format_statistics(comparison.statistics)),
        "gaps": [translate_stored(line) for line in comparison.allowed_gaps or ()],
        "unused_logs": [(log.file, translate_stored(log.reason)) for log in comparison.unused_logs],
        "watch": [translate_stored(line) for line in decision.monitoring],
    }


def _build_sides_rows(
    heading: str, comparison: Comparison, sides: Mapping[str, Sides]
) -> TableRows:
    """Return a table with both variants and their difference, one row per name."""
    header = (heading, comparison.baseline, comparison.candidate, translate("difference"))
    return [header, *((name, *format_measured_sides(both)) for name, both in sides.items())]


def _build_table_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the rows of the decision table: which of them hold, and which one decided."""
    table, decision = comparison.rubric.decision_table, comparison.decision
    main, further = decision.main or decision, decision.follow_up
    for row in table.rows if table else ():
        yield _build_row_view(row, holds=row.name in main.rules, decided=row.name == main.rule)
    for row in table.follow_up.rows if table and table.follow_up else ():
        decided = further is not None and row.name == further.rule
        view = _build_row_view(row, holds=decided, decided=decided)
        yield {**view, "name": translate("follow-up: {rule}", rule=row.name)}


def _build_row_view(row: DecisionRow, *, holds: bool, decided: bool) -> dict[str, Any]:
    return {
        "name": row.name,
        "outcome": format_decision(row.decided),
        "kind": _DECISION_KINDS[row.decided],
        "next": translate_stored(row.next),
        "holds": holds,
        "decided": decided,
    }


def _build_query_view(comparison: Comparison, query: Query) -> dict[str, Any]:
    return {
        "item": query.item,
        "mode": query.mode if not query.follow_up else f"{query.mode}, {translate('follow-up')}",
        "prompt": next(
            (item.prompt for item in comparison.exam.items if item.id == query.item), ""
        ),
        "kind": _VERDICT_KINDS.get(query.verdict, ""),
        "verdict": query.verdict or translate("no verdict"),
        "because": translate_stored(query.because),
        "numbers": format_sides(query.mean, 2),
        "below_floor": query.baseline_below_floor,
        "meaningful": query.meaningful_axes,
        "missing": query.missing,
        "first": query.first,
        "notes": query.notes,
        "rows": [
            (axis, *format_sides(sides, 2), axis in query.meaningful_axes)
            for axis, sides in query.axes.items()
        ],
    }


def _draw_axes(comparison: Comparison, axes: Mapping[str, Sides], colour: int = 0) -> Markup | None:
    labels = {scale.name: scale.label for scale in comparison.rubric.scales}
    pairs = [
        DotPair(
            name=labels.get(axis, axis),
            baseline=to_float(sides.baseline),
            candidate=to_float(sides.candidate),
        )
        for axis, sides in axes.items()
    ]
    if all(pair.baseline is None and pair.candidate is None for pair in pairs):
        return None
    return draw_paired_dots(pairs, _get_chart_range(comparison), colour)


def _get_chart_range(comparison: Comparison) -> ChartRange:
    """Return the range that covers all scales."""
    scales = comparison.rubric.scales
    return ChartRange(lowest=min(s.lowest for s in scales), highest=max(s.highest for s in scales))


def _build_check_view(check: CheckSummary, comparison: Comparison) -> dict[str, Any]:
    """Return one row of the matrix of checks: a cell for each query and variant."""
    cells = []
    for query in comparison.queries:
        sides = check.pairs.get(query.item) or Sides(baseline=None, candidate=None)
        for variant, value in (
            (comparison.baseline, sides.baseline),
            (comparison.candidate, sides.candidate),
        ):
            kind, word = "fail", translate("failed")
            if value is None:
                kind, word = "undecided", translate("not judged")
            elif value == 1:
                kind, word = "pass", translate("passed")
            reason = translate_stored(check.reasons.get((query.item, variant), ""))
            cells.append(
                {
                    "item": query.item,
                    "variant": variant,
                    "kind": kind,
                    "word": word,
                    "reason": reason,
                }
            )
    return {
        "axis": check.axis,
        "cells": cells,
        "passed": format_check_counts(check),
        "reasons": [cell for cell in cells if cell["kind"] != "pass"],
    }


def _build_variants_page(comparison: VariantsComparison) -> dict[str, Any]:
    decided = comparison.beside_first
    candidates = []
    for at, pair in enumerate(decided):
        colour = at % len(AXIS_COLOURS)
        view = _build_comparison_view(pair, colour=colour, sharing=len(decided))
        candidates.append({**view, "name": pair.candidate, "id": f"v{at + 1}-", "colour": colour})
    return {
        "title": format_variants_title(comparison),
        "first": decided[0],
        "baseline": comparison.variants[0],
        "candidates": candidates,
        "pairs": build_variant_pair_rows(comparison),
        "axes": _draw_variant_axes(comparison),
        "axis_rows": _build_variant_axis_rows(comparison),
        # Each query with what became of it under every candidate.
        "queries": [
            {
                "item": views[0]["item"],
                "mode": views[0]["mode"],
                "b": views[0]["numbers"][0],
                "each": views,
            }
            for views in zip(*(candidate["queries"] for candidate in candidates), strict=True)
        ],
    }


def _collect_means(comparison: VariantsComparison) -> list[dict[str, Fraction | None]]:
    """Return the mean of each variant on each axis, the baseline first."""
    each = [pair.overall.axes for pair in comparison.beside_first]
    candidates = ({axis: sides.candidate for axis, sides in axes.items()} for axes in each)
    return [{axis: sides.baseline for axis, sides in each[0].items()}, *candidates]


def _draw_variant_axes(comparison: VariantsComparison) -> Markup | None:
    """Draw the mean of every variant on every axis, where something was rated."""
    first, means = comparison.beside_first[0], _collect_means(comparison)
    if all(mean is None for axes in means for mean in axes.values()):
        return None
    scales = first.rubric.scales
    values = [[to_float(axes.get(scale.name)) for scale in scales] for axes in means]
    return draw_dot_rows([scale.label for scale in scales], values, _get_chart_range(first))


def _build_variant_axis_rows(comparison: VariantsComparison) -> TableRows:
    """Return the mean of every variant on every axis."""
    means = _collect_means(comparison)
    rows: TableRows = [(translate("axis"), *comparison.variants)]
    for scale in comparison.beside_first[0].rubric.scales:
        rows.append((scale.label, *(format_decimal(axes.get(scale.name), 2) for axes in means)))
    return rows


def _build_runs_page(report: RunsReport) -> dict[str, Any]:
    comparison = rename_by_subject(report.comparison)
    several = len(comparison.beside_first) > 1
    return {
        "title": format_runs_title(report.comparison),
        "heading": _format_runs_heading(comparison),
        "found": comparison,
        "facts": list(_list_facts(report.comparison)),
        "outcome": {
            "kind": EVIDENCE_KINDS[comparison.outcome],
            "word": format_evidence(comparison.outcome),
            "because": translate_stored(comparison.because),
        },
        "every_two": build_run_pair_rows(comparison) if several else [],
        "gaps": draw_run_gaps(comparison.beside_first) if several else None,
        "pairs": _build_run_pair_views(report, comparison),
        "measured": build_measured_rows(comparison),
    }


def _build_run_pair_views(report: RunsReport, comparison: RunsComparison) -> list[dict[str, Any]]:
    """Return what is shown of each run beside the first."""
    pairs, limit = comparison.beside_first, compute_text_limit(report)
    views = []
    for at, pair in enumerate(pairs):
        answers = [report.answers[0], report.answers[at + 1]] if report.answers else []
        items = MovedItemsView(comparison, pair, answers, limit)
        view = build_run_pair_view(pair, comparison.rubric, at % len(AXIS_COLOURS))
        view["moves"] = items.build_lists(len(pairs))
        # Only several pairs need a name, and ids that are unique on the page.
        view["name"] = pair.candidate if len(pairs) > 1 else ""
        view["id"] = f"r{at + 1}-" if len(pairs) > 1 else ""
        views.append(view)
    return views


def _format_runs_heading(comparison: RunsComparison) -> str:
    if len(comparison.runs) == 2:  # noqa: PLR2004 - a pair
        return translate(
            "Is {candidate} worse than {baseline}?",
            candidate=comparison.runs[1],
            baseline=comparison.runs[0],
        )
    return translate("Which run is worse than {baseline}?", baseline=comparison.runs[0])


def _list_facts(comparison: RunsComparison) -> Iterator[tuple[str, str]]:
    """Yield what was compared: the runs with their subjects, rubric, exam, items and margin."""
    for at, (run, subject) in enumerate(zip(comparison.runs, comparison.subjects, strict=True)):
        role = translate("candidate") if at else translate("baseline")
        yield role, translate("{subject} (run {run})", subject=subject, run=run) if subject else run
    yield translate("rubric"), f"{comparison.rubric.name} v{comparison.rubric.version}"
    yield translate("exam"), comparison.exam.name
    yield translate("items"), f"{len(comparison.exam.items):,}"
    yield translate("margin"), str(comparison.margin)

"""Several candidates as one HTML file: each decision, all of them side by side, then each alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.tell.charts import AXIS_COLOURS, draw_dot_rows
from markscheme.tell.compare.html import MAX_DRAWN_QUERIES, build_comparison_view, get_chart_range
from markscheme.tell.compare.variants import build_variant_rows, format_variants_title
from markscheme.tell.html import render_page
from markscheme.tell.language import translate
from markscheme.vocabulary import format_decimal

if TYPE_CHECKING:
    from fractions import Fraction

    from markupsafe import Markup

    from markscheme.tell.compare.tables import TableRows
    from markscheme.weigh.compare import VariantsComparison


def render_variants_html(found: VariantsComparison, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    drawn = MAX_DRAWN_QUERIES // len(found.beside_first)
    each = []
    for at, one in enumerate(found.beside_first):
        colour = at % len(AXIS_COLOURS)
        view = build_comparison_view(one, colour=colour, drawn=drawn)
        each.append({**view, "name": one.candidate, "id": f"v{at + 1}-", "colour": colour})
    return render_page(
        "variants.html",
        {"words": {}},
        version=version,
        title=format_variants_title(found),
        first=found.beside_first[0],
        baseline=found.variants[0],
        candidates=each,
        pairs=build_variant_rows(found),
        axes=_draw_variant_axes(found),
        axis_rows=_build_variant_axis_rows(found),
        queries=_build_query_views(each),
    )


def _collect_means(found: VariantsComparison) -> list[dict[str, Fraction | None]]:
    """Return the mean of each variant on each axis, the baseline first."""
    each = [one.overall.axes for one in found.beside_first]
    candidates = ({axis: sides.candidate for axis, sides in axes.items()} for axes in each)
    return [{axis: sides.baseline for axis, sides in each[0].items()}, *candidates]


def _draw_variant_axes(found: VariantsComparison) -> Markup | None:
    """Draw the mean of every variant on every axis, where something was rated."""
    first, means = found.beside_first[0], _collect_means(found)
    if all(mean is None for axes in means for mean in axes.values()):
        return None
    scales = first.rubric.scales
    values = [
        [None if (mean := axes.get(scale.name)) is None else float(mean) for scale in scales]
        for axes in means
    ]
    return draw_dot_rows([scale.label for scale in scales], values, get_chart_range(first))


def _build_variant_axis_rows(found: VariantsComparison) -> TableRows:
    """Return the same as a table, the header first."""
    means = _collect_means(found)
    rows: TableRows = [(translate("axis"), *found.variants)]
    for scale in found.beside_first[0].rubric.scales:
        rows.append((scale.label, *(format_decimal(axes.get(scale.name), 2) for axes in means)))
    return rows


def _build_query_views(candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each query with what became of it under every candidate."""
    return [
        {"item": rows[0]["item"], "mode": rows[0]["mode"], "b": rows[0]["numbers"][0], "each": rows}
        for rows in zip(*(one["queries"] for one in candidates), strict=True)
    ]

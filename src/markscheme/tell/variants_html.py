"""Several candidates as one HTML file: each decision, all of them side by side, then each alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.exact import show
from markscheme.tell.colours import AXES
from markscheme.tell.comparison_charts import rows_of_dots
from markscheme.tell.comparison_html import DRAWN, comparison_view, range_of
from markscheme.tell.language import say
from markscheme.tell.templates import page
from markscheme.tell.variant_pairs import variant_rows, variants_title

if TYPE_CHECKING:
    from fractions import Fraction

    from markupsafe import Markup

    from markscheme.tell.comparison_tables import Rows
    from markscheme.weigh.variants import VariantsComparison


def variants_html(found: VariantsComparison, version: str) -> str:
    """Return the whole page; `version` is that of the program that wrote it."""
    drawn = DRAWN // len(found.decided)
    each = []
    for at, one in enumerate(found.decided):
        colour = at % len(AXES)
        view = comparison_view(one, colour=colour, drawn=drawn)
        each.append({**view, "name": one.candidate, "id": f"v{at + 1}-", "colour": colour})
    return page(
        "variants.html",
        {"words": {}},
        version=version,
        title=variants_title(found),
        first=found.decided[0],
        baseline=found.variants[0],
        candidates=each,
        pairs=variant_rows(found),
        axes=_axes(found),
        axis_rows=_axis_rows(found),
        queries=_queries(each),
    )


def _means(found: VariantsComparison) -> list[dict[str, Fraction | None]]:
    """Return the mean of each variant on each axis, the baseline first."""
    each = [one.overall.axes for one in found.decided]
    candidates = ({axis: sides.candidate for axis, sides in axes.items()} for axes in each)
    return [{axis: sides.baseline for axis, sides in each[0].items()}, *candidates]


def _axes(found: VariantsComparison) -> Markup | None:
    """Draw the mean of every variant on every axis, where something was rated."""
    first, means = found.decided[0], _means(found)
    if all(mean is None for axes in means for mean in axes.values()):
        return None
    scales = first.rubric.scales
    values = [
        [None if (mean := axes.get(scale.name)) is None else float(mean) for scale in scales]
        for axes in means
    ]
    return rows_of_dots([scale.label for scale in scales], values, range_of(first))


def _axis_rows(found: VariantsComparison) -> Rows:
    """Return the same as a table, the header first."""
    means = _means(found)
    rows: Rows = [(say("axis"), *found.variants)]
    for scale in found.decided[0].rubric.scales:
        rows.append((scale.label, *(show(axes.get(scale.name), 2) for axes in means)))
    return rows


def _queries(candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each query with what became of it under every candidate."""
    return [
        {"item": rows[0]["item"], "mode": rows[0]["mode"], "b": rows[0]["numbers"][0], "each": rows}
        for rows in zip(*(one["queries"] for one in candidates), strict=True)
    ]

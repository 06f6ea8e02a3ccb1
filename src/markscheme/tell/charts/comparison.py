"""Charts of a comparison: the values of two or more variants as dots on one line per axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from markscheme.tell.charts.colours import AXIS_COLOURS, LINE, MUTED
from markscheme.tell.charts.drawing import render_svg, shorten_labels

# Extra room on the left: the fonts of a reader may be wider than those the chart was laid out with.
_PADDING = {"left": 30, "right": 8, "top": 5, "bottom": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class DotPair:
    """The values of both variants on one axis; `None` where not known."""

    name: str
    baseline: float | None
    candidate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRange:
    """The range of ratings or scores, and the distance of the grid lines."""

    lowest: float
    highest: float
    step: float = 1

    def build_axis(self) -> dict[str, Any]:
        """Return the horizontal axis of a chart of ratings or scores."""
        ticks = round((self.highest - self.lowest) / self.step)
        form = "d" if self.step == 1 else ".2f"
        return {
            "type": "quantitative",
            "title": None,
            "scale": {"domain": [self.lowest, self.highest], "nice": False},
            "axis": {"tickCount": ticks, "format": form, "grid": True, "labelColor": MUTED},
        }


def draw_paired_dots(pairs: Sequence[DotPair], over: ChartRange, colour: int = 0) -> Markup:
    """Draw a line for each axis with a dot for each variant; the candidate's dot is on top."""
    labels = shorten_labels((pair.name for pair in pairs), 32)
    values = [
        {"n": label, "b": pair.baseline, "c": pair.candidate}
        for label, pair in zip(labels, pairs, strict=True)
    ]
    y: dict[str, Any] = {"field": "n", "type": "nominal", "sort": None, "title": None}
    y["axis"] = {"labelLimit": 240, "grid": True}
    x = over.build_axis()
    dots = [
        {
            "transform": [{"filter": f"datum.{field} != null"}],
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": size, "color": fill},
            "encoding": {"x": {**x, "field": field}, "y": y},
        }
        for field, size, fill in (("b", 190, MUTED), ("c", 90, AXIS_COLOURS[colour]))
    ]
    line = {
        "transform": [{"filter": "datum.b != null && datum.c != null"}],
        "mark": {"type": "rule", "strokeWidth": 5, "color": LINE},
        "encoding": {"x": {**x, "field": "b"}, "x2": {"field": "c"}, "y": y},
    }
    return render_svg(
        {
            "width": 300,
            "height": {"step": 30},
            "padding": _PADDING,
            "data": {"values": values},
            "layer": [line, *dots],
        }
    )


def draw_dot_rows(
    axes: Sequence[str], variants: Sequence[Sequence[float | None]], over: ChartRange
) -> Markup:
    """Draw a row of dots for each axis, one below the other per variant; the baseline is first."""
    labels = shorten_labels(axes, 32)
    colours = [MUTED, *(AXIS_COLOURS[at % len(AXIS_COLOURS)] for at in range(len(variants) - 1))]
    values = [
        {"n": label, "v": at, "x": value}
        for at, variant in enumerate(variants)
        for label, value in zip(labels, variant, strict=True)
        if value is not None
    ]
    variant_field = {"field": "v", "type": "ordinal"}
    y: dict[str, Any] = {"field": "n", "type": "nominal", "sort": None, "title": None}
    y |= {"axis": {"labelLimit": 240, "grid": True}, "scale": {"domain": labels}}
    order = list(range(len(variants)))
    return render_svg(
        {
            "width": 300,
            "height": {"step": 13},
            "padding": _PADDING,
            "data": {"values": values},
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": 90},
            "encoding": {
                "x": {**over.build_axis(), "field": "x"},
                "y": y,
                "yOffset": {**variant_field, "scale": {"domain": order}},
                "color": {
                    **variant_field,
                    "legend": None,
                    "scale": {"domain": order, "range": colours},
                },
            },
        }
    )

"""Charts of differences: how far runs are from the first, beside the margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from markscheme.tell.charts.colours import BAD, INK, MUTED
from markscheme.tell.charts.drawing import render_svg, shorten_labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The difference of a run from the first, its bounds, and the limit that it must stay above."""

    name: str
    mean: float
    bounds: tuple[float, float] | None
    limit: float
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _GapRow:
    """A gap as it is drawn; a bound beyond the chart is cut at its edge."""

    gap: Gap
    label: str
    edges: tuple[float, float]

    def build_value(self) -> dict[str, Any]:
        low, high = self.edges
        lower, upper = self.gap.bounds or (self.gap.mean, self.gap.mean)
        return {
            "n": self.label,
            "e": low,
            "m": self.gap.limit,
            "l": max(low, lower),
            "u": min(high, upper),
            "x": self.gap.mean,
            "c": self.gap.colour,
        }


_ROW_HEIGHT = 38
_PLAIN_ZERO = "datum.value ? datum.label : '0'"


def draw_gaps(gaps: Sequence[Gap], equal: str, limit: str) -> Markup:
    """Draw each difference with its bounds; `equal` and `limit` label the two reference lines.

    The area beyond the limit is coloured: a run whose whole bar lies there is worse.
    """
    seen = [0.0, *(end for gap in gaps for end in (gap.mean, gap.limit, *(gap.bounds or ())))]
    pad = max(0.01, (max(seen) - min(seen)) * 0.12)
    edges = max(-1.05, min(seen) - pad), min(1.05, max(seen) + pad)
    labels = shorten_labels((gap.name for gap in gaps), 24)
    rows = [_GapRow(gap=g, label=n, edges=edges) for n, g in zip(labels, gaps, strict=True)]
    x: dict[str, Any] = {"type": "quantitative", "title": None}
    x["scale"] = {"domain": list(edges), "nice": False}
    x["axis"] = {"format": "+.2~f", "tickCount": 5, "labelColor": MUTED, "labelExpr": _PLAIN_ZERO}
    y: dict[str, Any] = {"field": "n", "type": "nominal", "sort": None, "title": None}
    y["scale"] = {"domain": labels, "padding": 0}
    y["axis"] = {"labelLimit": 200} if len(gaps) > 1 else None
    return render_svg(
        {
            "width": 340,
            "height": {"step": _ROW_HEIGHT},
            "padding": {"left": 14, "right": 14, "top": 5, "bottom": 5},
            "data": {"values": [row.build_value() for row in rows]},
            "layer": [
                *_build_ground_layers(x, y),
                *_build_bound_layers(x, y),
                *_build_label_layers(x, gaps, equal, limit),
            ],
        }
    )


def _build_ground_layers(x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the background: the area beyond the limit, the limit, and the zero line."""
    line = {"type": "tick", "thickness": 2, "size": _ROW_HEIGHT}
    return [
        {
            "mark": {"type": "rect", "color": BAD, "opacity": 0.1},
            "encoding": {"x": {**x, "field": "e"}, "x2": {"field": "m"}, "y": y},
        },
        {"mark": {**line, "color": BAD}, "encoding": {"x": {**x, "field": "m"}, "y": y}},
        {"mark": {**line, "color": MUTED}, "encoding": {"x": {**x, "datum": 0}, "y": y}},
    ]


def _build_bound_layers(x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    colour = {"field": "c", "type": "nominal", "scale": None}
    return [
        {
            "mark": {"type": "bar", "height": 12, "cornerRadius": 6, "opacity": 0.45},
            "encoding": {
                "x": {**x, "field": "l"},
                "x2": {"field": "u"},
                "y": y,
                "color": colour,
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 200, "opacity": 1},
            "encoding": {"x": {**x, "field": "x"}, "y": y, "color": colour},
        },
    ]


def _build_label_layers(
    x: dict[str, Any], gaps: Sequence[Gap], equal: str, limit: str
) -> list[dict[str, Any]]:
    """Return the labels above the two lines, to the left of the limit and the right of zero."""
    labels = ((gaps[0].limit, limit, "right", -2), (0.0, equal, "left", 2))
    return [
        {
            "data": {"values": [{"x": at, "t": word}]},
            "mark": {"type": "text", "align": side, "dx": by, "color": INK, "fontSize": 12},
            "encoding": {
                "x": {**x, "field": "x"},
                "y": {"value": -9},
                "text": {"field": "t", "type": "nominal"},
            },
        }
        for at, word, side, by in labels
    ]

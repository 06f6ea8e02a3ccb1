"""Charts of a comparison: what two variants got, as pairs of dots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markscheme.tell.charts import drawn, short
from markscheme.tell.colours import AXES, LINE, MUTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

BASELINE, CANDIDATE = MUTED, AXES[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What both variants got on one axis; `None` where it is not known."""

    name: str
    baseline: float | None
    candidate: float | None


def paired_dots(pairs: Sequence[Pair], lowest: int, highest: int) -> Markup:
    """Draw a line for each axis with a dot for each variant; the candidate's lies on top."""
    labels = short((pair.name for pair in pairs), 32)
    values = [
        {"n": label, "b": pair.baseline, "c": pair.candidate}
        for label, pair in zip(labels, pairs, strict=True)
    ]
    y: dict[str, Any] = {"field": "n", "type": "nominal", "sort": None, "title": None}
    y["axis"] = {"labelLimit": 240, "grid": True}
    x: dict[str, Any] = {"type": "quantitative", "title": None}
    x["scale"] = {"domain": [lowest, highest], "nice": False}
    x["axis"] = {"tickCount": highest - lowest, "format": "d", "grid": True, "labelColor": MUTED}
    dots = [
        {
            "transform": [{"filter": f"datum.{field} != null"}],
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": size, "color": colour},
            "encoding": {"x": {**x, "field": field}, "y": y},
        }
        for field, size, colour in (("b", 190, BASELINE), ("c", 90, CANDIDATE))
    ]
    line = {
        "transform": [{"filter": "datum.b != null && datum.c != null"}],
        "mark": {"type": "rule", "strokeWidth": 5, "color": LINE},
        "encoding": {"x": {**x, "field": "b"}, "x2": {"field": "c"}, "y": y},
    }
    return drawn(
        {
            "width": 300,
            "height": {"step": 30},
            "padding": {"left": 30, "right": 8, "top": 5, "bottom": 5},  # fonts differ in width
            "data": {"values": values},
            "layer": [line, *dots],
        }
    )

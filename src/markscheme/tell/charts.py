"""Charts as SVG: Vega-Lite specifications, drawn by vl-convert when a page is written.

Only drawing belongs here. What a chart shows is chosen by the pages in `html` and `compare`. The
SVG has no script, no style and no address. Its colours are attributes, which the stylesheet of the
page replaces by those of the reader's scheme, light or dark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import vl_convert
from markupsafe import Markup

# The colours of pages and charts, in a light and in a dark scheme

INK, MUTED, LINE, TRACK, GOOD, BAD, WARN, UNDECIDED = (
    "#18212c",
    "#586473",
    "#d5dbe3",
    "#ebeff4",
    "#18794e",
    "#c62a2f",
    "#a15c00",
    "#7a3fb0",
)
AXIS_COLOURS = (
    "#3566b8",
    "#e0912b",
    "#2b9a8b",
    "#a05cc2",
    "#7d8a2e",
    "#c4647f",
    "#4d91b3",
    "#8a6a4c",
)
HEAT_COLOURS = ("#b3261f", "#e58a6f", "#f6c9a0", "#f8e7b8", "#e3f1d3", "#d3ebdb")
_DARK_AXIS_COLOURS = (
    "#6f9ff0",
    "#efb05a",
    "#4cc4b3",
    "#c48be0",
    "#b0be57",
    "#e890a8",
    "#7dbcdc",
    "#bd9b7b",
)
_DARK_HEAT_COLOURS = ("#c23a32", "#8f3f31", "#6f4427", "#574a22", "#2e4027", "#1f3a2b")
HEAT_LIMITS = ("0.5", "0.75", "0.92", "0.95", "1")
"""Where the steps of a heat map end; the last is for full marks."""
COLOUR_SCHEMES = {  # light, dark
    "ink": (INK, "#e9edf2"),
    "muted": (MUTED, "#a3afbd"),
    "line": (LINE, "#36404c"),
    "track": (TRACK, "#262e38"),
    "good": (GOOD, "#4cc38a"),
    "bad": (BAD, "#ff8a84"),
    "warn": (WARN, "#f2b35e"),
    "undecided": (UNDECIDED, "#cfa3f5"),
    **{
        f"axis{at}": pair
        for at, pair in enumerate(zip(AXIS_COLOURS, _DARK_AXIS_COLOURS, strict=True))
    },
    **{
        f"step{at}": pair
        for at, pair in enumerate(zip(HEAT_COLOURS, _DARK_HEAT_COLOURS, strict=True))
    },
}

_VEGA_CONFIG = {
    "aria": False,
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "ticks": False,
        "grid": False,
        "gridColor": LINE,
        "labelColor": INK,
        "labelFontSize": 12,
        "labelPadding": 6,
        "titleColor": MUTED,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
}
_CHART_PADDING = {
    "left": 14,
    "top": 5,
    "right": 8,
    "bottom": 5,
}  # the font of a reader may be wider than the one measured here
_UNIT_SCALE = {"domain": [0, 1], "nice": False}
_LABEL_LENGTH = 28
_BARS_WIDTH = 1000  # of all bars together
_MAX_SPACED_BARS = 400  # more bars than this leave no room for gaps
_EXTRA_DECIMALS = re.compile(r"(\.\d\d)\d+(?=[^<>]*>)")  # in attributes only
_UNUSED_ATTRIBUTES = re.compile(
    r' (?:pointer-events="none"|opacity="1"|aria-hidden="true"|role="[^"]*"|aria-[a-z]+="[^"]*")'
)
_BAR_PATH = re.compile(r'<path d="M0(,[^"]*)" fill="([^"]*)"/>')


def render_svg(spec: Mapping[str, Any]) -> Markup:
    """Draw a Vega-Lite specification as SVG, and drop the attributes that a page does not need.

    All data are in the specification, so nothing is fetched.
    """
    whole = {"padding": _CHART_PADDING, **spec, "config": _VEGA_CONFIG}
    text = orjson.dumps(whole).decode()  # vl-convert reads text faster than a dict
    svg = vl_convert.vegalite_to_svg(text)
    bare = _EXTRA_DECIMALS.sub(r"\1", _UNUSED_ATTRIBUTES.sub("", svg)).replace(
        "<svg ", '<svg aria-hidden="true" ', 1
    )
    return Markup(bare)  # noqa: S704 - made by Vega, which escapes every text


def shorten_labels(names: Iterable[str], most: int = _LABEL_LENGTH) -> list[str]:
    """Return printable labels of limited length; equal ones are numbered, so that all differ."""
    found: dict[str, None] = {}
    for name in names:
        line = " ".join("".join(c if c.isprintable() else " " for c in name).split()) or "–"
        label = line if len(line) <= most else f"{line[: most - 1]}…"
        number = 2
        while label in found:
            label, number = f"{line[: most - 5]}… {number}", number + 1
        found[label] = None
    return list(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLimit:
    """A line in a chart that marks a limit or a target."""

    at: float
    label: str
    colour: str = MUTED


def draw_score_strip(
    score: float, bounds: tuple[float, float] | None, limits: Sequence[ChartLimit], *, met: bool
) -> Markup:
    """Draw one score with its interval on a line, together with its limits."""
    seen = [score, *(bounds or ()), *(limit.at for limit in limits)]
    lowest = max(0.0, min(0.8, min(seen) - 0.05))
    colour = GOOD if met else BAD
    x: dict[str, Any] = {"field": "x", "type": "quantitative", "title": None}
    x["scale"] = {"domain": [lowest, 1], "nice": False, "clamp": True}
    x["axis"] = {"format": ".2f", "tickCount": 5, "labelColor": MUTED}
    layers = [_build_band_layer((lowest, 1), {"color": TRACK}, x)]
    if bounds:
        layers.append(_build_band_layer(bounds, {"color": colour, "opacity": 0.35}, x))
    for row, limit in enumerate(sorted(limits, key=lambda limit: limit.at)):
        left = row % 2 == 0
        data = {"values": [{"x": limit.at, "t": limit.label}]}
        rule = {"type": "rule", "color": limit.colour, "strokeWidth": 2, "y": 16, "y2": 62}
        text = {"type": "text", "color": INK, "fontSize": 12, "y": 8, "dx": 2 if left else -2}
        text["align"] = "right" if left else "left"
        layers.append({"data": data, "mark": rule, "encoding": {"x": x}})
        layers.append({"data": data, "mark": text, "encoding": {"x": x, "text": {"field": "t"}}})
    point = {"type": "point", "filled": True, "size": 220, "opacity": 1, "color": colour, "y": 42}
    layers.append({"data": {"values": [{"x": score}]}, "mark": point, "encoding": {"x": x}})
    return render_svg({"width": 420, "height": 68, "layer": layers})


def _build_band_layer(
    ends: tuple[float, float], look: Mapping[str, Any], x: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a layer with a thick horizontal line from one value to another."""
    return {
        "data": {"values": [{"x": ends[0], "end": ends[1]}]},
        "mark": {"type": "rect", "cornerRadius": 6, **look},
        "encoding": {"x": x, "x2": {"field": "end"}, "y": {"value": 36}, "y2": {"value": 48}},
    }


def draw_stacked_bars(items: Sequence[Sequence[float]]) -> Markup:
    """Draw one bar for each item, from the weighted values of its axes, bottom up.

    Items with the same values share a bar: Vega draws each distinct bar once, and `_place_bars`
    copies it to the place of every item. The group `bars_marks` then holds one path for each axis,
    with a rectangle for each item, so that a browser paints four paths instead of thousands of
    shapes, and the script of the page can sort the items.
    """
    count, values = max(len(items), 1), []
    width = 0.86 if count <= _MAX_SPACED_BARS else 1
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(map(tuple, items)))}
    for kind in kinds:
        below = 0.0
        for axis, value in enumerate(kind):
            top, colour = below + value, AXIS_COLOURS[axis % len(AXIS_COLOURS)]
            values.append({"x": 0, "w": width, "y": below, "z": top, "a": colour})
            below = top
    x: dict[str, Any] = {"field": "x", "type": "quantitative", "axis": None}
    x["scale"] = {"domain": [0, count], "nice": False}
    y: dict[str, Any] = {"field": "y", "type": "quantitative", "scale": _UNIT_SCALE, "title": None}
    y["axis"] = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2f", "labelColor": MUTED}
    track = {"values": [{"x": 0, "w": count, "y": 0, "z": 1}]}
    position = {"x": x, "x2": {"field": "w"}, "y": y, "y2": {"field": "z"}}
    svg = render_svg(
        {
            "width": _BARS_WIDTH,
            "height": 196,
            "padding": {**_CHART_PADDING, "bottom": 22},
            "layer": [
                {"data": track, "mark": {"type": "rect", "color": TRACK}, "encoding": position},
                {
                    "name": "bars",
                    "data": {"values": values},
                    "mark": "rect",
                    "encoding": {**position, "color": {"field": "a", "scale": None}},
                },
            ],
        }
    )
    return _place_bars(svg, [kinds[tuple(item)] for item in items], len(items[0]) if items else 1)


def _place_bars(svg: str, items: Sequence[int], axes: int) -> Markup:
    """Copy the bar of every item to its place, and join the rectangles of each axis to one path.

    `items` are the numbers of their bars. Vega drew all bars at the first place.
    """
    begin = svg.index(">", svg.index("bars_marks")) + 1
    end = svg.index("</g>", begin)
    found = _BAR_PATH.findall(svg, begin, end)
    places = [f"M{round(at * _BARS_WIDTH / len(items), 2):g}" for at in range(len(items))]
    paths = []
    for axis in range(axes):
        shapes = [shape for shape, _ in found[axis::axes]]
        path = "".join(place + shapes[kind] for place, kind in zip(places, items, strict=True))
        paths.append(f'<path fill="{found[axis][1]}" d="{path}"/>')
    return Markup(f"{svg[:begin]}{''.join(paths)}{svg[end:]}")  # noqa: S704 - as before


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisMean:
    """The mean of an axis, and its interval if there is one."""

    name: str
    mean: float
    lower: float | None
    upper: float | None


def draw_axis_means(found: Sequence[AxisMean]) -> Markup:
    """Draw the mean of each axis as a bar in the colour of the axis, with its interval."""
    labels = shorten_labels(mean.name for mean in found)
    values = [
        {"n": label, "v": mean.mean, "l": mean.lower, "u": mean.upper, "t": f"{mean.mean:.3f}"}
        for label, mean in zip(labels, found, strict=True)
    ]
    y: dict[str, Any] = {"field": "n", "type": "nominal", "sort": None, "title": None}
    y["axis"] = {"labelLimit": 200}
    x: dict[str, Any] = {"field": "v", "type": "quantitative", "scale": _UNIT_SCALE, "title": None}
    x["axis"] = {"format": ".2f", "tickCount": 5, "labelColor": MUTED, "grid": True}
    colours = [AXIS_COLOURS[at % len(AXIS_COLOURS)] for at in range(len(found))]
    colour: dict[str, Any] = {"field": "n", "type": "nominal", "legend": None, "sort": None}
    colour["scale"] = {"domain": labels, "range": colours}
    whisker = {"type": "rule", "color": INK, "strokeWidth": 2}
    label = {"type": "text", "align": "left", "dx": 6, "x": 300, "color": INK, "fontSize": 12}
    return render_svg(
        {
            "width": 300,
            "height": {"step": 34},
            "data": {"values": values},
            "layer": [
                {
                    "mark": {"type": "bar", "height": 16},
                    "encoding": {"x": x, "y": y, "color": colour},
                },
                {
                    "transform": [{"filter": "datum.l != null"}],
                    "mark": whisker,
                    "encoding": {"x": {**x, "field": "l"}, "x2": {"field": "u"}, "y": y},
                },
                {"mark": label, "encoding": {"y": y, "text": {"field": "t"}}},
            ],
        }
    )


def find_heat_step(value: float) -> int:
    """Return the step of the colour scale for a value from 0 to 1."""
    return sum(value >= float(limit) for limit in HEAT_LIMITS)


def draw_heat_map(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[int, int], float]
) -> Markup:
    """Draw the mean of every pair of values; a pair that no item has stays empty."""
    down, across = shorten_labels(rows, 18), shorten_labels(columns, 18)
    values = [
        {"r": down[r], "c": across[c], "t": _format_heat_value(value), "s": find_heat_step(value)}
        for (r, c), value in cells.items()
    ]
    x: dict[str, Any] = {"field": "c", "type": "nominal", "sort": None, "title": None}
    x["scale"] = {"domain": across}
    x["axis"] = {"orient": "top", "labelAngle": -38, "labelAlign": "left", "labelLimit": 150}
    y: dict[str, Any] = {
        "field": "r",
        "type": "nominal",
        "sort": None,
        "title": None,
        "scale": {"domain": down},
    }
    colour: dict[str, Any] = {"field": "s", "type": "ordinal", "legend": None}
    colour["scale"] = {"domain": list(range(len(HEAT_COLOURS))), "range": list(HEAT_COLOURS)}
    rect = {"type": "rect", "cornerRadius": 3, "width": {"band": 0.94}, "height": {"band": 0.9}}
    return render_svg(
        {
            "width": {"step": 40},
            "height": {"step": 26},
            "data": {"values": values},
            "encoding": {"x": x, "y": y},
            "layer": [
                {"mark": rect, "encoding": {"color": colour}},
                {
                    "mark": {"type": "text", "fontSize": 11},
                    "encoding": {"text": {"field": "t"}, "color": _HEAT_TEXT_COLOUR},
                },
            ],
        }
    )


_HEAT_TEXT_COLOUR = {"condition": {"test": "datum.s === 0", "value": "#fffffe"}, "value": INK}


def _format_heat_value(value: float) -> str:
    """Return two decimals; only exactly 1 is shown as 1."""
    return "1" if value == 1 else f"{min(value, 0.99):.2f}".removeprefix("0")


def draw_histogram(values: Mapping[float, int], limits: Sequence[ChartLimit], title: str) -> Markup:
    """Draw a histogram of a measure, together with its limits."""
    data = [{"v": value, "n": count} for value, count in values.items()]
    x: dict[str, Any] = {"field": "v", "type": "quantitative", "bin": {"maxbins": 24}}
    x |= {"title": title, "axis": {"labelColor": MUTED, "format": ",~f"}}
    y: dict[str, Any] = {"aggregate": "sum", "field": "n", "type": "quantitative", "title": None}
    y["axis"] = {"tickMinStep": 1, "tickCount": 4, "grid": True, "labelColor": MUTED}
    at = {"field": "x", "type": "quantitative"}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": data},
            "mark": {"type": "bar", "color": AXIS_COLOURS[0]},
            "encoding": {"x": x, "y": y},
        }
    ]
    for row, limit in enumerate(sorted(limits, key=lambda limit: limit.at)):
        side = {"align": "left", "dx": 4} if row else {"align": "right", "dx": -4}
        line = {"values": [{"x": limit.at, "t": limit.label}]}
        rule = {"type": "rule", "color": limit.colour, "strokeWidth": 2, "strokeDash": [4, 3]}
        text = {"type": "text", **side, "y": 8 + 15 * max(0, row - 1), "color": INK}
        layers.append({"data": line, "mark": rule, "encoding": {"x": at}})
        label = {"x": at, "text": {"field": "t"}}
        layers.append({"data": line, "mark": {**text, "fontSize": 12}, "encoding": label})
    return render_svg({"width": 380, "height": 170, "layer": layers})


def draw_trend(
    runs: Sequence[str],
    lines: Sequence[tuple[str, Sequence[float | None]]],
    *,
    legend: bool = False,
    joined: bool = True,
) -> Markup:
    """Draw means over runs; the first line is thick, and a line skips runs without a value.

    Axes have the same colours on the whole page, so only other lines need a legend. Without
    `joined` there are dots only: no line suggests that different subjects are one.
    """
    line = {"mark": {"type": "line"}, "encoding": {"strokeWidth": _TREND_WIDTH}}
    dots = {"mark": {"type": "point", "filled": True, "size": 30, "opacity": 1}}
    labels, names = shorten_labels(runs, 20), shorten_labels(name for name, _ in lines)
    values = [
        {"r": label, "v": value, "n": name, "first": name == names[0]}
        for name, (_, line) in zip(names, lines, strict=True)
        for label, value in zip(labels, line, strict=True)
        if value is not None
    ]
    x: dict[str, Any] = {"field": "r", "type": "ordinal", "sort": None, "title": None}
    x["scale"] = {"domain": labels}
    x["axis"] = {"labelAngle": -45, "labelOverlap": True, "labelColor": MUTED}
    y: dict[str, Any] = {"field": "v", "type": "quantitative", "title": None}
    y["scale"] = {"domainMax": 1, "zero": False}
    y["axis"] = {"format": ".2f", "tickCount": 5, "grid": True, "labelColor": MUTED}
    colours = [INK, *(AXIS_COLOURS[at % len(AXIS_COLOURS)] for at in range(len(names) - 1))]
    scale = {"domain": names, "range": colours}
    colour: dict[str, Any] = {"field": "n", "type": "nominal", "scale": scale, "legend": None}
    if legend:
        colour["legend"] = {"title": None, "orient": "bottom", "columns": 2, "labelColor": INK}
    return render_svg(
        {
            "width": 380,
            "height": 170,
            "data": {"values": values},
            "encoding": {"x": x, "y": y, "color": colour},
            "layer": [line, dots] if joined else [dots],
        }
    )


_TREND_WIDTH = {"condition": {"test": "datum.first", "value": 3}, "value": 1.5}


# Comparisons: the values of variants as dots, the differences of runs beside the margin

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The difference of a run from the first, its bounds, and the limit that it must stay above."""

    name: str
    mean: float
    bounds: tuple[float, float] | None
    limit: float
    colour: str


def draw_gaps(gaps: Sequence[Gap], equal: str, limit: str) -> Markup:
    """Draw each difference with its bounds; `equal` and `limit` label the two reference lines.

    The area beyond the limit is coloured: a run whose whole bar lies there is worse.
    """
    seen = [0.0, *(end for gap in gaps for end in (gap.mean, gap.limit, *(gap.bounds or ())))]
    pad = max(0.01, (max(seen) - min(seen)) * 0.12)
    low, high = max(-1.05, min(seen) - pad), min(1.05, max(seen) + pad)
    labels = shorten_labels((gap.name for gap in gaps), 24)
    values = []
    for label, gap in zip(labels, gaps, strict=True):
        # A bound beyond the chart is cut at its edge.
        lower, upper = gap.bounds or (gap.mean, gap.mean)
        ends = {"e": low, "m": gap.limit, "l": max(low, lower), "u": min(high, upper)}
        values.append({"n": label, **ends, "x": gap.mean, "c": gap.colour})
    x: dict[str, Any] = {"type": "quantitative", "title": None}
    x["scale"] = {"domain": [low, high], "nice": False}
    x["axis"] = {"format": "+.2~f", "tickCount": 5, "labelColor": MUTED}
    x["axis"]["labelExpr"] = "datum.value ? datum.label : '0'"  # zero without a sign
    y: dict[str, Any] = {"field": "n", "type": "nominal", "sort": None, "title": None}
    y["scale"] = {"domain": labels, "padding": 0}
    y["axis"] = {"labelLimit": 200} if len(gaps) > 1 else None
    colour = {"field": "c", "type": "nominal", "scale": None}
    height = 38
    line = {"type": "tick", "thickness": 2, "size": height}
    # The area beyond the limit, the limit and the zero line; then bounds and means upon them.
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rect", "color": BAD, "opacity": 0.1},
            "encoding": {"x": {**x, "field": "e"}, "x2": {"field": "m"}, "y": y},
        },
        {"mark": {**line, "color": BAD}, "encoding": {"x": {**x, "field": "m"}, "y": y}},
        {"mark": {**line, "color": MUTED}, "encoding": {"x": {**x, "datum": 0}, "y": y}},
        {
            "mark": {"type": "bar", "height": 12, "cornerRadius": 6, "opacity": 0.45},
            "encoding": {"x": {**x, "field": "l"}, "x2": {"field": "u"}, "y": y, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 200, "opacity": 1},
            "encoding": {"x": {**x, "field": "x"}, "y": y, "color": colour},
        },
    ]
    # The labels stand above the two lines, to the left of the limit and to the right of zero.
    for at, word, side, by in (
        (gaps[0].limit, limit, "right", -2),
        (0.0, equal, "left", 2),
    ):
        text = {"field": "t", "type": "nominal"}
        layers.append(
            {
                "data": {"values": [{"x": at, "t": word}]},
                "mark": {"type": "text", "align": side, "dx": by, "color": INK, "fontSize": 12},
                "encoding": {"x": {**x, "field": "x"}, "y": {"value": -9}, "text": text},
            }
        )
    return render_svg(
        {
            "width": 340,
            "height": {"step": height},
            "padding": {"left": 14, "right": 14, "top": 5, "bottom": 5},
            "data": {"values": values},
            "layer": layers,
        }
    )

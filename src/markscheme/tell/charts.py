"""Charts as SVG: one function for each kind of chart.

Only drawing belongs here. What a chart shows is chosen by the pages in `html` and `compare`; how
shapes, texts and ticks are drawn is in `svg`. Colours are attributes, which the stylesheet of the
page replaces by those of the reader's scheme, light or dark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from markscheme.tell.svg import (
    Anchor,
    Drawing,
    LinearScale,
    find_tick_step,
    format_coordinate,
    list_ticks,
)

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

_LABEL_LENGTH = 28
_LABEL_GAP = 8  # between a label and what it names
_BASELINE = 4  # from the middle of a text down to its baseline
_BARS_WIDTH, _BARS_HEIGHT = 1000, 196  # the script of the page knows both
_MAX_SPACED_BARS = 400  # more bars than this leave no room for gaps
_BAR_SHARE = 0.86  # of a place, if there are gaps
_UNIT_TICKS = (0, 0.25, 0.5, 0.75, 1)
_MAX_BINS = 24
_SLANT = 40  # degrees
_TURN = 45


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
    score: float | None,
    bounds: tuple[float, float] | None,
    limits: Sequence[ChartLimit],
    *,
    met: bool,
) -> Markup:
    """Draw one score with its interval on a line, together with its limits.

    Of a score that is not known, only the bounds are drawn.
    """
    seen = [*(() if score is None else (score,)), *(bounds or ()), *(limit.at for limit in limits)]
    lowest = max(min(0.0, *seen), min(0.8, min(seen) - 0.05))
    colour, width = GOOD if met else BAD, 420
    drawing, x = Drawing(width, 90), LinearScale(low=lowest, high=1, start=0, end=width)
    drawing.add_rectangle((0, 36, width, 12), fill=TRACK, radius=6)
    if bounds:
        start, end = (x.place(bound) for bound in bounds)
        drawing.add_rectangle((start, 36, end - start, 12), fill=colour, radius=6, opacity=0.35)
    for row, limit in enumerate(sorted(limits, key=lambda limit: limit.at)):
        at = x.place(limit.at)
        drawing.add_line([(at, 16), (at, 62)], stroke=limit.colour, width=2)
        _label_limit(drawing, at, 12, limit.label, before=row % 2 == 0)
    if score is not None:
        drawing.add_dot((x.place(score), 42), 7.5, fill=colour)
    for tick in list_ticks(lowest, 1, find_tick_step(lowest, 1, 5)):
        drawing.add_text((x.place(tick), 83), f"{tick:.2f}", fill=MUTED, anchor="middle")
    return drawing.render()


def _label_limit(drawing: Drawing, x: float, y: float, label: str, *, before: bool) -> None:
    """Write the label of a vertical line before or behind it."""
    side: Anchor = "end" if before else "start"
    drawing.add_text((x + (-3 if before else 3), y), label, fill=INK, anchor=side)


def draw_sparkline(values: Sequence[float]) -> Markup:
    """Draw how a value went, as small as a word: a line, and a dot at its end."""
    width, height = 110, 22
    low, high = min(values), max(values)
    room = max(0.01, (high - low) * 0.1)
    y = LinearScale(low=low - room, high=high + room, start=height, end=0)
    x = LinearScale(low=0, high=max(1, len(values) - 1), start=0, end=width)
    points = [(x.place(at), y.place(value)) for at, value in enumerate(values)]
    drawing = Drawing(width, height)
    if len(points) > 1:
        drawing.add_line(points, stroke=MUTED, width=1.5)
    drawing.add_dot(points[-1], 3.5, fill=AXIS_COLOURS[0])
    return drawing.render()


def draw_stacked_bars(items: Sequence[Sequence[float]], missed: Sequence[bool]) -> Markup:
    """Draw one bar for each item, from the weighted values of its axes, bottom up.

    An item that does not pass has a mark below its bar. The group `bars` holds one path for each
    axis and one for the marks, with a shape for each item, so that a browser paints five paths
    instead of thousands of shapes, and the script of the page can sort the items.
    """
    drawing = Drawing(_BARS_WIDTH, _BARS_HEIGHT + 20)  # the script writes names below the bars
    for tick in _UNIT_TICKS:
        middle = (1 - tick) * _BARS_HEIGHT + _BASELINE
        drawing.add_text((-_LABEL_GAP, middle), f"{tick:.2f}", fill=MUTED, anchor="end")
    drawing.add_rectangle((0, 0, _BARS_WIDTH, _BARS_HEIGHT), fill=TRACK)
    pitch = _BARS_WIDTH / max(len(items), 1)
    width = format_coordinate(pitch * (_BAR_SHARE if len(items) <= _MAX_SPACED_BARS else 1))
    paths: list[list[str]] = [[] for _ in (items[0] if items else ())]
    for at, item in enumerate(items):
        left, below = format_coordinate(at * pitch), 0.0
        for path, value in zip(paths, item, strict=True):
            below += value
            top = format_coordinate((1 - below) * _BARS_HEIGHT)
            height = format_coordinate(value * _BARS_HEIGHT)
            path.append(f"M{left},{top}h{width}v{height}h-{width}Z")
    shapes = (
        f'<path fill="{get_axis_colour(axis)}" d="{"".join(path)}"/>'
        for axis, path in enumerate(paths)
    )
    path_of_marks = []
    for at, is_missed in enumerate(missed):
        left, right = format_coordinate(at * pitch), width if is_missed else "0"
        path_of_marks.append(f"M{left},{_BARS_HEIGHT + 2}h{right}v5h-{right}Z")
    marks = "".join(path_of_marks)
    missed_marks = f'<path class="missed" fill="{BAD}" d="{marks}"/>'
    drawing.add_markup(['<g class="bars">', *shapes, missed_marks, "</g>"])
    return drawing.render()


def get_axis_colour(axis: int) -> str:
    """Return the colour of an axis by its number; it is the same on the whole page."""
    return AXIS_COLOURS[axis % len(AXIS_COLOURS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisMean:
    """The mean of an axis, and its interval if there is one."""

    name: str
    mean: float
    lower: float | None
    upper: float | None


def draw_axis_means(found: Sequence[AxisMean]) -> Markup:
    """Draw the mean of each axis as a bar in the colour of the axis, with its interval."""
    width, step = 300, 34
    drawing, x = Drawing(width, step * len(found)), LinearScale(low=0, high=1, start=0, end=width)
    _draw_value_axis(drawing, x, [(tick, f"{tick:.2f}") for tick in _UNIT_TICKS], step * len(found))
    labels = shorten_labels(mean.name for mean in found)
    for at, (label, mean) in enumerate(zip(labels, found, strict=True)):
        middle = (at + 0.5) * step
        # A mean below 0, of kept penalties, has a number and no bar.
        shown = x.place(max(0.0, mean.mean))
        drawing.add_rectangle((0, middle - 8, shown, 16), fill=get_axis_colour(at))
        if mean.lower is not None and mean.upper is not None:
            ends = [(x.place(max(0.0, bound)), middle) for bound in (mean.lower, mean.upper)]
            drawing.add_line(ends, stroke=INK, width=2)
        _label_row(drawing, middle, label)
        value = f"{mean.mean:.3f}"
        drawing.add_text((width + _LABEL_GAP, middle + _BASELINE), value, fill=INK)
    return drawing.render()


def _draw_value_axis(
    drawing: Drawing, x: LinearScale, ticks: Iterable[tuple[float, str]], height: float
) -> None:
    """Draw a vertical grid line for each tick, with its label below."""
    for tick, label in ticks:
        at = x.place(tick)
        drawing.add_line([(at, 0), (at, height)], stroke=LINE)
        drawing.add_text((at, height + 18), label, fill=MUTED, anchor="middle")


def _draw_level_axis(
    drawing: Drawing, y: LinearScale, ticks: Iterable[tuple[float, str]], width: float
) -> None:
    """Draw a horizontal grid line for each tick, with its label to the left."""
    for tick, label in ticks:
        at = y.place(tick)
        drawing.add_line([(0, at), (width, at)], stroke=LINE)
        drawing.add_text((-_LABEL_GAP, at + _BASELINE), label, fill=MUTED, anchor="end")


def _label_row(drawing: Drawing, middle: float, label: str) -> None:
    drawing.add_text((-_LABEL_GAP, middle + _BASELINE), label, fill=INK, anchor="end")


def find_heat_step(value: float) -> int:
    """Return the step of the colour scale for a value from 0 to 1."""
    return sum(value >= float(limit) for limit in HEAT_LIMITS)


def draw_heat_map(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[int, int], float]
) -> Markup:
    """Draw the mean of every pair of values; a pair that no item has stays empty."""
    width, height = 40, 26
    drawing = Drawing(width * len(columns), height * len(rows))
    for at, label in enumerate(shorten_labels(columns, 18)):
        drawing.add_text(((at + 0.5) * width, -_LABEL_GAP), label, fill=INK, angle=-_SLANT)
    for at, label in enumerate(shorten_labels(rows, 18)):
        _label_row(drawing, (at + 0.5) * height, label)
    for (row, column), value in cells.items():
        left, top, step = column * width, row * height, find_heat_step(value)
        box = (left + 1.2, top + 1.3, width - 2.4, height - 2.6)
        drawing.add_rectangle(box, fill=HEAT_COLOURS[step], radius=3)
        # White on the darkest step; it is not among the colours that the stylesheet replaces.
        colour, text = INK if step else "#fffffe", _format_heat_value(value)
        middle = top + height / 2 + _BASELINE
        drawing.add_text((left + width / 2, middle), text, fill=colour, anchor="middle", size=11)
    return drawing.render()


def _format_heat_value(value: float) -> str:
    """Return two decimals; only exactly 1 is shown as 1."""
    return "1" if value == 1 else f"{min(value, 0.99):.2f}".removeprefix("0")


def draw_histogram(values: Mapping[float, int], limits: Sequence[ChartLimit], title: str) -> Markup:
    """Draw a histogram of a measure, together with its limits."""
    width, height = 380, 170
    step = find_tick_step(min(values), max(values), _MAX_BINS)
    bins: Counter[int] = Counter()
    for value, count in values.items():
        bins[int(value // step)] += count
    ends = [step * min(bins), step * (max(bins) + 1), *(limit.at for limit in limits)]
    x = LinearScale(low=min(ends), high=max(ends), start=0, end=width)
    level = max(1, find_tick_step(0, max(bins.values()), 4))
    highest = -(-max(bins.values()) // level) * level
    y = LinearScale(low=0, high=highest, start=height, end=0)
    drawing = Drawing(width, height)
    levels = [(tick, f"{tick:,.0f}") for tick in list_ticks(0, highest, level)]
    _draw_level_axis(drawing, y, levels, width)
    for number, count in bins.items():
        left, right = x.place(number * step), x.place((number + 1) * step)
        top = y.place(count)
        box = (left + 0.5, top, max(0.5, right - left - 1), height - top)
        drawing.add_rectangle(box, fill=AXIS_COLOURS[0])
    for tick in list_ticks(min(ends), max(ends), find_tick_step(min(ends), max(ends), 8)):
        label = f"{tick:,g}" if abs(tick) < 1 else f"{tick:,.1f}".removesuffix(".0")
        drawing.add_text((x.place(tick), height + 18), label, fill=MUTED, anchor="middle")
    drawing.add_text((width / 2, height + 38), title, fill=MUTED, anchor="middle")
    for row, limit in enumerate(sorted(limits, key=lambda limit: limit.at)):
        # Each label has a line of its own, on the side with more room.
        at, label_at = x.place(limit.at), -6 - 15 * row
        drawing.add_line([(at, label_at - 9), (at, height)], stroke=limit.colour, dashed=True)
        _label_limit(drawing, at, label_at, limit.label, before=at > width / 2)
    return drawing.render()


def draw_trend(
    runs: Sequence[str],
    lines: Sequence[tuple[str, Sequence[float | None]]],
    *,
    legend: bool = False,
    joined: bool = True,
) -> Markup:
    """Draw means over runs; the first line is thick, and a line skips runs without a value.

    With a `legend` each line has its name at its end; the colours of axes are the same on the whole
    page and need none. Without `joined` there are dots only: no line suggests that different
    subjects are one.
    """
    width, height = 380, 170
    seen = [value for _, line in lines for value in line if value is not None]
    step = find_tick_step(min(seen, default=0), 1, 5)
    lowest = min(seen, default=0) // step * step
    y = LinearScale(low=lowest, high=1, start=height, end=0)
    pitch = width / max(len(runs), 1)
    drawing = Drawing(width, height)
    _draw_level_axis(
        drawing, y, [(tick, f"{tick:.2f}") for tick in list_ticks(lowest, 1, step)], width
    )
    # Turned labels need the height of a line each; where there are more runs, some are left out.
    every = max(1, round(20 / pitch))
    for at, label in enumerate(shorten_labels(runs, 26)):
        if at % every == 0:
            x = (at + 0.5) * pitch
            drawing.add_text((x + 4, height + 16), label, fill=MUTED, anchor="end", angle=-_TURN)
    names = shorten_labels(name for name, _ in lines)
    ends = []
    for at, (name, (_, line)) in reversed(list(enumerate(zip(names, lines, strict=True)))):
        colour = get_axis_colour(at - 1) if at else INK
        dots = [
            ((run + 0.5) * pitch, y.place(value))
            for run, value in enumerate(line)
            if value is not None
        ]
        if joined and dots:
            drawing.add_line(dots, stroke=colour, width=1.5 if at else 3)
        for dot in dots:
            drawing.add_dot(dot, 3, fill=colour)
        if dots:
            ends.append((dots[-1][1], name, colour))
    if legend:
        _label_lines(drawing, width, ends)
    return drawing.render()


def _label_lines(drawing: Drawing, x: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write the name of each line beside its end, with a dot of its colour; no two overlap."""
    free = float("-inf")
    for end, name, colour in sorted(ends):
        middle = max(end, free)
        drawing.add_dot((x + 4, middle), 4, fill=colour)
        drawing.add_text((x + 12, middle + _BASELINE), name, fill=INK)
        free = middle + 16


# Comparisons: the values of variants as dots, the differences of runs beside the margin


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

    def list_labels(self) -> list[tuple[float, str]]:
        """Return the places of the grid lines with their labels."""
        digits = 0 if self.step == 1 else 2
        ticks = list_ticks(self.lowest, self.highest, self.step)
        return [(tick, f"{tick:.{digits}f}") for tick in ticks]


_DOTS_WIDTH = 300
_LARGEST_DOT = 7.5


def draw_paired_dots(pairs: Sequence[DotPair], over: ChartRange, colour: int = 0) -> Markup:
    """Draw a line for each axis with a dot for each variant; the candidate's dot is on top."""
    step = 30
    drawing, x = _start_dots([pair.name for pair in pairs], over, step)
    for at, pair in enumerate(pairs):
        middle = (at + 0.5) * step
        baseline, candidate = (
            None if value is None else x.place(value) for value in (pair.baseline, pair.candidate)
        )
        if baseline is not None and candidate is not None:
            ends = [(baseline, middle), (candidate, middle)]
            drawing.add_line(ends, stroke=LINE, width=5)
        if baseline is not None:
            drawing.add_dot((baseline, middle), _LARGEST_DOT, fill=MUTED)
        if candidate is not None:
            drawing.add_dot((candidate, middle), 5, fill=get_axis_colour(colour))
    return drawing.render()


def draw_dot_rows(
    axes: Sequence[str], variants: Sequence[Sequence[float | None]], over: ChartRange
) -> Markup:
    """Draw a row of dots for each axis, one below the other per variant; the baseline is first."""
    step = 13 * (len(variants) + 1)
    drawing, x = _start_dots(axes, over, step)
    for number, variant in enumerate(variants):
        colour = get_axis_colour(number - 1) if number else MUTED
        for at, value in enumerate(variant):
            if value is not None:
                drawing.add_dot((x.place(value), at * step + 13 * (number + 1)), 5.3, fill=colour)
    return drawing.render()


def _start_dots(axes: Sequence[str], over: ChartRange, step: float) -> tuple[Drawing, LinearScale]:
    """Begin a chart with a row for each axis: the grid, the labels and the horizontal scale."""
    drawing = Drawing(_DOTS_WIDTH, step * len(axes))
    x = LinearScale(low=over.lowest, high=over.highest, start=_LARGEST_DOT, end=_DOTS_WIDTH)
    _draw_value_axis(drawing, x, over.list_labels(), step * len(axes))
    for at, label in enumerate(shorten_labels(axes, 32)):
        middle = (at + 0.5) * step
        drawing.add_line([(0, middle), (_DOTS_WIDTH, middle)], stroke=LINE)
        _label_row(drawing, middle, label)
    return drawing, x


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
    width, step = 340, 38
    height = step * len(gaps)
    # The scale draws a bound beyond the chart at its edge.
    drawing, x = Drawing(width, height), LinearScale(low=low, high=high, start=0, end=width)
    names = shorten_labels((gap.name for gap in gaps), 24) if len(gaps) > 1 else [""]
    zero = x.place(0)
    for at, (name, gap) in enumerate(zip(names, gaps, strict=True)):
        top, margin = at * step, x.place(gap.limit)
        drawing.add_rectangle((0, top, margin, step), fill=BAD, opacity=0.1)
        drawing.add_line([(margin, top), (margin, top + step)], stroke=BAD, width=2)
        drawing.add_line([(zero, top), (zero, top + step)], stroke=MUTED, width=2)
        lower, upper = (x.place(bound) for bound in gap.bounds or (gap.mean, gap.mean))
        box = (lower, top + 13, upper - lower, 12)
        drawing.add_rectangle(box, fill=gap.colour, radius=6, opacity=0.45)
        drawing.add_dot((x.place(gap.mean), top + step / 2), 8, fill=gap.colour)
        _label_row(drawing, top + step / 2, name)
    _label_limit(drawing, x.place(gaps[0].limit), -6, limit, before=True)
    _label_limit(drawing, zero, -6, equal, before=False)
    for tick in list_ticks(low, high, find_tick_step(low, high, 5)):
        label = f"{tick:+g}".replace("-", "−") if tick else "0"
        drawing.add_text((x.place(tick), height + 18), label, fill=MUTED, anchor="middle")
    return drawing.render()

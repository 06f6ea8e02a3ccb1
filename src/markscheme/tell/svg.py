"""Drawing in SVG: shapes and texts, a size that grows with the labels, scales and their ticks.

What is drawn has no script, no style, no identifier and no address; texts are escaped. Colours are
attributes, so that the stylesheet of a page can replace them.

>>> drawing = Drawing(100, 20)
>>> drawing.add_rectangle((0, 0, 50, 20), fill="#3566b8")
>>> str(drawing.render())[:36]
'<svg aria-hidden="true" xmlns="http:'
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from markupsafe import Markup, escape

FONT_SIZE = 12
_FONT = "system-ui, sans-serif"
_PADDING = 6
# Widths of characters in em. They are those of a wide font (DejaVu Sans), because the font of a
# reader is not known: a label may get more room than it needs, never less.
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[]/ "), frozenset("mwMW@%…—")
_NARROW_WIDTH, _USUAL_WIDTH, _CAPITAL_WIDTH, _WIDE_WIDTH = 0.38, 0.63, 0.72, 1.0
_NICE_STEPS = (1, 2, 5, 10)

Anchor = Literal["start", "middle", "end"]
Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]
"""The left and upper side of a rectangle, its width and its height."""


def measure_text(text: str, size: float = FONT_SIZE) -> float:
    """Return how wide a text may be, in pixels, whatever font a reader has."""
    return size * sum(map(_measure_character, text))


def _measure_character(character: str) -> float:
    if character in _NARROW:
        return _NARROW_WIDTH
    if character in _WIDE or unicodedata.east_asian_width(character) in "WF":
        return _WIDE_WIDTH
    return _CAPITAL_WIDTH if character.isupper() else _USUAL_WIDTH


def format_coordinate(value: float) -> str:
    """Return a number with at most two decimals, as short as possible."""
    return f"{round(value, 2) + 0:g}"  # adding 0 makes -0 a 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearScale:
    """Maps values from `low` to `high` to pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the pixel of a value; a value outside is drawn at the edge."""
        span = self.high - self.low or 1
        share = min(1.0, max(0.0, (value - self.low) / span))
        return self.start + share * (self.end - self.start)


def find_tick_step(low: float, high: float, most: int) -> float:
    """Return the smallest step of 1, 2 or 5 times a power of ten with at most `most` steps."""
    least = (high - low or abs(high) or 1) / most
    power = 10.0 ** math.floor(math.log10(least))
    # A step of 0.1 + 0.2 is no reason to take the next larger one.
    return next(nice * power for nice in _NICE_STEPS if nice * power >= least * (1 - 1e-9))


def list_ticks(low: float, high: float, step: float) -> list[float]:
    """Return the multiples of `step` from `low` to `high`, both included."""
    digits = max(0, 2 - math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    return [round(at * step, digits) for at in range(first, last + 1)]


class Drawing:
    """Shapes and texts on an area of `width` × `height`, which grows where a text needs room."""

    def __init__(self, width: float, height: float) -> None:
        self._left, self._top, self._right, self._bottom = 0.0, 0.0, width, height
        self._elements: list[str] = []

    def add_rectangle(self, box: Box, *, fill: str, radius: float = 0, opacity: float = 1) -> None:
        """Add a filled rectangle."""
        corner = f' rx="{radius}"' if radius else ""
        sides = zip(("x", "y", "width", "height"), box, strict=True)
        shape = " ".join(f'{name}="{format_coordinate(value)}"' for name, value in sides)
        self._elements.append(f'<rect {shape}{corner} fill="{fill}"{_set_opacity(opacity)}/>')

    def add_line(
        self,
        points: Sequence[Point],
        *,
        stroke: str,
        width: float = 1,
        dashed: bool = False,
    ) -> None:
        """Add a line through all points."""
        path = "L".join(f"{format_coordinate(x)},{format_coordinate(y)}" for x, y in points)
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self._elements.append(
            f'<path d="M{path}" fill="none" stroke="{stroke}" stroke-width="{width}"{dashes}/>'
        )

    def add_dot(self, centre: Point, radius: float, *, fill: str) -> None:
        """Add a filled circle."""
        x, y = map(format_coordinate, centre)
        self._elements.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"/>')

    def add_text(
        self,
        place: Point,
        text: str,
        *,
        fill: str,
        anchor: Anchor = "start",
        size: float = FONT_SIZE,
        angle: float = 0,
    ) -> None:
        """Add a text on a baseline at `place`, turned by `angle` degrees around its anchor."""
        x, y = place
        length = measure_text(text, size)
        before = {"start": 0.0, "middle": length / 2, "end": length}[anchor]
        self._make_room(place, (-before, length - before), size, math.radians(angle))
        start = f'x="{format_coordinate(x)}" y="{format_coordinate(y)}"'
        if angle:
            turned = f"{angle:g} {format_coordinate(x)} {format_coordinate(y)}"
            start = f'{start} transform="rotate({turned})"'
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        look = f'font-family="{_FONT}" font-size="{size:g}px" fill="{fill}"'
        self._elements.append(f"<text {start}{side} {look}>{escape(text)}</text>")

    def _make_room(
        self, place: Point, ends: tuple[float, float], size: float, angle: float
    ) -> None:
        """Enlarge the drawing so that a turned text fits; `ends` are along its baseline."""
        x, y = place
        for along in ends:
            for above in (0.3 * size, -0.9 * size):
                across = x + along * math.cos(angle) - above * math.sin(angle)
                down = y + along * math.sin(angle) + above * math.cos(angle)
                self._left, self._right = min(self._left, across), max(self._right, across)
                self._top, self._bottom = min(self._top, down), max(self._bottom, down)

    def add_markup(self, elements: Iterable[str]) -> None:
        """Add elements that are SVG already, without texts from outside."""
        self._elements.extend(elements)

    def render(self) -> Markup:
        """Return the drawing, as large as what is in it."""
        left, top = self._left - _PADDING, self._top - _PADDING
        width, height = self._right + _PADDING - left, self._bottom + _PADDING - top
        box = " ".join(map(format_coordinate, (left, top, width, height)))
        size = f'width="{format_coordinate(width)}" height="{format_coordinate(height)}"'
        head = f'<svg aria-hidden="true" xmlns="http://www.w3.org/2000/svg" {size} viewBox="{box}">'
        return Markup(f"{head}{''.join(self._elements)}</svg>")  # noqa: S704 - texts are escaped


def _set_opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' opacity="{opacity}"'

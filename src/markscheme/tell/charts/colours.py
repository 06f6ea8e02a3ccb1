"""The colours of pages and charts, in a light and in a dark scheme."""

from __future__ import annotations

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

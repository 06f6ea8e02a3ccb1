"""Charts as SVG: Vega-Lite specifications, drawn by vl-convert when a page is written.

Only drawing belongs here. What a chart shows is chosen by the pages in `html` and `compare`.
"""

from markscheme.tell.charts.colours import AXIS_COLOURS, COLOUR_SCHEMES
from markscheme.tell.charts.comparison import ChartRange, DotPair, draw_dot_rows, draw_paired_dots
from markscheme.tell.charts.differences import Gap, draw_gaps
from markscheme.tell.charts.drawing import (
    AxisMean,
    draw_axis_means,
    draw_stacked_bars,
    find_heat_step,
    shorten_labels,
)

__all__ = [
    "AXIS_COLOURS",
    "COLOUR_SCHEMES",
    "AxisMean",
    "ChartRange",
    "DotPair",
    "Gap",
    "draw_axis_means",
    "draw_dot_rows",
    "draw_gaps",
    "draw_paired_dots",
    "draw_stacked_bars",
    "find_heat_step",
    "shorten_labels",
]

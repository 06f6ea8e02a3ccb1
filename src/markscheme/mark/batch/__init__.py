"""TODO batch."""

from markscheme.mark.batch.cell_table import CellIndex
from markscheme.mark.batch.frames import ERROR, FrameBuilder
from markscheme.mark.batch.marker import BatchMarker, MarkedColumns
from markscheme.mark.batch.sheets import MarkSheet, build_mark_sheet, lookup_series

__all__ = [
    "ERROR",
    "BatchMarker",
    "CellIndex",
    "FrameBuilder",
    "MarkSheet",
    "MarkedColumns",
    "build_mark_sheet",
    "lookup_series",
]

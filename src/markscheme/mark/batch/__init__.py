"""Mark many answers at once: one columnar pipeline, held to `mark.definition` by tests.

Read `pipeline` first; it uses `responses` (outputs into columns) and `cells` (the one cache), and
`frames` turns its result into rows. Nothing here judges by itself: every cell comes from
`mark_cell`. Loading this package loads polars.
"""

from markscheme.mark.batch.cells import CellIndex
from markscheme.mark.batch.frames import (
    ERROR,
    FrameBuilder,
    MarkSheet,
    build_mark_sheet,
    lookup_series,
)
from markscheme.mark.batch.pipeline import BatchMarker, MarkedColumns

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

"""Mark many answers at once: one columnar pipeline, held to `mark.definition` by tests.

Read `pipeline` first; it uses `responses` (outputs into columns) and `cells` (the one cache), and
`frames` turns its result into rows. Nothing here judges by itself: every cell comes from
`mark_cell`. Loading this package loads polars.
"""

from markscheme.mark.batch.cells import CellIndex
from markscheme.mark.batch.frames import (
    BOUNDS_TYPE,
    CELL_DETAILS,
    ERROR,
    FrameBuilder,
    MarkSheet,
    build_mark_sheet,
    get_score_status,
    has_detailed_cells,
    list_expected_texts,
    lookup_series,
)
from markscheme.mark.batch.mark_records import MARKS_TYPE, build_mark_record, restore_marks
from markscheme.mark.batch.pipeline import BatchMarker, MarkedColumns

__all__ = [
    "BOUNDS_TYPE",
    "CELL_DETAILS",
    "ERROR",
    "MARKS_TYPE",
    "BatchMarker",
    "CellIndex",
    "FrameBuilder",
    "MarkSheet",
    "MarkedColumns",
    "build_mark_record",
    "build_mark_sheet",
    "get_score_status",
    "has_detailed_cells",
    "list_expected_texts",
    "lookup_series",
    "restore_marks",
]

"""Marked answers as they are handed on: small, and complete in themselves.

A sheet holds codes where a frame holds reasons, so that sending one to another process costs
little; `frames` writes it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.mark.definition import compute_score
from markscheme.read.answers import get_measured_schema
from markscheme.vocabulary import MESSAGE_COLUMN, to_float

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.mark.batch.cell_table import CellTable
    from markscheme.mark.batch.marker import MarkedColumns
    from markscheme.vocabulary import Rubric


_OPTIONAL_COLUMNS = (
    "attempt",
    "subject",
    "latency_ms",
    "tokens_in",
    "tokens_out",
    "cost",
    "output",
    *get_measured_schema(),
)
_ROWS_PER_CELL = 4  # finding out which cells are used takes as long as sending one for so many rows


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkSheet:
    """One row for each answer, and for each axis the cells that the codes of the rows lead to.

    A column of `rows` that would hold nothing is left out. `item` is the position in the exam.
    """

    rows: pl.DataFrame
    cells: list[pl.DataFrame]

    def pack(self) -> MarkSheet:
        """Return the same answers with no cells but their own, or few besides."""
        rows, cells = self.rows, []
        for axis, table in enumerate(self.cells):
            if table.height * _ROWS_PER_CELL < rows.height:
                cells.append(table)
                continue
            codes = rows[get_code_column(axis)]
            used = codes.unique()
            places = pl.zeros(table.height, dtype=pl.UInt32, eager=True)
            places.scatter(used, pl.int_range(len(used), dtype=pl.UInt32, eager=True))
            rows = rows.with_columns(places[codes].alias(get_code_column(axis)))
            cells.append(table[used])
        return MarkSheet(rows=rows, cells=cells)


def get_code_column(axis: int) -> str:
    """Return the name of the column with the codes of an axis."""
    return f"axis {axis}"


def build_mark_sheet(rubric: Rubric, marked: MarkedColumns) -> MarkSheet:
    """Return the answers of one batch as a sheet."""
    known = (marked.table[name] for name in _OPTIONAL_COLUMNS if name in marked.table.columns)
    columns = [
        marked.items.alias("item"),
        marked.got.alias("got"),
        marked.readings.alias("reading"),
        _compute_scores(rubric, marked).alias("score"),
        *(codes.alias(get_code_column(axis)) for axis, codes in enumerate(marked.codes)),
        marked.table["line"],
        *(column for column in known if column.null_count() < len(column)),
    ]
    weights = [Fraction(spec.weight) for spec in rubric]
    cells = [
        _build_cell_frame(table, weight)
        for table, weight in zip(marked.tables, weights, strict=True)
    ]
    return MarkSheet(rows=pl.DataFrame(columns), cells=cells)


def _build_cell_frame(table: CellTable, weight: Fraction) -> pl.DataFrame:
    """Return what can be told of each cell of an axis."""
    cells = table.to_frame()
    values = pl.Series([to_float(value) for value in table.values], dtype=pl.Float64)
    weighted = [None if value is None else to_float(value * weight) for value in table.values]
    return pl.DataFrame(
        [
            values[cells["number"]].alias("value"),
            pl.Series(weighted, dtype=pl.Float64)[cells["number"]].alias("weighted"),
            cells["reason"],
            cells["near_miss"],
            *([cells[MESSAGE_COLUMN]] if MESSAGE_COLUMN in cells.columns else []),
        ]
    )


def _compute_scores(rubric: Rubric, marked: MarkedColumns) -> pl.Series:
    """Return the nearest double of each exact score, computed once for each set of values."""
    known = {
        code: to_float(compute_score(rubric, list(values)))
        for code, values in marked.values.items()
    }
    return lookup_series(known, pl.Float64)[marked.vectors]


def lookup_series(known: Mapping[int, Any], dtype: type[pl.DataType]) -> pl.Series:
    """Return a column that has at each number what is known of it, and nothing elsewhere."""
    return pl.Series(map(known.get, range(max(known, default=-1) + 1)), dtype=dtype)

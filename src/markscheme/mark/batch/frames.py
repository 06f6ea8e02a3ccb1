"""Rows for output: marked answers as small sheets, and as full polars frames.

A `MarkSheet` holds codes where a frame holds reasons, so that sending it to another process is
cheap. `FrameBuilder` writes it out: one row for each answer, missing item and error row, with the
columns of the per-item JSON in their order. A column with one value for each axis is a struct with
one field for each axis, so that `breakdown.correctness` is the same path everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec import Struct

from markscheme.mark.axes import AXES, CriteriaAxis, format_criteria, format_expected
from markscheme.mark.batch.cells import CellTable
from markscheme.mark.batch.mark_records import MARKS_TYPE, build_mark_record
from markscheme.mark.batch.pipeline import MarkedColumns, get_code_column
from markscheme.mark.definition import combine_values, find_leading_axis, get_expected
from markscheme.read.answers import get_measured_schema
from markscheme.vocabulary import (
    MESSAGE_COLUMN,
    Axis,
    AxisValue,
    Cell,
    Exam,
    Item,
    NotApplicable,
    RowError,
    Rubric,
    ScoreBounds,
    Status,
    to_float,
    to_plain,
)

SCORED, UNSCORED, MISSING, ERROR = "scored", "unscored", "missing", "error"
CELL_DETAILS = ("cell_status", "cell_bounds", "marks")
"""The columns of rows whose cells may be more than a value: see `has_detailed_cells`."""
BOUNDS_TYPE = pl.List(pl.Float64)
if TYPE_CHECKING:
    from polars._typing import PolarsDataType

_ANSWER_COLUMNS = ("subject", "attempt", "latency_ms", "tokens_in", "tokens_out", "cost")
_STORED_COLUMNS = (*_ANSWER_COLUMNS, "line")
_OPTIONAL_COLUMNS = (*_ANSWER_COLUMNS, "output", *get_measured_schema())
_COPIED_COLUMNS = ("got", "score", "bounds", "reading", *_ANSWER_COLUMNS, *get_measured_schema())
# Finding the cells in use takes as long as sending one cell for so many rows.
_ROWS_PER_CELL = 4


class MarkSheet(Struct, frozen=True, kw_only=True):
    """One row for each answer, and for each axis the cells that the codes of the rows point to.

    A column of `rows` that would be all null is left out. `item` is the position in the exam.
    """

    rows: pl.DataFrame
    cells: list[pl.DataFrame]

    def pack(self) -> MarkSheet:
        """Return the same answers with the cells they use, and at most few others."""
        rows, cells = self.rows, []
        for axis, table in enumerate(self.cells):
            if table.height * _ROWS_PER_CELL < rows.height:
                cells.append(table)
                continue
            codes = rows[get_code_column(axis)]
            used = codes.unique()
            new_codes = pl.zeros(table.height, dtype=pl.UInt32, eager=True)
            new_codes.scatter(used, pl.int_range(len(used), dtype=pl.UInt32, eager=True))
            rows = rows.with_columns(new_codes[codes].alias(get_code_column(axis)))
            cells.append(table[used])
        return MarkSheet(rows=rows, cells=cells)


def build_mark_sheet(rubric: Rubric, marked: MarkedColumns) -> MarkSheet:
    """Return the answers of one batch as a sheet."""
    optional = (marked.table[name] for name in _OPTIONAL_COLUMNS if name in marked.table.columns)
    columns = [
        marked.items.alias("item"),
        marked.got.alias("got"),
        marked.readings.alias("reading"),
        *_compute_scores(rubric, marked),
        *(codes.alias(get_code_column(axis)) for axis, codes in enumerate(marked.codes)),
        marked.table["line"],
        *(column for column in optional if column.null_count() < len(column)),
    ]
    weights = [Fraction(spec.weight) for spec in rubric]
    detailed = has_detailed_cells(rubric)
    cells = [
        _build_cell_frame(table, weight, detailed=detailed)
        for table, weight in zip(marked.tables, weights, strict=True)
    ]
    return MarkSheet(rows=pl.DataFrame(columns), cells=cells)


def has_detailed_cells(rubric: Rubric) -> bool:
    """Return whether cells may have marks, bounds of their own, or not apply.

    Any other axis of markscheme gives a value, or a cell of which nothing is known.
    """
    return any(
        hasattr(spec.axis, "combine") or AXES.get(spec.axis.kind) is not type(spec.axis)
        for spec in rubric
    )


def _build_cell_frame(table: CellTable, weight: Fraction, *, detailed: bool) -> pl.DataFrame:
    """Return the value, weighted value, reason and near miss of each cell of an axis."""
    cells = table.to_frame()
    exact = [value if isinstance(value, Fraction) else None for value in table.values]
    values = pl.Series([to_float(value) for value in exact], dtype=pl.Float64)
    weighted = [None if value is None else to_float(value * weight) for value in exact]
    return pl.DataFrame(
        [
            values[cells["number"]].alias("value"),
            pl.Series(weighted, dtype=pl.Float64)[cells["number"]].alias("weighted"),
            cells["reason"],
            cells["near_miss"],
            *([cells[MESSAGE_COLUMN]] if MESSAGE_COLUMN in cells.columns else []),
            *(_build_detail_columns(table.cells) if detailed else ()),
        ]
    )


def _build_detail_columns(cells: Sequence[Cell]) -> Iterator[pl.Series]:
    """Yield the status, the bounds and the marks of each cell."""
    bounds = (None if value is None else to_plain(value) for value in map(_get_bounds, cells))
    marks = ([build_mark_record(mark) for mark in cell.marks] or None for cell in cells)
    yield pl.Series("cell_status", [cell.status.value for cell in cells], dtype=pl.String)
    yield pl.Series("cell_bounds", list(bounds), dtype=BOUNDS_TYPE)
    yield pl.Series("marks", list(marks), dtype=MARKS_TYPE)


def _get_bounds(cell: Cell) -> ScoreBounds | None:
    return cell.axis_value if isinstance(cell.axis_value, ScoreBounds) else None


def _compute_scores(rubric: Rubric, marked: MarkedColumns) -> Iterator[pl.Series]:
    """Yield the score of each row, and the bounds and status where it is not a number.

    Scores are the nearest doubles of exact ones, computed once for each set of values.
    """
    scores = {number: combine_values(rubric, values) for number, values in marked.values.items()}
    doubles = {
        number: to_float(score) if isinstance(score, Fraction) else None
        for number, score in scores.items()
    }
    yield lookup_series(doubles, pl.Float64)[marked.vectors].alias("score")
    if None in doubles.values():
        bounds = {
            number: to_plain(score) if isinstance(score, ScoreBounds) else None
            for number, score in scores.items()
        }
        statuses = {number: get_score_status(score) for number, score in scores.items()}
        yield lookup_series(bounds, BOUNDS_TYPE)[marked.vectors].alias("bounds")
        yield lookup_series(statuses, pl.String)[marked.vectors].alias("status")


def get_score_status(score: AxisValue) -> str:
    """Return the status of a row: scored, unscored, or n/a if no axis applies to the answer."""
    if isinstance(score, Fraction):
        return SCORED
    return Status.NOT_APPLICABLE.value if isinstance(score, NotApplicable) else UNSCORED


def lookup_series(values: Mapping[int, Any], dtype: PolarsDataType) -> pl.Series:
    """Return a column with each value at the position of its key, and null at all others."""
    return pl.Series(map(values.get, range(max(values, default=-1) + 1)), dtype=dtype)


class FrameBuilder:
    """Builds the frames of one rubric and exam.

    `files` adds a column that names the file; `logs` adds the columns measured in session logs;
    `messages` adds the hidden column from which `restore_row_messages` restores the reasons.
    """

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        *,
        files: bool = False,
        logs: bool = False,
        messages: bool = False,
    ) -> None:
        self.rubric = rubric
        self.exam = exam
        leading = find_leading_axis(rubric)
        self._prompts = pl.Series([item.prompt for item in exam.items], dtype=pl.String)
        self._ids = pl.Series([item.id for item in exam.items], dtype=pl.String)
        self._expected = pl.Series(
            [list_expected_texts(leading, item) for item in exam.items],
            dtype=pl.List(pl.String),
        )
        self._has_messages = messages
        self.schema = self._build_schema(files=files, logs=logs)

    def _build_schema(self, *, files: bool, logs: bool) -> pl.Schema:
        def each(dtype: PolarsDataType) -> pl.Struct:
            return pl.Struct({spec.name: dtype for spec in self.rubric})

        columns: dict[str, Any] = {
            "item": pl.String,
            "prompt": pl.String,
            "expected": pl.List(pl.String),
            "got": pl.String,
            "score": pl.Float64,
            "breakdown": each(pl.Float64),
            "weighted": each(pl.Float64),
            "status": pl.String,
            "reading": pl.String,
            "reason": each(pl.String),
            "near_miss": each(pl.String),
            "subject": pl.String,
            "attempt": pl.Int64,
            "latency_ms": pl.Float64,
            "tokens_in": pl.Int64,
            "tokens_out": pl.Int64,
            "cost": pl.Float64,
            "line": pl.Int64,
            "error": pl.String,
            "bounds": BOUNDS_TYPE,
        }
        if has_detailed_cells(self.rubric):
            columns["cell_status"] = each(pl.String)
            columns["cell_bounds"] = each(BOUNDS_TYPE)
            columns["marks"] = each(MARKS_TYPE)
        if files:
            columns["file"] = pl.String
        if logs:
            columns |= get_measured_schema()
        if self._has_messages:
            columns[MESSAGE_COLUMN] = each(pl.String)
        return pl.Schema(columns)

    def build_answers(
        self, sheet: MarkSheet, *, before: int = 0, file: str | None = None
    ) -> pl.DataFrame:
        """Return the rows of marked answers; `before` is the number of lines before theirs."""
        rows = sheet.rows
        copied = {name: rows[name] for name in _COPIED_COLUMNS if name in rows.columns}
        codes = [rows[get_code_column(axis)] for axis in range(len(sheet.cells))]

        def each(name: str) -> pl.Series:
            cells = zip(sheet.cells, codes, strict=True)
            return self._join_axes(table[name][column] for table, column in cells)

        columns: dict[str, Any] = {
            "file": file,
            **copied,
            "item": self._ids[rows["item"]],
            "prompt": self._prompts[rows["item"]],
            "expected": self._expected[rows["item"]],
            "breakdown": each("value"),
            "weighted": each("weighted"),
            "status": rows["status"] if "status" in rows.columns else SCORED,
            "reason": each("reason"),
            "near_miss": each("near_miss"),
            "line": rows["line"] + before,
            **{name: each(name) for name in CELL_DETAILS if name in self.schema},
        }
        if self._has_messages:
            columns[MESSAGE_COLUMN] = self.build_messages(sheet)
        return self._build_frame(columns, rows.height)

    def build_messages(self, sheet: MarkSheet, *, once: bool = False) -> pl.Series:
        """Return the hidden column of marked answers: the encoded messages of their reasons.

        With `once` each message stands only in the first row with its cell, which is what the
        store keeps: writing it for every row would take as long as writing the reasons.
        """
        columns = []
        for axis, table in enumerate(sheet.cells):
            codes = sheet.rows[get_code_column(axis)]
            if once:
                codes = codes.set(~codes.is_first_distinct(), None)
            columns.append(table[MESSAGE_COLUMN][codes])
        return self._join_axes(columns).alias(MESSAGE_COLUMN)

    def build_stored_answers(self, kept: pl.DataFrame, weighed: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of stored answers and cells; prompts and the like come from the exam.

        `weighed` holds their `score`, `bounds`, `status` and `weighted` values.
        """
        items = kept["item"].cast(pl.Enum(self._ids)).to_physical()
        columns: dict[str, Any] = {
            "item": kept["item"],
            "prompt": self._prompts[items],
            "expected": self._expected[items],
            "got": kept["got"],
            "score": weighed["score"],
            "bounds": weighed["bounds"],
            "weighted": weighed["weighted"],
            "status": weighed["status"],
            "reading": kept["reading"],
            **{name: self._order_axes(kept[name]) for name in ("breakdown", "reason", "near_miss")},
            **{name: kept[name] for name in _STORED_COLUMNS},
            **{name: self._order_axes(kept[name]) for name in CELL_DETAILS if name in kept.columns},
        }
        if self._has_messages and MESSAGE_COLUMN in kept.columns:
            columns[MESSAGE_COLUMN] = self._order_axes(kept[MESSAGE_COLUMN])
        return self._build_frame(columns, kept.height)

    def _order_axes(self, cells: pl.Series) -> pl.Series:
        """Return the fields of a struct in the order of the rubric's axes."""
        return cells.struct.unnest().select(spec.name for spec in self.rubric).to_struct()

    def build_missing(self, absent: Sequence[tuple[str | None, int]]) -> pl.DataFrame:
        """Return a row for each missing answer, given as subject and position of the item."""
        items = pl.Series([item for _, item in absent], dtype=pl.UInt32)
        columns = {
            "item": self._ids[items],
            "prompt": self._prompts[items],
            "expected": self._expected[items],
            "status": MISSING,
            "subject": [subject for subject, _ in absent],
        }
        return self._build_frame(columns, len(absent))

    def build_errors(self, errors: Sequence[RowError]) -> pl.DataFrame:
        """Return a row for each row of the file that was refused."""
        columns = {
            "item": [error.item for error in errors],
            "got": [error.excerpt for error in errors],
            "status": ERROR,
            "line": [error.line for error in errors],
            "error": [error.reason for error in errors],
            "file": [error.file for error in errors],
        }
        return self._build_frame(columns, len(errors))

    def _build_frame(self, columns: dict[str, Any], height: int) -> pl.DataFrame:
        series = []
        for name, dtype in self.schema.items():
            values = columns.get(name)
            if values is None or isinstance(values, str):
                series.append(pl.Series(name, [values], dtype=dtype).new_from_index(0, height))
            elif isinstance(values, pl.Series):
                series.append(values.alias(name))
            else:
                series.append(pl.Series(name, values, dtype=dtype, strict=False))
        return pl.DataFrame(series)

    def _join_axes(self, columns: Iterable[pl.Series]) -> pl.Series:
        """Join one column for each axis into a struct."""
        named = [column.alias(spec.name) for spec, column in zip(self.rubric, columns, strict=True)]
        return pl.DataFrame(named).to_struct()


def list_expected_texts(axis: Axis | None, item: Item) -> list[str] | None:
    """Return what an axis expects of an item as texts; None if it expects nothing."""
    expected = get_expected(axis, item)
    if expected is None:
        return None
    if isinstance(axis, CriteriaAxis):
        return format_criteria(axis.get_criteria(item))
    return format_expected(expected)

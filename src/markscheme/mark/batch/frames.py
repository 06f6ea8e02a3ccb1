"""Marked answers as polars frames: one row for each answer, missing item and error row.

A frame has the columns of the per-item JSON, in its order; what has one value for each axis is a
struct with one field for each axis, so that `breakdown.correctness` is the same path everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.mark.batch.sheets import get_code_column
from markscheme.mark.definition import find_leading_axis, get_expected
from markscheme.read.answers import get_measured_schema
from markscheme.vocabulary import MESSAGE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markscheme.mark.batch.sheets import MarkSheet
    from markscheme.vocabulary import Exam, RowError, Rubric

_KEPT_COLUMNS = ("subject", "attempt", "latency_ms", "tokens_in", "tokens_out", "cost", "line")
SCORED, UNSCORED, MISSING, ERROR = "scored", "unscored", "missing", "error"
_COPIED_COLUMNS = (
    "got",
    "score",
    "reading",
    "subject",
    "attempt",
    "latency_ms",
    "tokens_in",
    "tokens_out",
    "cost",
    *get_measured_schema(),
)


class FrameBuilder:
    """Builds the frames of one rubric and exam; `files` adds a column that names the file.

    `logs` adds the columns of what is measured in logs, and their files; `messages` adds the hidden
    column from which `restore_row_messages` restores the messages of the reasons.
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
            [_list_expected_texts(get_expected(leading, item)) for item in exam.items],
            dtype=pl.List(pl.String),
        )
        self.has_messages = messages
        self.schema = self._build_schema(files=files, logs=logs)

    def _build_schema(self, *, files: bool, logs: bool) -> pl.Schema:
        def each(dtype: type[pl.DataType]) -> pl.Struct:
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
        }
        if files:
            columns["file"] = pl.String
        if logs:
            columns |= get_measured_schema()
        if self.has_messages:
            columns[MESSAGE_COLUMN] = each(pl.String)
        return pl.Schema(columns)

    def build_answers(
        self, sheet: MarkSheet, *, before: int = 0, file: str | None = None
    ) -> pl.DataFrame:
        """Return the rows of marked answers; `before` lines of their file went before them."""
        rows = sheet.rows
        told = {name: rows[name] for name in _COPIED_COLUMNS if name in rows.columns}
        codes = [rows[get_code_column(axis)] for axis in range(len(sheet.cells))]

        def each(name: str) -> pl.Series:
            cells = zip(sheet.cells, codes, strict=True)
            return self._join_axes(table[name][column] for table, column in cells)

        columns: dict[str, Any] = {
            "file": file,
            **told,
            "item": self._ids[rows["item"]],
            "prompt": self._prompts[rows["item"]],
            "expected": self._expected[rows["item"]],
            "breakdown": each("value"),
            "weighted": each("weighted"),
            "status": _compute_statuses(rows["score"]),
            "reason": each("reason"),
            "near_miss": each("near_miss"),
            "line": rows["line"] + before,
        }
        if self.has_messages:
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
        """Return rows of which answers and cells were kept, with what follows from the documents.

        `weighed` holds their `score` and `weighted` values.
        """
        items = kept["item"].cast(pl.Enum(self._ids)).to_physical()
        scores = weighed["score"]
        columns: dict[str, Any] = {
            "item": kept["item"],
            "prompt": self._prompts[items],
            "expected": self._expected[items],
            "got": kept["got"],
            "score": scores,
            "weighted": weighed["weighted"],
            "status": _compute_statuses(scores),
            "reading": kept["reading"],
            **{name: self._order_axes(kept[name]) for name in ("breakdown", "reason", "near_miss")},
            **{name: kept[name] for name in _KEPT_COLUMNS},
        }
        if self.has_messages and MESSAGE_COLUMN in kept.columns:
            columns[MESSAGE_COLUMN] = self._order_axes(kept[MESSAGE_COLUMN])
        return self._build_frame(columns, kept.height)

    def _order_axes(self, cells: pl.Series) -> pl.Series:
        """Return cells in the order of the rubric's axes."""
        return cells.struct.unnest().select(spec.name for spec in self.rubric).to_struct()

    def build_missing(self, absent: Sequence[tuple[str | None, int]]) -> pl.DataFrame:
        """Return a row for each subject and position of an item that it did not answer."""
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
        """Return a row for each row that was no answer."""
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
        """Return a struct with one field for each axis."""
        named = [column.alias(spec.name) for spec, column in zip(self.rubric, columns, strict=True)]
        return pl.DataFrame(named).to_struct()


def _compute_statuses(scores: pl.Series) -> pl.Series:
    """Return whether each answer has a score; nearly always all have."""
    if not scores.null_count():
        return pl.Series([SCORED], dtype=pl.String).new_from_index(0, len(scores))
    return pl.Series([SCORED, UNSCORED])[scores.is_null().cast(pl.UInt32)]


def _list_expected_texts(expected: Any) -> list[str] | None:
    if expected is None:
        return None
    entries: Iterable[Any] = expected if isinstance(expected, list | tuple) else [expected]
    return [str(entry) for entry in entries]

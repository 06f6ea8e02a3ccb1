"""Read Parquet in slices of rows; its columns need no parsing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from markscheme.read.answers.batch import (
    ANSWER_FIELDS,
    DEFAULT_LIMITS,
    REQUIRED_FIELDS,
    AnswerBatch,
    ReadLimits,
)
from markscheme.read.answers.columns import RawAnswerRows, add_rows, check_columns
from markscheme.read.answers.duplicates import SeenAttempts
from markscheme.read.answers.native_stderr import hide_native_stderr
from markscheme.read.answers.rows import KnownItems
from markscheme.read.answers.text import make_excerpt
from markscheme.vocabulary import AnswersError, Problem

_PIECE_ROWS = 512
_MIN_SLICE_ROWS = 64
# How many bytes in memory one byte of a Parquet file may become.
_COMPRESSION_RATIO = 8
# A byte of a file may hold so many rows, and any file may hold a million: equal rows take almost no
# room, so a small file could claim more rows than can be read in a lifetime.
_ROWS_PER_BYTE = 10
_ALLOWED_ROWS = 1_000_000
_ALLOWED_TYPES = {"item": "text", "output": "text or a struct of JSON values", "subject": "text"}


def read_parquet(
    path: Path,
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[AnswerBatch]:
    """Yield the answers of a file, slice by slice."""
    for rows in list_parquet_slices(path, limits):
        batch = read_parquet_slice(path, rows, known=known, first_line=rows.start + 1)
        seen_attempts.reject_duplicates(batch)
        yield batch


def list_parquet_slices(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> list[range]:
    """Return ranges of rows, each small enough to be read at once."""
    with _translate_parquet_errors(path):
        scan = pl.scan_parquet(path, glob=False)
        _select_parquet_columns(scan.collect_schema(), str(path))
        height, size = scan.select(pl.len()).collect().item(), path.stat().st_size
        _check_row_count(str(path), height, size)
        step = _compute_slice_rows(size, height, limits)
        return [range(start, min(start + step, height)) for start in range(0, height, step)]


def read_parquet_slice(
    path: Path, rows: range, *, known: KnownItems, first_line: int = 1
) -> AnswerBatch:
    """Read some rows of a file; the first of them gets the number `first_line`."""
    with _translate_parquet_errors(path):
        scan = pl.scan_parquet(path, glob=False)
        names = _select_parquet_columns(scan.collect_schema(), str(path))
        frame = scan.select(names).slice(rows.start, len(rows)).collect()
        return _build_parquet_batch(frame, first_line, known)


@contextmanager
def _translate_parquet_errors(path: Path) -> Iterator[None]:
    """Turn errors of polars about a file into an `AnswersError` that names it."""
    try:
        with hide_native_stderr():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        message = f"this cannot be read as Parquet: {make_excerpt(str(error))}"
        raise AnswersError([Problem(file=str(path), line=1, field="", message=message)]) from error


def _check_row_count(file: str, height: int, size: int) -> None:
    """Raise `AnswersError` if a file claims more rows than answers can have in its bytes."""
    allowed = max(_ALLOWED_ROWS, _ROWS_PER_BYTE * size)
    if height > allowed:
        message = (
            f"claims {height:,} rows in {size:,} bytes; a file of this size may hold {allowed:,}"
        )
        raise AnswersError([Problem(file=file, line=1, field="", message=message)])


def _compute_slice_rows(size: int, height: int, limits: ReadLimits) -> int:
    """Return how many rows to read at once, if compressed bytes grow by `_COMPRESSION_RATIO`."""
    affordable = limits.batch_bytes // _COMPRESSION_RATIO * height // max(size, 1)
    return min(limits.batch_rows, max(_MIN_SLICE_ROWS, affordable))


def _select_parquet_columns(schema: pl.Schema, file: str) -> list[str]:
    """Return the columns to read, or raise `AnswersError` with all mistakes in the schema."""
    mistakes = [(name, "the column is missing") for name in REQUIRED_FIELDS if name not in schema]
    for name, dtype in schema.items():
        if name in ANSWER_FIELDS and not _is_allowed_type(name, dtype):
            allowed = _ALLOWED_TYPES.get(name, "numbers")
            mistakes.append((name, f"the column holds {dtype}; it must hold {allowed}"))
    if mistakes:
        needs = "answers need `item` and `output`"
        raise AnswersError(
            Problem(file=file, line=1, field=name, message=f"{message}; {needs}")
            for name, message in mistakes
        )
    return [name for name in ANSWER_FIELDS if name in schema]


def _is_allowed_type(name: str, dtype: pl.DataType) -> bool:
    if dtype == pl.Null:
        return True
    if name == "output" and isinstance(dtype, pl.Struct):
        return _is_json_type(dtype)
    return _is_text_type(dtype) if name in _ALLOWED_TYPES else dtype.is_numeric()


def _is_text_type(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))


def _is_json_type(dtype: object) -> bool:
    """Return whether every value of the type is a JSON value."""
    if isinstance(dtype, pl.Struct):
        return all(_is_json_type(field.dtype) for field in dtype.fields)
    if isinstance(dtype, pl.List):
        return _is_json_type(dtype.inner)
    return isinstance(dtype, (pl.Boolean, pl.Null)) or (
        isinstance(dtype, pl.DataType)
        and (_is_text_type(dtype) or dtype.is_integer() or dtype.is_float())
    )


def _build_parquet_batch(frame: pl.DataFrame, first: int, known: KnownItems) -> AnswerBatch:
    """Return a slice as a batch; its first row has the number `first`."""
    batch = AnswerBatch()
    frame = frame.with_columns(pl.selectors.decimal().cast(pl.Float64))
    for start in range(0, frame.height, _PIECE_ROWS):
        piece = frame.slice(start, _PIECE_ROWS)
        columns = {column.name: column.to_list() for column in piece}
        lines = range(first + start, first + start + piece.height)
        answers = check_columns(columns, known)
        if answers is None:
            add_rows(batch, _build_parquet_rows(lines, piece), known)
        else:
            batch.extend(lines, answers)
    return batch


def _build_parquet_rows(lines: range, piece: pl.DataFrame) -> RawAnswerRows:
    rows = piece.to_dicts()
    return RawAnswerRows(
        lines=lines, rows=rows, excerpt_at=lambda at: make_excerpt(str(rows[at]["output"]))
    )

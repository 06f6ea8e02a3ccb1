"""Parquet: columns already, read in slices."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from markscheme.errors import AnswersError, Problem
from markscheme.read.answers.batch import FIELDS, NEEDED, AnswerBatch
from markscheme.read.answers.columns import regular
from markscheme.read.answers.excerpt import excerpt
from markscheme.read.answers.limits import USUAL, Limits
from markscheme.read.answers.taking import RawRows, take

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markscheme.read.answers.known import KnownItems
    from markscheme.read.answers.ledger import Ledger

_PIECE = 512
_FEWEST = 64
_PACKED = 8
_ALLOWED = {"item": "text", "output": "text or a struct of JSON values", "subject": "text"}


def read_parquet(
    path: Path, *, known: KnownItems, ledger: Ledger, limits: Limits = USUAL
) -> Iterator[AnswerBatch]:
    """Yield the answers in a file, slice by slice."""
    for rows in slices_of(path, limits):
        batch = read_slice(path, rows, known=known, first_line=rows.start + 1)
        ledger.strike(batch)
        yield batch


def slices_of(path: Path, limits: Limits = USUAL) -> list[range]:
    """Return the rows of a file in stretches that can be read at once."""
    with _refusing(path):
        scan = pl.scan_parquet(path, glob=False)
        _names(scan.collect_schema(), str(path))
        height = scan.select(pl.len()).collect().item()
        step = _rows_at_once(path.stat().st_size, height, limits)
        return [range(start, min(start + step, height)) for start in range(0, height, step)]


def read_slice(path: Path, rows: range, *, known: KnownItems, first_line: int = 1) -> AnswerBatch:
    """Read some rows of a file, and number them from `first_line`."""
    with _refusing(path):
        scan = pl.scan_parquet(path, glob=False)
        names = _names(scan.collect_schema(), str(path))
        frame = scan.select(names).slice(rows.start, len(rows)).collect()
        return _batch(frame, first_line, known)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Say of a file that is not Parquet that it is not."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        message = f"this cannot be read as Parquet: {excerpt(str(error))}"
        raise AnswersError([Problem(file=str(path), line=1, field="", message=message)]) from error


def _rows_at_once(size: int, height: int, limits: Limits) -> int:
    """Return how many rows to read at once, as packed bytes become several times as many."""
    affordable = limits.batch_bytes // _PACKED * height // max(size, 1)
    return min(limits.batch_rows, max(_FEWEST, affordable))


def _names(schema: pl.Schema, file: str) -> list[str]:
    """Return the columns to read, or raise with everything that is wrong with them."""
    wrong = [(name, "the column is missing") for name in NEEDED if name not in schema]
    for name, dtype in schema.items():
        if name in FIELDS and not _fits(name, dtype):
            allowed = _ALLOWED.get(name, "numbers")
            wrong.append((name, f"the column holds {dtype}; it must hold {allowed}"))
    if wrong:
        needs = "answers need `item` and `output`"
        raise AnswersError(
            Problem(file=file, line=1, field=name, message=f"{message}; {needs}")
            for name, message in wrong
        )
    return [name for name in FIELDS if name in schema]


def _fits(name: str, dtype: pl.DataType) -> bool:
    if dtype == pl.Null:
        return True
    if name == "output" and isinstance(dtype, pl.Struct):
        return _is_json(dtype)
    return _is_text(dtype) if name in _ALLOWED else dtype.is_numeric()


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))


def _is_json(dtype: object) -> bool:
    """Whether every value of the type is a JSON value."""
    if isinstance(dtype, pl.Struct):
        return all(_is_json(field.dtype) for field in dtype.fields)
    if isinstance(dtype, pl.List):
        return _is_json(dtype.inner)
    return isinstance(dtype, (pl.Boolean, pl.Null)) or (
        isinstance(dtype, pl.DataType)
        and (_is_text(dtype) or dtype.is_integer() or dtype.is_float())
    )


def _batch(frame: pl.DataFrame, first: int, known: KnownItems) -> AnswerBatch:
    """Return a slice as a batch; the row number of its first row is `first`."""
    batch = AnswerBatch()
    frame = frame.with_columns(pl.selectors.decimal().cast(pl.Float64))
    for start in range(0, frame.height, _PIECE):
        piece = frame.slice(start, _PIECE)
        columns = {column.name: column.to_list() for column in piece}
        lines = range(first + start, first + start + piece.height)
        answers = regular(columns, known)
        if answers is None:
            take(batch, _raw_rows(lines, piece), known)
        else:
            batch.extend(lines, answers)
    return batch


def _raw_rows(lines: range, piece: pl.DataFrame) -> RawRows:
    rows = piece.to_dicts()
    return RawRows(lines=lines, rows=rows, shown=lambda at: excerpt(str(rows[at]["output"])))

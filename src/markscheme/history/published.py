"""The answers of a result file as a frame, of which what cannot be used is not known."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.read.sound import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markscheme.vocabulary import Rubric

    Rows = Sequence[Mapping[str, Any]]


def published_frame(rubric: Rubric, rows: Rows) -> pl.DataFrame:
    """Return the answers and cells of a result file, as the store would keep them."""
    axes = [spec.name for spec in rubric]
    columns = [_column(rows, name, read, dtype) for name, (read, dtype) in _COLUMNS.items()]
    columns += [_cells(rows, name, read, dtype, axes) for name, (read, dtype) in _CELLS.items()]
    return pl.DataFrame(columns)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | Decimal) else None


def _attempt(value: Any) -> int | None:
    return 1 if value is None else whole(value)


_COLUMNS: Mapping[str, tuple[Callable[[Any], Any], type[pl.DataType]]] = {
    "item": (_text, pl.String),
    "got": (_text, pl.String),
    "reading": (_text, pl.String),
    "subject": (_text, pl.String),
    "attempt": (_attempt, pl.Int64),
    "latency_ms": (_number, pl.Float64),
    "tokens_in": (whole, pl.Int64),
    "tokens_out": (whole, pl.Int64),
    "cost": (_number, pl.Float64),
    "line": (whole, pl.Int64),
}
_CELLS: Mapping[str, tuple[Callable[[Any], Any], type[pl.DataType]]] = {
    "breakdown": (_number, pl.Float64),
    "reason": (_text, pl.String),
    "near_miss": (_text, pl.String),
}


def _column(
    rows: Rows, name: str, read: Callable[[Any], Any], dtype: type[pl.DataType]
) -> pl.Series:
    return pl.Series(name, [read(row.get(name)) for row in rows], dtype=dtype)


def _cells(
    rows: Rows,
    name: str,
    read: Callable[[Any], Any],
    dtype: type[pl.DataType],
    axes: Sequence[str],
) -> pl.Series:
    """Return what has one value for each axis as a struct."""
    told = [row.get(name) for row in rows]
    each = [cells if isinstance(cells, dict) else {} for cells in told]
    return pl.DataFrame([_column(each, axis, read, dtype) for axis in axes]).to_struct(name)

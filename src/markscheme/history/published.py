"""The answers of a result file as a frame, of which what cannot be used is not known."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.read.sound import validate_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markscheme.vocabulary import Rubric

    PublishedRecords = Sequence[Mapping[str, Any]]


def build_published_frame(rubric: Rubric, rows: PublishedRecords) -> pl.DataFrame:
    """Return the answers and cells of a result file, as the store would keep them."""
    axes = [spec.name for spec in rubric]
    columns = [
        _build_column(rows, name, read, dtype) for name, (read, dtype) in _ANSWER_FIELDS.items()
    ]
    columns += [
        _build_cells_column(rows, name, read, dtype, axes)
        for name, (read, dtype) in _CELL_FIELDS.items()
    ]
    return pl.DataFrame(columns)


def _parse_text_cell(value: Any) -> str | None:
    return None if value is None else str(value)


def _parse_number_cell(value: Any) -> float | None:
    return float(value) if isinstance(value, int | Decimal) else None


def _parse_attempt(value: Any) -> int | None:
    return 1 if value is None else validate_count(value)


_ANSWER_FIELDS: Mapping[str, tuple[Callable[[Any], Any], type[pl.DataType]]] = {
    "item": (_parse_text_cell, pl.String),
    "got": (_parse_text_cell, pl.String),
    "reading": (_parse_text_cell, pl.String),
    "subject": (_parse_text_cell, pl.String),
    "attempt": (_parse_attempt, pl.Int64),
    "latency_ms": (_parse_number_cell, pl.Float64),
    "tokens_in": (validate_count, pl.Int64),
    "tokens_out": (validate_count, pl.Int64),
    "cost": (_parse_number_cell, pl.Float64),
    "line": (validate_count, pl.Int64),
}
_CELL_FIELDS: Mapping[str, tuple[Callable[[Any], Any], type[pl.DataType]]] = {
    "breakdown": (_parse_number_cell, pl.Float64),
    "reason": (_parse_text_cell, pl.String),
    "near_miss": (_parse_text_cell, pl.String),
}


def _build_column(
    rows: PublishedRecords, name: str, read: Callable[[Any], Any], dtype: type[pl.DataType]
) -> pl.Series:
    return pl.Series(name, [read(row.get(name)) for row in rows], dtype=dtype)


def _build_cells_column(
    rows: PublishedRecords,
    name: str,
    read: Callable[[Any], Any],
    dtype: type[pl.DataType],
    axes: Sequence[str],
) -> pl.Series:
    """Return what has one value for each axis as a struct."""
    told = [row.get(name) for row in rows]
    each = [cells if isinstance(cells, dict) else {} for cells in told]
    return pl.DataFrame([_build_column(each, axis, read, dtype) for axis in axes]).to_struct(name)

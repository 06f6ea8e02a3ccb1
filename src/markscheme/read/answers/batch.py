"""Answers in columns: what streams from the reading room to the marking room."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson
import polars as pl

from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Number: TypeAlias = float | int
Output: TypeAlias = str | dict[str, Any]

TABLE: dict[str, Any] = {
    "line": pl.Int64,
    "item": pl.String,
    "subject": pl.String,
    "attempt": pl.Int64,
    "latency_ms": pl.Float64,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
    "cost": pl.Float64,
}
FIELDS = ("item", "output", "subject", "attempt", "latency_ms", "tokens_in", "tokens_out", "cost")
NEEDED = ("item", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeRows:
    """Answers in columns: what is known of each, the texts inside its output, and its whole line.

    `table` has the columns of `TABLE`, `texts` one for each field of the outputs.
    """

    table: pl.DataFrame
    texts: pl.DataFrame
    raw: pl.Series

    def output(self, at: int) -> str:
        """Return the output of the row at a position."""
        output: str = orjson.loads(self.raw[at])["output"]
        return output

    def without(self, positions: Collection[int]) -> AlikeRows:
        """Return the rows at other positions."""
        gone = pl.Series(sorted(positions), dtype=pl.UInt32)
        keep = ~pl.int_range(len(self.raw), dtype=pl.UInt32, eager=True).is_in(gone)
        return AlikeRows(
            table=self.table.filter(keep), texts=self.texts.filter(keep), raw=self.raw.filter(keep)
        )


@dataclass(slots=True, kw_only=True)
class AnswerBatch:
    """A stretch of a file of answers: columns of equal length, and the rows that are no answers.

    `lines` holds the 1-based line on which each answer starts, in Parquet its row. `errors` holds
    the rows of the same stretch that could not be taken, in the order of their lines. Rows that
    are written alike stand apart, in columns of their own.
    """

    lines: list[int] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    subjects: list[str | None] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    latency_ms: list[Number | None] = field(default_factory=list)
    tokens_in: list[int | None] = field(default_factory=list)
    tokens_out: list[int | None] = field(default_factory=list)
    costs: list[Number | None] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)
    alike: AlikeRows | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def rows(self) -> int:
        """How many rows of the file are in this batch, as answers or as errors."""
        alike = self.alike.table.height if self.alike else 0
        return alike + len(self.lines) + len(self.errors)

    def columns(self) -> tuple[list[Any], ...]:
        """Return `lines` and then the columns in the order of `FIELDS`."""
        return tuple(getattr(self, column) for column in _COLUMNS)

    def table(self) -> pl.DataFrame:
        """Return what is known of every answer beside its output, those written alike first."""
        lines, items, _, *known = self.columns()
        columns = zip(TABLE.items(), (lines, items, *known), strict=True)
        table = pl.DataFrame(
            [pl.Series(name, column, dtype, strict=False) for (name, dtype), column in columns]
        )
        return pl.concat([self.alike.table, table]) if self.alike else table

    def extend(self, lines: Iterable[int], columns: Iterable[Iterable[Any]]) -> None:
        """Add answers: their lines, and their columns in the order of `FIELDS`."""
        for mine, more in zip(self.columns(), (lines, *columns), strict=True):
            mine.extend(more)

    def append(self, line: int, answer: Iterable[Any]) -> None:
        """Add one answer: its line, and its fields in the order of `FIELDS`."""
        self.extend((line,), zip(answer, strict=True))

    def set_aside(self, positions: Collection[int], errors: Iterable[RowError]) -> None:
        """Replace the answers at `positions` by `errors`, and take in errors found elsewhere."""
        gone = set(positions)
        keep = [at not in gone for at in range(len(self))]
        for column in self.columns():
            column[:] = compress(column, keep)
        self.errors = sorted([*self.errors, *errors], key=lambda error: error.line)


_COLUMNS = tuple(
    column.name for column in fields(AnswerBatch) if column.name not in {"errors", "alike"}
)

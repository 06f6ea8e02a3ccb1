"""Answers in columns: what streams from the reading room to the marking room."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias

from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Number: TypeAlias = float | int
Output: TypeAlias = str | dict[str, Any]

FIELDS = ("item", "output", "subject", "attempt", "latency_ms", "tokens_in", "tokens_out", "cost")
NEEDED = ("item", "output")


@dataclass(slots=True, kw_only=True)
class AnswerBatch:
    """A stretch of a file of answers: columns of equal length, and the rows that are no answers.

    `lines` holds the 1-based line on which each answer starts, in Parquet its row. `errors` holds
    the rows of the same stretch that could not be taken, in the order of their lines.
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

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def rows(self) -> int:
        """How many rows of the file are in this batch, as answers or as errors."""
        return len(self.lines) + len(self.errors)

    def columns(self) -> tuple[list[Any], ...]:
        """Return `lines` and then the columns in the order of `FIELDS`."""
        return tuple(getattr(self, column) for column in _COLUMNS)

    def extend(self, lines: Iterable[int], columns: Iterable[Iterable[Any]]) -> None:
        """Add answers: their lines, and their columns in the order of `FIELDS`."""
        for mine, more in zip(self.columns(), (lines, *columns), strict=True):
            mine.extend(more)

    def append(self, line: int, answer: Iterable[Any]) -> None:
        """Add one answer: its line, and its fields in the order of `FIELDS`."""
        self.extend((line,), zip(answer, strict=True))

    def set_aside(self, positions: Collection[int], errors: Iterable[RowError]) -> None:
        """Replace the answers at `positions` by `errors`."""
        since = min(positions)
        keep = [at not in positions for at in range(since, len(self))]
        for column in self.columns():
            column[since:] = compress(column[since:], keep)
        self.errors = sorted([*self.errors, *errors], key=lambda error: error.line)


_COLUMNS = tuple(column.name for column in fields(AnswerBatch) if column.name != "errors")

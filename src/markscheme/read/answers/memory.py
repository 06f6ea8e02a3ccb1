"""Answers that are in memory already: rows as mappings, or `Answer` values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from markscheme.read.answers.batch import AnswerBatch
from markscheme.read.answers.excerpt import excerpt
from markscheme.read.answers.known import KnownItems
from markscheme.read.answers.ledger import Ledger, strike_repeats
from markscheme.read.answers.limits import USUAL
from markscheme.read.answers.taking import RawRows, take, taken_at_once
from markscheme.vocabulary import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator


def read_rows(
    rows: Iterable[Answer | Mapping[str, Any]], *, items: Collection[str]
) -> Iterator[AnswerBatch]:
    """Stream rows in columns, by the same rules as rows of a file; a line is a position."""
    return strike_repeats(_batches(rows, KnownItems(items)), Ledger())


def _batches(
    rows: Iterable[Answer | Mapping[str, Any]], known: KnownItems
) -> Iterator[AnswerBatch]:
    stream, first = map(_plain, rows), 1
    while part := list(islice(stream, USUAL.batch_rows)):
        batch = AnswerBatch()
        lines = range(first, first + len(part))
        if not taken_at_once(batch, lines, part, known):
            take(batch, RawRows(lines=lines, rows=part, shown=_shown(part)), known)
        yield batch
        first += len(part)


def _shown(part: list[Any]) -> Callable[[int], str]:
    def shown(at: int) -> str:
        try:
            return excerpt(str(part[at]))
        except (RecursionError, ValueError):  # too deep, or a number too long to be shown
            return "…"

    return shown


def _plain(row: Any) -> Any:
    """Return a row as JSON would have given it: a dict with usual numbers."""
    if isinstance(row, Answer):
        row = {field.name: getattr(row, field.name) for field in fields(Answer)}
    if not isinstance(row, Mapping):
        return row
    return {key: _plain_value(value) for key, value in row.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return dict(value) if isinstance(value, Mapping) else value

"""Answers that are in memory already: rows as mappings, or `Answer` values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from markscheme.read.answers.batch import AnswerBatch
from markscheme.read.answers.excerpt import make_excerpt
from markscheme.read.answers.known import KnownItems
from markscheme.read.answers.ledger import SeenAttempts, reject_duplicates
from markscheme.read.answers.limits import DEFAULT_LIMITS
from markscheme.read.answers.taking import RawAnswerRows, add_rows, try_add_rows
from markscheme.vocabulary import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator


def read_rows(
    rows: Iterable[Answer | Mapping[str, Any]], *, items: Collection[str]
) -> Iterator[AnswerBatch]:
    """Stream rows in columns, by the same rules as rows of a file; a line is a position."""
    return reject_duplicates(_build_batches(rows, KnownItems(items)), SeenAttempts())


def _build_batches(
    rows: Iterable[Answer | Mapping[str, Any]], known: KnownItems
) -> Iterator[AnswerBatch]:
    stream, first = map(_to_plain_row, rows), 1
    while part := list(islice(stream, DEFAULT_LIMITS.batch_rows)):
        batch = AnswerBatch()
        lines = range(first, first + len(part))
        if not try_add_rows(batch, lines, part, known):
            add_rows(
                batch,
                RawAnswerRows(lines=lines, rows=part, excerpt_at=_make_excerpt_getter(part)),
                known,
            )
        yield batch
        first += len(part)


def _make_excerpt_getter(part: list[Any]) -> Callable[[int], str]:
    def shown(at: int) -> str:
        try:
            return make_excerpt(str(part[at]))
        except (RecursionError, ValueError):  # too deep, or a number too long to be shown
            return "…"

    return shown


def _to_plain_row(row: Any) -> Any:
    """Return a row as JSON would have given it: a dict with usual numbers."""
    if isinstance(row, Answer):
        row = {field.name: getattr(row, field.name) for field in fields(Answer)}
    if not isinstance(row, Mapping):
        return row
    return {key: _to_plain_value(value) for key, value in row.items()}


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return dict(value) if isinstance(value, Mapping) else value

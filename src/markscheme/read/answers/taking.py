"""From raw rows to a batch: the fast way where it holds, the definition for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markscheme.read.answers.columns import check_columns, transpose_rows
from markscheme.read.answers.rows import RefusedRow, get_named_item, parse_answer
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from markscheme.read.answers.batch import AnswerBatch
    from markscheme.read.answers.known import KnownItems

_RAW_PIECE_ROWS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswerRows:
    """Rows as their reader found them, with their lines; `shown(at)` is the excerpt of one.

    A row is any JSON value, or a `Refused` where the reader could not even make a value of it.
    """

    lines: Sequence[int]
    rows: Sequence[Any]
    excerpt_at: Callable[[int], str]


def add_rows(batch: AnswerBatch, raw: RawAnswerRows, known: KnownItems) -> None:
    """Add every row to the batch, as an answer or as an error."""
    for start in range(0, len(raw.rows), _RAW_PIECE_ROWS):
        part = slice(start, start + _RAW_PIECE_ROWS)
        if not try_add_rows(batch, raw.lines[part], raw.rows[part], known):
            add_each_row(batch, raw, range(len(raw.rows))[part], known)


def add_each_row(
    batch: AnswerBatch, raw: RawAnswerRows, positions: range, known: KnownItems
) -> None:
    """Add the rows at `positions` one by one, by the definition."""
    for at in positions:
        line, row = raw.lines[at], raw.rows[at]
        try:
            batch.append(line, parse_answer(row, known))
        except RefusedRow as refused:
            item = get_named_item(row)
            batch.errors.append(
                RowError(line=line, reason=str(refused), item=item, excerpt=raw.excerpt_at(at))
            )


def try_add_rows(
    batch: AnswerBatch, lines: Sequence[int], rows: Sequence[Any], known: KnownItems
) -> bool:
    """Add the rows if all of them are regular; say whether that was done."""
    columns = transpose_rows(rows)
    answers = None if columns is None else check_columns(columns, known)
    if answers is None:
        return False
    batch.extend(lines, answers)
    return True


def try_add_columns(
    batch: AnswerBatch, first: int, columns: Mapping[str, Collection[Any]], known: KnownItems
) -> int:
    """Add the answers in sound columns if all are regular; return how many, or 0 if not."""
    answers = check_columns(columns, known, sound=True)
    if answers is None:
        return 0
    count = len(answers[0])
    batch.extend(range(first, first + count), answers)
    return count

"""From raw rows to a batch: the fast way where it holds, the definition for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from markscheme.read.answers.columns import columns_of, regular
from markscheme.read.answers.rows import Refused, answer_of, item_named_by
from markscheme.values import dataclass
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from markscheme.read.answers.batch import AnswerBatch
    from markscheme.read.answers.known import KnownItems

_PIECE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRows:
    """Rows as their reader found them, with their lines; `shown(at)` is the excerpt of one.

    A row is any JSON value, or a `Refused` where the reader could not even make a value of it.
    """

    lines: Sequence[int]
    rows: Sequence[Any]
    shown: Callable[[int], str]


def take(batch: AnswerBatch, raw: RawRows, known: KnownItems) -> None:
    """Add every row to the batch, as an answer or as an error."""
    for start in range(0, len(raw.rows), _PIECE):
        part = slice(start, start + _PIECE)
        if not taken_at_once(batch, raw.lines[part], raw.rows[part], known):
            take_each(batch, raw, range(len(raw.rows))[part], known)


def take_each(batch: AnswerBatch, raw: RawRows, positions: range, known: KnownItems) -> None:
    """Add the rows at `positions` one by one, by the definition."""
    for at in positions:
        line, row = raw.lines[at], raw.rows[at]
        try:
            batch.append(line, answer_of(row, known))
        except Refused as refused:
            item = item_named_by(row)
            batch.errors.append(
                RowError(line=line, reason=str(refused), item=item, excerpt=raw.shown(at))
            )


def taken_at_once(
    batch: AnswerBatch, lines: Sequence[int], rows: Sequence[Any], known: KnownItems
) -> bool:
    """Add the rows if all of them are regular; say whether that was done."""
    columns = columns_of(rows)
    answers = None if columns is None else regular(columns, known)
    if answers is None:
        return False
    batch.extend(lines, answers)
    return True


def columns_taken(
    batch: AnswerBatch, first: int, columns: Mapping[str, Collection[Any]], known: KnownItems
) -> int:
    """Add the answers in sound columns if all are regular; return how many, or 0 if not."""
    answers = regular(columns, known, sound=True)
    if answers is None:
        return 0
    count = len(answers[0])
    batch.extend(range(first, first + count), answers)
    return count

"""Which attempts have been seen: so that one answer never counts twice, in flat memory."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, TypeAlias

from markscheme.read.answers.excerpt import excerpt
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markscheme.read.answers.batch import AnswerBatch

Marks: TypeAlias = dict[str, bytearray]
Attempts: TypeAlias = list[tuple[str | None, str, int, int]]
"""Stretches of attempts: the subject, the item, the first attempt and the last one."""

_SMALLEST = 32
_ALLOWANCE = 1 << 25
_PER_ANSWER = 4


class Ledger:
    """The (item, subject, attempt) of every answer so far.

    Attempts are counted up in practice, so each item of a subject has one byte per attempt: 10
    MB for ten million answers. Bytes are spent within an allowance that grows with the
    answers; an attempt so large that it would break the allowance is kept in a plain set.
    """

    def __init__(self) -> None:
        self._marks: dict[str | None, Marks] = {}
        self._far: dict[tuple[str, str | None], set[int]] = {}
        self._spare = _ALLOWANCE

    def repeats(
        self, items: Sequence[str], subjects: Sequence[str | None], attempts: Sequence[int]
    ) -> list[int]:
        """Enter answers given in columns; return the positions of those seen before."""
        again: list[int] = []
        self._spare += _PER_ANSWER * len(items)
        for at, marks, item, attempt in zip(
            range(len(items)), self._tables(subjects), items, attempts, strict=False
        ):
            try:
                seen = marks[item]
                if seen[attempt]:
                    again.append(at)
                seen[attempt] = 1
            except (KeyError, IndexError):
                if not self._enter(item, subjects[at], attempt):
                    again.append(at)
        return again

    def strike(self, batch: AnswerBatch, since: int = 0) -> None:
        """Enter the answers of a batch from position `since` on; turn repeats into errors."""
        columns = (batch.items[since:], batch.subjects[since:], batch.attempts[since:])
        again = {since + at for at in self.repeats(*columns)}
        if again:
            batch.set_aside(again, [_repeated(batch, at) for at in sorted(again)])

    def known(self, attempts: Attempts) -> Attempts:
        """Return those of the attempts that have been seen, one by one."""
        return [
            (subject, item, attempt, attempt)
            for subject, item, first, last in attempts
            for attempt in self._seen(subject, item, first, last)
        ]

    def _seen(self, subject: str | None, item: str, first: int, last: int) -> Iterator[int]:
        seen = self._marks.get(subject, {}).get(item, b"")
        at = seen.find(1, first, last + 1)
        while at >= 0:
            yield at
            at = seen.find(1, at + 1, last + 1)
        far = self._far.get((item, subject))
        if far:
            beyond = range(max(first, len(seen)), last + 1)
            yield from (
                far.intersection(beyond)
                if len(beyond) <= len(far)
                else (attempt for attempt in far if attempt in beyond)
            )

    def enter(self, attempts: Attempts) -> None:
        """Enter stretches of attempts, of which none has been seen."""
        for subject, item, first, last in attempts:
            self._spare += _PER_ANSWER * (last + 1 - first)
            seen = self._marks.setdefault(subject, {}).setdefault(item, bytearray())
            if last >= len(seen):
                self._enter(item, subject, last)
            near = range(first, min(last + 1, len(seen)))
            seen[near.start : near.stop] = b"\1" * len(near)
            for attempt in range(max(first, len(seen)), last):
                self._enter(item, subject, attempt)

    def _tables(self, subjects: Sequence[str | None]) -> Iterable[Marks]:
        distinct = set(subjects)
        for subject in distinct - self._marks.keys():
            self._marks[subject] = {}
        if len(distinct) == 1:
            return repeat(self._marks[subjects[0]])
        return map(self._marks.__getitem__, subjects)

    def _enter(self, item: str, subject: str | None, attempt: int) -> bool:
        """Enter an attempt beyond the marks of its item: widen them, or keep it in the set."""
        seen = self._marks[subject].setdefault(item, bytearray())
        far = self._far.get((item, subject), set())
        if attempt in far:
            return False
        growth = max(attempt + 1, 2 * len(seen), _SMALLEST) - len(seen)
        if growth > self._spare:
            self._far.setdefault((item, subject), far).add(attempt)
            return True
        self._spare -= growth
        seen.extend(bytes(growth))
        for reached in (attempt, *(number for number in far if number < len(seen))):
            seen[reached] = 1
        return True


def strike_repeats(batches: Iterable[AnswerBatch], ledger: Ledger) -> Iterator[AnswerBatch]:
    """Yield the batches with every repeated (item, subject, attempt) turned into an error."""
    for batch in batches:
        ledger.strike(batch)
        yield batch


def _repeated(batch: AnswerBatch, at: int) -> RowError:
    item, subject, attempt = batch.items[at], batch.subjects[at], batch.attempts[at]
    whose = "" if subject is None else f" by `{excerpt(subject, 40)}`"
    return RowError(
        line=batch.lines[at],
        reason=f"attempt {attempt} at item `{excerpt(item, 40)}`{whose} was already answered above",
        item=item,
        excerpt=excerpt(str(batch.outputs[at])),
    )

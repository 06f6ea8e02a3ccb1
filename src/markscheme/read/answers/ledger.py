"""Which attempts have been seen: so that one answer never counts twice, in flat memory."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, TypeAlias

from markscheme.read.answers.excerpt import excerpt
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from markscheme.read.answers.batch import AlikeRows, AnswerBatch

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

    def strike(self, batch: AnswerBatch) -> None:
        """Enter the answers of a batch; turn repeats into errors."""
        if batch.alike is None:
            again = self.repeats(batch.items, batch.subjects, batch.attempts)
            if again:
                batch.set_aside(again, [_repeated(batch, at) for at in again])
        elif not self._enter_runs(batch.table()):
            self._strike_in_order(batch, batch.alike)

    def _strike_in_order(self, batch: AnswerBatch, alike: AlikeRows) -> None:
        """Enter the rows that are alike and the others one by one, as they stand in the file."""
        table, count = batch.table(), alike.table.height
        order = table["line"].arg_sort()
        columns = (table[name][order].to_list() for name in ("item", "subject", "attempt"))
        again = [int(order[at]) for at in self.repeats(*columns)]
        if not again:
            return
        ours = [at for at in again if at < count]
        rows = zip(alike.table[ours].iter_rows(), alike.outputs()[ours], strict=True)
        errors = [
            _error(line, item, subject, attempt, output)
            for (line, item, subject, attempt, *_), output in rows
        ]
        batch.alike = alike.without(ours)
        theirs = sorted(at - count for at in again if at >= count)
        errors += [_repeated(batch, at) for at in theirs]
        batch.set_aside(theirs, errors)

    def _enter_runs(self, table: pl.DataFrame) -> bool:
        """Enter answers whose attempts at each item are a run without gaps, all of them new.

        Nothing is entered where that is not so.
        """
        import polars as pl

        attempt = pl.col("attempt")
        runs = table.group_by("item", "subject").agg(
            attempt.min().alias("first"),
            attempt.max().alias("last"),
            attempt.n_unique().alias("distinct"),
            attempt.len().alias("count"),
        )
        self._spare += _PER_ANSWER * table.height
        spans: list[tuple[bytearray, int, int]] = []
        for item, subject, first, last, distinct, count in runs.iter_rows():
            seen = self._widened(item, subject, last)
            whole = last - first + 1 == distinct == count
            if seen is None or not whole or any(seen[first : last + 1]):
                self._spare -= _PER_ANSWER * table.height
                return False
            spans.append((seen, first, last))
        for seen, first, last in spans:
            seen[first : last + 1] = b"\1" * (last + 1 - first)
        return True

    def known(self, attempts: Attempts) -> Attempts:
        """Return those of the attempts that have been seen, one by one."""
        found: Attempts = []
        for subject, item, first, last in attempts:
            seen = self._marks.get(subject, {}).get(item, b"")
            if self._far or seen.find(1, first, last + 1) >= 0:
                again = self._seen(subject, item, first, last)
                found += [(subject, item, attempt, attempt) for attempt in again]
        return found

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
            stop = min(last + 1, len(seen))
            if first < stop:
                seen[first:stop] = b"\1" * (stop - first)
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
        far = self._far.get((item, subject), set())
        if attempt in far:
            return False
        seen = self._widened(item, subject, attempt)
        if seen is None:
            self._far.setdefault((item, subject), far).add(attempt)
        else:
            seen[attempt] = 1
        return True

    def _widened(self, item: str, subject: str | None, attempt: int) -> bytearray | None:
        """Return the marks of an item, wide enough for an attempt, where that can be afforded."""
        seen = self._marks.setdefault(subject, {}).setdefault(item, bytearray())
        if attempt < len(seen):
            return seen
        growth = max(attempt + 1, 2 * len(seen), _SMALLEST) - len(seen)
        if growth > self._spare:
            return None
        self._spare -= growth
        seen.extend(bytes(growth))
        for reached in self._far.get((item, subject), ()):
            if reached < len(seen):
                seen[reached] = 1
        return seen


def strike_repeats(batches: Iterable[AnswerBatch], ledger: Ledger) -> Iterator[AnswerBatch]:
    """Yield the batches with every repeated (item, subject, attempt) turned into an error."""
    for batch in batches:
        ledger.strike(batch)
        yield batch


def _repeated(batch: AnswerBatch, at: int) -> RowError:
    line, item, output, subject, attempt, *_ = (column[at] for column in batch.columns())
    return _error(line, item, subject, attempt, output)


def _error(line: int, item: str, subject: str | None, attempt: int, output: object) -> RowError:
    whose = "" if subject is None else f" by `{excerpt(subject, 40)}`"
    return RowError(
        line=line,
        reason=f"attempt {attempt} at item `{excerpt(item, 40)}`{whose} was already answered above",
        item=item,
        excerpt=excerpt(str(output)),
    )

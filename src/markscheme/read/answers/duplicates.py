"""Which attempts have been seen: so that one answer never counts twice, in flat memory."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, TypeAlias

from markscheme.read.answers.encoding import make_excerpt
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from markscheme.read.answers.batch import AnswerBatch, TemplateRows

SeenFlags: TypeAlias = dict[str, bytearray]
AttemptRanges: TypeAlias = list[tuple[str | None, str, int, int]]
"""Stretches of attempts: the subject, the item, the first attempt and the last one."""

_MIN_FLAGS = 32
_INITIAL_BYTES = 1 << 25
_BYTES_PER_ANSWER = 4


class SeenAttempts:
    """The (item, subject, attempt) of every answer so far.

    Attempts are counted up in practice, so each item of a subject has one byte per attempt: 10
    MB for ten million answers. Bytes are spent within an allowance that grows with the
    answers; an attempt so large that it would break the allowance is kept in a plain set.
    """

    def __init__(self) -> None:
        self._flags: dict[str | None, SeenFlags] = {}
        self._far_attempts: dict[tuple[str, str | None], set[int]] = {}
        self._spare_bytes = _INITIAL_BYTES

    def record_answers(
        self, items: Sequence[str], subjects: Sequence[str | None], attempts: Sequence[int]
    ) -> list[int]:
        """Enter answers given in columns; return the positions of those seen before."""
        again: list[int] = []
        self._spare_bytes += _BYTES_PER_ANSWER * len(items)
        for at, marks, item, attempt in zip(
            range(len(items)), self._get_subject_flags(subjects), items, attempts, strict=False
        ):
            try:
                seen = marks[item]
                if seen[attempt]:
                    again.append(at)
                seen[attempt] = 1
            except (KeyError, IndexError):
                if not self._record_beyond_flags(item, subjects[at], attempt):
                    again.append(at)
        return again

    def reject_duplicates(self, batch: AnswerBatch) -> None:
        """Enter the answers of a batch; turn repeats into errors."""
        if batch.alike is None:
            again = self.record_answers(batch.items, batch.subjects, batch.attempts)
            if again:
                batch.replace_with_errors(
                    again, [_build_batch_duplicate_error(batch, at) for at in again]
                )
        elif not self._record_gapless_ranges(batch.build_table()):
            self._reject_in_file_order(batch, batch.alike)

    def _reject_in_file_order(self, batch: AnswerBatch, alike: TemplateRows) -> None:
        """Enter the rows that are alike and the others one by one, as they stand in the file."""
        table, count = batch.build_table(), alike.table.height
        order = table["line"].arg_sort()
        columns = (table[name][order].to_list() for name in ("item", "subject", "attempt"))
        again = [int(order[at]) for at in self.record_answers(*columns)]
        if not again:
            return
        ours = [at for at in again if at < count]
        rows = zip(alike.table[ours].iter_rows(), alike.build_outputs()[ours], strict=True)
        errors = [
            _build_duplicate_error(line, item, subject, attempt, output)
            for (line, item, subject, attempt, *_), output in rows
        ]
        batch.alike = alike.drop_rows(ours)
        theirs = sorted(at - count for at in again if at >= count)
        errors += [_build_batch_duplicate_error(batch, at) for at in theirs]
        batch.replace_with_errors(theirs, errors)

    def _record_gapless_ranges(self, table: pl.DataFrame) -> bool:
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
        self._spare_bytes += _BYTES_PER_ANSWER * table.height
        spans: list[tuple[bytearray, int, int]] = []
        for item, subject, first, last, distinct, count in runs.iter_rows():
            seen = self._grow_flags(item, subject, last)
            whole = last - first + 1 == distinct == count
            if seen is None or not whole or any(seen[first : last + 1]):
                self._spare_bytes -= _BYTES_PER_ANSWER * table.height
                return False
            spans.append((seen, first, last))
        for seen, first, last in spans:
            seen[first : last + 1] = b"\1" * (last + 1 - first)
        return True

    def find_seen(self, attempts: AttemptRanges) -> AttemptRanges:
        """Return those of the attempts that have been seen, one by one."""
        found: AttemptRanges = []
        for subject, item, first, last in attempts:
            seen = self._flags.get(subject, {}).get(item, b"")
            if self._far_attempts or seen.find(1, first, last + 1) >= 0:
                again = self._iterate_seen(subject, item, first, last)
                found += [(subject, item, attempt, attempt) for attempt in again]
        return found

    def _iterate_seen(self, subject: str | None, item: str, first: int, last: int) -> Iterator[int]:
        seen = self._flags.get(subject, {}).get(item, b"")
        at = seen.find(1, first, last + 1)
        while at >= 0:
            yield at
            at = seen.find(1, at + 1, last + 1)
        far = self._far_attempts.get((item, subject))
        if far:
            beyond = range(max(first, len(seen)), last + 1)
            yield from (
                far.intersection(beyond)
                if len(beyond) <= len(far)
                else (attempt for attempt in far if attempt in beyond)
            )

    def record_ranges(self, attempts: AttemptRanges) -> None:
        """Enter stretches of attempts, of which none has been seen."""
        for subject, item, first, last in attempts:
            self._spare_bytes += _BYTES_PER_ANSWER * (last + 1 - first)
            seen = self._flags.setdefault(subject, {}).setdefault(item, bytearray())
            if last >= len(seen):
                self._record_beyond_flags(item, subject, last)
            stop = min(last + 1, len(seen))
            if first < stop:
                seen[first:stop] = b"\1" * (stop - first)
            for attempt in range(max(first, len(seen)), last):
                self._record_beyond_flags(item, subject, attempt)

    def _get_subject_flags(self, subjects: Sequence[str | None]) -> Iterable[SeenFlags]:
        distinct = set(subjects)
        for subject in distinct - self._flags.keys():
            self._flags[subject] = {}
        if len(distinct) == 1:
            return repeat(self._flags[subjects[0]])
        return map(self._flags.__getitem__, subjects)

    def _record_beyond_flags(self, item: str, subject: str | None, attempt: int) -> bool:
        """Enter an attempt beyond the marks of its item: widen them, or keep it in the set."""
        far = self._far_attempts.get((item, subject), set())
        if attempt in far:
            return False
        seen = self._grow_flags(item, subject, attempt)
        if seen is None:
            self._far_attempts.setdefault((item, subject), far).add(attempt)
        else:
            seen[attempt] = 1
        return True

    def _grow_flags(self, item: str, subject: str | None, attempt: int) -> bytearray | None:
        """Return the marks of an item, wide enough for an attempt, where that can be afforded."""
        seen = self._flags.setdefault(subject, {}).setdefault(item, bytearray())
        if attempt < len(seen):
            return seen
        growth = max(attempt + 1, 2 * len(seen), _MIN_FLAGS) - len(seen)
        if growth > self._spare_bytes:
            return None
        self._spare_bytes -= growth
        seen.extend(bytes(growth))
        for reached in self._far_attempts.get((item, subject), ()):
            if reached < len(seen):
                seen[reached] = 1
        return seen


def reject_duplicates(
    batches: Iterable[AnswerBatch], seen_attempts: SeenAttempts
) -> Iterator[AnswerBatch]:
    """Yield the batches with every repeated (item, subject, attempt) turned into an error."""
    for batch in batches:
        seen_attempts.reject_duplicates(batch)
        yield batch


def _build_batch_duplicate_error(batch: AnswerBatch, at: int) -> RowError:
    line, item, output, subject, attempt, *_ = (column[at] for column in batch.get_columns())
    return _build_duplicate_error(line, item, subject, attempt, output)


def _build_duplicate_error(
    line: int, item: str, subject: str | None, attempt: int, output: object
) -> RowError:
    whose = "" if subject is None else f" by `{make_excerpt(subject, 40)}`"
    return RowError(
        line=line,
        reason=f"attempt {attempt} at item `{make_excerpt(item, 40)}`{whose} was already answered above",
        item=item,
        excerpt=make_excerpt(str(output)),
    )

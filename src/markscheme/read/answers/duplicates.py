"""Detect duplicates: a second answer with the same (item, subject, attempt) becomes an error row.

Memory stays flat: one byte per attempt, 10 MB for ten million answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, TypeAlias

from markscheme.read.answers.batch import AnswerBatch, TemplateRows
from markscheme.read.answers.text import make_excerpt
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    import polars as pl

SeenFlags: TypeAlias = dict[str, bytearray]
AttemptRanges: TypeAlias = list[tuple[str | None, str, int, int]]
"""Ranges of attempts: subject, item, first attempt, last attempt."""

_MIN_FLAGS = 32
_INITIAL_BYTES = 1 << 25
_BYTES_PER_ANSWER = 4


class SeenAttempts:
    """The (item, subject, attempt) of every answer so far.

    Attempts are usually numbered upwards from 1, so each item of a subject has an array with one
    byte per attempt. The arrays may grow within an allowance that increases with the answers. An
    attempt so large that its array would exceed the allowance is kept in a plain set.
    """

    def __init__(self) -> None:
        self._flags: dict[str | None, SeenFlags] = {}
        self._far_attempts: dict[tuple[str, str | None], set[int]] = {}
        self._spare_bytes = _INITIAL_BYTES

    def record_answers(
        self, items: Sequence[str], subjects: Sequence[str | None], attempts: Sequence[int]
    ) -> list[int]:
        """Record answers given in columns; return the positions of those seen before."""
        duplicates: list[int] = []
        self._spare_bytes += _BYTES_PER_ANSWER * len(items)
        for at, flags, item, attempt in zip(
            range(len(items)), self._get_subject_flags(subjects), items, attempts, strict=False
        ):
            try:
                seen = flags[item]
                if seen[attempt]:
                    duplicates.append(at)
                seen[attempt] = 1
            except (KeyError, IndexError):
                if not self._record_beyond_flags(item, subjects[at], attempt):
                    duplicates.append(at)
        return duplicates

    def reject_duplicates(self, batch: AnswerBatch) -> None:
        """Record the answers of a batch; turn duplicates into errors."""
        if batch.template_rows is None:
            duplicates = self.record_answers(batch.items, batch.subjects, batch.attempts)
            if duplicates:
                errors = [_build_batch_duplicate_error(batch, at) for at in duplicates]
                batch.replace_with_errors(duplicates, errors)
        elif not self._record_gapless_ranges(batch.build_table()):
            self._reject_in_file_order(batch, batch.template_rows)

    def _reject_in_file_order(self, batch: AnswerBatch, template_rows: TemplateRows) -> None:
        """Record template rows and all others one by one, in the order of their lines.

        The first answer in the file counts, whichever way it was read.
        """
        table, count = batch.build_table(), template_rows.table.height
        order = table["line"].arg_sort()
        columns = (table[name][order].to_list() for name in ("item", "subject", "attempt"))
        duplicates = [int(order[at]) for at in self.record_answers(*columns)]
        if not duplicates:
            return
        in_templates = [at for at in duplicates if at < count]
        rows = template_rows.table[in_templates].iter_rows()
        outputs = template_rows.build_outputs()[in_templates]
        errors = [
            _build_duplicate_error(line, item, subject, attempt, output)
            for (line, item, subject, attempt, *_), output in zip(rows, outputs, strict=True)
        ]
        batch.template_rows = template_rows.drop_rows(in_templates)
        in_lists = sorted(at - count for at in duplicates if at >= count)
        errors += [_build_batch_duplicate_error(batch, at) for at in in_lists]
        batch.replace_with_errors(in_lists, errors)

    def _record_gapless_ranges(self, table: pl.DataFrame) -> bool:
        """Record answers whose attempts at each item are new and have no gaps.

        Return False, and record nothing, if that is not so. This is the usual case of a large file,
        and much faster than looking at each answer.
        """
        import polars as pl

        attempt = pl.col("attempt")
        groups = table.group_by("item", "subject").agg(
            attempt.min().alias("first"),
            attempt.max().alias("last"),
            attempt.n_unique().alias("distinct"),
            attempt.len().alias("count"),
        )
        self._spare_bytes += _BYTES_PER_ANSWER * table.height
        spans: list[tuple[bytearray, int, int]] = []
        for item, subject, first, last, distinct, count in groups.iter_rows():
            seen = self._grow_flags(item, subject, last)
            is_gapless = last - first + 1 == distinct == count
            if seen is None or not is_gapless or any(seen[first : last + 1]):
                self._spare_bytes -= _BYTES_PER_ANSWER * table.height
                return False
            spans.append((seen, first, last))
        for seen, first, last in spans:
            seen[first : last + 1] = b"\1" * (last + 1 - first)
        return True

    def find_seen(self, attempts: AttemptRanges) -> AttemptRanges:
        """Return the attempts in these ranges that have been seen, each as its own range."""
        seen_again: AttemptRanges = []
        for subject, item, first, last in attempts:
            seen = self._flags.get(subject, {}).get(item, b"")
            if self._far_attempts or seen.find(1, first, last + 1) >= 0:
                attempts_seen = self._iterate_seen(subject, item, first, last)
                seen_again += [(subject, item, attempt, attempt) for attempt in attempts_seen]
        return seen_again

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
        """Record ranges of attempts, none of which has been seen."""
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
        """Record an attempt beyond the array of its item: grow the array, or put it into the set.

        Return False if the attempt was seen before.
        """
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
        """Return the array of an item, grown to hold an attempt; `None` if too expensive."""
        seen = self._flags.setdefault(subject, {}).setdefault(item, bytearray())
        if attempt < len(seen):
            return seen
        growth = max(attempt + 1, 2 * len(seen), _MIN_FLAGS) - len(seen)
        if growth > self._spare_bytes:
            return None
        self._spare_bytes -= growth
        seen.extend(bytes(growth))
        for far_attempt in self._far_attempts.get((item, subject), ()):
            if far_attempt < len(seen):
                seen[far_attempt] = 1
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
    by_subject = "" if subject is None else f" by `{make_excerpt(subject, 40)}`"
    where = f"attempt {attempt} at item `{make_excerpt(item, 40)}`{by_subject}"
    return RowError(
        line=line,
        reason=f"{where} was already answered above",
        item=item,
        excerpt=make_excerpt(str(output)),
    )

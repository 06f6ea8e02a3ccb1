"""Exact totals: counts of equal breakdowns per item, divided last."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from markscheme.exact import mean
from markscheme.mark.scoring import score_of
from markscheme.vocabulary import Frozen, Group, SubjectSummary, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from markscheme.mark.columns import Marked
    from markscheme.vocabulary import Exam, Rubric

Values = tuple[Fraction | None, ...]
Key = tuple[str | None, int, int]

_ROWS_KEPT = 200_000
_COUNTS = {"subject": pl.String, "item": pl.UInt32, "number": pl.UInt32, "count": pl.UInt64}


class Counts:
    """How often each subject got each set of axis values on each item; merging is adding.

    Rows of counts are put one after the other, and added up when they have become many.
    """

    def __init__(self) -> None:
        self.errors = 0
        self.values: list[Values] = []
        self._numbers: dict[Values, int] = {}
        self._rows = pl.DataFrame(schema=_COUNTS)
        self._most = _ROWS_KEPT

    def add(self, marked: Marked, subjects: Sequence[str | None]) -> None:
        """Count the answers of one batch, each with the subject who gave it."""
        columns = pl.DataFrame({"item": marked.items, "number": marked.vectors})
        several = len(set(subjects)) > 1
        if several:
            columns = columns.with_columns(pl.Series("subject", subjects, dtype=pl.String))
        counted = columns.group_by(pl.all()).len("count")
        if not several:
            counted = counted.with_columns(pl.lit(subjects[0], pl.String).alias("subject"))
        self._take(counted, marked.values)

    def merge(self, other: Counts) -> None:
        """Add what another has counted."""
        self.errors += other.errors
        self._take(other._rows, dict(enumerate(other.values)))

    def _take(self, rows: pl.DataFrame, values: Mapping[int, Values]) -> None:
        """Take rows whose numbers stand for `values`."""
        if rows.is_empty():
            return
        numbers = [self._number(found) for found in values.values()]
        renumbered = rows["number"].replace_strict(list(values), numbers, return_dtype=pl.UInt32)
        rows = rows.select("subject", "item", renumbered, pl.col("count").cast(pl.UInt64))
        self._rows = self._rows.vstack(rows)
        if self._rows.height > self._most:
            self.add_up()
            self._most = max(_ROWS_KEPT, 2 * self._rows.height)

    def add_up(self) -> None:
        """Make one row of those that count the same."""
        self._rows = self._rows.group_by("subject", "item", "number").agg(pl.col("count").sum())

    def _number(self, values: Values) -> int:
        """Return the number of a set of axis values, a new one where it is new."""
        if values not in self._numbers:
            self._numbers[values] = len(self.values)
            self.values.append(values)
        return self._numbers[values]

    def each(self) -> list[tuple[Key, int]]:
        """Return every key that was counted, and how often."""
        self.add_up()
        return [((who, item, number), count) for who, item, number, count in self._rows.iter_rows()]


class Tally:
    """The totals of one run, from its counts."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.exam = exam
        self.counts = Counts()

    def missing(self) -> dict[str | None, list[int]]:
        """Return for each subject the positions of the items it did not answer."""
        answered: dict[str | None, set[int]] = {}
        for (subject, item, _), _ in self.counts.each():
            answered.setdefault(subject, set()).add(item)
        every = range(len(self.exam.items))
        return {
            subject: [item for item in every if item not in done]
            for subject, done in sorted(answered.items(), key=_by_subject)
        } or {None: list(every)}

    def summary(self) -> Summary:
        """Return the totals as exact means."""
        counts = self.counts.each()
        sums = self._sums(counts)
        answers = sum(count for _, count in counts)
        missing = self.missing()
        absent = set[int]().union(*missing.values())
        return Summary(
            n=sums.n,
            score=mean(sums.score, sums.n),
            axes=self._means(sums),
            answers=answers,
            unscored=answers - sums.n,
            errors=self.counts.errors,
            items=len(self.exam.items),
            missing=tuple(self.exam.items[at].id for at in sorted(absent)),
            subjects=tuple(self._subjects(missing)),
            groups=tuple(self._groups()),
        )

    def _means(self, sums: _Sums) -> Frozen:
        totals = zip(self.rubric, sums.axes, strict=True)
        return Frozen({spec.name: mean(total, sums.n) for spec, total in totals})

    def _subjects(self, missing: Mapping[str | None, list[int]]) -> Iterator[SubjectSummary]:
        counts: dict[str | None, list[tuple[Key, int]]] = {}
        for key, count in self.counts.each():
            counts.setdefault(key[0], []).append((key, count))
        for subject, items in missing.items():
            sums = self._sums(counts.get(subject, ()))
            yield SubjectSummary(
                subject=subject,
                n=sums.n,
                score=mean(sums.score, sums.n),
                axes=self._means(sums),
                missing=tuple(self.exam.items[at].id for at in items),
            )

    def _groups(self) -> Iterator[Group]:
        """Yield the groups by tag, tags by name, the worst group of each tag first."""
        members: dict[tuple[str, str], list[tuple[Key, int]]] = {}
        for key, count in self.counts.each():
            for tag in self.exam.items[key[1]].tags.items():
                members.setdefault(tag, []).append((key, count))
        groups = [self._group(tag, value, found) for (tag, value), found in members.items()]
        ordered = [group for group in groups if group is not None]
        yield from sorted(ordered, key=lambda group: (group.tag, group.score, group.value))

    def _group(self, tag: str, value: str, counts: Iterable[tuple[Key, int]]) -> Group | None:
        sums = self._sums(counts)
        if not sums.n:
            return None
        totals = zip(self.rubric, sums.axes, strict=True)
        axes = Frozen({spec.name: total / sums.n for spec, total in totals})
        return Group(tag=tag, value=value, n=sums.n, score=sums.score / sums.n, axes=axes)

    def _sums(self, counts: Iterable[tuple[Key, int]]) -> _Sums:
        alike: Counter[int] = Counter()
        for (_, _, vector), count in counts:
            alike[vector] += count
        sums = _Sums(axes=[Fraction(0) for _ in self.rubric.axes])
        for vector, count in alike.items():
            values = self.counts.values[vector]
            sums.add(values, score_of(self.rubric, list(values)), count)
        return sums


def _by_subject(found: tuple[str | None, set[int]]) -> tuple[bool, str]:
    return found[0] is not None, found[0] or ""


@dataclass(slots=True, kw_only=True)
class _Sums:
    """The exact sums over the answers that have a score."""

    axes: list[Fraction]
    n: int = 0
    score: Fraction = Fraction(0)

    def add(self, values: Values, score: Fraction | None, count: int) -> None:
        if score is None:
            return
        self.n += count
        self.score += score * count
        for axis, value in enumerate(values):
            self.axes[axis] += (value or 0) * count

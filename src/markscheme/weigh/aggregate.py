"""Counting while answers stream past: equal breakdowns per item, equal measures per subject."""

from __future__ import annotations

from collections import Counter
from decimal import Context, Inexact
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.frozen import Frozen
from markscheme.mark.sheets import spread
from markscheme.weigh.marks import Marks, Values
from markscheme.weigh.measures import Measures, Total
from markscheme.weigh.runs import Run
from markscheme.weigh.summaries import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from markscheme.mark.columns import Marked
    from markscheme.vocabulary import Exam, Rubric, Summary

Key = tuple[str | None, int, int]
_MEASURED = {
    "latency_ms": pl.Float64,
    "cost": pl.Float64,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
}
_PENDING = 100_000
_FEW = 5_000  # rows that are added up one by one faster than by groups
_APART = 1 << 32  # an item and a number of axis values are counted as one number
_NOTHING: dict[Values, int] = Frozen()
# More digits than any sum of doubles from 0 to 2^63 can have.
_EXACT = Context(prec=800, traps=[Inexact])


class Counts:
    """How often each subject got each set of axis values on each item, and each measured value.

    Merging is adding. Rows of counts are put one after the other, and added up when they have
    become many, so memory grows with items, subjects and different values, not with answers.
    """

    def __init__(self) -> None:
        self.errors = 0
        self.values: list[Values] = []
        self.measured = {name: _Counted(dtype) for name, dtype in _MEASURED.items()}
        self._counted = _Counted(pl.UInt64)
        self._numbers: dict[Values, int] = {}
        self._each: dict[Key, int] | None = None

    def add(self, marked: Marked) -> None:
        """Count the answers of one batch: who gave them, and what they came with."""
        self._each = None
        subjects = marked.table["subject"]
        numbers = self._renumbered(marked.vectors, marked.values)
        self._counted.add(subjects, marked.items.cast(pl.UInt64) * _APART + numbers)
        for name, counted in self.measured.items():
            counted.add(subjects, marked.table[name])

    def merge(self, other: Counts) -> None:
        """Add what another has counted."""
        self._each = None
        self.errors += other.errors
        rows = other._counted.rows()
        if rows.height:
            subjects, pairs, times = rows.get_columns()
            numbers = self._renumbered(pairs % _APART, dict(enumerate(other.values)))
            ours = pairs // _APART * _APART + numbers
            self._counted.take(pl.DataFrame([subjects, ours, times]))
        for name, counted in self.measured.items():
            counted.take(other.measured[name].rows())

    def add_up(self) -> None:
        """Make one row of those that count the same."""
        for counted in (self._counted, *self.measured.values()):
            counted.rows()

    def _renumbered(self, numbers: pl.Series, values: Mapping[int, Values]) -> pl.Series:
        """Return numbers that stand for `values` as numbers of our own."""
        ours = {number: self._number(found) for number, found in values.items()}
        return spread(ours, pl.UInt32)[numbers]

    def _number(self, values: Values) -> int:
        """Return the number of a set of axis values, a new one where it is new."""
        if values not in self._numbers:
            self._numbers[values] = len(self.values)
            self.values.append(values)
        return self._numbers[values]

    def each(self) -> Mapping[Key, int]:
        """Return every key that was counted, and how often: one object until more is counted."""
        if self._each is None:
            self._each = {}
            for who, pair, n in self._counted:
                key = (who, *divmod(pair, _APART))
                self._each[key] = self._each.get(key, 0) + n
        return self._each


class Tally:
    """The totals of one run, from its counts."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.exam = exam
        self.counts = Counts()
        self._ids = [item.id for item in exam.items]
        self._whole: tuple[Mapping[Key, int], Marks] | None = None

    def runs(self) -> Iterator[Run]:
        """Yield the run of each subject."""
        measures = self.measures()
        for subject, marks in self.marks():
            yield Run(
                name="this run" if subject is None else subject,
                rubric=self.rubric.fingerprint,
                exam=self.exam.fingerprint,
                marks=marks,
                measures=measures[subject],
                subject=subject,
            )

    def marks(self) -> Iterator[tuple[str | None, Marks]]:
        """Yield the marks subject by subject: there may be many, each with every item.

        A bad row makes every run of the file incomplete: it may be of any subject.
        """
        found: dict[str | None, dict[Key, int]] = {}
        for key, count in self.counts.each().items():
            found.setdefault(key[0], {})[key] = count
        subjects = _sorted(found)
        if len(subjects) == 1:
            yield subjects[0], self._together()
            return
        for subject in subjects:
            yield subject, self._marks(found[subject])

    def _together(self) -> Marks:
        """Return what all subjects got, made once for what is counted."""
        counts = self.counts.each()
        if self._whole is None or self._whole[0] is not counts:
            self._whole = counts, self._marks(counts)
        return self._whole[1]

    def _marks(self, counts: Mapping[Key, int]) -> Marks:
        """Return what items got; those that got one and the same share it as one object."""
        items: dict[str, dict[Values, int]] = dict.fromkeys(self._ids, _NOTHING)
        shared: dict[tuple[int, int], Frozen] = {}
        for (_, at, number), count in counts.items():
            item, values = self._ids[at], self.counts.values[number]
            if items[item] is _NOTHING:
                if (number, count) not in shared:
                    shared[number, count] = Frozen({values: count})
                items[item] = shared[number, count]
                continue
            if isinstance(items[item], Frozen):
                items[item] = dict(items[item])
            items[item][values] = items[item].get(values, 0) + count
        axes = tuple(spec.name for spec in self.rubric)
        return Marks(axes=axes, items=items, errors=self.counts.errors)

    def measures(self) -> dict[str | None, Measures]:
        """Return what was measured of each subject."""
        counts = {name: counted.by_subject() for name, counted in self.counts.measured.items()}
        answers: Counter[str | None] = Counter()
        for (subject, _, _), count in self.counts.each().items():
            answers[subject] += count
        latencies = counts.pop("latency_ms")
        return {
            subject: Measures(
                answers=answers[subject],
                latency_ms=latencies.get(subject, {}),
                **{name: _total(found.get(subject, {})) for name, found in counts.items()},
            )
            for subject in answers or [None]
        }

    def missing(self) -> Iterator[tuple[str | None, int]]:
        """Yield each subject with the position of each item that it did not answer."""
        answered: dict[str | None, set[int]] = {}
        for subject, at, _ in self.counts.each():
            answered.setdefault(subject, set()).add(at)
        for subject in _sorted(answered):
            lacking = (at for at in range(len(self._ids)) if at not in answered.get(subject, ()))
            yield from ((subject, at) for at in lacking)

    def summary(self) -> Summary:
        """Return the totals as exact means."""
        return summarise(self.rubric, self.exam, self._together(), self.marks())


def _sorted(subjects: Iterable[str | None]) -> list[str | None]:
    """Return subjects by name, who has none first; where there is nobody, nobody by name."""
    return sorted(subjects, key=lambda name: (name is not None, name)) or [None]


class _Counted:
    """How often each value occurred, by subject."""

    def __init__(self, dtype: Any) -> None:
        self._rows = pl.DataFrame(schema={"subject": pl.String, "value": dtype, "n": pl.UInt64})
        self._added_up = True
        self._most = _PENDING

    def add(self, subjects: pl.Series, values: pl.Series) -> None:
        """Count the values that are there; where they are nobody's, that is less work."""
        if values.null_count() == len(values):
            return
        if subjects.null_count() < len(subjects):
            rows = pl.DataFrame([subjects, values.alias("value")]).drop_nulls("value")
            counted = rows.group_by("subject", "value").agg(pl.len().cast(pl.UInt64).alias("n"))
        else:
            there = values.drop_nulls() if values.null_count() else values
            found, times = there.value_counts().get_columns()
            nobody = pl.Series("subject", [None], dtype=pl.String).new_from_index(0, len(found))
            counted = pl.DataFrame([nobody, found.alias("value"), times.cast(pl.UInt64).alias("n")])
        self.take(counted)

    def take(self, counted: pl.DataFrame) -> None:
        """Take rows with their counts, each of them once."""
        if counted.is_empty():
            return
        self._added_up = self._rows.is_empty()
        self._rows = self._rows.vstack(counted)
        if self._rows.height > self._most:
            self._most = max(_PENDING, 2 * self.rows().height)

    def rows(self) -> pl.DataFrame:
        """Return each row once, with its count."""
        if not self._added_up:
            self._rows = self._rows.group_by("subject", "value").agg(pl.col("n").sum())
            self._added_up = True
        return self._rows

    def __iter__(self) -> Iterator[tuple[str | None, Any, int]]:
        """Yield each subject and value with a count; where they are few, perhaps more than once."""
        return (self._rows if self._rows.height <= _FEW else self.rows()).iter_rows()

    def by_subject(self) -> dict[str | None, dict[Any, int]]:
        """Return the counts of each subject."""
        found: dict[str | None, dict[Any, int]] = {}
        for subject, value, count in self:
            counts = found.setdefault(subject, {})
            counts[value] = counts.get(value, 0) + count
        return found


def _total(counts: dict[Any, int]) -> Total:
    """Return the exact sum of numbers as they were written."""
    total = _EXACT.create_decimal(0)
    for value, count in counts.items():
        term = _EXACT.multiply(_EXACT.create_decimal(repr(value)), _EXACT.create_decimal(count))
        total = _EXACT.add(total, term)
    return Total(n=sum(counts.values()), sum=Fraction(total))

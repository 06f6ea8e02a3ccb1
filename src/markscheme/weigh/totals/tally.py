"""Count answers in batches while they are scored, and build runs and a summary from the counts.

Answers are not kept: equal axis values are counted per subject and item, equal measures per
subject. Memory grows with subjects, items and distinct values, not with answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Inexact
from fractions import Fraction
from typing import Any

import polars as pl

from markscheme.mark.batch import MarkedColumns, lookup_series
from markscheme.vocabulary import Exam, FrozenDict, Rubric, Summary
from markscheme.weigh.totals.marks import AxisValues, Marks
from markscheme.weigh.totals.measures import Measures, MeasureTotal
from markscheme.weigh.totals.run import Run
from markscheme.weigh.totals.summaries import summarise_marks

CountKey = tuple[str | None, int, int]
_MEASURE_DTYPES = {
    "latency_ms": pl.Float64,
    "cost": pl.Float64,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
}
# Rows of counts are added up once there are more than this.
_MIN_ROWS_TO_MERGE = 100_000
# Up to so many rows, adding up in Python is faster than grouping by polars.
_FEW_ROWS = 5_000
# An item and the number of its axis values are packed into one integer: item * stride + number.
_ITEM_STRIDE = 1 << 32
_NO_COUNTS: dict[AxisValues, int] = FrozenDict()
# More digits than any sum of doubles from 0 to 2^63 can have.
_EXACT_DECIMAL = Context(prec=800, traps=[Inexact])


class AnswerCounts:
    """How often each subject got each set of axis values on each item, and each measured value.

    Rows of counts are appended, and added up when they have become many. Merging two counts is
    appending the rows of one to the other.
    """

    def __init__(self) -> None:
        self.errors = 0
        self.distinct_values: list[AxisValues] = []
        self.measured = {
            name: _SubjectValueCounts(dtype) for name, dtype in _MEASURE_DTYPES.items()
        }
        self._value_counts = _SubjectValueCounts(pl.UInt64)
        self._numbers_by_values: dict[AxisValues, int] = {}
        self._count_by_key: dict[CountKey, int] | None = None

    def add_batch(self, marked: MarkedColumns) -> None:
        """Count the answers of one batch: their axis values and their measures, by subject."""
        self._count_by_key = None
        subjects = marked.table["subject"]
        numbers = self._renumber_values(marked.vectors, marked.values)
        self._value_counts.add_values(
            subjects, marked.items.cast(pl.UInt64) * _ITEM_STRIDE + numbers
        )
        for name, counted in self.measured.items():
            counted.add_values(subjects, marked.table[name])

    def merge(self, other: AnswerCounts) -> None:
        """Add the counts of another part of the run."""
        self._count_by_key = None
        self.errors += other.errors
        rows = other._value_counts.compact_rows()
        if rows.height:
            subjects, pairs, times = rows.get_columns()
            numbers = self._renumber_values(
                pairs % _ITEM_STRIDE, dict(enumerate(other.distinct_values))
            )
            ours = pairs // _ITEM_STRIDE * _ITEM_STRIDE + numbers
            self._value_counts.append_counts(pl.DataFrame([subjects, ours, times]))
        for name, counted in self.measured.items():
            counted.append_counts(other.measured[name].compact_rows())

    def compact_rows(self) -> None:
        """Add up the rows that count the same."""
        for counted in (self._value_counts, *self.measured.values()):
            counted.compact_rows()

    def _renumber_values(self, numbers: pl.Series, values: Mapping[int, AxisValues]) -> pl.Series:
        """Translate another numbering of axis values into our own."""
        ours = {number: self._assign_number(distinct) for number, distinct in values.items()}
        return lookup_series(ours, pl.UInt32)[numbers]

    def _assign_number(self, values: AxisValues) -> int:
        """Return the number of a set of axis values; a new set gets the next number."""
        if values not in self._numbers_by_values:
            self._numbers_by_values[values] = len(self.distinct_values)
            self.distinct_values.append(values)
        return self._numbers_by_values[values]

    def count_by_key(self) -> Mapping[CountKey, int]:
        """Return how often each key was counted; the same object until more is counted."""
        if self._count_by_key is None:
            self._count_by_key = {}
            for who, pair, n in self._value_counts:
                key = (who, *divmod(pair, _ITEM_STRIDE))
                self._count_by_key[key] = self._count_by_key.get(key, 0) + n
        return self._count_by_key


class RunTally:
    """Builds marks, measures, runs and the summary of one run from its counts."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.exam = exam
        self.counts = AnswerCounts()
        self._item_ids = [item.id for item in exam.items]
        self._combined_marks: tuple[Mapping[CountKey, int], Marks] | None = None

    def iter_runs(self) -> Iterator[Run]:
        """Yield the run of each subject."""
        measures = self.build_measures()
        for subject, marks in self.iter_marks():
            yield Run(
                name="this run" if subject is None else subject,
                rubric=self.rubric.fingerprint,
                exam=self.exam.fingerprint,
                marks=marks,
                measures=measures[subject],
                subject=subject,
            )

    def iter_marks(self) -> Iterator[tuple[str | None, Marks]]:
        """Yield the marks of one subject after the other, because there may be many.

        A bad row may be of any subject, so it makes every run of the file incomplete.
        """
        counts_by_subject: dict[str | None, dict[CountKey, int]] = {}
        for key, count in self.counts.count_by_key().items():
            counts_by_subject.setdefault(key[0], {})[key] = count
        subjects = _sort_subjects(counts_by_subject)
        if len(subjects) == 1:
            yield subjects[0], self._get_combined_marks()
            return
        for subject in subjects:
            yield subject, self._build_marks(counts_by_subject[subject])

    def _get_combined_marks(self) -> Marks:
        """Return the marks of all subjects together, built once until more is counted."""
        counts = self.counts.count_by_key()
        if self._combined_marks is None or self._combined_marks[0] is not counts:
            self._combined_marks = counts, self._build_marks(counts)
        return self._combined_marks[1]

    def _build_marks(self, counts: Mapping[CountKey, int]) -> Marks:
        """Return the marks of some counts; items with equal counts share one mapping."""
        items: dict[str, dict[AxisValues, int]] = dict.fromkeys(self._item_ids, _NO_COUNTS)
        shared: dict[tuple[int, int], FrozenDict] = {}
        for (_, at, number), count in counts.items():
            item, values = self._item_ids[at], self.counts.distinct_values[number]
            if items[item] is _NO_COUNTS:
                if (number, count) not in shared:
                    shared[number, count] = FrozenDict({values: count})
                items[item] = shared[number, count]
                continue
            if isinstance(items[item], FrozenDict):
                items[item] = dict(items[item])
            items[item][values] = items[item].get(values, 0) + count
        axes = tuple(spec.name for spec in self.rubric)
        return Marks(axes=axes, items=items, errors=self.counts.errors)

    def build_measures(self) -> dict[str | None, Measures]:
        """Return the measures of each subject."""
        counts = {
            name: counted.group_by_subject() for name, counted in self.counts.measured.items()
        }
        answers: Counter[str | None] = Counter()
        for (subject, _, _), count in self.counts.count_by_key().items():
            answers[subject] += count
        latencies = counts.pop("latency_ms")
        return {
            subject: Measures(
                answers=answers[subject],
                latency_ms=latencies.get(subject, {}),
                **{
                    name: _sum_exactly(by_subject.get(subject, {}))
                    for name, by_subject in counts.items()
                },
            )
            for subject in answers or [None]
        }

    def iter_missing(self) -> Iterator[tuple[str | None, int]]:
        """Yield each subject with the position of each item that it did not answer."""
        answered: dict[str | None, set[int]] = {}
        for subject, at, _ in self.counts.count_by_key():
            answered.setdefault(subject, set()).add(at)
        for subject in _sort_subjects(answered):
            lacking = (
                at for at in range(len(self._item_ids)) if at not in answered.get(subject, ())
            )
            yield from ((subject, at) for at in lacking)

    def build_summary(self) -> Summary:
        """Return the totals as exact means."""
        return summarise_marks(
            self.rubric, self.exam, self._get_combined_marks(), self.iter_marks()
        )


def _sort_subjects(subjects: Iterable[str | None]) -> list[str | None]:
    """Sort subjects by name, unnamed first; return `[None]` if there are none."""
    return sorted(subjects, key=lambda name: (name is not None, name)) or [None]


class _SubjectValueCounts:
    """How often each value occurred, by subject."""

    def __init__(self, dtype: Any) -> None:
        self._rows = pl.DataFrame(schema={"subject": pl.String, "value": dtype, "n": pl.UInt64})
        self._is_compact = True
        self._merge_above = _MIN_ROWS_TO_MERGE

    def add_values(self, subjects: pl.Series, values: pl.Series) -> None:
        """Count the values that are not null; without any subject, in a faster way."""
        if values.null_count() == len(values):
            return
        if subjects.null_count() < len(subjects):
            rows = pl.DataFrame([subjects, values.alias("value")]).drop_nulls("value")
            counted = rows.group_by("subject", "value").agg(pl.len().cast(pl.UInt64).alias("n"))
        else:
            known = values.drop_nulls() if values.null_count() else values
            distinct, times = known.value_counts().get_columns()
            nobody = pl.Series("subject", [None], dtype=pl.String).new_from_index(0, len(distinct))
            counted = pl.DataFrame(
                [nobody, distinct.alias("value"), times.cast(pl.UInt64).alias("n")]
            )
        self.append_counts(counted)

    def append_counts(self, counted: pl.DataFrame) -> None:
        """Append rows of distinct values with their counts."""
        if counted.is_empty():
            return
        self._is_compact = self._rows.is_empty()
        self._rows = self._rows.vstack(counted)
        if self._rows.height > self._merge_above:
            self._merge_above = max(_MIN_ROWS_TO_MERGE, 2 * self.compact_rows().height)

    def compact_rows(self) -> pl.DataFrame:
        """Return the rows with equal ones added up."""
        if not self._is_compact:
            self._rows = self._rows.group_by("subject", "value").agg(pl.col("n").sum())
            self._is_compact = True
        return self._rows

    def __iter__(self) -> Iterator[tuple[str | None, Any, int]]:
        """Yield each subject and value with a count; a pair may come several times."""
        return (self._rows if self._rows.height <= _FEW_ROWS else self.compact_rows()).iter_rows()

    def group_by_subject(self) -> dict[str | None, dict[Any, int]]:
        """Return the counts of each subject."""
        counts_by_subject: dict[str | None, dict[Any, int]] = {}
        for subject, value, count in self:
            counts = counts_by_subject.setdefault(subject, {})
            counts[value] = counts.get(value, 0) + count
        return counts_by_subject


def _sum_exactly(counts: dict[Any, int]) -> MeasureTotal:
    """Return the exact sum of numbers, each taken as the decimal it was written as."""
    total = _EXACT_DECIMAL.create_decimal(0)
    for value, count in counts.items():
        term = _EXACT_DECIMAL.multiply(
            _EXACT_DECIMAL.create_decimal(repr(value)), _EXACT_DECIMAL.create_decimal(count)
        )
        total = _EXACT_DECIMAL.add(total, term)
    return MeasureTotal(n=sum(counts.values()), sum=Fraction(total))

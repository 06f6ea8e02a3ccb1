"""Counting while answers stream past: equal breakdowns per item, equal measures per subject."""

from __future__ import annotations

from collections import Counter
from decimal import Context, Inexact
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.vocabulary import Frozen
from markscheme.weigh.marks import Marks, Values
from markscheme.weigh.measures import Measures, Total
from markscheme.weigh.runs import Run
from markscheme.weigh.summaries import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.mark.columns import Marked
    from markscheme.vocabulary import Exam, Rubric, Summary

Key = tuple[str | None, int, int]
_MEASURED = ("latency_ms", "cost", "tokens_in", "tokens_out")
_PENDING = 100_000
_NOTHING: dict[Values, int] = Frozen()  # type: ignore[assignment]
# More digits than any sum of doubles from 0 to 2^63 can have.
_EXACT = Context(prec=800, traps=[Inexact])


class Tally:
    """Counts how often each subject got each set of axis values on each item; merging is adding.

    Memory grows with items, subjects and different values, not with answers.
    """

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.exam = exam
        self.counts: Counter[Key] = Counter()
        self.values: list[Values] = []
        self.errors = 0
        self._ids = [item.id for item in exam.items]
        self._numbers: dict[Values, int] = {}
        self._measured = {name: _Counts() for name in _MEASURED}

    def add(self, marked: Marked, rows: pl.DataFrame) -> None:
        """Count the answers of one batch; `rows` say who gave them and what they came with."""
        numbers = {vector: self._number(values) for vector, values in marked.values.items()}
        subjects = rows["subject"]
        columns = pl.DataFrame({"item": marked.items, "vector": marked.vectors})
        several = subjects.n_unique() > 1
        if several:
            columns = columns.with_columns(subjects)
        for item, vector, *who, count in columns.group_by(pl.all()).len().iter_rows():
            self.counts[who[0] if several else subjects[0], item, numbers[vector]] += count
        for name, counted in self._measured.items():
            counted.add(subjects, rows[name])

    def _number(self, values: Values) -> int:
        """Return the number of a set of axis values, a new one where it is new."""
        if values not in self._numbers:
            self._numbers[values] = len(self.values)
            self.values.append(values)
        return self._numbers[values]

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
        keys: dict[str | None, list[Key]] = {}
        for key in self.counts:
            keys.setdefault(key[0], []).append(key)
        for subject in sorted(keys, key=lambda name: (name is not None, name)) or [None]:
            yield subject, self._marks(keys.get(subject, []))

    def _marks(self, keys: Iterable[Key]) -> Marks:
        items: dict[str, dict[Values, int]] = dict.fromkeys(self._ids, _NOTHING)
        for key in keys:
            item, values = self._ids[key[1]], self.values[key[2]]
            if items[item] is _NOTHING:
                items[item] = {}
            items[item][values] = items[item].get(values, 0) + self.counts[key]
        axes = tuple(spec.name for spec in self.rubric)
        return Marks(axes=axes, items=items, errors=self.errors)

    def measures(self) -> dict[str | None, Measures]:
        """Return what was measured of each subject."""
        counts = {name: counted.by_subject() for name, counted in self._measured.items()}
        answers: Counter[str | None] = Counter()
        for (subject, _, _), count in self.counts.items():
            answers[subject] += count
        return {
            subject: Measures(
                answers=answers[subject],
                latency_ms=counts["latency_ms"].get(subject, {}),
                **{name: _total(counts[name].get(subject, {})) for name in _MEASURED[1:]},
            )
            for subject in answers or [None]
        }

    def missing(self) -> Iterator[tuple[str | None, int]]:
        """Yield each subject with the position of each item that it did not answer."""
        position = {item: at for at, item in enumerate(self._ids)}
        for subject, marks in self.marks():
            yield from ((subject, position[item]) for item in marks.missing)

    def summary(self) -> Summary:
        """Return the totals as exact means."""
        return summarise(self.rubric, self.exam, self._marks(self.counts), self.marks())


class _Counts:
    """How often each value of a measure occurred, by subject."""

    def __init__(self) -> None:
        self._parts: list[pl.DataFrame] = []
        self._pending = 0
        self._counted = 0

    def add(self, subjects: pl.Series, values: pl.Series) -> None:
        if values.null_count() == len(values):
            return
        rows = pl.DataFrame({"subject": subjects, "value": values}).drop_nulls("value")
        part = rows.group_by("subject", "value").agg(pl.len().cast(pl.UInt64).alias("n"))
        self._parts.append(part)
        self._pending += part.height
        if self._pending > max(_PENDING, self._counted):
            self._collapse()

    def _collapse(self) -> None:
        whole = pl.concat(self._parts).group_by("subject", "value").agg(pl.col("n").sum())
        self._parts, self._pending, self._counted = [whole], 0, whole.height

    def by_subject(self) -> dict[str | None, dict[Any, int]]:
        if not self._parts:
            return {}
        self._collapse()
        found: dict[str | None, dict[Any, int]] = {}
        for subject, value, count in self._parts[0].iter_rows():
            found.setdefault(subject, {})[value] = count
        return found


def _total(counts: dict[Any, int]) -> Total:
    """Return the exact sum of numbers as they were written."""
    total = _EXACT.create_decimal(0)
    for value, count in counts.items():
        term = _EXACT.multiply(_EXACT.create_decimal(repr(value)), _EXACT.create_decimal(count))
        total = _EXACT.add(total, term)
    return Total(n=sum(counts.values()), sum=Fraction(total))

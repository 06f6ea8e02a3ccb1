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
    from collections.abc import Iterable, Iterator, Mapping

    from markscheme.mark.columns import Marked
    from markscheme.vocabulary import Exam, Rubric

Values = tuple[Fraction | None, ...]


Key = tuple[str | None, int, int]


class Tally:
    """Counts how often each subject got each set of axis values on each item; merging is adding."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.exam = exam
        self.counts: Counter[Key] = Counter()
        self.values: list[Values] = []
        self.errors = 0
        self._numbers: dict[Values, int] = {}

    def add(self, marked: Marked) -> None:
        """Count the answers of one batch, each with the subject who gave it."""
        numbers = {vector: self._number(values) for vector, values in marked.values.items()}
        columns = [
            marked.table["subject"],
            marked.items.alias("item"),
            marked.vectors.alias("values"),
        ]
        for subject, item, vector, count in (
            pl.DataFrame(columns).group_by(pl.all()).len().iter_rows()
        ):
            self.counts[subject, item, numbers[vector]] += count

    def _number(self, values: Values) -> int:
        """Return the number of a set of axis values, a new one where it is new."""
        if values not in self._numbers:
            self._numbers[values] = len(self.values)
            self.values.append(values)
        return self._numbers[values]

    def missing(self) -> dict[str | None, list[int]]:
        """Return for each subject the positions of the items it did not answer."""
        answered: dict[str | None, set[int]] = {}
        for subject, item, _ in self.counts:
            answered.setdefault(subject, set()).add(item)
        every = range(len(self.exam.items))
        return {
            subject: [item for item in every if item not in done]
            for subject, done in sorted(answered.items(), key=lambda pair: pair[0] or "")
        } or {None: list(every)}

    def summary(self) -> Summary:
        """Return the totals as exact means."""
        sums = self._sums(self.counts.items())
        answers = self.counts.total()
        missing = self.missing()
        absent = set[int]().union(*missing.values())
        return Summary(
            n=sums.n,
            score=mean(sums.score, sums.n),
            axes=self._means(sums),
            answers=answers,
            unscored=answers - sums.n,
            errors=self.errors,
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
        for key, count in self.counts.items():
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
        for key, count in self.counts.items():
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
            sums.add(self.values[vector], score_of(self.rubric, list(self.values[vector])), count)
        return sums


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

"""Exact totals: counts of equal breakdowns per item, divided last."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from markscheme.exact import mean
from markscheme.mark.scoring import score_of
from markscheme.vocabulary import Group, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.mark.columns import Marked
    from markscheme.vocabulary import Exam, Item, Rubric

Values = tuple[Fraction | None, ...]


class Tally:
    """Counts how often each set of axis values occurred on each item; merging is addition."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.exam = exam
        self.counts: Counter[tuple[int, Values]] = Counter()
        self.errors = 0

    def add(self, marked: Marked) -> None:
        """Count the answers of one batch."""
        columns = pl.DataFrame({"item": marked.items, "vector": marked.vectors})
        for item, vector, count in columns.group_by("item", "vector").len().iter_rows():
            self.counts[item, marked.values[vector]] += count

    def missing(self) -> tuple[Item, ...]:
        """Return the items that have no answer, in the order of the exam."""
        answered = {item for item, _ in self.counts}
        return tuple(item for i, item in enumerate(self.exam.items) if i not in answered)

    def summary(self) -> Summary:
        """Return the totals as exact means."""
        scored = _Sums(self.rubric, self.counts.items())
        answers = self.counts.total()
        return Summary(
            n=scored.n,
            score=mean(scored.score, scored.n),
            axes={
                spec.name: mean(total, scored.n)
                for spec, total in zip(self.rubric, scored.axes, strict=True)
            },
            answers=answers,
            unscored=answers - scored.n,
            errors=self.errors,
            items=len(self.exam.items),
            missing=tuple(item.id for item in self.missing()),
            groups=tuple(self._groups()),
        )

    def _groups(self) -> Iterator[Group]:
        """Yield the groups by tag, tags by name, the worst group of each tag first."""
        members: dict[tuple[str, str], list[tuple[tuple[int, Values], int]]] = {}
        for key, count in self.counts.items():
            for tag in self.exam.items[key[0]].tags.items():
                members.setdefault(tag, []).append((key, count))
        groups = [self._group(tag, value, found) for (tag, value), found in members.items()]
        ordered = [group for group in groups if group is not None]
        yield from sorted(ordered, key=lambda group: (group.tag, group.score, group.value))

    def _group(
        self, tag: str, value: str, counts: Iterable[tuple[tuple[int, Values], int]]
    ) -> Group | None:
        sums = _Sums(self.rubric, counts)
        if not sums.n:
            return None
        axes = {
            spec.name: total / sums.n for spec, total in zip(self.rubric, sums.axes, strict=True)
        }
        return Group(tag=tag, value=value, n=sums.n, score=sums.score / sums.n, axes=axes)


class _Sums:
    """The exact sums over the answers that have a score."""

    def __init__(self, rubric: Rubric, counts: Iterable[tuple[tuple[int, Values], int]]) -> None:
        self.n = 0
        self.score = Fraction(0)
        self.axes = [Fraction(0) for _ in rubric.axes]
        alike: Counter[Values] = Counter()
        for (_, values), count in counts:
            alike[values] += count
        for values, count in alike.items():
            score = score_of(rubric, list(values))
            if score is not None:
                self.n += count
                self.score += score * count
                for axis, value in enumerate(values):
                    self.axes[axis] += (value or 0) * count

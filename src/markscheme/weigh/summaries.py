"""Summaries: marks under the weights of a rubric, as exact means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import mean
from markscheme.mark.scoring import score_of
from markscheme.vocabulary import Frozen, Group, SubjectSummary, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.marks import Marks, Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Exact sums over the `n` answers that have a score."""

    n: int
    score: Fraction
    axes: Mapping[str, Fraction]

    @property
    def mean(self) -> Fraction | None:
        """The mean score; of nothing, nothing."""
        return mean(self.score, self.n)

    @property
    def axis_means(self) -> Mapping[str, Fraction | None]:
        """The mean of each axis."""
        return Frozen({axis: mean(total, self.n) for axis, total in self.axes.items()})


class Scale:
    """The weights of a rubric, laid on sets of axis values; each set is weighed once."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self.axes = tuple(spec.name for spec in rubric)
        self._scores: dict[Values, Fraction | None] = {}

    def score(self, values: Values) -> Fraction | None:
        """Return the exact score, or nothing where a value is missing."""
        if values not in self._scores:
            self._scores[values] = score_of(self.rubric, list(values))
        return self._scores[values]

    def totals(self, counts: Iterable[tuple[Values, int]]) -> Totals:
        """Return the sums over answers given as sets of axis values and their counts."""
        alike: Counter[Values] = Counter()
        for values, count in counts:
            alike[values] += count
        n, score, axes = 0, Fraction(0), [Fraction(0) for _ in self.axes]
        for values, count in alike.items():
            weighed = self.score(values)
            if weighed is None:
                continue
            n += count
            score += weighed * count
            axes = [total + (v or 0) * count for total, v in zip(axes, values, strict=True)]
        return Totals(n=n, score=score, axes=Frozen(zip(self.axes, axes, strict=True)))

    def item_means(self, marks: Marks) -> dict[str, Fraction]:
        """Return the mean score of each item that has a scored answer, over its attempts."""
        means = {item: self.totals(counts.items()).mean for item, counts in marks.items.items()}
        return {item: score for item, score in means.items() if score is not None}


def summarise(
    rubric: Rubric, exam: Exam, together: Marks, subjects: Iterable[tuple[str | None, Marks]]
) -> Summary:
    """Return the totals of what all subjects got together, and how each of them did."""
    scale = Scale(rubric)
    totals = scale.totals(together.counts())
    each = tuple(_subject(scale, subject, marks) for subject, marks in subjects)
    absent = {item for found in each for item in found.missing}
    return Summary(
        n=totals.n,
        score=totals.mean,
        axes=totals.axis_means,
        answers=together.answers,
        unscored=together.unscored,
        errors=together.errors,
        items=len(exam.items),
        missing=tuple(item.id for item in exam.items if item.id in absent),
        subjects=each,
        groups=groups_of(scale, exam, together),
    )


def _subject(scale: Scale, subject: str | None, marks: Marks) -> SubjectSummary:
    totals = scale.totals(marks.counts())
    return SubjectSummary(
        subject=subject,
        n=totals.n,
        score=totals.mean,
        axes=totals.axis_means,
        missing=marks.missing,
    )


def groups_of(scale: Scale, exam: Exam, marks: Marks) -> tuple[Group, ...]:
    """Return the groups by tag, tags by name, the worst group of each tag first."""
    members: dict[tuple[str, str], list[str]] = {}
    for item in exam.items:
        for tag in item.tags.items():
            members.setdefault(tag, []).append(item.id)
    groups = [found for key, ids in members.items() for found in _group(scale, marks, key, ids)]
    return tuple(sorted(groups, key=lambda group: (group.tag, group.score, group.value)))


def _group(scale: Scale, marks: Marks, tag: tuple[str, str], items: list[str]) -> Iterator[Group]:
    totals = scale.totals(marks.counts(items))
    if totals.mean is not None:
        axes = Frozen({axis: total / totals.n for axis, total in totals.axes.items()})
        yield Group(tag=tag[0], value=tag[1], n=totals.n, score=totals.mean, axes=axes)

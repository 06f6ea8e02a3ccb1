"""Summaries: marks under the weights of a rubric, as exact means."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from markscheme.exact import ZERO, mean
from markscheme.frozen import Frozen
from markscheme.mark.scoring import score_of
from markscheme.values import dataclass
from markscheme.vocabulary import Group, SubjectSummary, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.marks import Marks, Values


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Exact sums over the `n` answers that have a score."""

    n: int
    score: Fraction
    axes: Mapping[str, Fraction]

    @cached_property
    def mean(self) -> Fraction | None:
        """The mean score; of nothing, nothing."""
        return mean(self.score, self.n)

    @cached_property
    def axis_means(self) -> Mapping[str, Fraction | None]:
        """The mean of each axis."""
        return Frozen({axis: mean(total, self.n) for axis, total in self.axes.items()})


class Scale:
    """The weights of a rubric, laid on sets of axis values; each set is weighed once.

    Equal sets share one total, so that a thousand items cost a thousand lookups.
    """

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self.axes = tuple(spec.name for spec in rubric)
        self._one: dict[Values, Totals] = {}
        # These hold what they know, so that its id stays its own.
        self._known: dict[int, tuple[Values, Totals]] = {}
        self._items: dict[int, tuple[Mapping[Values, int], Totals]] = {}

    def score(self, values: Values) -> Fraction | None:
        """Return the exact score, or nothing where a value is missing."""
        return self._of(values).mean

    def _of(self, values: Values) -> Totals:
        """Return the sums over one answer."""
        known = self._known.get(id(values))
        if known is None:
            if values not in self._one:
                self._one[values] = self._weighed(values)
            known = self._known[id(values)] = (values, self._one[values])
        return known[1]

    def _weighed(self, values: Values) -> Totals:
        score = score_of(self.rubric, list(values))
        if score is None:
            return Totals(n=0, score=ZERO, axes=Frozen(dict.fromkeys(self.axes, ZERO)))
        return Totals(n=1, score=score, axes=Frozen(zip(self.axes, values, strict=True)))

    def totals(self, counts: Iterable[tuple[Values, int]]) -> Totals:
        """Return the sums over answers given as sets of axis values and their counts."""
        parts = [(self._of(values), count) for values, count in counts]
        if len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
        return Totals(
            n=sum(part.n * count for part, count in parts),
            score=sum((part.score * count for part, count in parts), ZERO),
            axes=Frozen(
                {
                    axis: sum((part.axes[axis] * count for part, count in parts), ZERO)
                    for axis in self.axes
                }
            ),
        )

    def item(self, counts: Mapping[Values, int]) -> Totals:
        """Return the sums over the answers to one item; equal counts that are shared cost once."""
        known = self._items.get(id(counts))
        if known is None:
            known = self._items[id(counts)] = (counts, self.totals(counts.items()))
        return known[1]

    def items(self, marks: Marks) -> list[tuple[Totals, int]]:
        """Return the different sums over items that have a scored answer, and of how many each."""
        found = ((self.item(counts), len(at)) for counts, at in marks.alike())
        return [(totals, n) for totals, n in found if totals.n]

    def item_means(self, marks: Marks) -> dict[str, Fraction]:
        """Return the mean score of each item that has a scored answer, over its attempts."""
        means = {item: self.item(counts).mean for item, counts in marks.items.items()}
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

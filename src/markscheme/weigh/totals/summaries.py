"""Apply the weights of a rubric to marks: exact sums and means, by item, subject and tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from markscheme.mark import compute_score
from markscheme.vocabulary import (
    ZERO,
    Exam,
    FrozenDict,
    Rubric,
    SubjectSummary,
    Summary,
    TagGroup,
    compute_mean,
)
from markscheme.weigh.totals.marks import AxisValues, Marks


@dataclass(frozen=True, kw_only=True)
class ScoreTotals:
    """Exact sums over the `n` answers that have a score."""

    n: int
    score: Fraction
    axes: Mapping[str, Fraction]

    @cached_property
    def mean(self) -> Fraction | None:
        """The mean score; None if no answer has a score."""
        return compute_mean(self.score, self.n)

    @cached_property
    def axis_means(self) -> Mapping[str, Fraction | None]:
        """The mean of each axis."""
        return FrozenDict({axis: compute_mean(total, self.n) for axis, total in self.axes.items()})


class WeightScale:
    """Computes scores from axis values under the weights of a rubric, with a cache.

    Each distinct set of axis values is weighed once; after that it costs a lookup.
    """

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self.axes = tuple(spec.name for spec in rubric)
        self._totals_by_values: dict[AxisValues, ScoreTotals] = {}
        # Keyed by id, which is faster than hashing fractions. The entries keep the keyed object
        # alive, so that its id cannot be given to another one.
        self._totals_by_id: dict[int, tuple[AxisValues, ScoreTotals]] = {}
        self._item_totals_by_id: dict[int, tuple[Mapping[AxisValues, int], ScoreTotals]] = {}

    def score(self, values: AxisValues) -> Fraction | None:
        """Return the exact score, or None if a value is missing."""
        return self._weigh_answer(values).mean

    def _weigh_answer(self, values: AxisValues) -> ScoreTotals:
        """Return the totals of one answer, from the cache if its values are known."""
        known = self._totals_by_id.get(id(values))
        if known is None:
            if values not in self._totals_by_values:
                self._totals_by_values[values] = self._compute_answer_totals(values)
            known = self._totals_by_id[id(values)] = (values, self._totals_by_values[values])
        return known[1]

    def _compute_answer_totals(self, values: AxisValues) -> ScoreTotals:
        score = compute_score(self.rubric, list(values))
        if score is None:
            return ScoreTotals(n=0, score=ZERO, axes=FrozenDict(dict.fromkeys(self.axes, ZERO)))
        return ScoreTotals(n=1, score=score, axes=FrozenDict(zip(self.axes, values, strict=True)))

    def sum_answers(self, counts: Iterable[tuple[AxisValues, int]]) -> ScoreTotals:
        """Return the totals of answers, given as sets of axis values with their counts."""
        parts = [(self._weigh_answer(values), count) for values, count in counts]
        if len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
        return ScoreTotals(
            n=sum(part.n * count for part, count in parts),
            score=sum((part.score * count for part, count in parts), ZERO),
            axes=FrozenDict(
                {
                    axis: sum((part.axes[axis] * count for part, count in parts), ZERO)
                    for axis in self.axes
                }
            ),
        )

    def sum_item(self, counts: Mapping[AxisValues, int]) -> ScoreTotals:
        """Return the totals of the answers to one item; a shared mapping is summed once."""
        known = self._item_totals_by_id.get(id(counts))
        if known is None:
            known = self._item_totals_by_id[id(counts)] = (counts, self.sum_answers(counts.items()))
        return known[1]

    def sum_items(self, marks: Marks) -> list[tuple[ScoreTotals, int]]:
        """Return the totals of the items that have a scored answer, with the number of each."""
        items = ((self.sum_item(counts), len(at)) for counts, at in marks.alike())
        return [(totals, n) for totals, n in items if totals.n]

    def compute_item_means(self, marks: Marks) -> dict[str, Fraction]:
        """Return the mean score of each item that has a scored answer, over its attempts."""
        means = {item: self.sum_item(counts).mean for item, counts in marks.items.items()}
        return {item: score for item, score in means.items() if score is not None}


@dataclass(frozen=True, kw_only=True)
class AxisTotals:
    """For each axis the exact mean over the answers it judged, and how many it judged or did not.

    An answer without a score counts too: an axis that abstains says nothing about the others.
    """

    means: Mapping[str, Fraction | None]
    judged: Mapping[str, int]
    unjudged: Mapping[str, int]

    @classmethod
    def from_counts(
        cls, axes: Sequence[str], counts: Sequence[tuple[AxisValues, int]]
    ) -> AxisTotals:
        """Sum up sets of axis values with their counts."""
        answers = sum(count for _, count in counts)
        judged, means = {}, {}
        for at, axis in enumerate(axes):
            known = [
                (value, count) for values, count in counts if (value := values[at]) is not None
            ]
            judged[axis] = sum(count for _, count in known)
            total = sum((value * count for value, count in known), ZERO)
            means[axis] = compute_mean(total, judged[axis])
        return cls(
            means=FrozenDict(means),
            judged=FrozenDict(judged),
            unjudged=FrozenDict({axis: answers - n for axis, n in judged.items()}),
        )


def summarise_marks(
    rubric: Rubric, exam: Exam, together: Marks, subjects: Iterable[tuple[str | None, Marks]]
) -> Summary:
    """Return the summary of a run: all subjects together, each subject, and the groups by tag."""
    scale = WeightScale(rubric)
    counts = together.counts()
    totals, by_axis = scale.sum_answers(counts), AxisTotals.from_counts(together.axes, counts)
    summaries = tuple(_summarise_subject(scale, subject, marks) for subject, marks in subjects)
    missing = {item for summary in summaries for item in summary.missing}
    return Summary(
        n=totals.n,
        score=totals.mean,
        axes=by_axis.means,
        answers=together.answers,
        unscored=together.unscored,
        errors=together.errors,
        items=len(exam.items),
        missing=tuple(item.id for item in exam.items if item.id in missing),
        subjects=summaries,
        groups=summarise_tags(scale, exam, together),
        judged=by_axis.judged,
        unjudged=by_axis.unjudged,
    )


def _summarise_subject(scale: WeightScale, subject: str | None, marks: Marks) -> SubjectSummary:
    counts = marks.counts()
    totals, by_axis = scale.sum_answers(counts), AxisTotals.from_counts(marks.axes, counts)
    return SubjectSummary(
        subject=subject,
        n=totals.n,
        score=totals.mean,
        axes=by_axis.means,
        missing=marks.missing,
        judged=by_axis.judged,
        unjudged=by_axis.unjudged,
    )


def summarise_tags(scale: WeightScale, exam: Exam, marks: Marks) -> tuple[TagGroup, ...]:
    """Return the groups by tag, sorted by tag, with the worst group of each tag first.

    The worst group is the one that loses most points, and of equals the larger one: a single item
    at 0 costs less than a whole verb at 0.
    """
    members: dict[tuple[str, str], list[str]] = {}
    for item in exam.items:
        for tag in item.tags.items():
            members.setdefault(tag, []).append(item.id)
    groups = [
        group for tag, ids in members.items() for group in _summarise_tag(scale, marks, tag, ids)
    ]
    return tuple(sorted(groups, key=_get_group_sort_key))


def _get_group_sort_key(group: TagGroup) -> tuple[str, Fraction, int, str]:
    lost = group.n * (1 - group.score)
    return group.tag, -lost, -group.n, group.value


def _summarise_tag(
    scale: WeightScale, marks: Marks, tag: tuple[str, str], items: list[str]
) -> Iterator[TagGroup]:
    totals = scale.sum_answers(marks.counts(items))
    if totals.mean is not None:
        axes = FrozenDict({axis: total / totals.n for axis, total in totals.axes.items()})
        yield TagGroup(tag=tag[0], value=tag[1], n=totals.n, score=totals.mean, axes=axes)

"""Apply the weights of a rubric to marks: exact sums and means, by item, subject and tag.

A mean over answers of which some have no score has bounds and no value: the mean of the others
would say nothing about those. Items without an answer, and rows that were no answers, leave the
mean of the answers as it is, and widen its bounds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from msgspec import structs

from markscheme.mark import combine_axis_values, combine_values, find_bounds
from markscheme.vocabulary import (
    NOT_APPLICABLE,
    UNKNOWN_SCORE,
    ZERO,
    Axis,
    AxisValue,
    Exam,
    FrozenDict,
    Item,
    NotApplicable,
    Rubric,
    ScoreBounds,
    SubjectSummary,
    Summary,
    TagGroup,
)
from markscheme.weigh.totals.marks import AxisValues, Marks

_NO_LOSS: Mapping[str, Fraction] = FrozenDict()


@dataclass(frozen=True, kw_only=True)
class Total:
    """An exact sum over `n` known values, with the bounds and number of those not known.

    Values that do not apply are counted, and take part in no mean.
    """

    n: int = 0
    sum: Fraction = ZERO
    unknown: tuple[tuple[ScoreBounds, int], ...] = ()
    not_applicable: int = 0

    @classmethod
    def from_value(cls, value: AxisValue) -> Total:
        """Return the total of one value."""
        if isinstance(value, Fraction):
            return cls(n=1, sum=value)
        if isinstance(value, NotApplicable):
            return cls(not_applicable=1)
        return cls(unknown=((value, 1),))

    @cached_property
    def value(self) -> AxisValue | None:
        """The mean, its bounds, or that nothing applies; None if there is no value at all."""
        if self.unknown:
            known = [(Fraction(self.n), self.sum / self.n)] if self.n else []
            bounded = [(Fraction(count), bounds) for bounds, count in self.unknown]
            weights, values = zip(*known, *bounded, strict=True)
            return combine_axis_values(weights, values)
        if self.n:
            return self.sum / self.n
        return NOT_APPLICABLE if self.not_applicable else None

    @property
    def mean(self) -> Fraction | None:
        """The mean; None unless every value is known."""
        return self.value if isinstance(self.value, Fraction) else None

    @property
    def bounds(self) -> ScoreBounds | None:
        """The lowest and the highest mean that the values allow; None if the mean is known."""
        return self.value if isinstance(self.value, ScoreBounds) else None

    @property
    def known_mean(self) -> Fraction | None:
        """The mean of the known values alone, for what is shown while others are still missing."""
        return self.sum / self.n if self.n else None


def add_totals(parts: Iterable[tuple[Total, int]]) -> Total:
    """Return the sum of totals, each taken a number of times."""
    n, not_applicable, total = 0, 0, ZERO
    unknown: dict[ScoreBounds, int] = defaultdict(int)
    for part, count in parts:
        n += part.n * count
        not_applicable += part.not_applicable * count
        if part.sum:
            total += part.sum * count
        for bounds, times in part.unknown:
            unknown[bounds] += times * count
    bounded = sorted(unknown.items(), key=lambda entry: (entry[0].low, entry[0].high))
    return Total(n=n, sum=total, unknown=tuple(bounded), not_applicable=not_applicable)


@dataclass(frozen=True, kw_only=True)
class ScoreTotals:
    """The totals of answers: of their scores, and of each axis.

    `lost` is what each axis took from the scores of the answers that have one.
    """

    overall: Total
    axes: Mapping[str, Total]
    lost: Mapping[str, Fraction]

    @property
    def n(self) -> int:
        """The number of answers with a score."""
        return self.overall.n

    @property
    def value(self) -> AxisValue | None:
        """The mean score or what is known of it; None if there are no answers."""
        return self.overall.value

    @property
    def mean(self) -> Fraction | None:
        """The mean score; None unless the score of every answer is known."""
        return self.overall.mean

    @property
    def bounds(self) -> ScoreBounds | None:
        """The bounds of the mean score; None if it is known."""
        return self.overall.bounds

    @cached_property
    def axis_means(self) -> Mapping[str, Fraction | None]:
        """The mean of each axis; None where the value of some answer is not known."""
        return FrozenDict({axis: total.mean for axis, total in self.axes.items()})

    @cached_property
    def axis_bounds(self) -> Mapping[str, ScoreBounds]:
        """The bounds of the mean of each axis that is not known."""
        found = ((axis, total.bounds) for axis, total in self.axes.items())
        return FrozenDict({axis: bounds for axis, bounds in found if bounds is not None})


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
        """Return the exact score, or None if it is not known or nothing applies."""
        return self.weigh_answer(values).mean

    def weigh_answer(self, values: AxisValues) -> ScoreTotals:
        """Return the totals of one answer, from the cache if its values are known."""
        known = self._totals_by_id.get(id(values))
        if known is None:
            if values not in self._totals_by_values:
                self._totals_by_values[values] = self._compute_answer_totals(values)
            known = self._totals_by_id[id(values)] = (values, self._totals_by_values[values])
        return known[1]

    def _compute_answer_totals(self, values: AxisValues) -> ScoreTotals:
        score = combine_values(self.rubric, values)
        named = FrozenDict(zip(self.axes, map(Total.from_value, values), strict=True))
        lost = self._compute_losses(values) if isinstance(score, Fraction) else _NO_LOSS
        return ScoreTotals(overall=Total.from_value(score), axes=named, lost=lost)

    def _compute_losses(self, values: AxisValues) -> Mapping[str, Fraction]:
        """Return what each axis takes from the score; what does not apply takes nothing."""
        applying = [
            (spec.name, Fraction(spec.weight), value)
            for spec, value in zip(self.rubric, values, strict=True)
            if isinstance(value, Fraction)
        ]
        total = sum((weight for _, weight, _ in applying), ZERO)
        return FrozenDict(
            {axis: weight * (1 - value) / total for axis, weight, value in applying if value != 1}
        )

    def sum_answers(self, counts: Iterable[tuple[AxisValues, int]]) -> ScoreTotals:
        """Return the totals of answers, given as sets of axis values with their counts."""
        parts = [(self.weigh_answer(values), count) for values, count in counts]
        if len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
        lost: dict[str, Fraction] = {}
        for part, count in parts:
            for axis, by in part.lost.items():
                lost[axis] = lost.get(axis, ZERO) + by * count
        return ScoreTotals(
            overall=add_totals((part.overall, count) for part, count in parts),
            axes=FrozenDict(
                {
                    axis: add_totals((part.axes[axis], count) for part, count in parts)
                    for axis in self.axes
                }
            ),
            lost=FrozenDict(lost),
        )

    def sum_item(self, counts: Mapping[AxisValues, int]) -> ScoreTotals:
        """Return the totals of the answers to one item; a shared mapping is summed once."""
        known = self._item_totals_by_id.get(id(counts))
        if known is None:
            known = self._item_totals_by_id[id(counts)] = (counts, self.sum_answers(counts.items()))
        return known[1]

    def sum_items(self, marks: Marks) -> list[tuple[ScoreTotals, int]]:
        """Return the totals of the items whose score is known, with the number of each."""
        items = ((self.sum_item(counts), len(at)) for counts, at in marks.alike())
        return [(totals, n) for totals, n in items if totals.mean is not None]


class UnknownAnswers:
    """What is known of answers that are not there: the bounds of each axis, by item."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self._axes = [spec.axis for spec in rubric]
        self._items = {item.id: item for item in exam.items}
        # Most axes give every item the same bounds; then all items share one set of values.
        self._is_alike = not any(hasattr(axis, "get_bounds") for axis in self._axes)
        self._plain: AxisValues = (UNKNOWN_SCORE,) * len(self._axes)
        self._shared: dict[AxisValues, AxisValues] = {}

    def get_item_values(self, item: str) -> AxisValues:
        """Return the values of an answer to an item, of which nothing is known."""
        if self._is_alike or item not in self._items:
            return self._plain
        values = tuple(_find_item_bounds(axis, self._items[item]) for axis in self._axes)
        return self._shared.setdefault(values, values)

    @cached_property
    def any_values(self) -> AxisValues:
        """The values of a row that may have been an answer to any item."""
        if self._is_alike:
            return self._plain
        bounds = [
            [_find_item_bounds(axis, item) for item in self._items.values()] for axis in self._axes
        ]
        return tuple(
            ScoreBounds(low=min(each.low for each in axis), high=max(each.high for each in axis))
            if axis
            else UNKNOWN_SCORE
            for axis in bounds
        )

    def fill(self, marks: Marks) -> Marks:
        """Return marks in which missing items have answers of which nothing is known."""
        return marks.fill_missing(self.get_item_values)

    def list_errors(self, marks: Marks) -> list[tuple[AxisValues, int]]:
        """Return the rows that were no answers as answers of which nothing is known."""
        return [(self.any_values, marks.errors)] if marks.errors else []

    def sum_run(
        self, scale: WeightScale, marks: Marks, items: Sequence[str] | None = None
    ) -> ScoreTotals:
        """Return the totals of a run, of these items or of all, with all that is not known."""
        return scale.sum_answers([*self.fill(marks).counts(items), *self.list_errors(marks)])


def _find_item_bounds(axis: Axis, item: Item) -> ScoreBounds:
    """Return the bounds of an axis; an item that is known by its id alone has no others."""
    is_usable = next(iter(axis.item_problems(item)), None) is None
    return find_bounds(axis, item) if is_usable else UNKNOWN_SCORE


def summarise_marks(
    rubric: Rubric, exam: Exam, together: Marks, subjects: Iterable[tuple[str | None, Marks]]
) -> Summary:
    """Return the summary of a run: all subjects together, each subject, and the groups by tag."""
    scale, unknown = WeightScale(rubric), UnknownAnswers(rubric, exam)
    summaries, absent = [], Counter[str]()
    for subject, marks in subjects:
        whole = unknown.fill(marks)
        means = _summarise_means(scale, marks, whole, unknown.list_errors(marks))
        summaries.append(SubjectSummary(subject=subject, missing=marks.missing, **means))
        absent.update({item: sum(whole.items[item].values()) for item in marks.missing})
    counts = {item: {unknown.get_item_values(item): n} for item, n in absent.items()}
    filled, errors = _add_absent(together, counts), unknown.list_errors(together)
    return Summary(
        answers=together.answers,
        unscored=together.unscored,
        errors=together.errors,
        items=len(exam.items),
        missing=tuple(item.id for item in exam.items if item.id in absent),
        subjects=tuple(summaries),
        groups=_summarise_groups(scale, exam, together, filled, errors),
        **_summarise_means(scale, together, filled, errors),
    )


def _add_absent(marks: Marks, absent: Mapping[str, Mapping[AxisValues, int]]) -> Marks:
    """Return marks with the answers that subjects did not give; of those nothing is known."""
    if not absent:
        return marks
    added = {
        item: dict(Counter(marks.items[item]) + Counter(counts)) for item, counts in absent.items()
    }
    return structs.replace(marks, items={**marks.items, **added})


def _summarise_means(
    scale: WeightScale, marks: Marks, filled: Marks, errors: Iterable[tuple[AxisValues, int]]
) -> dict[str, Any]:
    """Return the means of a run, with bounds for all that could still change them.

    `filled` and `errors` hold answers of which nothing is known.
    """
    totals = scale.sum_answers(marks.counts())
    whole = totals
    if not marks.all_answered or filled is not marks:
        whole = scale.sum_answers([*filled.counts(), *errors])
    judged = {axis: total.n for axis, total in totals.axes.items()}
    excused = {axis: total.not_applicable for axis, total in totals.axes.items()}
    answers = marks.answers
    return {
        "n": totals.n,
        "score": totals.mean,
        "bounds": whole.bounds,
        "score_cut": _cut_score(scale.rubric, totals.mean),
        "axes": totals.axis_means,
        "axis_bounds": whole.axis_bounds,
        "judged": FrozenDict(judged),
        "unjudged": FrozenDict({axis: answers - n - excused[axis] for axis, n in judged.items()}),
        "not_applicable": FrozenDict({axis: n for axis, n in excused.items() if n}),
    }


def _cut_score(rubric: Rubric, score: Fraction | None) -> Fraction | None:
    """Return the mean cut to 0 … 1 where an axis keeps values below 0, else None."""
    keeps = any(getattr(spec.axis, "keeps_negatives", False) for spec in rubric)
    return max(score, ZERO) if keeps and score is not None else None


def summarise_tags(scale: WeightScale, exam: Exam, marks: Marks) -> tuple[TagGroup, ...]:
    """Return the groups by tag of one run, sorted by tag, with the worst group of each tag first.

    The worst group is the one that may lose most points, and of equals the larger one: a single
    item at 0 costs less than a whole verb at 0.
    """
    unknown = UnknownAnswers(scale.rubric, exam)
    return _summarise_groups(scale, exam, marks, unknown.fill(marks), unknown.list_errors(marks))


def _summarise_groups(
    scale: WeightScale,
    exam: Exam,
    marks: Marks,
    filled: Marks,
    errors: list[tuple[AxisValues, int]],
) -> tuple[TagGroup, ...]:
    members: dict[tuple[str, str], list[str]] = {}
    for item in exam.items:
        for tag in item.tags.items():
            members.setdefault(tag, []).append(item.id)
    groups = []
    for tag, ids in members.items():
        totals = scale.sum_answers(marks.counts(ids))
        if totals.n or totals.bounds:
            whole = totals if filled is marks else scale.sum_answers(filled.counts(ids))
            if errors:
                whole = scale.sum_answers([*filled.counts(ids), *errors])
            groups.append(_build_group(tag, totals, whole))
    return tuple(sorted(groups, key=_get_group_sort_key))


def _build_group(tag: tuple[str, str], totals: ScoreTotals, whole: ScoreTotals) -> TagGroup:
    return TagGroup(
        tag=tag[0],
        value=tag[1],
        n=totals.n,
        score=totals.mean,
        bounds=whole.bounds,
        axes=totals.axis_means,
        axis_bounds=whole.axis_bounds,
    )


def _get_group_sort_key(group: TagGroup) -> tuple[str, Fraction, int, str]:
    lowest = group.score
    if lowest is None:
        lowest = group.bounds.low if group.bounds else ZERO
    return group.tag, -group.n * (1 - lowest), -group.n, group.value

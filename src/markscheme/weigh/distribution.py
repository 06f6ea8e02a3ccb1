"""Score distribution of a run over its items, and the trend of an axis from run to run.

The distribution: mean, interval and quantiles of the items' scores, by axis and by tag.

The drift rule: an axis drifts if, over the last runs in order of time, it falls more steadily than
chance explains. The chance is exact (Mann-Kendall, all orders counted, ties as ties), adjusted over
the axes by Holm, and must be at most one in a hundred. An axis drifts alone if no other axis, taken
by itself, falls that steadily.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import ClassVar

from markscheme.vocabulary import (
    ZERO,
    Exam,
    RecordFields,
    Rubric,
    TagGroup,
    format_ratio,
    list_pairs,
    sentence,
    to_float,
)
from markscheme.weigh.stats import (
    SampleStatistics,
    adjust_by_holm,
    compute_falling_p,
    compute_quantile,
    compute_unseen_share,
    compute_wilson_interval,
    sum_counts,
)
from markscheme.weigh.totals import Run, ScoreTotals, WeightScale, summarise_tags

DRIFT_LEVEL = Fraction(1, 100)
# A drift is looked for in so many of the last runs.
DRIFT_WINDOW = 20
CONFIDENCE = 0.95
_QUANTILES = (0, 5, 25, 50, 75, 95, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """An axis that falls from run to run: its first and last mean, and the chance of it by luck.

    `alone` says that no other axis falls that steadily.
    """

    axis: str
    first: Fraction
    last: Fraction
    p: Fraction
    alone: bool


def find_drifts(axes: Mapping[str, Sequence[Fraction]]) -> tuple[Drift, ...]:
    """Return the axes that drift down, given the means of each axis in order of time."""
    raw = {axis: compute_falling_p(values) for axis, values in axes.items() if values}
    adjusted = dict(zip(raw, adjust_by_holm(list(raw.values())), strict=True))
    falling = [axis for axis, p in raw.items() if p <= DRIFT_LEVEL]
    return tuple(
        Drift(
            axis=axis,
            first=axes[axis][0],
            last=axes[axis][-1],
            p=p,
            alone=falling == [axis],
        )
        for axis, p in adjusted.items()
        if p <= DRIFT_LEVEL
    )


def count_runs_needed(axes: int) -> int:
    """Return how many runs are needed before a drift among so many axes can be significant."""
    n = 2
    while Fraction(axes, math.factorial(n)) > DRIFT_LEVEL:
        n += 1
    return n


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """An exact mean with its two-sided 95 % interval over items, and the method of the interval."""

    mean: Fraction
    lower: float | None
    upper: float | None
    method: str

    record_fields: ClassVar[RecordFields] = (
        "mean",
        ("exact", lambda estimate: format_ratio(estimate.mean)),
        "lower",
        "upper",
        "method",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """One run in a history: its subject, when it started, and its exact means."""

    run: str
    subject: str | None
    started: datetime | None
    score: Fraction
    axes: Mapping[str, Fraction | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDistribution:
    """How one run scores over its items, and how the runs like it moved.

    `trend` is over the runs of all subjects, because a subject may be a release, and `own_trend`
    over those of the run's subject. `left_out` names the runs of the history that cannot be
    compared, with the reason.
    """

    run: str
    items: int
    score: MeanEstimate
    axes: Mapping[str, MeanEstimate]
    passed: MeanEstimate
    quantiles: Mapping[int, Fraction]
    groups: tuple[TagGroup, ...]
    trend: tuple[TrendPoint, ...]
    own_trend: tuple[TrendPoint, ...]
    runs_needed: int
    left_out: tuple[tuple[str, str], ...]

    record_fields: ClassVar[RecordFields] = (
        "run",
        "items",
        "score",
        "axes",
        "passed",
        ("quantiles", lambda run: {f"p{at}": value for at, value in run.quantiles.items()}),
        "groups",
        "trend",
        ("by_subject", "has_subject_trends"),
        ("followed", lambda run: [point.run for point in run.drift_points]),
        "drifts",
        "runs_needed",
        list_pairs("left_out", "run", "because"),
    )

    @property
    def by_subject(self) -> Mapping[str | None, tuple[TrendPoint, ...]]:
        """The trend of each subject, in the order in which they first ran."""
        subjects = dict.fromkeys(point.subject for point in self.trend)
        return {who: tuple(p for p in self.trend if p.subject == who) for who in subjects}

    @property
    def has_subject_trends(self) -> bool:
        """Whether there are several subjects and one has several runs: each has its own trend."""
        return len(self.by_subject) > 1 and len(self.by_subject) < len(self.trend)

    @property
    def drift_points(self) -> tuple[TrendPoint, ...]:
        """The runs in which a drift is looked for: one subject's, if subjects have own trends."""
        return self.own_trend if self.has_subject_trends else self.trend

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """The axes that drift down over `drift_points`."""
        return find_recent_drifts(self.drift_points)


def describe_distribution(
    rubric: Rubric, exam: Exam, run: Run, history: Sequence[Run] = (), own: Sequence[Run] = ()
) -> ScoreDistribution | None:
    """Return the distribution of a run, and the trends of its history.

    `history` and `own`, the history of the run's subject, are in order of time. Returns None if
    nothing was scored in the run.
    """
    scale = WeightScale(rubric)
    items = scale.sum_items(run.marks)
    if not items:
        return None
    means = sum_counts((totals.mean, n) for totals, n in items if totals.mean is not None)
    compared = [(past, _explain_trend_mismatch(past, run)) for past in history]
    trend = tuple(_build_trend_point(scale, past) for past, why in compared if not why)
    passed = sum(n for mean, n in means.items() if mean >= Fraction(rubric.pass_mark))
    return ScoreDistribution(
        run=run.name,
        items=means.total(),
        score=_estimate_mean(means),
        axes=_estimate_axes(scale, run, items),
        passed=_estimate_proportion(passed, means.total()),
        quantiles={at: compute_quantile(means, Fraction(at, 100)) for at in _QUANTILES},
        groups=summarise_tags(scale, exam, run.marks),
        trend=trend,
        own_trend=build_trend(rubric, run, own),
        runs_needed=count_runs_needed(len(scale.axes)),
        left_out=tuple((past.name, why) for past, why in compared if why),
    )


def _estimate_axes(
    scale: WeightScale, run: Run, items: Sequence[tuple[ScoreTotals, int]]
) -> Mapping[str, MeanEstimate]:
    """Return the mean of each axis over the items that it applies to.

    Axes of which some value is not known are left out: they have no mean.
    """
    totals = scale.sum_answers(run.marks.counts())
    counts = {
        axis: sum_counts(
            (mean, n) for totals, n in items if (mean := totals.axis_means[axis]) is not None
        )
        for axis in scale.axes
        if totals.axes[axis].bounds is None
    }
    return {axis: _estimate_mean(means) for axis, means in counts.items() if means}


def build_trend(rubric: Rubric, run: Run, history: Iterable[Run]) -> tuple[TrendPoint, ...]:
    """Return the means of the runs of a history that can be compared with a run, in its order."""
    scale = WeightScale(rubric)
    return tuple(
        _build_trend_point(scale, past)
        for past in history
        if not _explain_trend_mismatch(past, run)
    )


def find_recent_drifts(trend: Sequence[TrendPoint]) -> tuple[Drift, ...]:
    """Return the axes that drift down over the last points of a trend."""
    latest = trend[-DRIFT_WINDOW:]
    axes = latest[0].axes if latest else ()
    values = {axis: [point.axes[axis] for point in latest] for axis in axes}
    # An axis that did not apply in some run has no trend.
    return find_drifts(
        {
            axis: [v for v in known if v is not None]
            for axis, known in values.items()
            if None not in known
        }
    )


def _explain_trend_mismatch(past: Run, run: Run) -> str:
    for what, theirs, ours in (
        (sentence("another rubric"), past.rubric, run.rubric),
        (sentence("another exam"), past.exam, run.exam),
    ):
        if theirs is None or theirs != ours:
            return what
    return "" if past.marks.complete else sentence("incomplete")


def _build_trend_point(scale: WeightScale, run: Run) -> TrendPoint:
    """Return the means of a complete run."""
    totals = scale.sum_answers(run.marks.counts())
    return TrendPoint(
        run=run.name,
        subject=run.subject,
        started=run.started,
        score=totals.mean or ZERO,
        axes=totals.axis_means,
    )


def _estimate_mean(means: Counter[Fraction]) -> MeanEstimate:
    """Return the mean over items: Wilson's interval if all are 0 or 1, else Student's t.

    If all values are equal, there is no spread. Then the interval allows for the share of items
    that so many equal ones may leave unseen.
    """
    if means.keys() <= {0, 1}:
        return _estimate_proportion(means[Fraction(1)], means.total())
    sample = SampleStatistics.from_counts(means)
    if sample is None:
        (only,) = means
        return MeanEstimate(mean=only, lower=None, upper=None, method=sentence("none: one item"))
    if sample.standard_error:
        lower, upper = sample.compute_interval(CONFIDENCE)
        # Kept penalties give means below 0, so there the interval has no lower limit.
        lower, upper = max(0.0, lower) if min(means) >= 0 else lower, min(1.0, upper)
        return MeanEstimate(
            mean=sample.mean, lower=lower, upper=upper, method=sentence("Student's t")
        )
    unseen = compute_unseen_share(sample.n, (1 - CONFIDENCE) / 2)
    seen = (1 - unseen) * (to_float(sample.mean) or 0)
    return MeanEstimate(
        mean=sample.mean, lower=seen, upper=seen + unseen, method=sentence("all items equal")
    )


def _estimate_proportion(passed: int, n: int) -> MeanEstimate:
    lower, upper = compute_wilson_interval(passed, n, CONFIDENCE)
    return MeanEstimate(mean=Fraction(passed, n), lower=lower, upper=upper, method="Wilson")

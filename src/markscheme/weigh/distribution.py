"""The stable distribution: how the production tutor scores, and whether it still does."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import number
from markscheme.sentences import sentence
from markscheme.values import dataclass
from markscheme.vocabulary import Group
from markscheme.weigh.statistics import Sample, counted, quantile, unseen_share, wilson
from markscheme.weigh.summaries import Scale, groups_of
from markscheme.weigh.trends import Drift, drifts, runs_needed

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.runs import Run

CONFIDENCE = 0.95
LOOKED_AT = 20  # so many of the last runs show a drift
_QUANTILES = (0, 5, 25, 50, 75, 95, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An exact mean with its two-sided 95 % interval over items; the method says which."""

    mean: Fraction
    lower: float | None
    upper: float | None
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run in a history: whose it is, and its exact means."""

    run: str
    subject: str | None
    score: Fraction
    axes: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How one run scores over its items, and how the runs like it moved.

    `trend` is over the runs of all subjects, because a subject may be a release, and `own` over
    those of the run's subject. `left_out` names the runs of the history that cannot be compared,
    with the reason.
    """

    run: str
    items: int
    score: Estimate
    axes: Mapping[str, Estimate]
    passed: Estimate
    quantiles: Mapping[int, Fraction]
    groups: tuple[Group, ...]
    trend: tuple[Point, ...]
    own: tuple[Point, ...]
    runs_needed: int
    left_out: tuple[tuple[str, str], ...]

    @property
    def by_subject(self) -> Mapping[str | None, tuple[Point, ...]]:
        """The trend of each subject, in the order in which they first ran."""
        subjects = dict.fromkeys(point.subject for point in self.trend)
        return {who: tuple(p for p in self.trend if p.subject == who) for who in subjects}

    @property
    def apart(self) -> bool:
        """Whether subjects have trends of their own: several of them have several runs."""
        return sum(len(points) > 1 for points in self.by_subject.values()) > 1

    @property
    def followed(self) -> tuple[Point, ...]:
        """The runs in which a drift is looked for: one trend, and not several in one another."""
        return self.own if self.apart else self.trend

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """The axes that drift down over the runs that are followed."""
        return drifts_of(self.followed)


def describe(
    rubric: Rubric, exam: Exam, run: Run, history: Sequence[Run] = (), own: Sequence[Run] = ()
) -> Distribution | None:
    """Return the distribution of a run, and the trends of a history that is in order of time.

    `own` is the history of the run's subject. Of a run in which nothing was scored there is none.
    """
    scale = Scale(rubric)
    each = scale.items(run.marks)
    if not each:
        return None
    means = counted((totals.score / totals.n, n) for totals, n in each)
    compared = [(past, _incomparable(past, run)) for past in history]
    trend = tuple(_point(scale, past) for past, why in compared if not why)
    passed = sum(n for mean, n in means.items() if mean >= Fraction(rubric.pass_mark))
    return Distribution(
        run=run.name,
        items=means.total(),
        score=_estimate(means),
        axes={
            axis: _estimate(counted((totals.axes[axis] / totals.n, n) for totals, n in each))
            for axis in scale.axes
        },
        passed=_proportion(passed, means.total()),
        quantiles={at: quantile(means, Fraction(at, 100)) for at in _QUANTILES},
        groups=groups_of(scale, exam, run.marks),
        trend=trend,
        own=trend_of(rubric, run, own),
        runs_needed=runs_needed(len(scale.axes)),
        left_out=tuple((past.name, why) for past, why in compared if why),
    )


def trend_of(rubric: Rubric, run: Run, history: Iterable[Run]) -> tuple[Point, ...]:
    """Return the means of those runs of a history that can be compared with a run, in its order."""
    scale = Scale(rubric)
    return tuple(_point(scale, past) for past in history if not _incomparable(past, run))


def drifts_of(trend: Sequence[Point]) -> tuple[Drift, ...]:
    """Return the axes that drift down over the latest points of a trend."""
    latest = trend[-LOOKED_AT:]
    axes = latest[0].axes if latest else ()
    return drifts({axis: [point.axes[axis] for point in latest] for axis in axes})


def _incomparable(past: Run, run: Run) -> str:
    for what, theirs, ours in (
        (sentence("another rubric"), past.rubric, run.rubric),
        (sentence("another exam"), past.exam, run.exam),
    ):
        if theirs is None or theirs != ours:
            return what
    return "" if past.marks.complete else sentence("incomplete")


def _point(scale: Scale, run: Run) -> Point:
    """Return the means of a complete run."""
    totals = scale.totals(run.marks.counts())
    axes = {axis: total / totals.n for axis, total in totals.axes.items()}
    return Point(run=run.name, subject=run.subject, score=totals.score / totals.n, axes=axes)


def _estimate(means: Counter[Fraction]) -> Estimate:
    """Return the mean over items: Wilson's interval of a share, Student's t of anything else.

    Values that are all equal have no spread to go by; what so many items leave unseen bounds it.
    """
    if means.keys() <= {0, 1}:
        return _proportion(means[Fraction(1)], means.total())
    sample = Sample.of_counts(means)
    if sample is None:
        (only,) = means
        return Estimate(mean=only, lower=None, upper=None, method=sentence("none: one item"))
    if sample.standard_error:
        lower, upper = sample.interval(CONFIDENCE)
        lower, upper = max(0.0, lower), min(1.0, upper)
        return Estimate(mean=sample.mean, lower=lower, upper=upper, method=sentence("Student's t"))
    unseen = unseen_share(sample.n, (1 - CONFIDENCE) / 2)
    seen = (1 - unseen) * (number(sample.mean) or 0)
    return Estimate(
        mean=sample.mean, lower=seen, upper=seen + unseen, method=sentence("all items equal")
    )


def _proportion(passed: int, n: int) -> Estimate:
    lower, upper = wilson(passed, n, CONFIDENCE)
    return Estimate(mean=Fraction(passed, n), lower=lower, upper=upper, method="Wilson")

"""The statistics of a comparison: what paired differences can show, and how many pairs that takes.

A plan says before money is spent how many queries and repeats a margin needs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from markscheme.vocabulary import Allowance, DecisionOutcome, Rating, sentence
from markscheme.weigh.compare.operating_characteristic import OperatingCharacteristic
from markscheme.weigh.compare.pairs import PairedObservations, PairedSummary
from markscheme.weigh.gates import NonInferiority, evaluate_non_inferiority
from markscheme.weigh.stats import (
    POWER,
    Agreement,
    ClusteredMean,
    adjust_by_holm,
    compute_clustered_mean,
    compute_power,
    compute_smallest_p,
    count_pairs_for_alpha,
    count_pairs_needed,
    find_detectable_effect,
    run_sign_flip_test,
    sum_by_cluster,
)

ALPHA = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingFlip:
    """A rating that would change the verdict on its query with another `score` than was `given`.

    `decision_after` differs from `decision_before` where the decision would change too.
    """

    rating: Rating
    given: Fraction
    score: Fraction
    verdict_before: str | None
    verdict_after: str | None
    decision_before: DecisionOutcome | None
    decision_after: DecisionOutcome | None

    @property
    def decides(self) -> bool:
        """Whether the decision over all queries would change."""
        return self.decision_before != self.decision_after


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedAxis:
    """One axis: `p` is its two-sided sign-flip p, `p_holm` the same adjusted for all axes."""

    axis: str
    paired: PairedSummary
    p: Fraction | None
    p_holm: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """The smallest effect that `n` pairs show with power 0.8, in standard deviations and in points.

    `pairs_needed` is how many pairs show a difference of the size of the margin, one-sided.
    """

    n: int
    two_sided: float | None
    one_sided: float | None
    two_sided_points: float | None
    one_sided_points: float | None
    pairs_needed: int | None
    power: float = POWER


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The statistics of one pair of variants or runs; `plain` holds their meaning in sentences.

    `smallest_p` is the smallest two-sided and one-sided p that this number of pairs can reach.
    `pairs_for_p` is how many pairs a two-sided 0.05 takes, for one test and for a test per axis.
    Only ratings have `agreement`, `operating`, `sensitivity` and `guarantee` (the number of queries
    with the worst verdict, and the bounds of their share); only runs have `clustered`.
    """

    paired: PairedSummary
    axes: tuple[PairedAxis, ...]
    margin: Fraction
    non_inferiority: NonInferiority
    non_inferiority_p: Fraction | None
    smallest_p: tuple[Fraction, Fraction]
    pairs_for_p: tuple[int, int]
    detectable: Detectable
    agreement: Agreement | None = None
    operating: OperatingCharacteristic | None = None
    sensitivity: tuple[RatingFlip, ...] = ()
    guarantee: tuple[int, float, float] | None = None
    clustered: ClusteredMean | None = None
    plain: tuple[str, ...] = ()

    @property
    def descriptive_only(self) -> bool:
        """Whether no two-sided test of this many pairs can reach 0.05."""
        return self.smallest_p[0] > ALPHA


def compute_statistics(
    observations: PairedObservations,
    allowance: Allowance,
    *,
    score_range: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1)),
    clusters: Sequence[Hashable] = (),
) -> Statistics:
    """Compute the statistics of any comparison.

    `allowance` is how far the candidate may be below the baseline. `score_range` is the lowest and
    the highest score that can be given. `clusters` has one value per item: items with equal values
    are not taken to be independent.
    """
    values = observations.score.list_values()
    summary = observations.score.summarise_items()
    margin = allowance.points(observations.score.average().baseline or Fraction(0))
    # A relative margin r is tested on candidate - (1 - r) * baseline, as the interval does.
    kept = 1 - Fraction(allowance.amount) if allowance.relative else Fraction(1)
    differences = [candidate - kept * baseline for baseline, candidate in values]
    return Statistics(
        paired=summary,
        axes=summarise_axes(
            {axis: paired.summarise_items() for axis, paired in observations.axes.items()}
        ),
        margin=margin,
        non_inferiority=evaluate_non_inferiority(values, allowance, score_range, clusters),
        non_inferiority_p=compute_non_inferiority_p(
            differences, Fraction(0) if allowance.relative else margin, clusters
        ),
        smallest_p=compute_smallest_p(len(values)),
        pairs_for_p=(
            count_pairs_for_alpha(ALPHA),
            count_pairs_for_alpha(ALPHA, max(1, len(observations.axes))),
        ),
        detectable=_compute_detectable(len(values), summary.sd, margin),
        clustered=compute_clustered_mean(
            [candidate - baseline for baseline, candidate in values], clusters
        )
        if clusters
        else None,
    )


def adjust_summaries(summaries: Iterable[PairedSummary]) -> list[Fraction | None]:
    """Adjust two-sided p-values for their number by Holm's method; `None` where nothing is paired.

    Used wherever several tests are made at once: over axes, tags, and pairs of variants or runs.
    """
    p_values = [summary.p for summary in summaries]
    adjusted = iter(adjust_by_holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def summarise_axes(summaries: Mapping[str, PairedSummary]) -> tuple[PairedAxis, ...]:
    """Return the axes with p-values that are adjusted for their number."""
    adjusted = adjust_summaries(summaries.values())
    return tuple(
        PairedAxis(axis=axis, paired=summary, p=summary.p, p_holm=p_holm)
        for (axis, summary), p_holm in zip(summaries.items(), adjusted, strict=True)
    )


def compute_non_inferiority_p(
    differences: Sequence[Fraction], margin: Fraction, clusters: Sequence[Hashable] = ()
) -> Fraction | None:
    """Return the exact chance of differences this good if the true difference were -margin."""
    if not differences:
        return None
    shifted = [value + margin for value in differences]
    return run_sign_flip_test(sum_by_cluster(shifted, clusters) if clusters else shifted).upper


def _compute_detectable(n: int, sd: float | None, margin: Fraction) -> Detectable:
    """Return what n pairs can show; in points where the spread of the differences is known."""
    two_sided, one_sided = (
        find_detectable_effect(n, sides=sides) if n > 1 else None for sides in (2, 1)
    )
    return Detectable(
        n=n,
        two_sided=two_sided,
        one_sided=one_sided,
        two_sided_points=two_sided * sd if two_sided and sd else None,
        one_sided_points=one_sided * sd if one_sided and sd else None,
        pairs_needed=count_pairs_needed(float(margin) / sd, sides=1) if sd else None,
    )


REPEAT_COUNTS = (1, 2, 3, 5)
QUERY_COUNTS = (5, 6, 8, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPlan:
    """How many queries are needed with `repeats` runs of each; `noise` is that of their mean."""

    repeats: int
    noise: float
    queries: int | None

    @property
    def answers(self) -> int | None:
        """The number of answers that takes, of both variants together."""
        return None if self.queries is None else 2 * self.repeats * self.queries


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRung:
    """What `queries` can show: the chance to show the margin, and the smallest loss ruled out."""

    queries: int
    power: float
    detectable: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """What it takes to show, with this power, that a candidate is no worse than the margin.

    `noise` is the standard deviation of the difference on one query with one run of each variant;
    `within` is the part of it that varies between runs of the same query. The plan assumes that the
    candidate is as good as the baseline.
    """

    margin: float
    noise: float
    within: float
    source: str
    power: float
    by_repeats: tuple[RepeatPlan, ...]
    ladder: tuple[PowerRung, ...]
    plain: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare --plan --format json` prints."""
        by_repeats = [{**asdict(row), "answers": row.answers} for row in self.by_repeats]
        return {"plan": {**asdict(self), "by_repeats": by_repeats}}


def plan_comparison(
    margin: float, noise: float, *, within: float | None = None, source: str, chance: float = POWER
) -> ComparisonPlan:
    """Return how many queries and repeats are needed.

    Repeats average out the noise between runs of a query, not the noise between queries. Without
    `within`, half of the variance is taken to be that between runs.
    """
    inner = noise / math.sqrt(2) if within is None else min(within, noise)
    by_repeats = []
    for repeats in REPEAT_COUNTS:
        left = math.sqrt(noise**2 - inner**2 + inner**2 / repeats)
        queries = count_pairs_needed(margin / left, sides=1, chance=chance)
        by_repeats.append(RepeatPlan(repeats=repeats, noise=left, queries=queries))
    ladder = tuple(
        PowerRung(
            queries=n,
            power=compute_power(n, margin / noise, sides=1),
            detectable=find_detectable_effect(n, sides=1) * noise,
        )
        for n in QUERY_COUNTS
    )
    return ComparisonPlan(
        margin=margin,
        noise=noise,
        within=inner,
        source=source,
        power=chance,
        by_repeats=tuple(by_repeats),
        ladder=ladder,
        plain=tuple(_describe_plan(margin, by_repeats[0], chance)),
    )


def _describe_plan(margin: float, once: RepeatPlan, chance: float) -> Iterator[str]:
    if once.queries is None:
        yield sentence("No number of queries that anybody would run is enough for this margin.")
        return
    yield sentence(
        "To show with a chance of {chance} that a candidate which is just as good is no more than "
        "{margin} worse, run {queries} queries once with each variant ({answers} answers).",
        chance=f"{chance:.0%}",
        margin=f"{margin:g}",
        queries=once.queries,
        answers=once.answers,
    )
    yield sentence(
        "One-sided, at {alpha} %, by Student's t; a two-sided exact p of 0.05 needs 6 queries at "
        "the least, whatever the noise.",
        alpha=f"{float(100 * ALPHA):g}",
    )

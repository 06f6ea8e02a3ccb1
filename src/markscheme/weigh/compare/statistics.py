"""The statistics of a comparison: what paired differences show, and what they cannot."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import DecisionOutcome, Rating, compute_mean
from markscheme.weigh.compare.operating_characteristic import OperatingCharacteristic
from markscheme.weigh.gates import NonInferiority
from markscheme.weigh.stats import (
    POWER,
    Agreement,
    ClusteredMean,
    SampleStatistics,
    SignFlip,
    adjust_by_holm,
    compute_smallest_p,
    count_pairs_for_alpha,
    count_pairs_needed,
    find_detectable_effect,
    run_sign_flip_test,
    t_cdf,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONFIDENCE = 0.95
ALPHA = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingFlip:
    """A rating that, changed to another score, would change the verdict on its query.

    `decision_after` differs from `decision_before` where the decision would change too.
    """

    rating: Rating
    score: int
    verdict_before: str | None
    verdict_after: str | None
    decision_before: DecisionOutcome | None
    decision_after: DecisionOutcome | None

    @property
    def decides(self) -> bool:
        """Whether the decision over all queries would change."""
        return self.decision_before != self.decision_after


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSummary:
    """Differences in pairs, candidate less baseline: mean, t interval, t-test, exact sign-flip.

    What needs a spread is `None` where there is one pair, or where all differences are equal.
    `wins`, `losses` and `ties` count the pairs by the sign of their difference. Where an item has
    several pairs, they count all of them, and the rest goes by the means of the `n` items.
    """

    n: int
    mean: Fraction | None
    sd: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None
    t: float | None
    p_t: float | None
    flips: SignFlip | None
    wins: int
    losses: int
    ties: int

    @property
    def pairs(self) -> int:
        """How many pairs there are; more than `n` where items have several."""
        return self.wins + self.losses + self.ties

    @property
    def repeated(self) -> bool:
        """Whether an item has several pairs."""
        return self.pairs > self.n


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedAxis:
    """One axis in pairs; `p` is its two-sided sign-flip p, `p_holm` that over all axes."""

    axis: str
    paired: PairedSummary
    p: Fraction | None
    p_holm: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """What so many pairs can show with power 0.8, in standard deviations and in points.

    `pairs_needed` is how many would show a difference of the size of the margin, one-sided.
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
    """What can be known from these pairs, and `plain`: the same in plain words.

    `smallest_p` is the smallest two-sided and one-sided p that so many pairs can reach;
    `pairs_for_p` how many it takes for a two-sided 0.05, alone and over all axes.
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
        """Whether no two-sided test of these pairs could reach 0.05 at all."""
        return self.smallest_p[0] > ALPHA


def summarise_pairs(
    differences: Sequence[Fraction], each: Sequence[Fraction] | None = None
) -> PairedSummary:
    """Return what the differences show; `each` pair, where a difference is the mean of several."""
    each = differences if each is None else each
    sample = SampleStatistics.from_values(differences)
    spread = sample if sample is not None and sample.variance else None
    lower, upper = spread.compute_interval(CONFIDENCE) if spread else (None, None)
    t = spread.compute_t() if spread else None
    return PairedSummary(
        n=len(differences),
        mean=compute_mean(sum(differences, Fraction(0)), len(differences)),
        sd=sample.sd if sample else None,
        standard_error=sample.standard_error if sample else None,
        lower=lower,
        upper=upper,
        t=t,
        p_t=None if t is None else 2 * t_cdf(-abs(t), len(differences) - 1),
        flips=run_sign_flip_test(differences) if differences else None,
        wins=sum(value > 0 for value in each),
        losses=sum(value < 0 for value in each),
        ties=sum(not value for value in each),
    )


def summarise_axes(found: Mapping[str, PairedSummary]) -> tuple[PairedAxis, ...]:
    """Return what every axis shows, with p-values adjusted for their number by Holm's method."""
    tested = [one.flips.two_sided for one in found.values() if one.flips]
    adjusted = iter(adjust_by_holm(tested))
    return tuple(
        PairedAxis(
            axis=axis,
            paired=one,
            p=one.flips.two_sided if one.flips else None,
            p_holm=next(adjusted) if one.flips else None,
        )
        for axis, one in found.items()
    )


def compute_non_inferiority_p(differences: Sequence[Fraction], margin: Fraction) -> Fraction | None:
    """Return the exact chance of differences this good if the true one were the margin down."""
    return (
        run_sign_flip_test([value + margin for value in differences]).upper if differences else None
    )


def build_detectable(n: int, sd: float | None, margin: Fraction) -> Detectable:
    """Return what n pairs can show, in points where the spread of the differences is known."""
    two, one = (find_detectable_effect(n, sides=sides) if n > 1 else None for sides in (2, 1))
    needed = count_pairs_needed(float(margin) / sd, sides=1) if sd else None
    return Detectable(
        n=n,
        two_sided=two,
        one_sided=one,
        two_sided_points=two * sd if two and sd else None,
        one_sided_points=one * sd if one and sd else None,
        pairs_needed=needed,
    )


def compute_reach(n: int, axes: int) -> tuple[tuple[Fraction, Fraction], tuple[int, int]]:
    """Return the smallest p of n pairs, and how many pairs a p of 0.05 takes."""
    return compute_smallest_p(n), (
        count_pairs_for_alpha(ALPHA),
        count_pairs_for_alpha(ALPHA, max(1, axes)),
    )

"""Evidence: do the paired differences show that a score dropped by no more than it may?

A limit on the mean is noisy when items are few, so beside it stands a test of non-inferiority with
three outcomes. Sums are exact; only the bounds are floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import sentence
from markscheme.weigh.gates.outcomes import Evidence, NonInferiority
from markscheme.weigh.stats import (
    ClusteredMean,
    SampleStatistics,
    compute_clustered_mean,
    compute_unseen_share,
    find_least_above,
    t_cdf,
    t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from markscheme.vocabulary import Allowance

CONFIDENCE = 0.95
_MAX_ITEMS = 10**9  # more items than this is no advice


def evaluate_non_inferiority(
    pairs: Sequence[tuple[Fraction, Fraction]],
    limit: Allowance,
    scores: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1)),
    clusters: Sequence[Hashable] = (),
) -> NonInferiority:
    """Test pairs of (baseline, candidate) against the largest drop allowed, one-sided at 95 %.

    `scores` are the lowest and the highest one that there is. With `clusters`, one for each pair,
    those that share one are not independent, and the bounds are the wider ones of both readings.
    """
    kept = 1 - Fraction(limit.amount) if limit.relative else Fraction(1)
    margin = Fraction(0) if limit.relative else -Fraction(limit.amount)
    differences = {pair: pair[1] - kept * pair[0] for pair in set(pairs)}
    values = [differences[pair] for pair in pairs]
    sample = SampleStatistics.from_values(values)
    if sample is None:
        return _build_inconclusive_evidence(len(pairs), margin)
    around = compute_clustered_mean(values, clusters) if clusters else None
    if clusters and around is None:
        told = sentence("all items are in one cluster: a spread needs at least two")
        return replace(_build_inconclusive_evidence(len(pairs), margin), because=told)
    if not sample.standard_error or len({after - before for before, after in differences}) == 1:
        low, high = scores
        narrow: _StudentBounds | _ConstantBounds = _ConstantBounds(
            centre=float(sample.mean),
            lowest=float(low - kept * high),
            highest=float(high - kept * low),
        )
    else:
        narrow = _StudentBounds(centre=float(sample.mean), sd=sample.sd)
    bounds = (
        narrow
        if around is None
        else _ClusteredBounds(narrow=narrow, clustered_mean=around, n=sample.n)
    )
    lower, upper = bounds.compute_bounds(sample.n)
    outcome = _classify_bounds(lower - float(margin), upper - float(margin))
    needed = None
    if outcome is Evidence.INCONCLUSIVE and sample.mean != margin:
        needed = find_least_above(
            sample.n, lambda n: _is_conclusive(bounds, n, float(margin)), most=_MAX_ITEMS
        )
    return NonInferiority(
        outcome=outcome,
        n=sample.n,
        mean=sample.mean,
        margin=margin,
        lower=lower,
        upper=upper,
        p=_compute_p_value(sample, margin, around) if isinstance(narrow, _StudentBounds) else None,
        items_needed=needed,
        because=_explain_evidence(outcome, sample.n, (lower, upper), margin, needed),
    )


def _compute_p_value(
    sample: SampleStatistics, margin: Fraction, around: ClusteredMean | None
) -> float:
    """Return the chance of such a mean at the limit, by item or by cluster, whichever is larger."""
    by_item = t_cdf(-sample.compute_t(margin), sample.n - 1)
    if around is None or not around.standard_error:
        return by_item
    t = float(sample.mean - margin) / around.standard_error
    return max(by_item, t_cdf(-t, around.clusters - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _StudentBounds:
    """Bounds of a mean whose items differ: Student's t."""

    centre: float
    sd: float

    def compute_bounds(self, n: int) -> tuple[float, float]:
        half = t_quantile(CONFIDENCE, n - 1) * self.sd / n**0.5
        return self.centre - half, self.centre + half


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConstantBounds:
    """Bounds where every pair differs by the same: a t-test would be certain after two items.

    All that is known is that among n items none differed otherwise; a share of them that n leaves
    in doubt may, by as much as scores can: the lowest and the highest difference there is.
    """

    centre: float
    lowest: float
    highest: float

    def compute_bounds(self, n: int) -> tuple[float, float]:
        unseen = compute_unseen_share(n, 1 - CONFIDENCE)
        seen = (1 - unseen) * self.centre
        return seen + unseen * self.lowest, seen + unseen * self.highest


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClusteredBounds:
    """Bounds of n items in clusters: those by cluster, where they are wider than those by item."""

    narrow: _StudentBounds | _ConstantBounds
    clustered_mean: ClusteredMean
    n: int

    def compute_bounds(self, n: int) -> tuple[float, float]:
        groups = max(2, n * self.clustered_mean.clusters // self.n)
        error = self.clustered_mean.standard_error * (self.clustered_mean.clusters / groups) ** 0.5
        half = t_quantile(CONFIDENCE, groups - 1) * error
        lower, upper = self.narrow.compute_bounds(n)
        centre = float(self.clustered_mean.mean)
        return min(lower, centre - half), max(upper, centre + half)


_Bounds = _StudentBounds | _ConstantBounds | _ClusteredBounds


def _classify_bounds(lower: float, upper: float) -> Evidence:
    if lower > 0:
        return Evidence.PASS
    return Evidence.FAIL if upper < 0 else Evidence.INCONCLUSIVE


def _is_conclusive(bounds: _Bounds, n: int, margin: float) -> bool:
    lower, upper = bounds.compute_bounds(n)
    return _classify_bounds(lower - margin, upper - margin) is not Evidence.INCONCLUSIVE


def _build_inconclusive_evidence(n: int, margin: Fraction) -> NonInferiority:
    return NonInferiority(
        outcome=Evidence.INCONCLUSIVE,
        n=n,
        mean=None,
        margin=margin,
        lower=None,
        upper=None,
        p=None,
        items_needed=None,
        because=sentence("{n} item in pairs: a spread needs at least two", n=n)
        if n == 1
        else sentence("{n} items in pairs: a spread needs at least two", n=n),
    )


def _explain_evidence(
    outcome: Evidence, n: int, bounds: tuple[float, float], margin: Fraction, needed: int | None
) -> str:
    what = {"n": n, "lower": bounds[0], "upper": bounds[1], "limit": float(margin)}
    if outcome is Evidence.PASS:
        return sentence(
            "{n:,} pairs, one-sided 95 % bounds {lower:.4f} and {upper:.4f}: both above the limit, "
            "{limit:.4f}",
            **what,
        )
    if outcome is Evidence.FAIL:
        return sentence(
            "{n:,} pairs, one-sided 95 % bounds {lower:.4f} and {upper:.4f}: both below the limit, "
            "{limit:.4f}",
            **what,
        )
    settle = sentence("no number of items like these")
    if needed is not None:
        settle = sentence("about {n:,} items", n=needed)
    return sentence(
        "{n:,} pairs, one-sided 95 % bounds {lower:.4f} and {upper:.4f}: the limit, {limit:.4f}, "
        "lies between; {settle} would settle it",
        **what,
        settle=settle,
    )

"""Test of non-inferiority: do the paired differences show that a score dropped too far, or not?

A limit on the mean alone is noisy if there are few items. The test adds an outcome for "not enough
evidence": pass, fail or inconclusive. Sums are exact; only the bounds are floats.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from markscheme.vocabulary import Allowance, Evidence, sentence
from markscheme.weigh.gates.outcomes import NonInferiority
from markscheme.weigh.stats import (
    ClusteredMean,
    SampleStatistics,
    compute_clustered_mean,
    compute_unseen_share,
    find_least_above,
    t_cdf,
    t_quantile,
)

CONFIDENCE = 0.95
# More items than this are no useful advice.
_MAX_ITEMS = 10**9


def evaluate_non_inferiority(
    pairs: Sequence[tuple[Fraction, Fraction]],
    limit: Allowance,
    scores: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1)),
    clusters: Sequence[Hashable] = (),
) -> NonInferiority:
    """Test pairs of (baseline, candidate) against the largest drop allowed, one-sided at 95 %.

    `scores` are the lowest and the highest possible score. `clusters` names the cluster of each
    pair: pairs in the same cluster are not independent, so the wider of the bounds by item and the
    bounds by cluster are used.
    """
    kept = 1 - Fraction(limit.amount) if limit.relative else Fraction(1)
    margin = Fraction(0) if limit.relative else -Fraction(limit.amount)
    differences = {pair: pair[1] - kept * pair[0] for pair in set(pairs)}
    values = [differences[pair] for pair in pairs]
    sample = SampleStatistics.from_values(values)
    if sample is None:
        return _build_inconclusive_evidence(len(pairs), margin)
    clustered = compute_clustered_mean(values, clusters) if clusters else None
    if clusters and clustered is None:
        because = sentence("all items are in one cluster: a spread needs at least two")
        return replace(_build_inconclusive_evidence(len(pairs), margin), because=because)
    if not sample.standard_error or len({after - before for before, after in differences}) == 1:
        low, high = scores
        by_item: _StudentBounds | _ConstantBounds = _ConstantBounds(
            centre=float(sample.mean),
            lowest=float(low - kept * high),
            highest=float(high - kept * low),
        )
    else:
        by_item = _StudentBounds(centre=float(sample.mean), sd=sample.sd)
    bounds = (
        by_item
        if clustered is None
        else _ClusteredBounds(by_item=by_item, clustered_mean=clustered, n=sample.n)
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
        p=_compute_p_value(sample, margin, clustered)
        if isinstance(by_item, _StudentBounds)
        else None,
        items_needed=needed,
        because=_explain_evidence(outcome, sample.n, (lower, upper), margin, needed),
    )


def _compute_p_value(
    sample: SampleStatistics, margin: Fraction, clustered: ClusteredMean | None
) -> float:
    """Return the p-value of the mean at the limit, by item or by cluster, whichever is larger."""
    by_item = t_cdf(-sample.compute_t(margin), sample.n - 1)
    if clustered is None or not clustered.standard_error:
        return by_item
    t = float(sample.mean - margin) / clustered.standard_error
    return max(by_item, t_cdf(-t, clustered.clusters - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _StudentBounds:
    """Bounds of the mean by Student's t, if the differences are not all equal."""

    centre: float
    sd: float

    def compute_bounds(self, n: int) -> tuple[float, float]:
        half = t_quantile(CONFIDENCE, n - 1) * self.sd / n**0.5
        return self.centre - half, self.centre + half


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConstantBounds:
    """Bounds of the mean if every pair differs by the same; a t-test would be certain of that.

    n equal items leave a share of unseen items possible (at most `compute_unseen_share`). Those may
    differ by as much as scores can: by the lowest or the highest difference.
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
    """Bounds by cluster, or by item if those are wider."""

    by_item: _StudentBounds | _ConstantBounds
    clustered_mean: ClusteredMean
    n: int

    def compute_bounds(self, n: int) -> tuple[float, float]:
        groups = max(2, n * self.clustered_mean.clusters // self.n)
        error = self.clustered_mean.standard_error * (self.clustered_mean.clusters / groups) ** 0.5
        half = t_quantile(CONFIDENCE, groups - 1) * error
        lower, upper = self.by_item.compute_bounds(n)
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
    values = {"n": n, "lower": bounds[0], "upper": bounds[1], "limit": float(margin)}
    if outcome is Evidence.PASS:
        return sentence(
            "{n:,} pairs, one-sided 95 % bounds {lower:.4f} and {upper:.4f}: both above the limit, "
            "{limit:.4f}",
            **values,
        )
    if outcome is Evidence.FAIL:
        return sentence(
            "{n:,} pairs, one-sided 95 % bounds {lower:.4f} and {upper:.4f}: both below the limit, "
            "{limit:.4f}",
            **values,
        )
    settle = sentence("no number of items like these")
    if needed is not None:
        settle = sentence("about {n:,} items", n=needed)
    return sentence(
        "{n:,} pairs, one-sided 95 % bounds {lower:.4f} and {upper:.4f}: the limit, {limit:.4f}, "
        "lies between; {settle} would settle it",
        **values,
        settle=settle,
    )

"""Paired and single proportions (McNemar, Tango, Clopper-Pearson), and means over clusters."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from markscheme.weigh.stats.distributions import t_quantile

_BISECTIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """McNemar's test of paired yes and no: how often only one of the two is yes, and p-values.

    `worse` is the one-sided p-value: the chance that only the candidate is yes as seldom as this or
    more seldom. `interval` is the interval of the difference of the shares of yes, candidate minus
    baseline: Tango's, or Student's t over items that have several pairs each (`None` if the items
    do not differ).
    """

    baseline_only: int
    candidate_only: int
    two_sided: Fraction
    worse: Fraction
    interval: tuple[float, float] | None


def run_mcnemar_test(baseline_only: int, candidate_only: int, pairs: int) -> McNemar:
    """Test the pairs that disagree, out of `pairs`, by the binomial distribution.

    >>> run_mcnemar_test(5, 1, 20).two_sided
    Fraction(7, 32)
    """
    n = baseline_only + candidate_only

    def up_to(k: int) -> Fraction:
        return Fraction(sum(math.comb(n, i) for i in range(k + 1)), 2**n)

    tail = up_to(min(baseline_only, candidate_only))
    return McNemar(
        baseline_only=baseline_only,
        candidate_only=candidate_only,
        two_sided=min(Fraction(1), 2 * tail),
        worse=up_to(candidate_only),
        interval=compute_tango_interval(baseline_only, candidate_only, pairs),
    )


def compute_tango_interval(
    baseline_only: int, candidate_only: int, n: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Tango's score interval of a difference of paired shares, candidate minus baseline.

    It holds every difference that a score test does not reject, so it also works for few pairs and
    if no pair disagrees.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)

    def score(by: float) -> float:
        """Return how many standard errors the observed difference is above a true one."""
        middle = (2 * n + baseline_only - candidate_only) * by - baseline_only - candidate_only
        root = math.sqrt(max(0.0, middle**2 + 8 * n * baseline_only * by * (1 - by)))
        variance = n * ((root - middle) / (2 * n) + by * (1 - by))
        above = candidate_only - baseline_only - n * by
        if variance <= 0:
            return math.copysign(math.inf, above) if above else 0.0
        return above / math.sqrt(variance)

    if not n:
        return -1.0, 1.0
    lower = 2 * _find_root(lambda x: z - score(2 * x - 1)) - 1
    upper = 2 * _find_root(lambda x: -z - score(2 * x - 1)) - 1
    return -1.0 if baseline_only == n else lower, 1.0 if candidate_only == n else upper


def compute_clopper_pearson_interval(
    successes: int, n: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of one proportion; its confidence is guaranteed."""
    tail = (1 - confidence) / 2
    lower = (
        _find_root(lambda p: 1 - _compute_binomial_cdf(successes - 1, n, p) - tail)
        if successes
        else 0.0
    )
    upper = (
        _find_root(lambda p: tail - _compute_binomial_cdf(successes, n, p))
        if successes < n
        else 1.0
    )
    return lower, upper


def _compute_binomial_cdf(k: int, n: int, p: float) -> float:
    """Return the binomial probability of at most k successes."""
    if not 0 < p < 1:
        return 1.0 if p <= 0 or k >= n else 0.0
    log, other, all_ways = math.log(p), math.log1p(-p), math.lgamma(n + 1)
    ways = (all_ways - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(k + 1))
    return math.fsum(math.exp(w + i * log + (n - i) * other) for i, w in enumerate(ways))


def _find_root(rising: Callable[[float], float]) -> float:
    """Return the root of a function that rises from 0 to 1, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredMean:
    """The mean of values in clusters, its cluster-robust standard error (CR1) and t interval."""

    clusters: int
    mean: Fraction
    standard_error: float
    lower: float
    upper: float


def compute_clustered_mean(
    values: Sequence[Fraction], clusters: Sequence[Hashable], confidence: float = 0.95
) -> ClusteredMean | None:
    """Return the mean of clustered values, or None if there are fewer than two clusters."""
    middle = sum(values, Fraction(0)) / len(values) if values else Fraction(0)
    sums = sum_by_cluster([value - middle for value in values], clusters)
    groups = len(sums)
    if groups < 2:  # noqa: PLR2004 - one cluster has no spread
        return None
    squares = sum((total**2 for total in sums), Fraction(0))
    error = math.sqrt(Fraction(groups, groups - 1) * squares / len(values) ** 2)
    half = t_quantile((1 + confidence) / 2, groups - 1) * error
    return ClusteredMean(
        clusters=groups,
        mean=middle,
        standard_error=error,
        lower=float(middle) - half,
        upper=float(middle) + half,
    )


def sum_by_cluster(values: Sequence[Fraction], clusters: Sequence[Hashable]) -> list[Fraction]:
    """Return the sum of the values in each cluster."""
    sums: dict[Hashable, Fraction] = defaultdict(Fraction)
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] += value
    return list(sums.values())

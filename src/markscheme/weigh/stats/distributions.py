"""Means, quantiles, Student's t and its power, Wilson, Mann-Kendall and Holm, on exact sums."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate
from statistics import NormalDist
from typing import Any

from markscheme.vocabulary import compute_mean, to_fraction

_TINY = 1e-300
_CONVERGENCE = 1e-15
_MAX_TERMS = 10_000
_SERIES_FROM = 50
_FAR_TAIL_SQUARE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleStatistics:
    """The exact mean and variance of at least two values."""

    n: int
    mean: Fraction
    variance: Fraction

    @classmethod
    def from_values(cls, values: Sequence[Fraction]) -> SampleStatistics | None:
        """Return the statistics of values, or None if there are fewer than two."""
        return cls.from_counts(Counter(values))

    @classmethod
    def from_counts(cls, counts: Mapping[Fraction, int]) -> SampleStatistics | None:
        """Return the statistics of counted values; that is faster if many are equal."""
        size = sum(counts.values())
        middle = compute_mean(sum((v * n for v, n in counts.items()), Fraction(0)), size)
        if middle is None or size < 2:  # noqa: PLR2004 - one value has no spread
            return None
        squares = sum((n * (v - middle) ** 2 for v, n in counts.items()), Fraction(0))
        return cls(n=size, mean=middle, variance=squares / (size - 1))

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return math.sqrt(self.variance / self.n)

    def compute_t(self, against: Fraction = Fraction(0)) -> float:
        """Return Student's t of the mean against a value; the sample must have a spread."""
        return float(self.mean - against) / self.standard_error

    def compute_half_width(self, quantile: float) -> float:
        """Return how far the bound at this quantile is from the mean."""
        return t_quantile(quantile, self.n - 1) * self.standard_error

    def compute_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the two-sided t interval of the mean."""
        half = self.compute_half_width((1 + confidence) / 2)
        return float(self.mean) - half, float(self.mean) + half


def sum_counts(values: Iterable[tuple[Fraction, int]]) -> Counter[Fraction]:
    """Add up counts of equal values."""
    counts: Counter[Fraction] = Counter()
    for value, n in values:
        counts[value] += n
    return counts


def compute_quantile(
    counts: Mapping[Fraction, int] | Mapping[float, int], share: Fraction
) -> Fraction:
    """Return a quantile of counted values by linear interpolation between closest ranks.

    A double stands for the decimal that it was written as. A `share` of 1/2 gives the median.
    """
    ordered: list[tuple[Any, int]] = sorted(counts.items())
    ranks = list(accumulate(count for _, count in ordered))
    rank = (ranks[-1] - 1) * share
    at = math.floor(rank)
    low, high = (ordered[bisect_right(ranks, r)][0] for r in (at, math.ceil(rank)))
    low, high = (v if isinstance(v, Fraction) else to_fraction(v) for v in (low, high))
    return low + (high - low) * (rank - at)


def t_cdf(t: float, df: int) -> float:
    """Return the probability that Student's t with so many degrees of freedom is at most t."""
    square = t * t
    # Only near the middle: further out, 0.5 minus nearly 0.5 would lose all digits of the tail.
    if square < min(df, _FAR_TAIL_SQUARE):
        half = _compute_incomplete_beta(0.5, df / 2, square / (df + square)) / 2
        return 0.5 + math.copysign(half, t)
    tail = _compute_incomplete_beta(df / 2, 0.5, df / (df + square)) / 2
    return 1 - tail if t > 0 else tail


@cache
def t_quantile(probability: float, df: int) -> float:
    """Return the value that Student's t is below with this probability.

    Found by bisection, which works for every number of degrees of freedom.
    """
    if probability < 0.5:  # noqa: PLR2004 - the middle of a symmetric distribution
        return -t_quantile(1 - probability, df)
    return _find_quantile(lambda t: t_cdf(t, df), probability)


def f_cdf(f: float, df1: int, df2: int) -> float:
    """Return the probability that F with these degrees of freedom is at most f."""
    return _compute_incomplete_beta(df1 / 2, df2 / 2, df1 * f / (df1 * f + df2))


@cache
def f_quantile(probability: float, df1: int, df2: int) -> float:
    """Return the value that F with these degrees of freedom is below with this probability."""
    return _find_quantile(lambda f: f_cdf(f, df1, df2), probability)


def _find_quantile(cdf: Callable[[float], float], probability: float) -> float:
    """Return a quantile of a distribution on the positive numbers, by bisection."""
    low, high = 0.0, 1.0
    while cdf(high) < probability:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in {low, high}:
        if cdf(middle) < probability:
            low = middle
        else:
            high = middle
    return high


def _compute_incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction."""
    if x in {0.0, 1.0}:
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _compute_incomplete_beta(b, a, 1 - x)
    log = a * math.log(x) + b * math.log1p(-x) - _compute_log_beta(a, b)
    return math.exp(log) / a / _evaluate_beta_fraction(a, b, x)


def _compute_log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function; for Student's t, where one is 1/2, exactly."""
    if 0.5 in {a, b}:  # noqa: PLR2004 - Γ(1/2) is √π
        return math.log(math.pi) / 2 - _compute_log_gamma_rise(max(a, b))
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _compute_log_gamma_rise(a: float) -> float:
    """Return log Γ(a + 1/2) - log Γ(a); for large a by a series, which keeps the digits."""
    if a < _SERIES_FROM:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)


def _evaluate_beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction 1 + d1/(1 + d2/(1 + …)) by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for k in range(1, _MAX_TERMS):
        m = k // 2
        if k % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / ((1 + term * d) or _TINY)
        c = (1 + term / c) or _TINY
        value *= c * d
        if abs(c * d - 1) < _CONVERGENCE:
            break
    return value


def compute_wilson_interval(
    successes: int, n: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Wilson's score interval of one proportion."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, square = successes / n, z * z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = z * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return centre - half if successes else 0.0, centre + half if successes < n else 1.0


def compute_unseen_share(n: int, doubt: float) -> float:
    """Return the largest plausible share of a kind of case that n cases did not show.

    With a doubt of 5 % it falls below 2 % only from n = 149 on.
    """
    return -math.expm1(math.log(doubt) / n)


def count_inversions(lengths: Sequence[int]) -> list[int]:
    """Return how many orders of values have 0, 1, 2, … pairs in falling order.

    The values are given by how often each of them occurs. These are the coefficients of the
    Gaussian multinomial, in whole numbers.
    """
    counts, placed = [1], 0
    for length in lengths:
        for size in range(1, length + 1):
            placed += 1
            counts = _divide_polynomial(_multiply_polynomial(counts, placed), size)
    return counts


def _multiply_polynomial(counts: list[int], k: int) -> list[int]:
    """Multiply by 1 + q + … + q^(k-1)."""
    out = [0] * (len(counts) + k - 1)
    for at, count in enumerate(counts):
        for step in range(k):
            out[at + step] += count
    return out


def _divide_polynomial(counts: list[int], k: int) -> list[int]:
    """Divide by 1 + q + … + q^(k-1), which leaves nothing over."""
    out: list[int] = []
    for at in range(len(counts) - k + 1):
        out.append(counts[at] - sum(out[max(0, at - k + 1) : at]))
    return out


def compute_falling_p(values: Sequence[Fraction]) -> Fraction:
    """Return the exact chance that values in random order fall as clearly as these do.

    One-sided, by Kendall's count of falling pairs; equal values are no pair (Mann-Kendall).
    """
    seen = sum(earlier > later for at, earlier in enumerate(values) for later in values[at + 1 :])
    counts = count_inversions([values.count(value) for value in sorted(set(values))])
    return Fraction(sum(counts[seen:]), sum(counts))


def adjust_by_holm(p_values: Sequence[Fraction]) -> list[Fraction]:
    """Return p-values adjusted for their number by Holm's method, in the order given."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, highest = [Fraction(1)] * len(p_values), Fraction(0)
    for rank, at in enumerate(order):
        highest = max(highest, min(Fraction(1), p_values[at] * (len(p_values) - rank)))
        adjusted[at] = highest
    return adjusted


ALPHA = 0.05
POWER = 0.8
_SIMPSON_STEPS = 800  # of Simpson's rule; more change nothing in the seventh place
_MAX_PAIRS = 100_000
_NORMAL_FROM_PAIRS = 2_000
_NORMAL = NormalDist()


def compute_power(n: int, effect: float, *, sides: int = 2, alpha: float = ALPHA) -> float:
    """Return the chance that n pairs detect a mean that is `effect` standard deviations from 0."""
    if n < 2:  # noqa: PLR2004 - one pair has no spread
        return 0.0
    limit = t_quantile(1 - alpha / sides, n - 1)
    shift = abs(effect) * math.sqrt(n)
    above = 1 - noncentral_t_cdf(limit, n - 1, shift)
    return above if sides == 1 else above + noncentral_t_cdf(-limit, n - 1, shift)


def noncentral_t_cdf(t: float, df: int, shift: float) -> float:
    """Return the probability that non-central t, with these degrees of freedom, is at most t.

    Integrates the normal probability over the possible estimates of the standard deviation.
    """
    spread = math.sqrt(0.5 / df)
    low, high = max(0.0, 1 - 12 * spread), 1 + 12 * spread
    log = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    step = (high - low) / _SIMPSON_STEPS

    def at(s: float) -> float:
        if s <= 0:
            density = math.exp(log) if df == 1 else 0.0
        else:
            density = math.exp(log + (df - 1) * math.log(s) - df * s * s / 2)
        return _NORMAL.cdf(t * s - shift) * density

    inner = (at(low + k * step) * (4 if k % 2 else 2) for k in range(1, _SIMPSON_STEPS))
    return math.fsum((at(low), at(high), *inner)) * step / 3


@cache
def find_detectable_effect(
    n: int, *, sides: int = 2, chance: float = POWER, alpha: float = ALPHA
) -> float:
    """Return the smallest difference, in standard deviations, that n pairs detect with `chance`."""
    low, high = 0.0, 1.0
    while compute_power(n, high, sides=sides, alpha=alpha) < chance:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if compute_power(n, middle, sides=sides, alpha=alpha) < chance:
            low = middle
        else:
            high = middle
    return high


def count_pairs_needed(
    effect: float, *, sides: int = 2, chance: float = POWER, alpha: float = ALPHA
) -> int | None:
    """Return how many pairs detect a difference of `effect` standard deviations with `chance`.

    `None` if it is more than anybody will run.
    """

    def enough(n: int) -> bool:
        return _approximate_power(n, effect, sides=sides, alpha=alpha) >= chance

    return find_least_above(1, enough, most=_MAX_PAIRS)


def find_least_above(low: int, enough: Callable[[int], bool], *, most: int) -> int | None:
    """Return the least number above `low` that is enough, or None if it is above `most`."""
    high = 2 * low
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _approximate_power(n: int, effect: float, *, sides: int, alpha: float) -> float:
    """Return the power; for a few thousand pairs or more, with the normal distribution for t."""
    if n < _NORMAL_FROM_PAIRS:
        return compute_power(n, effect, sides=sides, alpha=alpha)
    limit, shift = _NORMAL.inv_cdf(1 - alpha / sides), abs(effect) * math.sqrt(n)
    return 1 - _NORMAL.cdf(limit - shift)

"""Power of paired tests: power, smallest detectable difference, number of pairs needed.

Computed with the non-central t distribution. The usual formula with the normal distribution is a
quarter too optimistic for 5 pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

from markscheme.weigh.stats.distributions import t_quantile

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

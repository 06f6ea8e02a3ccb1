"""Exact chances in whole numbers, and how many questions to adjust them for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from fractions import Fraction
from itertools import accumulate
from math import comb

# A pattern is reported if its chance by luck is at most this.
SIGNIFICANCE_LEVEL = Fraction(1, 100)


def compute_hypergeometric_tail(hits: int, of: int, marked: int, among: int) -> Fraction:
    """Return the chance that a random draw of `of` things holds at least `hits` marked ones.

    The upper tail of the hypergeometric distribution: `marked` of `among` things are marked.
    """
    most = min(of, marked)
    if hits > most:
        return Fraction(0)
    term = comb(marked, most) * comb(among - marked, of - most)
    total = 0
    for count in range(most, hits - 1, -1):
        total += term
        left = among - marked - of + count
        term = term * count * left // ((marked - count + 1) * (of - count + 1))
    return Fraction(total, comb(among, of))


def compute_dice_tail(hits: int, of: int, sides: int = 2) -> Fraction:
    """Return the chance that at least `hits` of `of` fair dice show one side: a binomial tail."""
    if 2 * hits > of:
        return Fraction(_sum_binomial_terms(of - hits, of, 1, sides - 1), sides**of)
    return 1 - Fraction(_sum_binomial_terms(hits - 1, of, sides - 1, 1), sides**of)


def _sum_binomial_terms(most: int, of: int, one: int, other: int) -> int:
    """Return the sum of the first `most + 1` terms of the expansion of (one + other)^of."""
    powers = [other**count for count in range(most + 1)]
    return sum(comb(of, count) * one ** (of - count) * powers[count] for count in range(most + 1))


def compute_smallest_tail(of: int, marked: int, among: int, enough: Fraction) -> Fraction:
    """Return the smallest chance that `compute_hypergeometric_tail` can give for these sizes.

    That is the chance that one of the two sets holds the other. The product stops early once it is
    below `enough`.
    """
    small, large = sorted((of, marked))
    chance = Fraction(1)
    for at in range(small):
        chance *= Fraction(large - at, among - at)
        if chance < enough:
            break
    return chance


def count_testable_questions(least_of: Mapping[Fraction, int], level: Fraction) -> int:
    """Return how many questions to adjust for: those that could be significant at all.

    `least_of` counts the questions by the smallest chance that each could ever give, which follows
    from the sizes of the groups. A question that stays above the adjusted level whatever is seen
    cannot raise a false alarm, so it is not part of the family (Tarone 1990).
    """
    ordered = sorted(least_of)
    ranks = [0, *accumulate(least_of[p] for p in ordered)]
    low, high = 1, max(1, ranks[-1])
    while low < high:
        count = (low + high) // 2
        if ranks[bisect_right(ordered, level / count)] <= count:
            high = count
        else:
            low = count + 1
    return low

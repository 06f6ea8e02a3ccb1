"""Correlations of the scores of two raters: Pearson, Spearman, Kendall's tau-b, and RMSE.

Scores are whole numbers. Everything below the root is exact; the root is the only float. A
correlation is None if a rater gave the same score throughout.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from markscheme.weigh.stats.agreement import rank_scores

ScorePairs: TypeAlias = Sequence[tuple[int, int]]
"""The scores of two raters for each cell that both rated."""


def compute_pearson(pairs: ScorePairs) -> float | None:
    """Return Pearson's correlation."""
    n = len(pairs)
    one, other = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    together = n * sum(a * b for a, b in pairs) - one * other
    spread_one = n * sum(a * a for a, _ in pairs) - one * one
    spread_other = n * sum(b * b for _, b in pairs) - other * other
    return _divide_by_root(together, spread_one * spread_other)


def compute_spearman(pairs: ScorePairs) -> float | None:
    """Return Spearman's rank correlation; equal scores share their mean rank."""
    ranks_one = rank_scores(Counter(a for a, _ in pairs))
    ranks_other = rank_scores(Counter(b for _, b in pairs))
    return compute_pearson([(ranks_one[a], ranks_other[b]) for a, b in pairs])


def compute_kendall(pairs: ScorePairs) -> float | None:
    """Return Kendall's tau-b, which allows for equal scores."""
    ordered = sorted(pairs)
    concordant_surplus = 0
    earlier: list[int] = []
    for _, group in groupby(ordered, key=itemgetter(0)):
        others = [b for _, b in group]
        for b in others:
            above = len(earlier) - bisect_right(earlier, b)
            concordant_surplus += bisect_left(earlier, b) - above
        for b in others:
            insort(earlier, b)
    untied_one = _count_unequal_pairs(a for a, _ in pairs)
    untied_other = _count_unequal_pairs(b for _, b in pairs)
    return _divide_by_root(concordant_surplus, untied_one * untied_other)


def compute_rmse(pairs: ScorePairs, unit: int = 1) -> float | None:
    """Return the root of the mean squared difference of scores that are multiples of 1/`unit`."""
    if not pairs:
        return None
    squares = sum((a - b) ** 2 for a, b in pairs)
    return math.sqrt(Fraction(squares, len(pairs) * unit**2))


def _divide_by_root(value: int, square: int) -> float | None:
    if not square:
        return None
    return math.copysign(math.sqrt(Fraction(value * value, square)), value) if value else 0.0


def _count_unequal_pairs(scores: Iterable[int]) -> int:
    counts = Counter(scores)
    n = counts.total()
    return (n * n - sum(count * count for count in counts.values())) // 2

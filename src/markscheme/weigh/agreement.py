"""Do raters agree? Krippendorff's alpha, Gwet's AC2, quadratic kappa, percent; all exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from markscheme.exact import mean
from markscheme.frozen import Frozen
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

Unit = Mapping[str, int]
"""What raters gave to one cell, by rater."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far raters agree over `units` cells that at least two of them rated.

    A coefficient is `None` where it is not defined: all scores equal, or no cell in common.
    """

    raters: tuple[str, ...]
    units: int
    percent: Fraction | None
    alpha: Fraction | None
    ac2: Fraction | None
    kappa: Mapping[tuple[str, str], Fraction | None]


def agreement(units: Sequence[Unit], categories: Sequence[int]) -> Agreement | None:
    """Return how far raters agree on the scale; with one rater there is nothing to agree on."""
    raters = sorted({rater for unit in units for rater in unit})
    shared = [unit for unit in units if len(unit) > 1]
    if len(raters) < 2:  # noqa: PLR2004 - agreement takes two
        return None
    pairs = list(combinations(raters, 2))
    return Agreement(
        raters=tuple(raters),
        units=len(shared),
        percent=percent(shared),
        alpha=alpha_ordinal(shared),
        ac2=ac2_quadratic(units, categories),
        kappa=Frozen({pair: kappa_quadratic(units, pair) for pair in pairs}),
    )


def percent(units: Sequence[Unit]) -> Fraction | None:
    """Return the share of pairs of scores of one cell that are equal."""
    equal = [one == other for unit in units for one, other in combinations(unit.values(), 2)]
    return mean(sum(equal), len(equal))


def alpha_ordinal(units: Sequence[Unit]) -> Fraction | None:
    """Return Krippendorff's alpha for ordered categories; only cells with two scores count."""
    shared = [Counter(unit.values()) for unit in units if len(unit) > 1]
    totals = sum(shared, Counter[int]())
    n = totals.total()
    observed = Fraction(0)
    for counts in shared:
        apart = sum(
            (counts[c] * counts[k] * _distance(c, k, totals) for c, k in combinations(counts, 2)),
            Fraction(0),
        )
        observed += 2 * apart / (counts.total() - 1)
    expected = 2 * sum(
        (totals[c] * totals[k] * _distance(c, k, totals) for c, k in combinations(totals, 2)),
        Fraction(0),
    )
    return 1 - (n - 1) * observed / expected if expected else None


def _distance(one: int, other: int, totals: Counter[int]) -> Fraction:
    """Return how far two categories are apart: by how many scores lie between them, squared."""
    low, high = sorted((one, other))
    between = sum(count for category, count in totals.items() if low <= category <= high)
    return (between - Fraction(totals[low] + totals[high], 2)) ** 2


def _weight(one: int, other: int, categories: Sequence[int]) -> Fraction:
    span = max(categories) - min(categories)
    return 1 - Fraction((one - other) ** 2, span**2)


def ac2_quadratic(units: Sequence[Unit], categories: Sequence[int]) -> Fraction | None:
    """Return Gwet's AC2 with quadratic weights; a cell with one score counts for the shares."""
    shared = [Counter(unit.values()) for unit in units if len(unit) > 1]
    agreed = mean(sum((_agreed(counts, categories) for counts in shared), Fraction(0)), len(shared))
    if agreed is None:
        return None
    rated = [unit for unit in units if unit]
    shares = {
        k: sum((Fraction(list(u.values()).count(k), len(u)) for u in rated), Fraction(0))
        / len(rated)
        for k in categories
    }
    q = len(categories)
    weights = sum((_weight(a, b, categories) for a in categories for b in categories), Fraction(0))
    spread = sum((share * (1 - share) for share in shares.values()), Fraction(0))
    chance = weights / (q * (q - 1)) * spread
    return (agreed - chance) / (1 - chance) if chance != 1 else None


def _agreed(counts: Counter[int], categories: Sequence[int]) -> Fraction:
    n = counts.total()
    close = sum(
        counts[k] * (sum(_weight(k, other, categories) * counts[other] for other in counts) - 1)
        for k in counts
    )
    return Fraction(close) / (n * (n - 1))


def kappa_quadratic(units: Sequence[Unit], pair: tuple[str, str]) -> Fraction | None:
    """Return Cohen's kappa of two raters with quadratic weights.

    Weights are by the distance of scores, not of their ranks, so that a score that nobody gave
    changes nothing; how far the scale reaches cancels out.
    """
    both = [(unit[pair[0]], unit[pair[1]]) for unit in units if set(pair) <= unit.keys()]
    one, other = Counter(a for a, _ in both), Counter(b for _, b in both)
    seen = sum((a - b) ** 2 for a, b in both)
    chance = sum(one[a] * other[b] * (a - b) ** 2 for a in one for b in other)
    return 1 - Fraction(len(both) * seen, chance) if chance else None

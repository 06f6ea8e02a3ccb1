"""Agreement of raters: Krippendorff's alpha, Gwet's AC2, quadratic kappa, percent; all exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from markscheme.vocabulary import FrozenDict, compute_mean

ScoresByRater = Mapping[str, int]
"""The scores that raters gave to one cell, by rater."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far raters agree over the `units` cells that at least two of them rated.

    A coefficient is `None` if it is not defined: all scores are equal, or no cell is shared.
    """

    raters: tuple[str, ...]
    units: int
    percent: Fraction | None
    alpha: Fraction | None
    ac2: Fraction | None
    kappa: Mapping[tuple[str, str], Fraction | None]


def measure_agreement(
    units: Sequence[ScoresByRater], categories: Sequence[int]
) -> Agreement | None:
    """Return all measures of agreement, or None if there are fewer than two raters."""
    raters = sorted({rater for unit in units for rater in unit})
    shared = [unit for unit in units if len(unit) > 1]
    if len(raters) < 2:  # noqa: PLR2004 - agreement takes two
        return None
    pairs = list(combinations(raters, 2))
    return Agreement(
        raters=tuple(raters),
        units=len(shared),
        percent=compute_percent_agreement(shared),
        alpha=compute_ordinal_alpha(shared),
        ac2=compute_quadratic_ac2(units, categories),
        kappa=FrozenDict({pair: compute_quadratic_kappa(units, pair) for pair in pairs}),
    )


def compute_percent_agreement(units: Sequence[ScoresByRater]) -> Fraction | None:
    """Return the share of equal pairs, over all pairs of scores of the same cell."""
    equal = [one == other for unit in units for one, other in combinations(unit.values(), 2)]
    return compute_mean(sum(equal), len(equal))


def compute_ordinal_alpha(units: Sequence[ScoresByRater]) -> Fraction | None:
    """Return Krippendorff's alpha for ordered categories, over cells with at least two scores."""
    shared = [Counter(unit.values()) for unit in units if len(unit) > 1]
    totals = sum(shared, Counter[int]())
    n = totals.total()
    observed = Fraction(0)
    for counts in shared:
        apart = sum(
            (
                counts[c] * counts[k] * _compute_ordinal_distance(c, k, totals)
                for c, k in combinations(counts, 2)
            ),
            Fraction(0),
        )
        observed += 2 * apart / (counts.total() - 1)
    expected = 2 * sum(
        (
            totals[c] * totals[k] * _compute_ordinal_distance(c, k, totals)
            for c, k in combinations(totals, 2)
        ),
        Fraction(0),
    )
    return 1 - (n - 1) * observed / expected if expected else None


def _compute_ordinal_distance(one: int, other: int, totals: Counter[int]) -> Fraction:
    """Return the squared distance of two categories: by how many scores lie between them."""
    low, high = sorted((one, other))
    between = sum(count for category, count in totals.items() if low <= category <= high)
    return (between - Fraction(totals[low] + totals[high], 2)) ** 2


def _compute_quadratic_weight(one: int, other: int, categories: Sequence[int]) -> Fraction:
    span = max(categories) - min(categories)
    return 1 - Fraction((one - other) ** 2, span**2)


def compute_quadratic_ac2(
    units: Sequence[ScoresByRater], categories: Sequence[int]
) -> Fraction | None:
    """Return Gwet's AC2 with quadratic weights; cells with one score count for the shares only."""
    shared = [Counter(unit.values()) for unit in units if len(unit) > 1]
    agreed = compute_mean(
        sum((_compute_weighted_agreement(counts, categories) for counts in shared), Fraction(0)),
        len(shared),
    )
    if agreed is None:
        return None
    rated = [unit for unit in units if unit]
    shares = {
        k: sum((Fraction(list(u.values()).count(k), len(u)) for u in rated), Fraction(0))
        / len(rated)
        for k in categories
    }
    q = len(categories)
    weights = sum(
        (_compute_quadratic_weight(a, b, categories) for a in categories for b in categories),
        Fraction(0),
    )
    spread = sum((share * (1 - share) for share in shares.values()), Fraction(0))
    chance = weights / (q * (q - 1)) * spread
    return (agreed - chance) / (1 - chance) if chance != 1 else None


def _compute_weighted_agreement(counts: Counter[int], categories: Sequence[int]) -> Fraction:
    n = counts.total()
    close = sum(
        counts[k]
        * (
            sum(_compute_quadratic_weight(k, other, categories) * counts[other] for other in counts)
            - 1
        )
        for k in counts
    )
    return Fraction(close) / (n * (n - 1))


def compute_quadratic_kappa(
    units: Sequence[ScoresByRater], pair: tuple[str, str]
) -> Fraction | None:
    """Return Cohen's kappa of two raters with quadratic weights.

    Weights are the squared distances of scores, not of ranks, so a score that nobody gave changes
    nothing. The length of the scale cancels out.
    """
    both = [(unit[pair[0]], unit[pair[1]]) for unit in units if set(pair) <= unit.keys()]
    one, other = Counter(a for a, _ in both), Counter(b for _, b in both)
    seen = sum((a - b) ** 2 for a, b in both)
    chance = sum(one[a] * other[b] * (a - b) ** 2 for a in one for b in other)
    return 1 - Fraction(len(both) * seen, chance) if chance else None

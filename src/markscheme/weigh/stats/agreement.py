"""Agreement of raters: Krippendorff's alpha, Gwet's AC2, kappa, percent; all exact.

Scores are whole numbers, or words on a nominal scale. How far two scores are apart depends on the
level of the scale: nominal scores are equal or not, ordinal ones differ by their ranks, and of an
interval scale the numbers themselves count. Scaling all numbers by a factor changes no coefficient,
so decimals are compared as whole multiples of their common unit (`find_common_unit`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from random import Random
from typing import Any, TypeAlias

from markscheme.vocabulary import FrozenDict, ScaleLevel, compute_mean

ScoresByRater: TypeAlias = Mapping[str, Any]
"""The scores that raters gave to one cell, by rater: whole numbers, or words if nominal."""

RESAMPLES = 1_000
_TAIL = 0.025


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
    """Return all measures on an ordinal scale, or None if there are fewer than two raters."""
    raters = sorted({rater for unit in units for rater in unit})
    shared = [unit for unit in units if len(unit) > 1]
    if len(raters) < 2:  # noqa: PLR2004 - agreement takes two
        return None
    level = ScaleLevel.ORDINAL
    return Agreement(
        raters=tuple(raters),
        units=len(shared),
        percent=compute_percent_agreement(shared),
        alpha=compute_alpha(shared, level),
        ac2=compute_ac2(units, categories, level),
        kappa=FrozenDict(
            {
                pair: compute_kappa(list_shared_scores(units, pair), level)
                for pair in combinations(raters, 2)
            }
        ),
    )


def find_common_unit(numbers: Iterable[Fraction]) -> int:
    """Return the smallest factor that makes whole numbers of all these numbers."""
    return lcm(*{number.denominator for number in numbers})


def list_shared_scores(
    units: Iterable[ScoresByRater], pair: tuple[str, str]
) -> list[tuple[Any, Any]]:
    """Return the scores of two raters for each cell that both rated."""
    one, other = pair
    return [(unit[one], unit[other]) for unit in units if one in unit and other in unit]


def compute_percent_agreement(units: Sequence[ScoresByRater]) -> Fraction | None:
    """Return the share of equal pairs, over all pairs of scores of the same cell."""
    shared = [Counter(unit.values()) for unit in units]
    equal = sum(n * (n - 1) // 2 for counts in shared for n in counts.values())
    sizes = [counts.total() for counts in shared]
    return compute_mean(equal, sum(n * (n - 1) // 2 for n in sizes))


def compute_alpha(units: Iterable[ScoresByRater], level: ScaleLevel) -> Fraction | None:
    """Return Krippendorff's alpha, over cells with at least two scores."""
    return _compute_pattern_alpha(Counter(_list_patterns(units)), level)


def compute_alpha_interval(
    units: Iterable[ScoresByRater], level: ScaleLevel, seed: int
) -> tuple[Fraction, Fraction] | None:
    """Return the 95 % interval of alpha: percentiles over cells drawn with replacement.

    It is None if alpha is not defined in a draw, because all its scores are equal.
    """
    drawn: list[Fraction] = []
    for alpha in _draw_alphas(sorted(_list_patterns(units)), level, Random(seed)):  # noqa: S311 - a simulation, no secret
        if alpha is None:
            return None
        drawn.append(alpha)
    drawn.sort()
    tail = round(RESAMPLES * _TAIL)
    return drawn[tail - 1], drawn[-tail]


def _draw_alphas(
    patterns: Sequence[tuple[Any, ...]], level: ScaleLevel, random: Random
) -> Iterator[Fraction | None]:
    """Yield alpha of cells drawn with replacement, once for each draw.

    On an interval scale a draw needs only sums of the cells. That matters: decimals differ from
    cell to cell, so that nothing can be counted.
    """
    size = len(patterns)
    if level is not ScaleLevel.INTERVAL:
        for _ in range(RESAMPLES):
            yield _compute_pattern_alpha(Counter(random.choices(patterns, k=size)), level)
        return
    divisor = lcm(*{len(scores) - 1 for scores in patterns})
    sums = [
        (
            len(scores),
            sum(scores),
            sum(score * score for score in scores),
            _sum_distances(Counter(scores), level) * (divisor // (len(scores) - 1)),
        )
        for scores in patterns
    ]
    for _ in range(RESAMPLES):
        columns = zip(*random.choices(sums, k=size), strict=True)
        n, total, squares, within = map(sum, columns)
        expected = divisor * (n * squares - total * total)
        yield 1 - Fraction((n - 1) * within, expected) if expected else None


def _list_patterns(units: Iterable[ScoresByRater]) -> list[tuple[Any, ...]]:
    """Return the sorted scores of each cell with at least two: who gave which does not matter."""
    return [tuple(sorted(unit.values())) for unit in units if len(unit) > 1]


def _compute_pattern_alpha(
    patterns: Mapping[tuple[Any, ...], int], level: ScaleLevel
) -> Fraction | None:
    """Return alpha of cells that are counted by their scores."""
    totals: Counter[Any] = Counter()
    for scores, count in patterns.items():
        for score in scores:
            totals[score] += count
    places = rank_scores(totals) if level is ScaleLevel.ORDINAL else None
    observed: Counter[int] = Counter()
    for scores, count in patterns.items():
        placed = scores if places is None else [places[score] for score in scores]
        observed[len(scores) - 1] += count * _sum_distances(Counter(placed), level)
    placed_totals = (
        totals if places is None else Counter({places[score]: n for score, n in totals.items()})
    )
    expected = _sum_distances(placed_totals, level)
    if not expected:
        return None
    # Over a common divisor: one fraction at the end is faster than a sum of fractions.
    divisor = lcm(*observed)
    within = sum(apart * (divisor // size) for size, apart in observed.items())
    return 1 - Fraction((totals.total() - 1) * within, divisor * expected)


def rank_scores(totals: Counter[Any]) -> dict[Any, int]:
    """Return twice the mean rank of each score, up to a constant.

    The ordinal distance of two scores is the difference of their mean ranks: the scores between
    them, and half of those that equal one of the two.
    """
    ranks, below = {}, 0
    for score in sorted(totals):
        ranks[score] = 2 * below + totals[score]
        below += totals[score]
    return ranks


def _sum_distances(counts: Counter[Any], level: ScaleLevel) -> int:
    """Return the sum over all pairs of scores: of squared differences, or of pairs that differ.

    Over all pairs, squared differences add up to n Σx² - (Σx)².
    """
    n = counts.total()
    if level is ScaleLevel.NOMINAL:
        return (n * n - sum(count * count for count in counts.values())) // 2
    total = sum(score * count for score, count in counts.items())
    squares = sum(score * score * count for score, count in counts.items())
    return int(n * squares - total * total)


def compute_ac2(
    units: Sequence[ScoresByRater], categories: Sequence[Any], level: ScaleLevel
) -> Fraction | None:
    """Return Gwet's AC2 with quadratic weights, or AC1 if the scale is nominal.

    Cells with one score count for the shares of the categories only.
    """
    rated = [Counter(unit.values()) for unit in units if unit]
    shared = [counts for counts in rated if counts.total() > 1]
    q = len(categories)
    if not shared or q < 2:  # noqa: PLR2004 - with one category nothing can differ
        return None
    span = 1 if level is ScaleLevel.NOMINAL else (max(categories) - min(categories)) ** 2
    apart: Counter[int] = Counter()
    shares: Counter[tuple[Any, int]] = Counter()
    for counts in rated:
        n = counts.total()
        if n > 1:
            apart[n * (n - 1)] += 2 * _sum_distances(counts, level)
        for category, count in counts.items():
            shares[category, n] += count
    lost = sum((Fraction(sum_, pairs) for pairs, sum_ in apart.items()), Fraction(0))
    agreed = 1 - lost / (span * len(shared))
    spread = sum((share * (1 - share) for share in _compute_shares(shares, rated)), Fraction(0))
    weights = q * q - Fraction(2 * _sum_distances(Counter(categories), level), span)
    chance = weights / (q * (q - 1)) * spread
    return (agreed - chance) / (1 - chance) if chance != 1 else None


def _compute_shares(
    shares: Mapping[tuple[Any, int], int], rated: Sequence[Counter[Any]]
) -> Iterable[Fraction]:
    """Return the mean share of each category over the cells, from counts by number of scores."""
    by_category: dict[Any, Fraction] = {}
    for (category, n), count in shares.items():
        by_category[category] = by_category.get(category, Fraction(0)) + Fraction(count, n)
    return [total / len(rated) for total in by_category.values()]


def compute_kappa(pairs: Sequence[tuple[Any, Any]], level: ScaleLevel) -> Fraction | None:
    """Return Cohen's kappa of two raters: plain if nominal, else with quadratic weights.

    Weights are the squared distances of scores, not of ranks, so a score that nobody gave changes
    nothing. The length of the scale cancels out.
    """
    n = len(pairs)
    if level is ScaleLevel.NOMINAL:
        one, other = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
        seen = sum(a != b for a, b in pairs)
        chance = n * n - sum(count * other[score] for score, count in one.items())
    else:
        seen = sum((a - b) ** 2 for a, b in pairs)
        squares = sum(a * a + b * b for a, b in pairs)
        chance = n * squares - 2 * sum(a for a, _ in pairs) * sum(b for _, b in pairs)
    return 1 - Fraction(n * seen, chance) if chance else None

"""Alpha, AC1 and kappa at each level by their definitions, and correlations by scipy."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from markscheme.vocabulary import ScaleLevel
from markscheme.weigh.stats import (
    RESAMPLES,
    compute_ac2,
    compute_alpha,
    compute_alpha_interval,
    compute_kappa,
    compute_kendall,
    compute_pearson,
    compute_rmse,
    compute_spearman,
    find_common_unit,
)

PAIRS = st.lists(st.tuples(st.integers(-3, 40), st.integers(0, 5)), min_size=2, max_size=25)
UNITS = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 4)), max_size=8)
DISTANCES = {
    ScaleLevel.NOMINAL: lambda a, b: int(a != b),
    ScaleLevel.INTERVAL: lambda a, b: (a - b) ** 2,
}


@pytest.mark.parametrize("level", DISTANCES)
@given(units=UNITS)
def test_alpha_is_what_all_pairs_of_scores_give(
    level: ScaleLevel, units: list[dict[str, int]]
) -> None:
    apart: Any = DISTANCES[level]
    shared = [list(unit.values()) for unit in units if len(unit) > 1]
    scores = [score for unit in shared for score in unit]
    observed = sum(
        (Fraction(apart(a, b), len(unit) - 1) for unit in shared for a, b in permutations(unit, 2)),
        Fraction(0),
    )
    expected = sum(apart(a, b) for a, b in product(scores, repeat=2))
    wanted = 1 - (len(scores) - 1) * observed / expected if expected else None
    assert compute_alpha(units, level) == wanted


@given(UNITS)
def test_on_a_nominal_scale_ac2_is_ac1(units: list[dict[str, int]]) -> None:
    shared = [list(unit.values()) for unit in units if len(unit) > 1]
    rated = [unit for unit in units if unit]
    found = compute_ac2(units, range(1, 5), ScaleLevel.NOMINAL)
    if not shared:
        assert found is None
        return
    agreed = sum(
        (
            Fraction(sum(a == b for a, b in permutations(unit, 2)), len(unit) * (len(unit) - 1))
            for unit in shared
        ),
        Fraction(0),
    ) / len(shared)
    shares = [
        sum((Fraction(list(u.values()).count(k), len(u)) for u in rated), Fraction(0)) / len(rated)
        for k in range(1, 5)
    ]
    chance = sum((share * (1 - share) for share in shares), Fraction(0)) / 3
    assert found == (agreed - chance) / (1 - chance)


@given(PAIRS)
def test_plain_kappa_is_that_of_the_matrix_of_counts(pairs: list[tuple[int, int]]) -> None:
    n = len(pairs)
    one, other = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    seen = Fraction(sum(a == b for a, b in pairs), n)
    chance = Fraction(sum(one[k] * other[k] for k in one), n * n)
    wanted = (seen - chance) / (1 - chance) if chance != 1 else None
    assert compute_kappa(pairs, ScaleLevel.NOMINAL) == wanted


@given(PAIRS)
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    one, other = zip(*pairs, strict=True)
    found = (compute_pearson(pairs), compute_spearman(pairs), compute_kendall(pairs))
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found == (None, None, None)
        return
    wanted = (stats.pearsonr(one, other), stats.spearmanr(one, other), stats.kendalltau(one, other))
    assert found == pytest.approx([result.statistic for result in wanted], abs=1e-9)


def test_decimals_are_whole_multiples_of_their_common_unit() -> None:
    unit = find_common_unit([Fraction("0.5"), Fraction("1.25"), Fraction(2)])
    assert unit == 4
    assert compute_rmse([(2, 5), (8, 8)], unit) == pytest.approx(math.sqrt(0.75**2 / 2))
    assert compute_rmse([]) is None
    assert compute_alpha([{"a": 2, "b": 5}, {"a": 8, "b": 8}], ScaleLevel.INTERVAL) == (
        compute_alpha([{"a": 20, "b": 50}, {"a": 80, "b": 80}], ScaleLevel.INTERVAL)
    )


def test_an_interval_by_sums_is_that_of_draws_by_hand() -> None:
    units = [{"a": at % 7, "b": (at * at) % 7, "c": at % 3} for at in range(20)]
    units += [{"a": at % 4, "b": at % 5} for at in range(20)]
    ordered = sorted(units, key=lambda unit: tuple(sorted(unit.values())))
    random = Random(3)  # noqa: S311 - the same draws as those of the interval
    draws = [
        compute_alpha(random.choices(ordered, k=40), ScaleLevel.INTERVAL) for _ in range(RESAMPLES)
    ]
    alphas = sorted(alpha for alpha in draws if alpha is not None)
    found = compute_alpha_interval(units, ScaleLevel.INTERVAL, 3)
    assert found == (alphas[24], alphas[-25])

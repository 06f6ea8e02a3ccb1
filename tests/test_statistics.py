"""Statistics: the values of the reference, scipy as a second route, and what must always hold."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from markscheme.weigh.stats import (
    SampleStatistics,
    adjust_by_holm,
    compute_falling_p,
    compute_quantile,
    compute_unseen_share,
    compute_wilson_interval,
    count_inversions,
    t_cdf,
    t_quantile,
)

SIXTHS = st.integers(0, 30).map(lambda n: Fraction(n, 6))
D5 = [Fraction(c - b, 6) for b, c in zip((27, 24, 26, 23, 25), (25, 24, 23, 21, 24), strict=True)]


def test_the_paired_values_of_d5() -> None:
    sample = SampleStatistics.from_values(D5)
    assert sample is not None
    assert sample.mean == Fraction(-8, 30)
    assert sample.sd == pytest.approx(0.190029, abs=1e-6)
    assert sample.standard_error == pytest.approx(0.084984, abs=1e-6)
    assert sample.compute_t() == pytest.approx(-3.137858, abs=1e-6)
    assert 2 * t_cdf(sample.compute_t(), 4) == pytest.approx(0.034920, abs=1e-6)
    assert sample.compute_interval() == pytest.approx((-0.502619, -0.030714), abs=1e-6)


def test_18_of_20_by_wilson() -> None:
    assert compute_wilson_interval(18, 20) == pytest.approx((0.698966, 0.972134), abs=1e-6)
    assert compute_wilson_interval(0, 5)[0] == 0
    assert compute_wilson_interval(5, 5)[1] == 1


def test_holm_adjusts_as_in_the_reference() -> None:
    p_values = [Fraction(p) for p in ("0.003", "0.012", "0.021", "0.04", "0.20", "0.65")]
    wanted = [Fraction(p) for p in ("0.018", "0.06", "0.084", "0.12", "0.4", "0.65")]
    assert adjust_by_holm(p_values) == wanted


def test_zero_failures_bound_a_rate_at_2_percent_only_from_149() -> None:
    assert compute_unseen_share(148, 0.05) > 0.02 > compute_unseen_share(149, 0.05)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 7, 10, 29, 59, 99, 100, 239, 999, 10**4, 10**6])
def test_students_t_is_that_of_scipy(df: int) -> None:
    for t in (-40.0, -6.0, -2.5, -1.0, -0.1, 0.0, 0.3, 1.0, 1.7, 4.0, 25.0):
        assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-12)
    for probability in (0.01, 0.05, 0.4, 0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9999):
        wanted = stats.t.ppf(probability, df)
        assert t_quantile(probability, df) == pytest.approx(wanted, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("t", "df"), [(-5.0, 199), (-14.1, 199), (-30.0, 1000), (-3.0, 10**6)])
def test_a_small_p_is_never_zero(t: float, df: int) -> None:
    assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-9)


@given(st.floats(0.001, 0.999), st.integers(1, 5000))
def test_a_quantile_is_where_the_distribution_reaches_it(probability: float, df: int) -> None:
    assert t_cdf(t_quantile(probability, df), df) == pytest.approx(probability, abs=1e-12)


def test_fewer_than_two_values_have_no_spread() -> None:
    assert SampleStatistics.from_values([]) is None
    assert SampleStatistics.from_values([Fraction(1)]) is None


@given(st.lists(SIXTHS, min_size=2, max_size=40))
def test_the_mean_is_exact_and_the_order_does_not_matter(values: list[Fraction]) -> None:
    sample = SampleStatistics.from_values(values)
    assert sample == SampleStatistics.from_values(sorted(values))
    assert sample is not None
    assert sample.mean * len(values) == sum(values)


@given(st.lists(st.integers(0, 3), max_size=6))
def test_the_chance_of_falling_is_the_share_of_all_orders(ranks: list[int]) -> None:
    values = [Fraction(rank, 3) for rank in ranks]

    def falls(order: tuple[Fraction, ...]) -> int:
        return sum(order[i] > order[j] for i in range(len(order)) for j in range(i, len(order)))

    every = [falls(order) for order in permutations(values)]
    wanted = Fraction(sum(count >= falls(tuple(values)) for count in every), len(every))
    assert compute_falling_p(values) == wanted


def test_orders_are_counted_in_whole_numbers() -> None:
    assert count_inversions([1, 1, 1, 1]) == [1, 3, 5, 6, 5, 3, 1]
    assert count_inversions([2, 2]) == [1, 1, 2, 1, 1]
    assert sum(count_inversions([3, 4, 5])) == math.factorial(12) // (6 * 24 * 120)


@given(st.lists(SIXTHS, min_size=1, max_size=30))
def test_the_middle_quantile_is_the_usual_median(values: list[Fraction]) -> None:
    counts = {value: values.count(value) for value in values}
    assert compute_quantile(counts, Fraction(1, 2)) == median(values)
    assert (compute_quantile(counts, Fraction(0)), compute_quantile(counts, Fraction(1))) == (
        min(values),
        max(values),
    )

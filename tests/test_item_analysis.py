"""Item analysis of a class, against the published reference."""

from __future__ import annotations

from fractions import Fraction

import pytest
from scipy import stats

from markscheme.learn import MinimumSizes, analyse_items
from markscheme.weigh.stats import f_quantile

REFERENCE = ["111101", "111001", "101111", "110000", "100100", "011000", "111111", "000001"]
ITEMS = list("abcdef")
ANY_SIZE = MinimumSizes(difficulty=1, correlation=1, groups=1)


def answers_of(rows: list[str]) -> list[dict[str, bool]]:
    return [dict(zip(ITEMS, (mark == "1" for mark in row), strict=True)) for row in rows]


def test_the_reference_matrix() -> None:
    analysis = analyse_items(ITEMS, answers_of(REFERENCE), sizes=ANY_SIZE)
    reliability = analysis.reliability
    assert reliability is not None
    assert reliability.alpha == Fraction(636, 955)
    assert round(reliability.standard_error, 7) == 1.0673733
    rests = [item.item_rest.value if item.item_rest else None for item in analysis.items]
    assert rests == pytest.approx(
        [0.434524, 0.039375, 0.602861, 0.430331, 0.546594, 0.392792], abs=5e-7
    )
    half = Fraction(1, 2)
    assert [item.discrimination for item in analysis.items] == [half, 0, 1, 1, 1, half]
    difficulties = [item.difficulty for item in analysis.items]
    assert difficulties == [Fraction(n, 8) for n in (6, 5, 5, 4, 2, 5)]


def test_the_interval_of_alpha_is_feldts() -> None:
    reliability = analyse_items(ITEMS, answers_of(REFERENCE), sizes=ANY_SIZE).reliability
    assert reliability is not None
    lost = 1 - 636 / 955
    assert reliability.low == pytest.approx(1 - lost * stats.f.ppf(0.975, 7, 35), rel=1e-9)
    assert reliability.high == pytest.approx(1 - lost * stats.f.ppf(0.025, 7, 35), rel=1e-9)


@pytest.mark.parametrize(("df1", "df2"), [(7, 35), (199, 11_741), (1, 1), (19, 114)])
def test_quantiles_of_f_equal_those_of_scipy(df1: int, df2: int) -> None:
    for probability in (0.025, 0.5, 0.975):
        ours = f_quantile(probability, df1, df2)
        assert ours == pytest.approx(stats.f.ppf(probability, df1, df2), rel=1e-8)


def test_statistics_of_too_few_learners_are_absent() -> None:
    few = analyse_items(ITEMS, answers_of(REFERENCE))
    assert few.reliability is None
    assert {item.item_rest for item in few.items} == {None}
    assert {item.discrimination for item in few.items} == {None}
    assert few.items[0].difficulty == Fraction(3, 4)
    assert analyse_items(ITEMS, answers_of(REFERENCE[:4])).items[0].difficulty is None


def test_items_that_measure_nothing_are_flagged() -> None:
    rows = answers_of(["110000"] * 10 + ["001000"] * 10)
    for learner in rows:
        learner["e"] = True
    flags = {item.item: item.flags for item in analyse_items(ITEMS, rows).items}
    assert flags["d"] == ("hardly anybody gets it right",)
    assert flags["e"] == ("nearly everybody gets it right",)
    assert flags["c"] == ("those who know more get it wrong more often; check the key",)


def test_one_slip_of_everybody_is_flagged() -> None:
    rows = answers_of(["100000"] * 5 + ["000000"] * 5)
    slips = {"a": ["ignore_accents"] * 5, "b": ["ignore_accents"] * 9}
    analysis = analyse_items(ITEMS, rows, slips)
    assert "everybody who misses it misses it by the same slip" in analysis.items[0].flags
    assert "everybody who misses it misses it by the same slip" not in analysis.items[1].flags


def test_totals_that_do_not_vary_have_no_reliability() -> None:
    assert analyse_items(ITEMS, answers_of(["110000"] * 30)).reliability is None

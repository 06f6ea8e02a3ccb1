"""Weighted means of values that are known, bounded, or do not apply."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import hypothesis.strategies as st
from hypothesis import given

from markscheme.mark import combine_axis_values
from markscheme.vocabulary import (
    NOT_APPLICABLE,
    UNKNOWN_SCORE,
    AxisValue,
    Cell,
    ScoreBounds,
    Status,
)

_WEIGHTS = st.fractions(min_value=0, max_value=5, max_denominator=6)
_VALUES = st.fractions(min_value=-2, max_value=1, max_denominator=6)


def test_thirds_are_exact() -> None:
    values = [Fraction(1), Fraction(1), Fraction(0)]

    assert combine_axis_values([Fraction(1, 3)] * 3, values) == Fraction(2, 3)


def test_weights_of_axes_that_apply_are_scaled_up() -> None:
    weights = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]

    score = combine_axis_values(weights, [NOT_APPLICABLE, Fraction(1), Fraction(0)])

    assert score == Fraction(1, 2)


def test_if_no_axis_with_a_weight_applies_there_is_no_score() -> None:
    assert combine_axis_values([1, 0], [NOT_APPLICABLE, Fraction(1)]) == NOT_APPLICABLE


def test_an_unknown_value_widens_the_score_and_does_not_move_it() -> None:
    bounds = combine_axis_values([1, 3], [UNKNOWN_SCORE, Fraction(1, 3)])

    assert bounds == ScoreBounds(low=Fraction(1, 4), high=Fraction(1, 2))


def test_below_0_an_unknown_value_that_may_not_apply_makes_the_lower_bound_lower() -> None:
    bounds = combine_axis_values([1, 1], [UNKNOWN_SCORE, Fraction(-1)])

    assert bounds == ScoreBounds(low=Fraction(-1), high=Fraction(0))


def test_a_cell_tells_its_value_or_its_bounds_or_that_it_does_not_apply() -> None:
    cells = [
        Cell.passed("right"),
        Cell.failed("not a number"),
        Cell(status=Status.NOT_APPLICABLE, value=None, reason="no dose was asked for"),
    ]

    assert [cell.axis_value for cell in cells] == [Fraction(1), UNKNOWN_SCORE, NOT_APPLICABLE]


@given(st.lists(st.tuples(_WEIGHTS, _VALUES, st.booleans(), st.booleans()), min_size=1, max_size=5))
def test_bounds_hold_whatever_the_erased_values_were(
    rows: list[tuple[Fraction, Fraction, bool, bool]],
) -> None:
    weights = [weight for weight, *_ in rows]
    truth: list[AxisValue] = [NOT_APPLICABLE if gone else value for _, value, gone, _ in rows]
    unknown = ScoreBounds(low=Fraction(-2), high=Fraction(1))
    seen = [unknown if erased else value for value, (*_, erased) in zip(truth, rows, strict=True)]

    true, bounds = combine_axis_values(weights, truth), combine_axis_values(weights, seen)

    if isinstance(true, Fraction) and isinstance(bounds, ScoreBounds):
        assert bounds.low <= true <= bounds.high
    elif isinstance(true, Fraction):
        assert bounds == true


@given(st.lists(st.tuples(_WEIGHTS, st.booleans()), min_size=1, max_size=4))
def test_bounds_are_no_wider_than_the_extreme_values(rows: list[tuple[Fraction, bool]]) -> None:
    """Every bound is reached by some choice of the unknown values: lowest, highest, or n/a."""
    low, half, one = Fraction(-2), Fraction(1, 2), Fraction(1)
    weights = [weight for weight, _ in rows]
    unknown = ScoreBounds(low=low, high=one)
    bounds = combine_axis_values(weights, [unknown if open_ else half for _, open_ in rows])

    extremes: list[AxisValue] = [low, one, NOT_APPLICABLE]
    choices = product(*(extremes if open_ else [half] for _, open_ in rows))
    means = [combine_axis_values(weights, choice) for choice in choices]
    reached = [mean for mean in means if isinstance(mean, Fraction)]

    if isinstance(bounds, ScoreBounds):
        assert (bounds.low, bounds.high) == (min(reached), max(reached))

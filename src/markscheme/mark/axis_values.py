"""Weighted means of values that are known, bounded, or do not apply.

The score of an answer is such a mean over its axes, and the score of a run one over its answers.

>>> half, third = Fraction(1, 2), Fraction(1, 3)
>>> combine_axis_values([half, half], [Fraction(1), UNKNOWN_SCORE])
ScoreBounds(low=Fraction(1, 2), high=Fraction(1, 1))
>>> combine_axis_values([third, third, third], [Fraction(1), Fraction(0), NOT_APPLICABLE])
Fraction(1, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from markscheme.vocabulary import (
    NOT_APPLICABLE,
    UNKNOWN_SCORE,
    AxisValue,
    NotApplicable,
    ScoreBounds,
)

_Weighted = tuple[Fraction, ScoreBounds]


def combine_axis_values(
    weights: Iterable[Decimal | Fraction | int], values: Iterable[AxisValue]
) -> AxisValue:
    """Return the exact weighted mean of the values that apply.

    - A value that does not apply is left out, and the weights of the others are scaled up.
    - If any value is only bounded, so is the mean: nothing unknown is guessed or left out.
    - If no value with a weight applies, the mean does not apply either.
    """
    applying = [
        (to_exact_weight(weight), value)
        for weight, value in zip(weights, values, strict=True)
        if not isinstance(value, NotApplicable)
    ]
    total = sum((weight for weight, _ in applying), Fraction(0))
    if not total:
        return NOT_APPLICABLE
    if not any(isinstance(value, ScoreBounds) for _, value in applying):
        known = ((w, value) for w, value in applying if isinstance(value, Fraction))
        return sum((weight * value for weight, value in known), Fraction(0)) / total
    bounded = [(weight, _to_bounds(value)) for weight, value in applying]
    highest = sum((weight * value.high for weight, value in bounded), Fraction(0)) / total
    return ScoreBounds(low=_find_lowest_mean(bounded), high=highest)


@lru_cache(maxsize=256)
def to_exact_weight(weight: Decimal | Fraction | int) -> Fraction:
    """Return a weight as a fraction. A rubric has few, and they are converted for every answer."""
    return Fraction(weight)


def _find_lowest_mean(bounded: Sequence[_Weighted]) -> Fraction:
    """Return the lowest mean that the bounds allow.

    A value of which nothing is known may also turn out not to apply. That is the worse case if the
    mean of the others is below all that the value itself can be, so below 0.
    """
    certain = [(weight, value.low) for weight, value in bounded if not may_not_apply(value)]
    open_ended = [(weight, value.low) for weight, value in bounded if may_not_apply(value)]
    total = sum((weight for weight, _ in certain), Fraction(0))
    points = sum((weight * low for weight, low in certain), Fraction(0))
    means = [points / total] if total else []
    for weight, low in sorted(open_ended, key=lambda entry: entry[1]):
        total, points = total + weight, points + weight * low
        means += [points / total] if total else []
    return min(means)


def may_not_apply(value: ScoreBounds) -> bool:
    """Return whether nothing is known: what was read of an axis says that the axis applies.

    Only an axis of which no criterion was marked can still be both 1 and as low as 0.
    """
    return value.low <= UNKNOWN_SCORE.low and value.high == UNKNOWN_SCORE.high


def _to_bounds(value: AxisValue) -> ScoreBounds:
    if isinstance(value, ScoreBounds):
        return value
    if isinstance(value, Fraction):
        return ScoreBounds(low=value, high=value)
    raise TypeError("a value that does not apply has no bounds")

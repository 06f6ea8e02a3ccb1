"""Exact numbers in and out: decisions use fractions, only what is shown is rounded."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ZERO = Fraction(0)
EXACT_CONTEXT = Context(prec=1_000)  # of amounts, which keep every digit that anybody tells
_WIDE_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN)
_DOUBLE_DIGITS = 17
_MAX_DENOMINATOR = 10**6
_DECIMAL_PLACES = (4, 6, 9, 12, 20, 30)


def compute_mean(total: Fraction | int, count: int) -> Fraction | None:
    """Return the exact mean; the mean of nothing is `None`, never 0 and never NaN."""
    return Fraction(total) / count if count else None


def sum_amounts(amounts: Iterable[Decimal]) -> Decimal:
    """Return the sum of amounts, with every digit."""
    return reduce(EXACT_CONTEXT.add, amounts, Decimal(0))


def format_decimal(value: Fraction | Decimal | None, places: int = 4) -> str:
    """Return a decimal text of at most `places` places, at least two; rounded only for the eye."""
    if value is None:
        return "–"
    fraction = Fraction(value)
    quotient = _WIDE_CONTEXT.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    text = format(quotient.quantize(Decimal(1).scaleb(-places), context=_WIDE_CONTEXT), "f")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def format_signed(value: Fraction | None, places: int = 4) -> str:
    """Return a change with its sign."""
    if value is None:
        return "–"
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{format_decimal(abs(value), places)}"


def to_float(value: Fraction | None) -> float | None:
    """Return the double nearest to the exact value, for JSON and columns (0.75 prints as 0.75)."""
    return None if value is None else value.numerator / value.denominator


def format_ratio(value: Fraction | None) -> str | None:
    """Return the exact value as text, `3/4`, so that no later decision rests on a rounded one."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def format_plain(value: Decimal) -> str:
    """Return a decimal without exponent or trailing zeros: 0.60, 0.6 and 6E-1 are one number."""
    if not value:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_distinct(value: Fraction, other: Fraction | Decimal) -> str:
    """Return a value with as many places as tell it from the other one, where they differ."""
    if value == Fraction(other):
        return format_decimal(value)
    told = (
        format_decimal(value, places)
        for places in _DECIMAL_PLACES
        if format_decimal(value, places) != format_decimal(other, places)
    )
    return next(told, f"{value.numerator}/{value.denominator}")


def to_fraction(value: float) -> Fraction:
    """Return the number that a double was written as: 0.1 is a tenth, not its binary neighbour."""
    return Fraction(repr(value))


def simplest_fraction(value: Decimal | int) -> Fraction:
    """Return the fraction that a published number stands for.

    A result file holds the nearest doubles of exact fractions: the simplest fraction of that double
    is taken, 1/3 for 0.3333333333333333, if its denominator is at most a million; else the number
    stands for itself.
    """
    exact = Fraction(value)
    if len(Decimal(value).as_tuple().digits) > _DOUBLE_DIGITS:
        return exact
    double = float(value)
    if not 0 < double < 1:
        return exact
    below, above = math.nextafter(double, 0), math.nextafter(double, 1)
    low, high = ((Fraction(double) + Fraction(beside)) / 2 for beside in (below, above))
    simplest = _find_simplest_between(low, high)
    return simplest if simplest.denominator <= _MAX_DENOMINATOR else exact


def _find_simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator strictly between two positive ones."""
    whole = math.floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:  # so high is at most whole + 1: one more than a large enough unit fraction
        return whole + Fraction(1, math.floor(1 / (high - whole)) + 1)
    return whole + 1 / _find_simplest_between(1 / (high - whole), 1 / (low - whole))

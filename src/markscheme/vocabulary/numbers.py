"""Exact arithmetic and number formatting.

Every decision is made on exact fractions; a number is rounded only when it is shown.

>>> format_decimal(Fraction(2, 3)), format_signed(Fraction(-1, 8)), format_ratio(Fraction(2, 3))
('0.6667', '−0.125', '2/3')
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import reduce

ZERO = Fraction(0)
EXACT_CONTEXT = Context(prec=1_000)
"""The decimal context for sums of costs and latencies: wide enough to keep every digit."""
_WIDE_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN)
# A double has at most 17 significant decimal digits.
_DOUBLE_DIGITS = 17
_MAX_DENOMINATOR = 10**6
# More decimal places than this are shown as a power of ten.
_MOST_PLACES = 12
_DECIMAL_PLACES = (4, 6, 9, 12, 20, 30)


def compute_mean(total: Fraction | int, count: int) -> Fraction | None:
    """Return the exact mean. The mean of no values is `None`, never 0 and never NaN."""
    return Fraction(total) / count if count else None


def sum_amounts(amounts: Iterable[Decimal]) -> Decimal:
    """Return the exact sum of decimal amounts."""
    return reduce(EXACT_CONTEXT.add, amounts, Decimal(0))


def format_fixed(value: Fraction | Decimal, places: int = 4) -> str:
    """Return a number with exactly `places` decimal places, rounded half even.

    Every number that is shown is rounded here, from its exact value: a double beside a half would
    round to either side. What is rounded to zero has no sign.

    >>> format_fixed(Fraction("0.93125")), f"{0.93125:.4f}", format_fixed(Fraction("-0.00004"))
    ('0.9312', '0.9313', '0.0000')
    """
    fraction = Fraction(value)
    quotient = _WIDE_CONTEXT.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    return format(quotient.quantize(Decimal(1).scaleb(-places), context=_WIDE_CONTEXT), "zf")


def format_decimal(value: Fraction | Decimal | None, places: int = 4) -> str:
    """Return a number with at most `places` and at least two decimal places, rounded half even."""
    if value is None:
        return "–"
    whole, _, decimals = format_fixed(value, places).partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def format_short(value: Fraction | Decimal | None, places: int = 4) -> str:
    """Return a number with at most `places` decimal places, and none that says nothing.

    >>> format_short(Fraction(1)), format_short(Fraction(1, 2)), format_short(None)
    ('1', '0.5', '–')
    """
    return "–" if value is None else format_plain(Decimal(format_fixed(value, places)))


def format_amount(value: Fraction | Decimal | None, places: int = 2) -> str:
    """Return a number with `places` decimals, or more if it takes more to show two digits.

    What a cheap model costs is far below 0.01, and 0.00 would say that it costs nothing.

    >>> format_amount(Fraction("12.345")), format_amount(Fraction("0.000123")), format_amount(ZERO)
    ('12.34', '0.00012', '0.00')
    """
    if value is None or not value:
        return format_decimal(value, places)
    fraction = Fraction(value)
    quotient = _WIDE_CONTEXT.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    needed = 1 - quotient.adjusted()
    if needed > _MOST_PLACES:
        return format(quotient, ".1e")
    return format_decimal(fraction, max(places, needed))


def format_signed_amount(value: Fraction | None, places: int = 2) -> str:
    """Return a difference of amounts with its sign, as `format_amount` shows amounts."""
    if value is None:
        return format_decimal(value)
    return f"{_get_sign(value)}{format_amount(abs(value), places)}"


def format_signed(value: Fraction | None, places: int = 4) -> str:
    """Return a difference with its sign: `+0.02`, `−0.02` or `±0.00`."""
    if value is None:
        return "–"
    return f"{_get_sign(value)}{format_decimal(abs(value), places)}"


def _get_sign(value: Fraction) -> str:
    return "+" if value > 0 else "−" if value < 0 else "±"


def to_float(value: Fraction | None) -> float | None:
    """Return the double nearest to the exact value, for JSON and for columns."""
    return None if value is None else value.numerator / value.denominator


def to_number(value: Fraction | int) -> int | float:
    """Return a whole number as such, and any other as its nearest double: scores of a scale."""
    return value.numerator if value.denominator == 1 else value.numerator / value.denominator


def format_ratio(value: Fraction | None) -> str | None:
    """Return the exact value as text, `3/4`, for JSON fields that a later decision may use."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def format_plain(value: Decimal) -> str:
    """Return a decimal without exponent and trailing zeros: `0.6` for 0.60, 0.6 and 6E-1."""
    if not value:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_distinct(value: Fraction, other: Fraction | Decimal) -> str:
    """Return a value with enough decimal places to look different from `other`, if it is.

    >>> format_distinct(Fraction("0.899999"), Fraction("0.9"))
    '0.899999'
    """
    if value == Fraction(other):
        return format_decimal(value)
    candidates = (
        format_decimal(value, places)
        for places in _DECIMAL_PLACES
        if format_decimal(value, places) != format_decimal(other, places)
    )
    return next(candidates, f"{value.numerator}/{value.denominator}")


def to_fraction(value: float) -> Fraction:
    """Return the shortest decimal of a double, exactly: 1/10 for 0.1, not its binary value."""
    return Fraction(repr(value))


def simplest_fraction(value: Decimal | int) -> Fraction:
    """Return the fraction that a published decimal most likely stands for.

    A result file holds doubles that were computed from exact fractions. Return the simplest
    fraction that rounds to the same double if its denominator is at most a million; else return
    the number itself.

    >>> simplest_fraction(Decimal("0.3333333333333333"))
    Fraction(1, 3)
    """
    exact = Fraction(value)
    if len(Decimal(value).as_tuple().digits) > _DOUBLE_DIGITS:
        return exact
    double = float(value)
    if double < 0:
        return -simplest_fraction(-value)
    if double > 1:
        simplest = exact.limit_denominator(_MAX_DENOMINATOR)
        return simplest if float(simplest) == double else exact
    if not 0 < double < 1:
        return exact
    below, above = math.nextafter(double, 0), math.nextafter(double, 1)
    # The numbers that round to this double lie between the midpoints to its two neighbours.
    low, high = ((Fraction(double) + Fraction(neighbour)) / 2 for neighbour in (below, above))
    simplest = _find_simplest_between(low, high)
    return simplest if simplest.denominator <= _MAX_DENOMINATOR else exact


def _find_simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator strictly between two positive ones."""
    whole = math.floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        # `high` is at most whole + 1: add the largest unit fraction that stays below it.
        return whole + Fraction(1, math.floor(1 / (high - whole)) + 1)
    return whole + 1 / _find_simplest_between(1 / (high - whole), 1 / (low - whole))

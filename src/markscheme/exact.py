"""Exact numbers in and out: decisions use fractions, only what is shown is rounded."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

ZERO = Fraction(0)
_WIDE = Context(prec=60, rounding=ROUND_HALF_EVEN)


def mean(total: Fraction | int, count: int) -> Fraction | None:
    """Return the exact mean; the mean of nothing is `None`, never 0 and never NaN."""
    return Fraction(total) / count if count else None


def show(value: Fraction | Decimal | None, places: int = 4) -> str:
    """Return a decimal text of at most `places` places, at least two; rounded only for the eye."""
    if value is None:
        return "–"
    fraction = Fraction(value)
    quotient = _WIDE.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    text = format(quotient.quantize(Decimal(1).scaleb(-places), context=_WIDE), "f")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def number(value: Fraction | None) -> float | None:
    """Return the double nearest to the exact value, for JSON and columns (0.75 prints as 0.75)."""
    return None if value is None else value.numerator / value.denominator


def ratio(value: Fraction | None) -> str | None:
    """Return the exact value as text, `3/4`, so that no later decision rests on a rounded one."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def plain(value: Decimal) -> str:
    """Return a decimal without exponent or trailing zeros: 0.60, 0.6 and 6E-1 are one number."""
    if not value:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text

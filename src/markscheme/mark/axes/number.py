"""The axis that compares a number with the expected one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

from markscheme.mark.axes.base import TextAxis, quote_excerpt
from markscheme.vocabulary import Cell, Item, Response, format_plain, format_value, sentence

_NUMBER = re.compile(
    r"(?<![\w.,])(?>[-+]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?:[eE][-+]?[0-9]{1,9})?)"
    r"(?!\w|[.,][0-9])",
)
_MAX_DIGITS = 1000
_MAX_PLAIN_EXPONENT = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberWithin(TextAxis):
    """The number in the text is within `tolerance` of the expected one, the ends included.

    A tolerance such as `2%` is relative to the expected number; `0.5` is absolute. A text must hold
    exactly one number; a JSON field may be a number.
    """

    kind: ClassVar[str] = "number_within"
    accepts: ClassVar[tuple[type, ...]] = (str, int, float, Decimal)
    expects: str = "expected_number"
    tolerance: Decimal | str = Decimal(0)

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse a tolerance that is neither a number from 0 on nor a percentage."""
        if parse_tolerance(self.tolerance) is None:
            allowed = "a number from 0 on, or a percentage such as 2%"
            yield "tolerance", f"{format_value(self.tolerance)} is no tolerance; {allowed}"

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Refuse a missing expectation and one that is not a number."""
        value = item.expectations.get(self.expects)
        if value is None:
            yield self.expects, "is missing; the axis needs a number here"
        elif isinstance(value, bool) or not isinstance(value, int | Decimal):
            yield self.expects, f"must be a number, not {format_value(value)}"

    def mark(self, response: Response, item: Item) -> Cell:
        """Judge the number in the field, or the one number in the text."""
        number = response.numbers.get(self.reads) if self.reads is not None else None
        if number is not None:
            return self._compare_number(number, item)
        return TextAxis.mark(self, response, item)

    def judge(self, text: str, item: Item) -> Cell:
        """Find the one number in the text and compare it."""
        numbers = _NUMBER.findall(text.replace("\N{MINUS SIGN}", "-"))
        if len(numbers) != 1:
            return Cell.missed(_explain_number_count(quote_excerpt(text), len(numbers)))
        return self._compare_number(Decimal(numbers[0].replace(",", "")), item)

    def _compare_number(self, got: Decimal, item: Item) -> Cell:
        if abs(got.adjusted()) > _MAX_DIGITS or len(got.as_tuple().digits) > _MAX_DIGITS:
            return Cell.missed(sentence("the number has more than {n} digits", n=_MAX_DIGITS))
        expected = Decimal(item.expectations[self.expects])
        share = parse_tolerance(self.tolerance) or Fraction(0)
        relative = isinstance(self.tolerance, str)
        allowed = share * abs(Fraction(expected)) if relative else share
        away = abs(Fraction(got) - Fraction(expected))
        values = {
            "got": _format_number(got),
            "away": _format_number(away),
            "expected": _format_number(expected),
            "bound": self.tolerance,
        }
        if away <= allowed:
            return Cell.passed(
                sentence("{got} is {away} away from {expected}, {bound} allowed", **values)
            )
        return Cell.missed(
            sentence("{got} is {away} away from {expected}, only {bound} allowed", **values)
        )


def _explain_number_count(got: str, numbers: int) -> str:
    if not numbers:
        return sentence("{got} holds no number", got=got)
    return sentence("{got} holds {n} numbers, not one", got=got, n=numbers)


def parse_tolerance(tolerance: Decimal | str) -> Fraction | None:
    """Return a tolerance as a number, `2%` as a share; `None` if it is no tolerance."""
    text = str(tolerance)
    number = text.removesuffix("%") if isinstance(tolerance, str) else text
    if isinstance(tolerance, str) and not re.fullmatch(r"[0-9]+(\.[0-9]+)?%", text):
        return None
    value = Fraction(Decimal(number))
    return None if value < 0 else value / (100 if isinstance(tolerance, str) else 1)


def _format_number(value: Decimal | Fraction) -> str:
    """Return a number for a reason, without exponent if that is short."""
    if isinstance(value, Fraction):
        value = Decimal(value.numerator) / Decimal(value.denominator)
    return (
        format_plain(value)
        if -_MAX_PLAIN_EXPONENT <= value.adjusted() <= _MAX_PLAIN_EXPONENT
        else str(value.normalize())
    )

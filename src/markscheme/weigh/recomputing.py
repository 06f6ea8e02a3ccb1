"""Published numbers beside the exact ones that they must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import ZERO, to_float
from markscheme.read.breakdowns import PublishedField
from markscheme.sentences import sentence
from markscheme.vocabulary import Cell

if TYPE_CHECKING:
    from markscheme.vocabulary import Rubric

_ROUNDED_PLACES = 4
_MAX_DOUBLE_DIGITS = 17

Mismatch = tuple[Any, Any, str]
FieldMismatches = Iterator[tuple[PublishedField, Mismatch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputedRow:
    """A breakdown and what it should say: the leading axis judged anew, and the known values.

    An axis that is out of range has no known value; where the axes are not the rubric's, none has.
    """

    place: PublishedField
    record: Mapping[str, Any]
    cell: Cell | None
    values: Mapping[str, Fraction | None]


def list_axis_names(rubric: Rubric) -> list[str]:
    """Return the names of the axes."""
    return [spec.name for spec in rubric]


def build_axes_mismatch(published: Mapping[str, Any], rubric: Rubric) -> Mismatch:
    """Say that what is published has other axes than the rubric."""
    return (
        list(published),
        list_axis_names(rubric),
        sentence("these are the axes of the rubric `{rubric}`", rubric=rubric.name),
    )


def is_correctly_rounded(published: Any, exact: Fraction | None) -> bool:
    """Return whether a published number is the exact one, or it correctly rounded.

    Rounded means to at least four places, or to the nearest double, which never needs more than
    17 digits.
    """
    if published is None or exact is None:
        return published is None and exact is None
    if isinstance(published, bool) or not isinstance(published, int | Decimal):
        return False
    _, digits, exponent = Decimal(published).as_tuple()
    if len(digits) <= _MAX_DOUBLE_DIGITS and float(published) == to_float(exact):
        return True
    places = -exponent if isinstance(exponent, int) else 0
    half = Fraction(1, 2 * 10**places) if places >= _ROUNDED_PLACES else ZERO
    return abs(Fraction(published) - exact) <= half

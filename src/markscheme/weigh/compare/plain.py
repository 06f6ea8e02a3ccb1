"""Values of results as JSON holds them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from markscheme.vocabulary import to_float
from markscheme.weigh.compare.pairs import Sides


def to_plain(value: Any) -> Any:
    """Return a value as JSON holds it: fractions as doubles, tuples as lists."""
    match value:
        case Fraction():
            return to_float(value)
        case tuple():
            return [to_plain(part) for part in value]
        case Sides():
            return copy_fields(value, "baseline", "candidate", "difference")
        case Mapping():
            return {key: to_plain(part) for key, part in value.items()}
        case _:
            return value


def copy_fields(source: Any, *names: str) -> dict[str, Any]:
    """Return the named attributes of a value as JSON holds them."""
    return {name: to_plain(getattr(source, name)) for name in names}

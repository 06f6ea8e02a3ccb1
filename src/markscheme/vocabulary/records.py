"""Turn frozen values into plain data that JSON can hold: one function for every record.

A value becomes a mapping with one key for each field. Where the JSON differs from the fields, the
class says so in `record_fields`, a tuple with one entry for each key, in the order of the JSON:

- `"n"`: the key and the attribute have the same name;
- `("gate", "gate.name")`: the key, and the path to the attribute;
- `("passed", count_passed)`: the key, and a function of the value;
- `exact_ratios("before", "after")`: the key `exact`, with these attributes as exact ratios;
- `if_known("bounds")`: the key is there only if the attribute is neither `None` nor empty.

Bounds become a list of two numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from markscheme.vocabulary.cell import ScoreBounds
from markscheme.vocabulary.numbers import format_ratio, to_float


class KnownField(NamedTuple):
    """A field of a record that is left out if it is `None` or empty."""

    name: str


RecordField: TypeAlias = str | tuple[str, str | Callable[[Any], Any]] | KnownField
RecordFields: TypeAlias = tuple[RecordField, ...]
NumberFormat: TypeAlias = Callable[[Fraction], Any]


def to_record(
    value: Any, record_fields: RecordFields | None = None, *, number: NumberFormat = to_float
) -> dict[str, Any]:
    """Return a value as a mapping of plain data, with all values inside it converted too.

    Without `record_fields`, those of the class are used, else all its fields. `number` says what
    becomes of an exact fraction; by default the nearest double.
    """
    layout = (
        _get_class_layout(value.__class__) if record_fields is None else _read_layout(record_fields)
    )
    read = ((key, get(value), optional) for key, get, optional in layout)
    return {
        key: to_plain(inner, number=number)
        for key, inner, optional in read
        if not optional or _is_known(inner)
    }


def _is_known(value: Any) -> bool:
    return value is not None and (not isinstance(value, Mapping) or bool(value))


def to_plain(value: Any, *, number: NumberFormat = to_float) -> Any:
    """Return any value as plain data: enums by value, tuples as lists, fractions by `number`."""
    # Enums come first: the members of a StrEnum are texts too.
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Fraction):
        return number(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, ScoreBounds):
        return [number(value.low), number(value.high)]
    if isinstance(value, Mapping):
        return {key: to_plain(inner, number=number) for key, inner in value.items()}
    if isinstance(value, Struct) or is_dataclass(value):
        return to_record(value, number=number)
    return [to_plain(inner, number=number) for inner in value]


def if_known(name: str) -> KnownField:
    """Return an entry that is left out of a record if the attribute is `None` or empty."""
    return KnownField(name)


def exact_ratios(*names: str, known: tuple[str, ...] = ()) -> RecordField:
    """Return the entry `exact` of a record: the named attributes as exact ratios, `3/4`.

    Attributes in `known` are left out if they are `None` or empty.
    """
    getters = {name: attrgetter(name) for name in (*names, *known)}

    def build_ratios(value: Any) -> dict[str, Any]:
        read = ((name, get(value)) for name, get in getters.items())
        return {
            name: to_plain(inner, number=format_ratio)
            for name, inner in read
            if name not in known or _is_known(inner)
        }

    return "exact", build_ratios


def list_pairs(name: str, *keys: str) -> RecordField:
    """Return an entry for an attribute that holds tuples: each becomes a mapping of these keys."""

    def build_pairs(value: Any) -> list[dict[str, Any]]:
        return [dict(zip(keys, pair, strict=True)) for pair in getattr(value, name)]

    return name, build_pairs


_Layout: TypeAlias = tuple[tuple[str, Callable[[Any], Any], bool], ...]
"""For each key: how to get its value, and whether it may be left out."""


@cache
def _get_class_layout(cls: type) -> _Layout:
    """Return the keys of a class and how to get the value of each; read once for each class."""
    layout: RecordFields | None = getattr(cls, "record_fields", None)
    if layout is not None:
        return _read_layout(layout)
    if issubclass(cls, Struct):
        return _read_layout(cls.__struct_fields__)
    return _read_layout(tuple(field.name for field in fields(cls)))  # type: ignore[arg-type]


def _read_layout(layout: RecordFields) -> _Layout:
    return tuple(map(_read_field, layout))


def _read_field(entry: RecordField) -> tuple[str, Callable[[Any], Any], bool]:
    if isinstance(entry, KnownField):
        return entry.name, attrgetter(entry.name), True
    key, get = (entry, entry) if isinstance(entry, str) else entry
    return key, attrgetter(get) if isinstance(get, str) else get, False

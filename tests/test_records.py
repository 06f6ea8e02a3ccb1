"""Records: frozen values become plain data that JSON can hold, by one function."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

from markscheme.vocabulary import (
    FrozenDict,
    RecordFields,
    exact_ratios,
    list_pairs,
    to_plain,
    to_record,
)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    share: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    parts: tuple[Part, ...]
    colour: Colour
    means: Mapping[str, Fraction]
    refused: tuple[tuple[str, str], ...] = ()

    record_fields: ClassVar[RecordFields] = (
        "colour",
        ("first", "parts.__class__.__name__"),
        ("count", lambda whole: len(whole.parts)),
        exact_ratios("means"),
        "parts",
        list_pairs("refused", "run", "because"),
    )


THIRD = Fraction(1, 3)
WHOLE = Whole(
    parts=(Part(name="a", share=THIRD), Part(name="b", share=None)),
    colour=Colour.RED,
    means=FrozenDict({"x": THIRD}),
    refused=(("r1", "too old"),),
)


def test_a_record_has_the_fields_of_the_value_in_their_order() -> None:
    record = to_record(Part(name="a", share=THIRD))
    assert list(record.items()) == [("name", "a"), ("share", 1 / 3)]


def test_a_class_says_how_its_record_differs_from_its_fields() -> None:
    record = to_record(WHOLE)
    assert json.loads(json.dumps(record)) == record
    assert list(record) == ["colour", "first", "count", "exact", "parts", "refused"]
    assert record == {
        "colour": "red",
        "first": "tuple",
        "count": 2,
        "exact": {"means": {"x": "1/3"}},
        "parts": [{"name": "a", "share": 1 / 3}, {"name": "b", "share": None}],
        "refused": [{"run": "r1", "because": "too old"}],
    }


def test_a_caller_may_choose_the_fields_and_keep_numbers_exact() -> None:
    def keep(value: Fraction) -> Fraction:
        return value

    assert to_record(WHOLE, ("means", "parts"), number=keep) == {
        "means": {"x": THIRD},
        "parts": [{"name": "a", "share": THIRD}, {"name": "b", "share": None}],
    }


def test_every_kind_of_value_becomes_plain_data() -> None:
    values: list[Any] = [None, True, 3, 0.5, "x", Decimal("0.92"), Fraction(3, 4), Colour.RED, ()]
    plain = to_plain(values)
    assert plain == [None, True, 3, 0.5, "x", 0.92, 0.75, "red", []]
    assert type(plain[7]) is str

"""The definition of a row: which values make an answer, and why any other row is refused.

`columns` checks many rows at once. It must agree with `parse_answer` on every row that it accepts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeAlias

from markscheme.read.answers.batch import Number, Output
from markscheme.read.answers.text import describe_json_value, make_excerpt
from markscheme.read.nfc import to_nfc
from markscheme.read.storable import MAX_STORABLE_NUMBER, find_text_fault
from markscheme.vocabulary import find_control_character, format_value

AnswerFields: TypeAlias = tuple[
    str, Output, str | None, int, Number | None, int | None, int | None, Number | None
]

# Whole numbers up to here are exact as doubles, so `3.0` can stand for `3`.
_MAX_EXACT_INTEGER = 2**53
_MAX_DEPTH = 100
_EXAMPLE = '`{"item": "e-39-01", "output": "…"}`'
_LEADING_ZEROS = re.compile(r"0+(?=[0-9])")
_SEPARATORS = re.compile(r"[\W_]+")
_MAX_GUESS_CHARACTERS = 200


class KnownItems:
    """The item ids that an answer may name.

    `ids` maps each id to itself, so that all rows of an item share one string object.
    """

    def __init__(self, items: Iterable[str]) -> None:
        self.ids: dict[str, str] = {item: item for item in items}
        self._ids_by_fold: dict[str, str] = {}

    def guess_item(self, text: str) -> str | None:
        """Return the id that equals `text` up to case, separators, spaces and leading zeros."""
        if not self._ids_by_fold:
            self._ids_by_fold = {_fold_item_id(item): item for item in reversed(self.ids)}
        if len(text) > _MAX_GUESS_CHARACTERS:
            return None
        return self._ids_by_fold.get(_fold_item_id(text))


def _fold_item_id(text: str) -> str:
    parts = _SEPARATORS.split(text.casefold())
    return " ".join(_LEADING_ZEROS.sub("", part) for part in parts if part)


class RefusedRow(Exception):  # noqa: N818 - the result for one row, not an error of the program
    """A row is not an answer. The message is the reason."""


def parse_answer(row: Any, known: KnownItems) -> AnswerFields:
    """Return the fields of one row in the order of `ANSWER_FIELDS`, or raise `RefusedRow`."""
    if isinstance(row, RefusedRow):
        # Another exception: raised itself, it would refer to the list that holds it through its
        # traceback, and whole batches would stay in memory until the collector runs.
        raise RefusedRow(*row.args)
    if not isinstance(row, dict):
        raise RefusedRow(
            f"a row must be an object such as {_EXAMPLE}, not {describe_json_value(row)}"
        )
    return (
        _parse_item(row, known),
        _parse_output(row),
        None if row.get("subject") is None else _parse_subject(row["subject"]),
        parse_integer("attempt", row.get("attempt"), 1),
        parse_number("latency_ms", row.get("latency_ms")),
        parse_integer("tokens_in", row.get("tokens_in"), None),
        parse_integer("tokens_out", row.get("tokens_out"), None),
        parse_number("cost", row.get("cost")),
    )


def get_named_item(row: Any) -> str | None:
    """Return the item that a refused row names, shortened for display."""
    item = row.get("item") if isinstance(row, dict) else None
    return make_excerpt(item) if isinstance(item, str) else None


def find_object_fault(documents: list[dict[str, Any]]) -> str | None:
    """Return why JSON objects cannot be stored, or `None` if they can.

    Bad are keys that are not text, texts with NUL or a lone surrogate, numbers that are not finite
    and objects nested too deep. The walk goes level by level, so that no depth overflows the stack.
    """
    level: list[Any] = documents
    for _ in range(_MAX_DEPTH):
        objects = [node for node in level if type(node) is dict]
        lists = [node for node in level if type(node) is list]
        keys = list(set(chain.from_iterable(objects)))
        values = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
        if fault := _find_key_fault(keys) or _find_value_fault(values):
            return fault
        level = [value for value in values if type(value) in {dict, list}]
        if not level:
            return None
    return f"a value nested more than {_MAX_DEPTH} deep"


def _find_key_fault(keys: list[Any]) -> str | None:
    if not set(map(type, keys)) <= {str}:
        return "a key that is not text"
    return find_text_fault("".join(keys))


def _find_value_fault(values: list[Any]) -> str | None:
    types = set(map(type, values))
    texts = values if types == {str} else [value for value in values if isinstance(value, str)]
    floats = [value for value in values if isinstance(value, float)] if float in types else []
    not_finite = [value for value in floats if not math.isfinite(value)]
    return f"the number `{not_finite[0]}`" if not_finite else find_text_fault("".join(texts))


def _parse_item(row: dict[str, Any], known: KnownItems) -> str:
    item = row.get("item")
    if item is None:
        raise RefusedRow("`item` is missing: a row must name the item it answers")
    known_id = known.ids.get(_parse_text_field("item", item))
    if known_id is None:
        guess = known.guess_item(item)
        hint = "" if guess is None else f"; did you mean {format_value(guess)}?"
        raise RefusedRow(f"unknown item {format_value(item)}{hint}")
    return known_id


def _parse_subject(value: Any) -> str:
    subject = _parse_text_field("subject", value)
    if found := find_control_character(subject):
        raise RefusedRow(f"`subject` holds the control character `{found}`")
    return subject


def _parse_output(row: dict[str, Any]) -> Output:
    output = row.get("output")
    if not isinstance(output, dict):
        if "output" not in row:
            raise RefusedRow("`output` is missing: it must be text or an object")
        return _check_text_field("output", output, "text or an object")
    if fault := find_object_fault([output]):
        raise RefusedRow(f"`output` holds {fault}")
    return output


def _parse_text_field(field: str, value: Any) -> str:
    return to_nfc(_check_text_field(field, value, "text"))


def _check_text_field(field: str, value: Any, allowed: str) -> str:
    """Return the text unchanged; raise `RefusedRow` if it is no text or cannot be stored."""
    if not isinstance(value, str):
        raise RefusedRow(f"`{field}` must be {allowed}, not {describe_json_value(value)}")
    if fault := find_text_fault(value):
        raise RefusedRow(f"`{field}` holds {fault}")
    return value


def parse_integer(field: str, value: Any, absent: int | None) -> Any:
    """Return a whole number that can be stored, or `absent` for null."""
    if value is None:
        return absent
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_EXACT_INTEGER:
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_STORABLE_NUMBER:
        raise RefusedRow(
            f"`{field}` must be a whole number from 0 to 2^63 - 1, not {describe_json_value(value)}"
        )
    return value


def parse_number(field: str, value: Any) -> Number | None:
    """Return a number that can be stored, or `None` for null."""
    if value is None:
        return None
    if type(value) not in {int, float} or not 0 <= value <= MAX_STORABLE_NUMBER:
        raise RefusedRow(
            f"`{field}` must be a number from 0 to 2^63 - 1, not {describe_json_value(value)}"
        )
    return value  # type: ignore[no-any-return]

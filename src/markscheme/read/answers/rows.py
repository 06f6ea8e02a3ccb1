"""What one row means: the definition. The columns beside it are a faster way to the same result."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from markscheme.errors import shown
from markscheme.read.answers.batch import Number, Output
from markscheme.read.answers.excerpt import excerpt, kind_of
from markscheme.read.composed import composed
from markscheme.read.sound import LARGEST, fault_in_text

if TYPE_CHECKING:
    from markscheme.read.answers.known import KnownItems

Answer: TypeAlias = tuple[
    str, Output, str | None, int, Number | None, int | None, int | None, Number | None
]

_EXACT_IN_DOUBLES = 2**53
_DEEPEST = 100
_EXAMPLE = '`{"item": "e-39-01", "output": "…"}`'


class Refused(Exception):  # noqa: N818 - not an error of the program but the finding about one row
    """A row is not an answer. The message is the reason."""


def answer_of(row: Any, known: KnownItems) -> Answer:
    """Return the fields of one row in the order of `FIELDS`, or raise `Refused`."""
    if isinstance(row, Refused):
        raise row
    if not isinstance(row, dict):
        raise Refused(f"a row must be an object such as {_EXAMPLE}, not {kind_of(row)}")
    return (
        _item(row, known),
        _output(row),
        None if row.get("subject") is None else _text("subject", row["subject"]),
        whole_of("attempt", row.get("attempt"), 1),
        number_of("latency_ms", row.get("latency_ms")),
        whole_of("tokens_in", row.get("tokens_in"), None),
        whole_of("tokens_out", row.get("tokens_out"), None),
        number_of("cost", row.get("cost")),
    )


def item_named_by(row: Any) -> str | None:
    """Return the item that a refused row names, cut to what can be shown."""
    item = row.get("item") if isinstance(row, dict) else None
    return excerpt(item) if isinstance(item, str) else None


def fault_in_objects(documents: list[dict[str, Any]]) -> str | None:
    """Say what makes objects unfit: a text in them, a number that is not finite, their depth."""
    level: list[Any] = documents
    for _ in range(_DEEPEST):
        objects = [holder for holder in level if type(holder) is dict]
        lists = [holder for holder in level if type(holder) is list]
        keys = list(set(chain.from_iterable(objects)))
        values = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
        if fault := _fault_in_keys(keys) or _fault_in_values(values):
            return fault
        level = [value for value in values if type(value) in {dict, list}]
        if not level:
            return None
    return f"a value nested more than {_DEEPEST} deep"


def _fault_in_keys(keys: list[Any]) -> str | None:
    if not set(map(type, keys)) <= {str}:
        return "a key that is not text"
    return fault_in_text("".join(keys))


def _fault_in_values(values: list[Any]) -> str | None:
    types = set(map(type, values))
    texts = values if types == {str} else [value for value in values if isinstance(value, str)]
    floats = [value for value in values if isinstance(value, float)] if float in types else []
    odd = [value for value in floats if not math.isfinite(value)]
    return f"the number `{odd[0]}`" if odd else fault_in_text("".join(texts))


def _item(row: dict[str, Any], known: KnownItems) -> str:
    item = row.get("item")
    if item is None:
        raise Refused("`item` is missing: a row must name the item it answers")
    found = known.ids.get(_text("item", item))
    if found is None:
        meant = known.meant_by(item)
        hint = "" if meant is None else f"; did you mean {shown(meant)}?"
        raise Refused(f"unknown item {shown(item)}{hint}")
    return found


def _output(row: dict[str, Any]) -> Output:
    output = row.get("output")
    if not isinstance(output, dict):
        if "output" not in row:
            raise Refused("`output` is missing: it must be text or an object")
        return _fit("output", output, "text or an object")
    if fault := fault_in_objects([output]):
        raise Refused(f"`output` holds {fault}")
    return output


def _text(field: str, value: Any) -> str:
    return composed(_fit(field, value, "text"))


def _fit(field: str, value: Any, allowed: str) -> str:
    """Return a text that can be stored and compared, as it stands."""
    if not isinstance(value, str):
        raise Refused(f"`{field}` must be {allowed}, not {kind_of(value)}")
    if fault := fault_in_text(value):
        raise Refused(f"`{field}` holds {fault}")
    return value


def whole_of(field: str, value: Any, absent: int | None) -> Any:
    """Return a whole number that can be stored, or what stands for none."""
    if value is None:
        return absent
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_IN_DOUBLES:
        value = int(value)
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise Refused(f"`{field}` must be a whole number from 0 to 2^63 - 1, not {kind_of(value)}")
    return value


def number_of(field: str, value: Any) -> Number | None:
    """Return a number that can be stored, if there is one."""
    if value is None:
        return None
    if type(value) not in {int, float} or not 0 <= value <= LARGEST:
        raise Refused(f"`{field}` must be a number from 0 to 2^63 - 1, not {kind_of(value)}")
    return value  # type: ignore[no-any-return]

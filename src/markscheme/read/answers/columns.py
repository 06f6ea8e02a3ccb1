"""The fast way: many rows at once, where all of them are regular.

`regular` either proves, with a few passes at the speed of C, that every row is what `rows` would
make of it, or gives up. It never decides against a row: whoever calls it hands the rows that it
gave up on to the definition.
"""

from __future__ import annotations

from functools import partial
from itertools import repeat
from operator import contains
from typing import TYPE_CHECKING, Any

from markscheme.read.answers.batch import FIELDS, NEEDED
from markscheme.read.answers.rows import fault_in_objects
from markscheme.read.composed import composed, is_latin
from markscheme.read.sound import LARGEST, fault_in_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from markscheme.read.answers.known import KnownItems

    Column = Collection[Any]

_NONE = type(None)
_FIELDS = frozenset(FIELDS)
_NEEDED = frozenset(NEEDED)


class _Irregular(Exception):  # noqa: N818 - a way out, never seen outside this module
    """Some row needs the definition."""


def columns_of(rows: Sequence[Any]) -> dict[str, Column] | None:
    """Turn rows into raw columns; `None` where some row is not an object with what is needed."""
    try:
        return _same_fields(rows) or _any_fields(rows)
    except (AttributeError, LookupError, TypeError):
        return None


def _same_fields(rows: Sequence[dict[str, Any]]) -> dict[str, Column] | None:
    """Transpose rows that all have exactly the keys of the first, none of them to be ignored."""
    keys = rows[0].keys()
    if not keys <= _FIELDS or sum(map(len, rows)) != len(keys) * len(rows):
        return None
    try:
        return {name: [row[name] for row in rows] for name in keys}
    except KeyError:
        return None


def _any_fields(rows: Sequence[dict[str, Any]]) -> dict[str, Column]:
    """Transpose rows of any keys; what one row lacks is `None` in it."""
    present = _FIELDS.intersection(set[str]().union(*rows))
    return {name: list(map(dict.get, rows, repeat(name))) for name in present}


def regular(
    columns: Mapping[str, Column], known: KnownItems, *, sound: bool = False
) -> list[Column] | None:
    """Return the columns of answers in the order of `FIELDS`, or `None` if any row is irregular.

    The outputs of `sound` columns are known to be texts without surrogates.
    """
    if not columns.keys() >= _NEEDED:
        return None
    rows = len(columns["item"])
    try:
        items = _items(columns["item"], known)
        checks = _CHECKS | {"output": _sound_outputs} if sound else _CHECKS
        found = {name: checks[name](column) for name, column in columns.items() if name != "item"}
    except (_Irregular, TypeError):
        return None
    return [items, *(found.get(name) or (_ABSENT[name],) * rows for name in FIELDS[1:])]


def _items(column: Column, known: KnownItems) -> Column:
    items = list(map(known.ids.get, column))
    if None in items:
        raise _Irregular
    return items


def _outputs(column: Column) -> Column:
    """Return the outputs as they stand: marking brings what it reads to NFC."""
    types = set(map(type, column))
    if not types <= {str, dict}:
        raise _Irregular
    texts = column if types == {str} else [output for output in column if type(output) is str]
    if _fault_in_texts(texts):
        raise _Irregular
    if dict in types and fault_in_objects([out for out in column if type(out) is dict]):
        raise _Irregular
    return column


def _sound_outputs(column: Column) -> Column:
    if any(map(contains, column, repeat("\0"))):
        raise _Irregular
    return column


def _fault_in_texts(texts: Column) -> bool:
    joined = "".join(texts)
    return "\0" in joined or not (is_latin(joined) or fault_in_text(joined) is None)


def _subjects(column: Column) -> Column:
    distinct = set(column)
    for subject in distinct:
        if subject is None:
            continue
        if type(subject) is not str or _fault_in_texts([subject]) or composed(subject) != subject:
            raise _Irregular
    return column


def _attempts(column: Column) -> Column:
    column = _numbers(column, {int})
    return [1 if attempt is None else attempt for attempt in column] if None in column else column


def _numbers(column: Column, allowed: set[type]) -> Column:
    """Return a column of numbers from 0 to `LARGEST` and nulls.

    A sum within the limit of values that are not negative proves each of them within it, and
    finite; a NaN compares as false.
    """
    types = set(map(type, column))
    if types == {_NONE}:
        return column
    numbers = [value for value in column if value is not None] if _NONE in types else column
    if not (types - {_NONE} <= allowed and min(numbers) >= 0 and sum(numbers) <= LARGEST):
        raise _Irregular
    return column


_ABSENT = dict.fromkeys(FIELDS) | {"attempt": 1}
_CHECKS: dict[str, Callable[[Column], Column]] = {
    "output": _outputs,
    "subject": _subjects,
    "attempt": _attempts,
    "latency_ms": partial(_numbers, allowed={int, float}),
    "tokens_in": partial(_numbers, allowed={int}),
    "tokens_out": partial(_numbers, allowed={int}),
    "cost": partial(_numbers, allowed={int, float}),
}

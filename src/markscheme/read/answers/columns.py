"""Check and add many rows at once; rows that are not all regular go to the definition one by one.

`check_columns` either proves, with a few passes at the speed of C, that every row is what
`rows.parse_answer` would return for it, or gives up. It never refuses a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, TypeAlias

from msgspec import Struct

from markscheme.read.answers.batch import ANSWER_FIELDS, REQUIRED_FIELDS, AnswerBatch
from markscheme.read.answers.rows import (
    KnownItems,
    RefusedRow,
    find_object_fault,
    get_named_item,
    parse_answer,
)
from markscheme.read.nfc import is_latin1, to_nfc
from markscheme.read.storable import MAX_STORABLE_NUMBER, find_text_fault
from markscheme.vocabulary import RowError, find_control_character

Column: TypeAlias = Collection[Any]

# Rows that are checked together. Small, because one irregular row sends all of them to the
# definition.
_PIECE_ROWS = 32
_NONE = type(None)
_FIELD_SET = frozenset(ANSWER_FIELDS)
_REQUIRED_FIELD_SET = frozenset(REQUIRED_FIELDS)


class _Irregular(Exception):  # noqa: N818 - control flow, never seen outside this module
    """Some row of a column needs the definition."""


def transpose_rows(rows: Sequence[Any]) -> dict[str, Column] | None:
    """Turn rows into raw columns; `None` if some row is not an object."""
    try:
        return _transpose_same_keys(rows) or _transpose_any_keys(rows)
    except (AttributeError, LookupError, TypeError):
        return None


def _transpose_same_keys(rows: Sequence[dict[str, Any]]) -> dict[str, Column] | None:
    """Transpose rows that all have the keys of the first; `None` if some have others."""
    keys = rows[0].keys()
    if not keys <= _FIELD_SET or sum(map(len, rows)) != len(keys) * len(rows):
        return None
    try:
        return {name: [row[name] for row in rows] for name in keys}
    except KeyError:
        return None


def _transpose_any_keys(rows: Sequence[dict[str, Any]]) -> dict[str, Column]:
    """Transpose rows with any keys; a missing key becomes `None`."""
    present = _FIELD_SET.intersection(set[str]().union(*rows))
    return {name: list(map(dict.get, rows, repeat(name))) for name in present}


def check_columns(columns: Mapping[str, Column], known: KnownItems) -> list[Column] | None:
    """Return the columns in the order of `ANSWER_FIELDS`, or `None` if any row is irregular."""
    if not columns.keys() >= _REQUIRED_FIELD_SET:
        return None
    row_count = len(columns["item"])
    try:
        items = _check_items(columns["item"], known)
        checked = {
            name: _COLUMN_CHECKS[name](column) for name, column in columns.items() if name != "item"
        }
    # An integer of hundreds of digits cannot be added to a float.
    except (_Irregular, TypeError, OverflowError):
        return None
    return [
        items,
        *(checked.get(name) or (_DEFAULT_VALUES[name],) * row_count for name in ANSWER_FIELDS[1:]),
    ]


def _check_items(column: Column, known: KnownItems) -> Column:
    items = list(map(known.ids.get, column))
    if None in items:
        raise _Irregular
    return items


def _check_outputs(column: Column) -> Column:
    """Return the outputs unchanged; marking normalises what it reads to NFC."""
    types = set(map(type, column))
    if not types <= {str, dict}:
        raise _Irregular
    texts = column if types == {str} else [output for output in column if type(output) is str]
    if _has_text_fault(texts):
        raise _Irregular
    if dict in types and find_object_fault([out for out in column if type(out) is dict]):
        raise _Irregular
    return column


def _has_text_fault(texts: Column) -> bool:
    joined = "".join(texts)
    return "\0" in joined or not (is_latin1(joined) or find_text_fault(joined) is None)


def _check_subjects(column: Column) -> Column:
    distinct = set(column)
    for subject in distinct:
        if subject is None:
            continue
        if type(subject) is not str or _has_text_fault([subject]) or to_nfc(subject) != subject:
            raise _Irregular
        if find_control_character(subject):
            raise _Irregular
    return column


def _check_attempts(column: Column) -> Column:
    column = _check_numbers(column, {int})
    return [1 if attempt is None else attempt for attempt in column] if None in column else column


def _check_numbers(column: Column, allowed: set[type]) -> Column:
    """Return a column of nulls and numbers from 0 to `MAX_STORABLE_NUMBER`.

    If no value is negative and the sum is within the limit, each value is within it and finite. A
    NaN makes a comparison false.
    """
    types = set(map(type, column))
    if types == {_NONE}:
        return column
    numbers = [value for value in column if value is not None] if _NONE in types else column
    if not (
        types - {_NONE} <= allowed and min(numbers) >= 0 and sum(numbers) <= MAX_STORABLE_NUMBER
    ):
        raise _Irregular
    return column


_DEFAULT_VALUES = dict.fromkeys(ANSWER_FIELDS) | {"attempt": 1}
_COLUMN_CHECKS: dict[str, Callable[[Column], Column]] = {
    "output": _check_outputs,
    "subject": _check_subjects,
    "attempt": _check_attempts,
    "latency_ms": partial(_check_numbers, allowed={int, float}),
    "tokens_in": partial(_check_numbers, allowed={int}),
    "tokens_out": partial(_check_numbers, allowed={int}),
    "cost": partial(_check_numbers, allowed={int, float}),
}


class RawAnswerRows(Struct, frozen=True, kw_only=True):
    """Rows before validation, with their lines; `excerpt_at(position)` quotes one for an error.

    A row is any JSON value, or a `RefusedRow` if the reader could not parse it.
    """

    lines: Sequence[int]
    rows: Sequence[Any]
    excerpt_at: Callable[[int], str]


def add_rows(batch: AnswerBatch, raw: RawAnswerRows, known: KnownItems) -> None:
    """Add every row to the batch, as an answer or as an error."""
    for start in range(0, len(raw.rows), _PIECE_ROWS):
        part = slice(start, start + _PIECE_ROWS)
        if not try_add_rows(batch, raw.lines[part], raw.rows[part], known):
            add_each_row(batch, raw, range(len(raw.rows))[part], known)


def add_each_row(
    batch: AnswerBatch, raw: RawAnswerRows, positions: range, known: KnownItems
) -> None:
    """Add the rows at `positions` one by one, by the definition."""
    for at in positions:
        line, row = raw.lines[at], raw.rows[at]
        try:
            batch.append(line, parse_answer(row, known))
        except RefusedRow as refused:
            item = get_named_item(row)
            batch.errors.append(
                RowError(line=line, reason=str(refused), item=item, excerpt=raw.excerpt_at(at))
            )


def try_add_rows(
    batch: AnswerBatch, lines: Sequence[int], rows: Sequence[Any], known: KnownItems
) -> bool:
    """Add the rows if all of them are regular; return whether they were added."""
    columns = transpose_rows(rows)
    answers = None if columns is None else check_columns(columns, known)
    if answers is None:
        return False
    batch.extend(lines, answers)
    return True

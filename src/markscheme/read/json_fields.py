"""Fields of logs, type-checked: real logs hold strings where objects are expected, and the reverse.

Every function takes any value and returns the wanted type, or what stands for absence.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

JsonObject = dict[str, Any]
_COUNT_LIMIT = 2**63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS_PER_UNIT = {"s": 1_000_000, "ms": 1_000}
_ONE_MICROSECOND = timedelta(microseconds=1)


def to_object(value: Any) -> JsonObject:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def iter_objects(value: Any) -> Iterator[JsonObject]:
    """Yield the objects in a list; what is not a list has none."""
    if isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                yield inner


def to_text(value: Any) -> str | None:
    """Return a string that has characters, or nothing."""
    return value if isinstance(value, str) and value else None


def parse_count(value: Any) -> int | None:
    """Return a number of things: whole, not negative; also where it is written as text."""
    if type(value) is int:
        return value if 0 <= value < _COUNT_LIMIT else None
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None  # noqa: PLR2004 - 2^63 has 19 digits
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if type(value) is int and 0 <= value < _COUNT_LIMIT else None


def parse_timestamp(value: Any) -> datetime | None:
    """Return the time that an ISO text gives; one without a zone is taken as UTC."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
        if found.tzinfo is UTC:
            return found
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_epoch(value: Any, unit: str) -> datetime | None:
    """Return the time so many seconds (`s`) or milliseconds (`ms`) after 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        if unit == "ms" and isinstance(value, int):
            return _EPOCH + timedelta(milliseconds=value)
        return _EPOCH + timedelta(microseconds=round(value * _MICROSECONDS_PER_UNIT[unit]))
    except (ValueError, OverflowError):
        return None


def parse_epoch_microseconds(value: Any) -> datetime | None:
    """Return the time so many whole microseconds after 1970."""
    found = parse_count(value)
    try:
        return None if found is None else _EPOCH + timedelta(microseconds=found)
    except OverflowError:
        return None


def compute_seconds(start: datetime | None, end: datetime | None) -> Decimal | None:
    """Return the exact time between two moments; `None` where it is not known or negative."""
    if start is None or end is None or end < start:
        return None
    return Decimal((end - start) // _ONE_MICROSECOND).scaleb(-6)


def parse_milliseconds(value: Any) -> Decimal | None:
    """Return a duration in milliseconds as exact seconds."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    found = parse_count(value)
    return None if found is None else Decimal(found).scaleb(-3)


def parse_json(value: Any) -> Any:
    """Return the JSON inside a string, nothing where it is not valid; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return parse_lenient_json(value)


def parse_lenient_json(value: str) -> Any:
    """Return the JSON in a text that may hold what the standard forbids (NaN, lone surrogates)."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def clean_text(value: str) -> str:
    """Return a text that every encoder takes: half a character becomes a question mark."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def join_text(content: Any, kinds: tuple[str, ...] = ("text",)) -> str | None:
    """Return the text of a message: a string, or the texts of its parts of these types."""
    if isinstance(content, str):
        return content or None
    texts = (part.get("text") for part in iter_objects(content) if part.get("type") in kinds)
    return "".join(found for found in texts if isinstance(found, str)) or None


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text as a set: long tables of names read best so."""
    return frozenset(text.split())

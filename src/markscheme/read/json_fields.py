"""Typed access to fields of JSON logs, and exact times and durations.

Real logs hold strings where objects are expected, and the reverse. Each function takes any value
and returns the wanted type, or `None` or an empty object if the value has another type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson

JsonObject = dict[str, Any]
_COUNT_LIMIT = 2**63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS_PER_UNIT = {"s": 1_000_000, "ms": 1_000}
_ONE_MICROSECOND = timedelta(microseconds=1)


def to_object(value: Any) -> JsonObject:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def iter_objects(value: Any) -> Iterator[JsonObject]:
    """Yield the objects in a list; yield nothing if the value is not a list."""
    if isinstance(value, list):
        for element in value:
            if isinstance(element, dict):
                yield element


def to_text(value: Any) -> str | None:
    """Return the value if it is a non-empty string, else `None`."""
    return value if isinstance(value, str) and value else None


def parse_count(value: Any) -> int | None:
    """Return a count: a whole number from 0 to 2^63 - 1, also if it is written as text or float."""
    if type(value) is int:
        return value if 0 <= value < _COUNT_LIMIT else None
    if isinstance(value, str):
        is_short = len(value) < 20  # noqa: PLR2004 - 2^63 has 19 digits
        value = int(value) if is_short and value.isascii() and value.isdigit() else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if type(value) is int and 0 <= value < _COUNT_LIMIT else None


def parse_timestamp(value: Any) -> datetime | None:
    """Parse an ISO 8601 timestamp; one without a time zone is taken as UTC."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is UTC:
            return time
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_epoch(value: Any, unit: str) -> datetime | None:
    """Parse a Unix time in seconds (`s`) or milliseconds (`ms`)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        if unit == "ms" and isinstance(value, int):
            return _EPOCH + timedelta(milliseconds=value)
        return _EPOCH + timedelta(microseconds=round(value * _MICROSECONDS_PER_UNIT[unit]))
    except (ValueError, OverflowError):
        return None


def parse_epoch_microseconds(value: Any) -> datetime | None:
    """Parse a Unix time in whole microseconds."""
    microseconds = parse_count(value)
    try:
        return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def compute_seconds(start: datetime | None, end: datetime | None) -> Decimal | None:
    """Return the exact seconds between two times; `None` if unknown or negative."""
    if start is None or end is None or end < start:
        return None
    return Decimal((end - start) // _ONE_MICROSECOND).scaleb(-6)


def parse_milliseconds(value: Any) -> Decimal | None:
    """Parse a duration in milliseconds; return exact seconds."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    milliseconds = parse_count(value)
    return None if milliseconds is None else Decimal(milliseconds).scaleb(-3)


def parse_json(value: Any) -> Any:
    """Parse JSON in a string, `None` if it is invalid; return values of other types as they are."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return parse_lenient_json(value)


def parse_json_or_raw(raw: Any) -> Any:
    """Parse JSON in a string; return the string itself if it is invalid."""
    value = parse_json(raw)
    return raw if value is None else value


def parse_lenient_json(value: str) -> Any:
    """Parse JSON that may hold what the standard forbids: NaN, lone surrogates."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def clean_text(value: str) -> str:
    """Return a text that can be encoded as UTF-8: a lone surrogate becomes a question mark."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def join_text(content: Any, kinds: tuple[str, ...] = ("text",)) -> str | None:
    """Return the text of a message: a string, or the joined texts of its parts of these types."""
    if isinstance(content, str):
        return content or None
    texts = (part.get("text") for part in iter_objects(content) if part.get("type") in kinds)
    return "".join(text for text in texts if isinstance(text, str)) or None


def parse_id(value: Any) -> str | None:
    """Return an id as a text that can be stored; `None` if the value is no text."""
    id_ = to_text(value)
    return None if id_ is None else clean_text(id_)


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text as a set; for long tables of names."""
    return frozenset(text.split())

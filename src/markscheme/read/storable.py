"""The limits on text and whole numbers that SQLite and PostgreSQL share."""

from __future__ import annotations

MAX_STORABLE_NUMBER = 2**63 - 1


def validate_count(value: object) -> int | None:
    """Return `value` if it is a count that both databases can store, else None."""
    return value if type(value) is int and 0 <= value <= MAX_STORABLE_NUMBER else None


def find_text_fault(text: str) -> str | None:
    """Return why a text cannot be stored, or None if it can."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a lone surrogate, which is not a character"
    return None

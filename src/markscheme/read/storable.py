"""What every text and whole number must be that is to be stored and compared."""

from __future__ import annotations

MAX_STORABLE_NUMBER = 2**63 - 1


def validate_count(value: object) -> int | None:
    """Return a count that can be stored; anything else is none."""
    return value if type(value) is int and 0 <= value <= MAX_STORABLE_NUMBER else None


def find_text_fault(text: str) -> str | None:
    """Say what makes a text unfit to be stored and compared; `None` where nothing does."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a lone surrogate, which is not a character"
    return None

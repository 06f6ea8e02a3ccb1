"""What every text and whole number must be that is to be stored and compared."""

from __future__ import annotations

LARGEST = 2**63 - 1


def fault_in_text(text: str) -> str | None:
    """Say what makes a text unfit to be stored and compared; `None` where nothing does."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a lone surrogate, which is not a character"
    return None

"""Unicode NFC, to which all text is brought where it enters: one accent, one code point."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def composed(text: str) -> str:
    """Return the text in NFC."""
    return text if is_composed(text) else unicodedata.normalize("NFC", text)


def is_composed(text: str) -> bool:
    """Return whether a text is in NFC, and with it all its parts."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)


def all_composed(texts: Sequence[str]) -> Sequence[str]:
    """Return the texts in NFC. What is below U+0100 as a whole is NFC in its parts."""
    if is_latin("".join(texts)):
        return texts
    return [text if text.isascii() else composed(text) for text in texts]


def is_latin(text: str) -> bool:
    """Return whether every character is below U+0100, and the text therefore in NFC: one copy."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True

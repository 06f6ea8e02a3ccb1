"""Unicode NFC, to which all text is brought where it enters: one accent, one code point."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def to_nfc(text: str) -> str:
    """Return the text in NFC."""
    return text if is_nfc(text) else unicodedata.normalize("NFC", text)


def is_nfc(text: str) -> bool:
    """Return whether a text is in NFC, and with it all its parts."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)


def convert_all_to_nfc(texts: Sequence[str]) -> Sequence[str]:
    """Return the texts in NFC. What is below U+0100 as a whole is NFC in its parts."""
    if is_latin1("".join(texts)):
        return texts
    return [text if text.isascii() else to_nfc(text) for text in texts]


def is_latin1(text: str) -> bool:
    """Return whether every character is below U+0100, and the text therefore in NFC: one copy."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True

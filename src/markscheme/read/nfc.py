r"""Unicode NFC: all text that is read is brought to this form, so equal letters compare equal.

>>> to_nfc("e\u0301") == "\u00e9"
True
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def to_nfc(text: str) -> str:
    """Return the text in NFC."""
    return text if is_nfc(text) else unicodedata.normalize("NFC", text)


def is_nfc(text: str) -> bool:
    """Return whether a text is in NFC. Every part of it then is too."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)


def convert_all_to_nfc(texts: Sequence[str]) -> Sequence[str]:
    """Return many texts in NFC. Texts without a character from U+0100 on are NFC as they are."""
    if is_latin1("".join(texts)):
        return texts
    return [text if text.isascii() else to_nfc(text) for text in texts]


def is_latin1(text: str) -> bool:
    """Return whether every character is below U+0100; the text is then in NFC.

    Encoding tests the whole text in C, with one copy.
    """
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True

"""Characters that cannot be seen, and letters of other alphabets that look like Latin ones.

Both come with text that is copied from web pages and chats, or are put there on purpose. A person
sees no difference, so near misses and lint name the character.
"""

from __future__ import annotations

import re
import unicodedata

# Zero-width characters, soft hyphens, joiners, controls of the writing direction, variation
# selectors and tags.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
# Cyrillic and Greek letters beside the Latin letters that they look like. Some small letters look
# like another letter than their capitals do; those capitals are left out, so that a text and its
# lower case are folded alike.
_PAIRS = (
    ("авекмнорстухіјѕһԁԛԝѵ", "abekmhopctyxijshdqwv"),
    ("αβεζικμνορτυχ", "abezikmvoptux"),
)
_UNLIKE_CAPITALS = "\N{GREEK CAPITAL LETTER NU}\N{GREEK CAPITAL LETTER UPSILON}"
_LATIN_BY_LOOK = {
    ord(form(other)): form(latin)
    for others, latins in _PAIRS
    for other, latin in zip(others, latins, strict=True)
    for form in (str.lower, str.upper)
    if form(other) not in _UNLIKE_CAPITALS
}


def strip_invisible(text: str) -> str:
    r"""Remove the characters that cannot be seen.

    >>> strip_invisible("a\u200bte")
    'ate'
    """
    if text.isascii():
        return text
    # An accent that an invisible character kept apart now joins its letter.
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def fold_lookalikes(text: str) -> str:
    r"""Replace Cyrillic and Greek letters by the Latin letters that they look like.

    >>> fold_lookalikes("\u0430te")
    'ate'
    """
    return text if text.isascii() else text.translate(_LATIN_BY_LOOK)


def find_invisible(text: str) -> str:
    """Return the first character of a text that cannot be seen, or an empty text."""
    found = None if text.isascii() else _INVISIBLE.search(text)
    return found[0] if found else ""


def find_lookalike(text: str) -> str:
    """Return the first letter that looks like a Latin one, or an empty text."""
    return next((c for c in text if ord(c) in _LATIN_BY_LOOK), "")

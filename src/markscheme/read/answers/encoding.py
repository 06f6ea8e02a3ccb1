"""What bytes a row can be written in, and what a file looks like that is no text at all.

What is shown of a row that could not be taken: short, printable, on one line.
"""

from __future__ import annotations

import codecs
import re

_UTF16_32_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_MAX_ODD_SHARE = 0.1
_ODD_CHARACTERS = re.compile(
    "[\\x00-\\x08\\x0b\\x0e-\\x1f\N{REPLACEMENT CHARACTER}]"
)  # but tab, newline, return, feed


def find_byte_fault(raw: bytes) -> str | None:
    """Say why bytes are no text that a row can be written in; `None` where they are."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        if _is_utf8_with_surrogates(raw):
            return f"a lone surrogate at byte {error.start + 1}, which is not a character"
        return f"not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the row"
    return "a NUL byte in the row" if b"\0" in raw else None


def find_head_fault(head: bytes) -> str | None:
    """Say why a file that starts with `head` is not UTF-8 text as a whole; `None` where it may be.

    One odd byte is the fault of its row; this is about files of which a tenth is odd.
    """
    text = head.decode(errors="replace")
    odd = len(_ODD_CHARACTERS.findall(text))
    if odd <= _MAX_ODD_SHARE * len(text):
        return None
    zeros = head.count(b"\0")
    if head.startswith(_UTF16_32_MARKS) or zeros > len(head) / 3:
        return "this is UTF-16 or UTF-32; save it as UTF-8"
    return "this is not text in UTF-8"


def _is_utf8_with_surrogates(raw: bytes) -> bool:
    try:
        raw.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


EXCERPT_WIDTH = 80
_MAX_UTF8_BYTES = 4
_MAX_SHOWN_BITS = 1000


def make_excerpt(said: str | bytes, width: int = EXCERPT_WIDTH) -> str:
    """Return the beginning of `said` in at most `width` printable characters."""
    head = said[: width * _MAX_UTF8_BYTES]
    text = head.decode(errors="replace") if isinstance(head, bytes) else head
    clean = (text if text.isprintable() else "".join(map(_replace_unprintable, text))).strip()
    cut = len(clean) > width or len(said) > len(head)
    return clean[: width - 1] + "…" if cut else clean


def _replace_unprintable(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"


def describe_json_value(value: object) -> str:
    """Say what a JSON value is, for a message: `not the number `3``."""
    match value:
        case None:
            return "null"
        case bool():
            return f"`{str(value).lower()}`"
        case int() if value.bit_length() > _MAX_SHOWN_BITS:
            return "a number of many digits"
        case int() | float():
            return f"the number `{value}`"
        case str():
            return f"the text `{make_excerpt(value, 40)}`"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"

"""What is shown of a row that could not be taken: short, printable, on one line."""

from __future__ import annotations

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

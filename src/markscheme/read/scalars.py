"""Plain scalars by the YAML 1.2 core schema: `no` is a word, `0o17` a number.

With one change: a number with a point or an exponent is a `Decimal`, so 0.60 is exactly 0.60.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WORD_VALUES: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Patterns that are compiled where they are used: most documents need two, the most common.
_NUMBER_PARSERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    (r"[-+]?[0-9]+", int),
    (r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?", Decimal),
    (r"0o[0-7]{1,80}|0x[0-9a-fA-F]{1,80}", lambda text: int(text, 0)),
)
_FIRST_CHARACTERS, _LAST_CHARACTERS = (
    frozenset("+-.0123456789"),
    frozenset(".0123456789abcdefABCDEFnN"),
)  # of numbers
_LONG_NUMBER_LENGTH, _LONG_NUMBER_PATTERN = 100, r"[-+0-9.eE]+"
_UNUSABLE_PATTERN = (
    r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?[0-9.]*[0-9][0-9.]*[eE][-+]?[0-9]{5,}"
)
UNUSABLE_NUMBER: Any = object()
"""What NaN, infinity and numbers that are too long stand for."""


def parse_plain_scalar(text: str) -> Any:
    """Return what a scalar without quotation marks stands for."""
    if text in _WORD_VALUES:
        return _WORD_VALUES[text]
    if text[0] not in _FIRST_CHARACTERS:
        return text
    if len(text) >= _LONG_NUMBER_LENGTH and re.fullmatch(_LONG_NUMBER_PATTERN, text):
        return UNUSABLE_NUMBER
    if text[-1] not in _LAST_CHARACTERS:
        return text
    for pattern, made in _NUMBER_PARSERS:
        if re.fullmatch(pattern, text):
            return made(text)
    return UNUSABLE_NUMBER if re.fullmatch(_UNUSABLE_PATTERN, text) else text

"""Plain scalars by the YAML 1.2 core schema: `no` is a word, `0o17` a number.

With one change: a number with a point or an exponent is a `Decimal`, so 0.60 is exactly 0.60.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"[-+]?[0-9]+"), int),
    (re.compile(r"0o[0-7]{1,80}|0x[0-9a-fA-F]{1,80}"), lambda text: int(text, 0)),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?"), Decimal),
)
_MAY_BE_MORE = frozenset(["", *"+-.0123456789~nNtTfF"])  # first characters of what is no word
_LONG_NUMBER = re.compile(r"[-+0-9.eE]{100,}")
_NOT_A_NUMBER = re.compile(
    r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?[0-9.]*[0-9][0-9.]*[eE][-+]?[0-9]{5,}"
)
UNUSABLE: Any = object()
"""What NaN, infinity and numbers that are too long stand for."""


def plain_value(text: str) -> Any:
    """Return what a scalar without quotation marks stands for."""
    if text[:1] not in _MAY_BE_MORE:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_A_NUMBER.fullmatch(text) or _LONG_NUMBER.fullmatch(text):
        return UNUSABLE
    for pattern, made in _NUMBERS:
        if pattern.fullmatch(text):
            return made(text)
    return text

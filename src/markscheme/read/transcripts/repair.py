"""What is left of a JSON document that was cut off: everything up to its last whole value."""

from __future__ import annotations

import json
import re
from typing import Any

_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_CLOSING_BRACKETS = {"{": "}", "[": "]"}


def repair_json(text: str) -> Any:
    """Return the document with what is open closed after its last whole value, or nothing."""
    found = _find_last_whole_value(text)
    if found is None:
        return None
    end, open_ = found
    closing = "".join(_CLOSING_BRACKETS[bracket] for bracket in reversed(open_))
    try:
        return json.loads(text[:end] + closing)
    except (ValueError, RecursionError):
        return None


def _find_last_whole_value(text: str) -> tuple[int, str] | None:
    """Return where the last whole value ends, and the brackets that are open there."""
    stack: list[str] = []
    whole: tuple[int, str] | None = None
    for token in _JSON_TOKEN.finditer(text):
        mark = token.group()
        if mark in _CLOSING_BRACKETS:
            stack.append(mark)
        elif mark in "}]":
            if not stack:
                return None
            stack.pop()
            whole = token.end(), "".join(stack)
        elif mark == ",":
            whole = token.start(), "".join(stack)
    return whole

"""Read an answer as lines: without quotation marks in front, and with its code told apart.

A fence that contains the whole answer is removed. Text in any other code fence is a quotation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_FENCE = re.compile(
    r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)"
)
_INVISIBLE = re.compile(r"[\ufeff\u200b\u2060]")


class AnswerLine(NamedTuple):
    """A line of an answer: its number, counted from 1, its text, and whether it is code."""

    number: int
    text: str
    code: bool = False


def read_lines(text: str) -> list[AnswerLine]:
    """Return the lines of an answer."""
    lines = _strip_quote_marks(_unwrap_fence(_INVISIBLE.sub("", text).splitlines()))
    code = _find_code_lines(lines)
    return [AnswerLine(at + 1, line, code[at]) for at, line in enumerate(lines)]


def _unwrap_fence(lines: list[str]) -> list[str]:
    """Return the lines inside a code fence that contains the whole text."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:  # noqa: PLR2004 - a fence opens and closes
        return lines
    first, last = lines[filled[0]], lines[filled[-1]].strip()
    opening = _FENCE.fullmatch(first)
    if opening is None or not last.startswith(opening["mark"]) or last.strip(opening["mark"][0]):
        return lines
    if opening["info"].strip().lower() not in {"", "markdown", "md", "text", "txt"}:
        return lines
    inner = lines[filled[0] + 1 : filled[-1]]
    # Blank lines replace the opening fence, so that lines keep their numbers.
    return lines if _is_closed_inside(inner, opening["mark"]) else [*[""] * (filled[0] + 1), *inner]


def _is_closed_inside(inner: Sequence[str], mark: str) -> bool:
    """Return whether the outer fence is closed inside; a nested fence opens and closes there."""
    opened = False
    for line in inner:
        bare = line.strip()
        if bare.startswith(mark):
            info = bare.strip(mark[0])
            if not info and not opened:
                return True
            opened = bool(info)
    return False


def _strip_quote_marks(lines: list[str]) -> list[str]:
    """Return the lines without quotation marks (`>`) in front."""
    return [re.sub(r"^ {0,3}(?:> ?)+", "", line) for line in lines]


def _find_code_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is code; a fence that is never closed is no fence."""
    code = [False] * len(lines)
    # For each kind of mark, the length from which on it is not closed any more. This keeps the time
    # linear in a text of many fences that are never closed.
    unclosed_from: dict[str, int] = {}
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        mark = "" if opening is None else opening["mark"]
        is_unclosed = not mark or len(mark) >= unclosed_from.get(mark[0], len(mark) + 1)
        end = None if is_unclosed else _find_closing_fence(lines, at, mark)
        if end is None:
            if mark:
                unclosed_from[mark[0]] = min(len(mark), unclosed_from.get(mark[0], len(mark)))
            at += 1
            continue
        code[at : end + 1] = [True] * (end + 1 - at)
        at = end + 1
    return code


def _find_closing_fence(lines: Sequence[str], start: int, mark: str) -> int | None:
    for at in range(start + 1, len(lines)):
        bare = lines[at].strip()
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            return at
    return None

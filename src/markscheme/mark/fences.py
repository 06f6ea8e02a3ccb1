"""Code fences in a text: what models put their JSON in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|\n|\r")
_FENCE_OPENING = re.compile(
    r"(?P<before>[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?)(?P<mark>`{3,}|~{3,})(?P<info>.*)"
)
_BACKTICKS = re.compile(r"`{3,}")
_INFO_STRING = re.compile(r"[ \t]*[\w.+-]*\s*")


def has_fence_marks(text: str) -> bool:
    """Say whether a text holds the marks of a fence at all; few do."""
    return "```" in text or "~~~" in text


def find_fenced_blocks(text: str) -> Iterator[str]:
    """Yield what stands in fenced blocks, in one pass.

    A fence opens with three or more backticks or tildes at the start of a line, also behind the
    marks of a quotation or a list and at any indentation, and closes with a line of as many, or at
    the end of the text.
    """
    lines = iter(_LINE_END.split(text))
    for line in lines:
        opening = _FENCE_OPENING.fullmatch(line)
        if opening is None or (opening["mark"][0] == "`" and "`" in opening["info"]):
            continue
        inside = []
        for following in lines:
            bare = following.strip(" \t>")
            if len(bare) >= len(opening["mark"]) and not bare.strip(opening["mark"][0]):
                break
            inside.append(bare if ">" in opening["before"] else following)
        yield "\n".join(inside)


def find_backtick_spans(text: str) -> Iterator[str]:
    """Yield what stands between runs of backticks anywhere, without the word after the first.

    Models also open a fence behind other words, or open and close it in one line.
    """
    for inside in _BACKTICKS.split(text)[1::2]:
        yield _INFO_STRING.sub("", inside, count=1)

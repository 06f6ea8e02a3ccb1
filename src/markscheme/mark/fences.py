"""Code fences in a text: what models put their JSON in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENING = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
_RUN = re.compile(r"`{3,}")
_INFO = re.compile(r"[ \t]*[A-Za-z]*\s*")


def fenced_blocks(text: str) -> Iterator[str]:
    """Yield what stands in fenced blocks, as CommonMark has them, in one pass.

    A fence opens with three or more backticks or tildes at the start of a line, and closes with a
    line of as many, or at the end of the text.
    """
    if "```" not in text and "~~~" not in text:
        return
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.match(line)
        if opening is None or (opening[1][0] == "`" and "`" in opening[2]):
            continue
        inside = []
        for following in lines:
            closing = following.strip()
            if len(closing) >= len(opening[1]) and not closing.strip(opening[1][0]):
                break
            inside.append(following)
        yield "\n".join(inside)


def spans(text: str) -> Iterator[str]:
    """Yield what stands between runs of backticks anywhere, without the word after the first.

    Models also open a fence behind other words, or open and close it in one line.
    """
    if "```" not in text:
        return
    for inside in _RUN.split(text)[1::2]:
        yield _INFO.sub("", inside, count=1)

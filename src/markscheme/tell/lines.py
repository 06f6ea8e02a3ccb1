"""Tables for pipes: the lines that rich would draw, without what it does for a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Column, Table

_GAP = "  "
_NARROW = re.compile(r"[ -~¡-¬®-˿–\u2018\u2019“”…✓✗]*")  # each of these takes one place


def lines_of(table: Table, width: int) -> Text | None:
    """Return the lines of a table of plain columns, none of whose cells goes on in a second line.

    Where it does not fit, or some character takes more or less than one place, rich must see to it:
    then there is nothing to return.
    """
    texts = [[str(column.header), *map(str, column.cells)] for column in table.columns]
    if not all(_NARROW.fullmatch(text) for column in texts for text in column):
        return None
    columns = list(map(_placed, table.columns, texts))
    lines = list(map(_GAP.join, zip(*columns, strict=True)))
    return None if len(lines[0]) > width else Text("\n".join(lines), no_wrap=True)


def _placed(column: Column, texts: list[str]) -> list[str]:
    """Return texts as wide as their column: cut off with an ellipsis, or with spaces around."""
    width = max(column.min_width or 0, *map(len, texts))
    if column.max_width is not None:
        width = min(width, column.max_width)
    return [_justified(_cut(text, width), width, column.justify) for text in texts]


def _cut(text: str, width: int) -> str:
    text = text[: max(width, len(text.rstrip()))]
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _justified(text: str, width: int, justify: str) -> str:
    if justify == "left":
        return text.ljust(width)
    bare = text.rstrip()
    if justify == "right":
        return bare.rjust(width)
    return f"{' ' * ((width - len(bare)) // 2)}{bare}".ljust(width)

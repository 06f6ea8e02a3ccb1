"""Text cells that a spreadsheet would compute: guarded in CSV by an apostrophe before them.

A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return may be a formula, which can
call programs and send data. Cells that begin with apostrophes before such a sign get one more,
so that the guard can be taken off without loss. Numbers stay numbers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def guard_cell(text: str) -> str:
    """Return the text of a cell, guarded if it could be a formula."""
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def unguard_cell(text: str) -> str:
    """Return the text that was guarded."""
    guarded = text.startswith("'") and re.match(_FORMULA, text[1:])
    return text[1:] if guarded else text


def guard_column(column: pl.Series) -> pl.Series:
    """Return a column of texts, each guarded like a cell."""
    import polars as pl

    texts = column.cast(pl.String)
    needed = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    if not needed.any():
        return column
    return (
        pl.select(pl.when(needed).then(pl.lit("'") + texts).otherwise(texts))
        .to_series()
        .alias(column.name)
    )

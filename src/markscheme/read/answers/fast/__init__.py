"""Fast path for JSONL that one program wrote: line templates on top of a scanner in C.

`create_template_reader` is the only way in. Lines that no template matches go to the normal reader,
so this package decides nothing about an answer: it only reads faster what the normal reader would
have read. `benchmarks/line_templates.py` measures the gain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from msgspec import Struct

from markscheme.read.answers.batch import TemplateRows
from markscheme.read.answers.rows import KnownItems


class TemplateMatch(Struct, frozen=True, kw_only=True):
    """Lines after matching: the rows that templates read, and all other lines with their number."""

    rows: TemplateRows
    unmatched: list[tuple[int, bytes]]
    line_count: int


TemplateReader: TypeAlias = Callable[[bytes, int], TemplateMatch | None]
"""Reads whole lines, of which the first has the given number; `None` if too few of them match."""


def create_template_reader(known: KnownItems, fields: Collection[str]) -> TemplateReader | None:
    """Return a reader for lines whose outputs are JSON objects with some of these text `fields`.

    It learns the templates from the lines it reads. Return `None` if `fields` is empty, or if the C
    scanner was not built.
    """
    if not fields:
        return None
    # Imported late: both modules load polars, and worker processes are forked before that.
    from markscheme.read.answers.fast.line_templates import LineTemplateReader
    from markscheme.read.answers.fast.scanner import is_available

    return LineTemplateReader(known.ids, fields).read_lines if is_available() else None


__all__ = ["TemplateMatch", "TemplateReader", "create_template_reader"]

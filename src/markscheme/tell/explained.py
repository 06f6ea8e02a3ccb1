"""One item of a run, explained: what was asked, what was got, and why each cell has its value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.language import translate
from markscheme.tell.reports import format_answer_lines, format_item_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.reports import ItemReport
    from markscheme.vocabulary import Item, Rubric


def explain_item(item: Item, found: ItemReport, rubric: Rubric) -> Iterator[str]:
    """Yield an item and its answers, line by line."""
    yield f"{item.id}: {format_item_line(found, rubric)}"
    tags = ", ".join(f"{tag}={value}" for tag, value in item.tags.items())
    if tags:
        yield f"  {translate('tags')}: {tags}"
    yield f"  {translate('prompt')}: {item.prompt}"
    for row in found.answers:
        yield from (f"  {line}" for line in format_answer_lines(row, rubric))
    if found.more:
        yield f"  {translate('… and {n:,} more', n=found.more)}"

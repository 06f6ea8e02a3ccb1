"""One item of a run, explained: what was asked, what was got, and why each cell has its value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.tell.language import say
from markscheme.tell.reports import answer_lines, item_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.tell.reports import ItemReport
    from markscheme.vocabulary import Item, Rubric


def explained(item: Item, found: ItemReport, rubric: Rubric) -> Iterator[str]:
    """Yield an item and its answers, line by line."""
    yield f"{item.id}: {item_line(found, rubric)}"
    tags = ", ".join(f"{tag}={value}" for tag, value in item.tags.items())
    if tags:
        yield f"  {say('tags')}: {tags}"
    yield f"  {say('prompt')}: {item.prompt}"
    for row in found.answers:
        yield from (f"  {line}" for line in answer_lines(row, rubric))
    if found.more:
        yield f"  {say('… and {n:,} more', n=found.more)}"

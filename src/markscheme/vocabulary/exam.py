"""An exam and its items: the questions that a subject answers.

>>> item = Item(id="c-01", prompt="The capital of France?", expectations={"expected": "Paris"})
>>> Exam(names=("capitals",), items=(item,), fingerprint="b2:0").name
'capitals'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct

from markscheme.vocabulary.errors import UsageError, format_value
from markscheme.vocabulary.frozen import FrozenDict


class SourceLocation(NamedTuple):
    """Where a part of a document is written: file, line, field, and the lines of its keys.

    `lines` may leave out keys that are written on the same line as the part itself. It may have the
    lines of nested keys too, by their dotted path.
    """

    file: str
    line: int
    field: str
    lines: Mapping[str, int]

    def get_line(self, key: str) -> int:
        """Return the line of a key, or of the nearest part around it that has a line of its own."""
        while key not in self.lines and "." in key:
            key = key.rpartition(".")[0]
        return self.lines.get(key, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question of an exam, with what the axes expect of its answer."""

    id: str
    prompt: str
    expectations: Mapping[str, Any] = field(default_factory=FrozenDict)
    tags: Mapping[str, str] = field(default_factory=FrozenDict)
    place: SourceLocation | None = field(default=None, compare=False)


ROUND_TAG = "round"
"""The tag that says to which round of a comparison a query belongs: 1, the main round, or 2."""


def is_follow_up(item: Item) -> bool:
    """Return whether an item is a follow-up query of a comparison, not one of the main round.

    >>> is_follow_up(Item(id="q", prompt="?", tags={"round": "2"}))
    True
    """
    return str(item.tags.get(ROUND_TAG)) == "2"


class Exam(Struct, frozen=True, kw_only=True, dict=True):
    """Items with unique ids. Several exam documents merge into one exam with several names."""

    names: tuple[str, ...]
    items: tuple[Item, ...]
    fingerprint: str

    @property
    def name(self) -> str:
        """The names of the merged documents, sorted and joined: `capstone+capstone-extra`.

        Sorted, because the same documents in another order are the same exam, with one baseline.
        """
        return "+".join(sorted(self.names))

    def get_item(self, item: str) -> Item:
        """Return the item of an id.

        Raises:
            UsageError: the exam has no such item.
        """
        found = self._items_by_id.get(item)
        if found is None:
            from difflib import get_close_matches  # noqa: PLC0415 - only for the message

            near = get_close_matches(item, self._items_by_id, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise UsageError(f"the exam `{self.name}` has no item {format_value(item)}{hint}")
        return found

    @cached_property
    def _items_by_id(self) -> Mapping[str, Item]:
        return {item.id: item for item in self.items}

    def __repr__(self) -> str:
        return f"Exam({self.name!r}, items={len(self.items)})"

"""The ids of the exam's items, and the one that a wrong id was probably meant to be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PADDING = re.compile(r"0+(?=[0-9])")
_SEPARATORS = re.compile(r"[\W_]+")
_LONGEST_GUESS = 200


class KnownItems:
    """The ids that an answer may name. `ids` maps each to itself, so one string serves all rows."""

    def __init__(self, items: Iterable[str]) -> None:
        self.ids: dict[str, str] = {item: item for item in items}
        self._folded: dict[str, str] = {}

    def meant_by(self, text: str) -> str | None:
        """Return the id that equals `text` but for case, separators, spaces and leading zeros."""
        if not self._folded:
            self._folded = {_folded(item): item for item in reversed(self.ids)}
        return self._folded.get(_folded(text)) if len(text) <= _LONGEST_GUESS else None


def _folded(text: str) -> str:
    parts = _SEPARATORS.split(text.casefold())
    return " ".join(_PADDING.sub("", part) for part in parts if part)

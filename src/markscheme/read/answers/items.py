"""The ids of the exam's items, and the one that a wrong id was probably meant to be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LEADING_ZEROS = re.compile(r"0+(?=[0-9])")
_SEPARATORS = re.compile(r"[\W_]+")
_MAX_GUESS_CHARACTERS = 200


class KnownItems:
    """The ids that an answer may name. `ids` maps each to itself, so one string serves all rows."""

    def __init__(self, items: Iterable[str]) -> None:
        self.ids: dict[str, str] = {item: item for item in items}
        self._ids_by_fold: dict[str, str] = {}

    def guess_item(self, text: str) -> str | None:
        """Return the id that equals `text` but for case, separators, spaces and leading zeros."""
        if not self._ids_by_fold:
            self._ids_by_fold = {_fold_item_id(item): item for item in reversed(self.ids)}
        return (
            self._ids_by_fold.get(_fold_item_id(text))
            if len(text) <= _MAX_GUESS_CHARACTERS
            else None
        )


def _fold_item_id(text: str) -> str:
    parts = _SEPARATORS.split(text.casefold())
    return " ".join(_LEADING_ZEROS.sub("", part) for part in parts if part)

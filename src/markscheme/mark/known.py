"""Codes that are found by keys, for whole columns of keys at a time.

Keys are few and come again and again: a number, or a text and a number, that of its item. So each
has its place in a list of codes, where that is not too long; other keys are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from markscheme.read.answers.batch import copied

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 2**20  # places in a list
_PLACED: Sequence[object] = ([pl.UInt32], [pl.String, pl.UInt32])  # keys that can have places


class Known:
    """The keys so far, and the code of each."""

    def __init__(self) -> None:
        self._frame: pl.DataFrame | None = None
        self._listed: _Listed | None = None
        self._can_list = True

    def codes(self, keys: pl.DataFrame) -> pl.Series:
        """Return the code of each key, null where it is not known."""
        if self._frame is None or not keys.height:
            return _nulls(keys.height)
        if self._can_list and keys.dtypes in _PLACED:
            largest: int = keys.to_series(-1).max()  # type: ignore[assignment]
            listed = self._list(self._frame, largest + 1)
            if listed is not None:
                return listed.codes[listed.places(keys.get_columns())]
        joined = keys.join(self._frame, on=keys.columns, how="left", maintain_order="left")
        return joined["code"]

    def learn(self, keys: pl.DataFrame, codes: pl.Series) -> None:
        """Take in one or more keys that were not known, each once."""
        texts = [copied(column) for column in keys if column.dtype == pl.String]
        added = keys.with_columns(*texts, codes.alias("code"))
        self._frame = self._frame.vstack(added) if self._frame is not None else added
        self._listed = None

    def _list(self, known: pl.DataFrame, width: int) -> _Listed | None:
        """Return the list of codes, made anew where it has no room for such numbers."""
        if self._listed is None or self._listed.width < width:
            *texts, numbers, _ = known.get_columns()
            largest: int = numbers.max()  # type: ignore[assignment]
            width = max(width, largest + 1)
            self._can_list = width * (texts[0].n_unique() if texts else 1) <= _LONGEST
            self._listed = _Listed(known, width) if self._can_list else None
        return self._listed


class _Listed:
    """A list of codes; a key's place is its number, after those of the texts before its own."""

    def __init__(self, known: pl.DataFrame, width: int) -> None:
        *keys, codes = known.get_columns()
        self.width = width
        self._texts = pl.Enum(keys[0].unique()) if len(keys) > 1 else None
        size = width * (len(self._texts.categories) if self._texts else 1)
        self.codes = _nulls(size).scatter(self.places(keys), codes)

    def places(self, keys: Sequence[pl.Series]) -> pl.Series:
        """Return the place of each key, null where its text is not known."""
        *texts, numbers = keys
        if self._texts is None:
            return numbers
        known = texts[0].cast(self._texts, strict=False).to_physical()
        return known.cast(pl.UInt32) * self.width + numbers


def _nulls(count: int) -> pl.Series:
    return pl.Series("code", [None], dtype=pl.UInt32).new_from_index(0, count)

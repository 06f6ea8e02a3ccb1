"""Codes that are found by keys, for whole columns of keys at a time.

Keys are few and come again and again: a number, or a text and a number, that of its item. So each
has its place in a list of codes, where that is not too long; other keys are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from markscheme.read.answers.batch import copy_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 2**20  # places in a list
_DENSE_KEY_TYPES: Sequence[object] = (
    [pl.UInt32],
    [pl.String, pl.UInt32],
)  # keys that can have places


class CellIndex:
    """The keys so far, and the code of each."""

    def __init__(self) -> None:
        self._frame: pl.DataFrame | None = None
        self._dense: _DenseIndex | None = None
        self._can_be_dense = True

    def look_up(self, keys: pl.DataFrame) -> pl.Series:
        """Return the code of each key, null where it is not known."""
        if self._frame is None or not keys.height:
            return _make_null_codes(keys.height)
        if self._can_be_dense and keys.dtypes in _DENSE_KEY_TYPES:
            largest: int = keys.to_series(-1).max()  # type: ignore[assignment]
            listed = self._get_dense_index(self._frame, largest + 1)
            if listed is not None:
                return listed.codes[listed.find_slots(keys.get_columns())]
        joined = keys.join(self._frame, on=keys.columns, how="left", maintain_order="left")
        return joined["code"]

    def add_keys(self, keys: pl.DataFrame, codes: pl.Series) -> None:
        """Take in one or more keys that were not known, each once."""
        texts = [copy_texts(column) for column in keys if column.dtype == pl.String]
        added = keys.with_columns(*texts, codes.alias("code"))
        self._frame = self._frame.vstack(added) if self._frame is not None else added
        self._dense = None

    def _get_dense_index(self, known: pl.DataFrame, width: int) -> _DenseIndex | None:
        """Return the list of codes, made anew where it has no room for such numbers."""
        if self._dense is None or self._dense.width < width:
            *texts, numbers, _ = known.get_columns()
            largest: int = numbers.max()  # type: ignore[assignment]
            width = max(width, largest + 1)
            self._can_be_dense = width * (texts[0].n_unique() if texts else 1) <= _LONGEST
            self._dense = _DenseIndex(known, width) if self._can_be_dense else None
        return self._dense


class _DenseIndex:
    """A list of codes; a key's place is its number, after those of the texts before its own."""

    def __init__(self, known: pl.DataFrame, width: int) -> None:
        *keys, codes = known.get_columns()
        self.width = width
        self._text_enum = pl.Enum(keys[0].unique()) if len(keys) > 1 else None
        size = width * (len(self._text_enum.categories) if self._text_enum else 1)
        self.codes = _make_null_codes(size).scatter(self.find_slots(keys), codes)

    def find_slots(self, keys: Sequence[pl.Series]) -> pl.Series:
        """Return the place of each key, null where its text is not known."""
        *texts, numbers = keys
        if self._text_enum is None:
            return numbers
        known = texts[0].cast(self._text_enum, strict=False).to_physical()
        return known.cast(pl.UInt32) * self.width + numbers


def _make_null_codes(count: int) -> pl.Series:
    return pl.Series("code", [None], dtype=pl.UInt32).new_from_index(0, count)

"""Codes that are found by keys, for whole columns of keys at a time.

Keys are few and come again and again: a number, or a text and a number, that of its item. So each
has its place in a list of codes, where that is not too long; other keys are joined.

The different cells of an axis: each judged once, and found again by what it depends on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from markscheme.mark.axes import JsonSchema
from markscheme.mark.batch.output_cache import MAX_CHARACTERS
from markscheme.mark.definition import mark_cell
from markscheme.read.answers import copy_texts
from markscheme.vocabulary import MESSAGE_COLUMN, encode_message

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from fractions import Fraction

    from markscheme.vocabulary import AxisSpec, Cell, Item, Response

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


MAX_CELLS = 16_000
_MAX_KEY_LENGTH = 2_000  # a text longer than this is judged each time it comes
_CELL_SCHEMA = {"number": pl.UInt32, "reason": pl.String, "near_miss": pl.String}


class CellTable:
    """The different cells of one axis so far, each judged once and found again by its key.

    `values` lists the different values among them; a cell's column `number` says which it has.
    With `messages` their frame has the encoded messages of the reasons too.
    """

    def __init__(self, spec: AxisSpec, *, messages: bool = False) -> None:
        self.spec = spec
        self._schema = {**_CELL_SCHEMA, MESSAGE_COLUMN: pl.String} if messages else _CELL_SCHEMA
        self.clear()

    def clear(self) -> None:
        """Forget everything, so that memory stays flat over any number of answers."""
        self.cells: list[Cell] = []
        self.codes_by_key: dict[Hashable, int] = {}
        self._index = CellIndex()
        self.values: list[Fraction | None] = []
        self._value_numbers: dict[object, int] = {}
        self._characters = 0
        self._frame = pl.DataFrame(schema=self._schema)

    @property
    def is_full(self) -> bool:
        """Whether it holds as much as it may."""
        return len(self.cells) > MAX_CELLS or self._characters > MAX_CHARACTERS

    def add_cell(self, cell: Cell, key: Hashable = None, text: str = "") -> int:
        """Return the code of a new cell, found again by its key if that is worth its size."""
        code = len(self.cells)
        self.cells.append(cell)
        self._characters += len(cell.reason)
        if key is not None and len(text) <= _MAX_KEY_LENGTH:
            self.codes_by_key[key] = code
            self._characters += len(text)
        return code

    def get_code(self, response: Response, item: Item) -> int:
        """Return the code of one response, by its key where the axis knows one."""
        axis = self.spec.axis
        key = axis.get_cell_key(response) if type(axis) is JsonSchema else None
        code = self.codes_by_key.get(key)
        return self.add_cell(mark_cell(axis, response, item), key) if code is None else code

    def look_up_codes(
        self, keys: pl.DataFrame, judge: Callable[[pl.Series], list[Cell]]
    ) -> pl.Series:
        """Return the code of each row by its key; `judge` judges the rows at some positions."""
        codes = self._index.look_up(keys)
        if codes.null_count():
            at = codes.is_null().arg_true().alias("at")
            new = keys[at]
            firsts = new.with_columns(at).unique(keys.columns, keep="first", maintain_order=True)
            added = [self.add_cell(cell) for cell in judge(firsts["at"])]
            self._index.add_keys(firsts.drop("at"), pl.Series(added, dtype=pl.UInt32))
            codes = codes.scatter(at, self._index.look_up(new))
        return codes

    def to_frame(self) -> pl.DataFrame:
        """Return the cells as columns; only those that are new are converted."""
        new = self.cells[self._frame.height :]
        if new:
            columns = {
                "number": [self._number_value(cell.value) for cell in new],
                "reason": [cell.reason for cell in new],
                "near_miss": [cell.near_miss for cell in new],
            }
            if MESSAGE_COLUMN in self._schema:
                columns[MESSAGE_COLUMN] = [encode_message(cell.reason) for cell in new]
            added = pl.DataFrame(columns, schema=self._schema)
            self._frame = self._frame.vstack(added).rechunk()  # or finding cells takes time
        return self._frame

    def _number_value(self, value: Fraction | None) -> int:
        key = None if value is None else value.as_integer_ratio()
        if key not in self._value_numbers:
            self._value_numbers[key] = len(self.values)
            self.values.append(value)
        return self._value_numbers[key]

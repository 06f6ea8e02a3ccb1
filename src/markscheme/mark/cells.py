"""The different cells of an axis: each judged once, and found again by what it depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from markscheme.mark.axes.contract import JsonSchema
from markscheme.mark.known import CellIndex
from markscheme.mark.memory import MAX_CHARACTERS
from markscheme.mark.scoring import mark_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from fractions import Fraction

    from markscheme.vocabulary import AxisSpec, Cell, Item, Response

MAX_CELLS = 16_000
_MAX_KEY_LENGTH = 2_000  # a text longer than this is judged each time it comes
_CELL_SCHEMA = {"number": pl.UInt32, "reason": pl.String, "near_miss": pl.String}


class CellTable:
    """The different cells of one axis so far, each judged once and found again by its key.

    `values` lists the different values among them; a cell's column `number` says which it has.
    """

    def __init__(self, spec: AxisSpec) -> None:
        self.spec = spec
        self.clear()

    def clear(self) -> None:
        """Forget everything, so that memory stays flat over any number of answers."""
        self.cells: list[Cell] = []
        self.codes_by_key: dict[Hashable, int] = {}
        self._index = CellIndex()
        self.values: list[Fraction | None] = []
        self._value_numbers: dict[object, int] = {}
        self._characters = 0
        self._frame = pl.DataFrame(schema=_CELL_SCHEMA)

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
            added = pl.DataFrame(columns, schema=_CELL_SCHEMA)
            self._frame = self._frame.vstack(added).rechunk()  # or finding cells takes time
        return self._frame

    def _number_value(self, value: Fraction | None) -> int:
        key = None if value is None else value.as_integer_ratio()
        if key not in self._value_numbers:
            self._value_numbers[key] = len(self.values)
            self.values.append(value)
        return self._value_numbers[key]

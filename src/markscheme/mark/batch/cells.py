"""The one cache of the batch marker: the different cells of each axis, found again by a key.

A key is what a cell depends on. Most keys come as columns: a number, or a text and the number of
its item. The same few occur again and again, so their codes are looked up in a dense table with one
slot for each (text, item), or by a join if that table would be too large.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import polars as pl

from markscheme.read.answers import copy_texts
from markscheme.vocabulary import MESSAGE_COLUMN, AxisSpec, AxisValue, Cell, encode_message

# Above any of these limits a table is cleared before the next batch, so that memory stays flat.
MAX_CELLS = 16_000
MAX_KEYS = 50_000
MAX_CHARACTERS = 16_000_000
_MAX_SLOTS = 2**20
# A dense table is rebuilt after each new key, which only pays if many rows are looked up.
_MIN_DENSE_ROWS = 1_000
_MAX_CHUNKS = 16
_DENSE_KEY_TYPES: Sequence[object] = ([pl.UInt32], [pl.String, pl.UInt32])
_CELL_SCHEMA = {"number": pl.UInt32, "reason": pl.String, "near_miss": pl.String}


class CellTable:
    """The different cells of one axis so far; a code is a position in `cells`.

    `values` lists the different axis values of the cells, and the column `number` of `to_frame`
    says which of them each cell has. With `messages` that frame has the encoded messages too.
    """

    def __init__(self, spec: AxisSpec, *, messages: bool = False) -> None:
        self.spec = spec
        self._schema = {**_CELL_SCHEMA, MESSAGE_COLUMN: pl.String} if messages else _CELL_SCHEMA
        self.clear()

    def clear(self) -> None:
        """Forget all cells and keys."""
        self.cells: list[Cell] = []
        self.values: list[AxisValue] = []
        self._codes_by_reason: dict[str, int] = {}
        self._codes_by_key: dict[Hashable, int] = {}
        self._index = CellIndex()
        self._value_numbers: dict[object, int] = {}
        self._characters = 0
        self._frame = pl.DataFrame(schema=self._schema)

    @property
    def is_full(self) -> bool:
        """Whether the table holds as much as it may."""
        return (
            len(self.cells) > MAX_CELLS
            or len(self._codes_by_key) + self._index.key_count > MAX_KEYS
            or self._characters + self._index.key_bytes > MAX_CHARACTERS
        )

    def add_cell(self, cell: Cell) -> int:
        """Return the code of a cell; equal cells share one code."""
        # Looked up by the reason, because the hash of a cell includes that of a fraction: slow.
        code = self._codes_by_reason.get(cell.reason)
        if code is None or self.cells[code] != cell:
            code = len(self.cells)
            self._codes_by_reason[cell.reason] = code
            self.cells.append(cell)
            self._characters += len(cell.reason)
        return code

    def find_code(self, key: Hashable, judge: Callable[[], Cell], *, size: int = 0) -> int:
        """Return the code for one key, judged if the key is new; the key `None` is never kept.

        `size` is the number of characters in the key, which count towards the limit.
        """
        code = self._codes_by_key.get(key)
        if code is None:
            code = self.add_cell(judge())
            if key is not None:
                self._codes_by_key[key] = code
                self._characters += size
        return code

    def find_codes(
        self, keys: pl.DataFrame, judge: Callable[[Sequence[int]], list[Cell]]
    ) -> pl.Series:
        """Return the code of each row of keys; `judge` judges the rows at some positions.

        A row with a null in its keys gets a null code.
        """
        codes = self._index.look_up(keys)
        if not codes.null_count():
            return codes
        is_new = codes.is_null()
        for column in keys:
            if column.null_count():
                is_new &= column.is_not_null()
        positions = is_new.arg_true()
        if not len(positions):
            return codes
        new = keys[positions]
        firsts = new.with_columns(positions.alias("position")).unique(
            keys.columns, keep="first", maintain_order=True
        )
        new_codes = [self.add_cell(cell) for cell in judge(firsts["position"].to_list())]
        self._index.add_keys(firsts.drop("position"), pl.Series(new_codes, dtype=pl.UInt32))
        return codes.scatter(positions, self._index.look_up(new))

    def to_frame(self) -> pl.DataFrame:
        """Return the cells as columns; only those added since the last call are converted."""
        new = self.cells[self._frame.height :]
        if new:
            columns = {
                "number": [self._number_value(cell.axis_value) for cell in new],
                "reason": [cell.reason for cell in new],
                "near_miss": [cell.near_miss for cell in new],
            }
            if MESSAGE_COLUMN in self._schema:
                columns[MESSAGE_COLUMN] = [encode_message(cell.reason) for cell in new]
            added = pl.DataFrame(columns, schema=self._schema)
            # One chunk, because rows are looked up by position, which is slow across chunks.
            self._frame = self._frame.vstack(added).rechunk()
        return self._frame

    def _number_value(self, value: AxisValue) -> int:
        # The hash of a fraction takes longer than that of its two integers.
        key = value.as_integer_ratio() if isinstance(value, Fraction) else value
        if key not in self._value_numbers:
            self._value_numbers[key] = len(self.values)
            self.values.append(value)
        return self._value_numbers[key]


class CellIndex:
    """Maps rows of keys to codes, for whole columns of keys at a time."""

    def __init__(self) -> None:
        self.key_bytes = 0
        self._frame: pl.DataFrame | None = None
        self._dense: _DenseTable | None = None
        self._can_be_dense = True

    @property
    def key_count(self) -> int:
        """How many keys are known."""
        return self._frame.height if self._frame is not None else 0

    def look_up(self, keys: pl.DataFrame) -> pl.Series:
        """Return the code of each key, null if the key is not known."""
        if self._frame is None or not keys.height:
            return _make_null_codes(keys.height)
        if (
            self._can_be_dense
            and keys.height >= _MIN_DENSE_ROWS
            and keys.dtypes in _DENSE_KEY_TYPES
        ):
            largest: int = keys.to_series(-1).max() or 0  # type: ignore[assignment]
            dense = self._get_dense_table(self._frame, largest + 1)
            if dense is not None:
                return dense.codes[dense.find_slots(keys.get_columns())]
        joined = keys.join(self._frame, on=keys.columns, how="left", maintain_order="left")
        return joined["code"]

    def add_keys(self, keys: pl.DataFrame, codes: pl.Series) -> None:
        """Add keys that are not known yet, each once."""
        texts = [copy_texts(column) for column in keys if column.dtype == pl.String]
        self.key_bytes += sum(int(column.str.len_bytes().sum()) for column in texts)
        added = keys.with_columns(*texts, codes.alias("code"))
        self._frame = self._frame.vstack(added) if self._frame is not None else added
        if self._frame.n_chunks() > _MAX_CHUNKS:
            self._frame = self._frame.rechunk()
        self._dense = None

    def _get_dense_table(self, known: pl.DataFrame, width: int) -> _DenseTable | None:
        """Return the dense table, rebuilt if it is narrower than `width`; `None` if too large."""
        if self._dense is None or self._dense.width < width:
            *texts, numbers, _ = known.get_columns()
            largest: int = numbers.max()  # type: ignore[assignment]
            width = max(width, largest + 1)
            self._can_be_dense = width * (texts[0].n_unique() if texts else 1) <= _MAX_SLOTS
            self._dense = _DenseTable(known, width) if self._can_be_dense else None
        return self._dense


class _DenseTable:
    """A list of codes; the slot of a key is `position of its text * width + its number`."""

    def __init__(self, known: pl.DataFrame, width: int) -> None:
        *keys, codes = known.get_columns()
        self.width = width
        self._texts = pl.Enum(keys[0].unique()) if len(keys) > 1 else None
        size = width * (len(self._texts.categories) if self._texts else 1)
        self.codes = _make_null_codes(size).scatter(self.find_slots(keys), codes)

    def find_slots(self, keys: Sequence[pl.Series]) -> pl.Series:
        """Return the slot of each key, null if its text is not known."""
        *texts, numbers = keys
        if self._texts is None:
            return numbers
        positions = texts[0].cast(self._texts, strict=False).to_physical()
        return positions.cast(pl.UInt32) * self.width + numbers


def _make_null_codes(count: int) -> pl.Series:
    return pl.Series("code", [None], dtype=pl.UInt32).new_from_index(0, count)

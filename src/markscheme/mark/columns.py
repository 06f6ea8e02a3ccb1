"""Marking in columns: many answers at once, equal cells shared, no object per row.

Each axis gives a column of codes into a table of cells. A cell is judged once for each key that it
depends on and then looked up, so that the definition in `scoring` stays the only judge.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.mark.axes.base import TextAxis
from markscheme.mark.axes.contract import JsonSchema
from markscheme.mark.memory import Memory
from markscheme.mark.responses import read_response
from markscheme.mark.scoring import judged, leading_axis
from markscheme.mark.shapes import Shape
from markscheme.vocabulary import Cell, Reading, Response

if TYPE_CHECKING:
    from markscheme.mark.shapes import Texts
    from markscheme.vocabulary import AxisSpec, Exam, Item, Rubric

REMEMBERED = 50_000
_READING, _GOT = "reading of the response", "got by the leading axis"  # no axis has such a name
_CELLS = {"number": pl.UInt32, "reason": pl.String, "near_miss": pl.String}


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
        self.codes: dict[Hashable, int] = {}
        self.values: list[Fraction | None] = []
        self._frame = pl.DataFrame(schema=_CELLS)

    def add(self, cell: Cell, key: Hashable = None) -> int:
        """Return the code of a new cell, remembered under its key if it has one."""
        code = len(self.cells)
        self.cells.append(cell)
        if key is not None:
            self.codes[key] = code
        return code

    def frame(self) -> pl.DataFrame:
        """Return the cells as columns; only those that are new are converted."""
        new = self.cells[self._frame.height :]
        if new:
            columns = {
                "number": [self._number(cell.value) for cell in new],
                "reason": [cell.reason for cell in new],
                "near_miss": [cell.near_miss for cell in new],
            }
            self._frame.extend(pl.DataFrame(columns, schema=_CELLS))
        return self._frame

    def _number(self, value: Fraction | None) -> int:
        if value not in self.values:
            self.values.append(value)
        return self.values.index(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A batch of answers after marking, in columns.

    `codes` holds a column for each axis, with positions in the table of that axis, and `cells` the
    rows of the table that they lead to. `vectors` numbers the different sets of axis values, and
    `values` says what each number stands for.
    """

    items: pl.Series
    readings: pl.Series
    got: pl.Series
    codes: list[pl.Series]
    cells: list[pl.DataFrame]
    tables: list[CellTable]
    vectors: pl.Series
    values: Mapping[int, tuple[Fraction | None, ...]]

    def cell(self, axis: int, at: int) -> Cell:
        """Return one cell: an axis on the answer at a position of the batch."""
        code: int = self.codes[axis][at]
        return self.tables[axis].cells[code]


class Marker:
    """Marks batches of answers under one rubric and exam, remembering what it has judged."""

    def __init__(self, rubric: Rubric, exam: Exam) -> None:
        self.rubric = rubric
        self.items: tuple[Item, ...] = exam.items
        self.index: dict[str, int] = {item.id: i for i, item in enumerate(exam.items)}
        self._shape = Shape(rubric.fields)
        self._got = getattr(leading_axis(rubric), "reads", None)
        self._tables = [CellTable(spec) for spec in rubric]
        self._memory = Memory()

    def mark(self, items: Sequence[str], outputs: Sequence[str | Mapping[str, Any]]) -> Marked:
        """Mark one batch: each output as the answer to the item beside it."""
        if self._memory.full or any(len(table.cells) > REMEMBERED for table in self._tables):
            self._forget()
        indices = list(map(self.index.__getitem__, items))
        rows = self._memory.recall(outputs, indices, self._rows)
        codes = [rows[table.spec.name] for table in self._tables]
        cells = [t.frame()[column] for t, column in zip(self._tables, codes, strict=True)]
        vectors, values = _vectors(self._tables, cells)
        return Marked(
            items=pl.Series(indices, dtype=pl.UInt32),
            readings=rows[_READING],
            got=rows[_GOT],
            codes=codes,
            cells=cells,
            tables=self._tables,
            vectors=vectors,
            values=values,
        )

    def _forget(self) -> None:
        """Forget rows and cells together: rows hold codes of cells."""
        self._memory.clear()
        for table in self._tables:
            table.clear()

    def _rows(
        self, outputs: Sequence[str | Mapping[str, Any]], indices: Sequence[int]
    ) -> pl.DataFrame:
        """Mark answers: what was got, how it was read, and the code of each axis."""
        texts = self._shape.read(outputs)
        readings = [Reading.OBJECT.value] * len(indices)
        for at, response in texts.unusual.items():
            readings[at] = response.reading.value
        columns = {
            _READING: pl.Series(readings, dtype=pl.String),
            _GOT: pl.Series(texts.of(self._got), dtype=pl.String),
        }
        for table in self._tables:
            codes = self._codes(table, indices, texts)
            columns[table.spec.name] = pl.Series(codes, dtype=pl.UInt32)
        return pl.DataFrame(columns)

    def _codes(self, table: CellTable, indices: Sequence[int], texts: Texts) -> list[int]:
        """Return the codes of one axis: by key where the axis has keys, else one by one."""
        axis = table.spec.axis
        if isinstance(axis, TextAxis) and type(axis).mark is TextAxis.mark:
            return self._text_codes(table, axis, indices, texts)
        usual = None
        if isinstance(axis, JsonSchema) and axis.sees_only_shape:
            usual = self._usual_code(table, indices, texts)
        codes = [usual or 0] * len(indices)
        for at in range(len(indices)) if usual is None else texts.unusual:
            codes[at] = self._code(table, indices[at], texts, at)
        return codes

    def _text_codes(
        self, table: CellTable, axis: TextAxis, indices: Sequence[int], texts: Texts
    ) -> list[int]:
        read = texts.of(axis.reads)
        codes: list[Any] = list(map(table.codes.get, axis.keys(read, indices)))
        if None in codes:
            for at in [at for at, code in enumerate(codes) if code is None]:
                codes[at] = self._text_code(table, axis, read[at], indices[at])
        for at, response in texts.unusual.items():
            if axis.reads in response.lacking:
                codes[at] = self._code(table, indices[at], texts, at)
        return codes

    def _text_code(self, table: CellTable, axis: TextAxis, text: str, index: int) -> int:
        """Return the code of a text that was not known before this batch."""
        (key,) = axis.keys((text,), (index,))
        code = table.codes.get(key)
        if code is None:
            response = Response(reading=Reading.TEXT, text=text)
            code = table.add(judged(axis, response, self.items[index]), key)
        return code

    def _usual_code(self, table: CellTable, indices: Sequence[int], texts: Texts) -> int | None:
        """Return the code that every response of the usual shape has, judged on the first."""
        code = table.codes.get("usual")
        if code is not None:
            return code
        for at, index in enumerate(indices):
            if at not in texts.unusual:
                return table.add(self._cell(table, index, texts, at), "usual")
        return None

    def _code(self, table: CellTable, index: int, texts: Texts, at: int) -> int:
        """Return the code of one response, by its key where the axis knows one."""
        axis, response = table.spec.axis, texts.unusual.get(at)
        key = axis.key(response) if isinstance(axis, JsonSchema) and response else None
        code = table.codes.get(key)
        return table.add(self._cell(table, index, texts, at), key) if code is None else code

    def _cell(self, table: CellTable, index: int, texts: Texts, at: int) -> Cell:
        response = texts.unusual.get(at) or read_response(texts.outputs[at], self._shape.fields)
        return judged(table.spec.axis, response, self.items[index])


def _vectors(
    tables: list[CellTable], cells: list[pl.DataFrame]
) -> tuple[pl.Series, dict[int, tuple[Fraction | None, ...]]]:
    """Number the sets of axis values: one mixed-radix number for each, unpacked once for each."""
    total = pl.zeros(cells[0].height, dtype=pl.UInt64, eager=True)
    for table, frame in zip(tables, cells, strict=True):
        total = total * len(table.values) + frame["number"].cast(pl.UInt64)
    return total, {code: _unpacked(code, tables) for code in total.unique().to_list()}


def _unpacked(code: int, tables: list[CellTable]) -> tuple[Fraction | None, ...]:
    values: list[Fraction | None] = []
    for table in reversed(tables):
        code, at = divmod(code, len(table.values))
        values.append(table.values[at])
    return tuple(reversed(values))

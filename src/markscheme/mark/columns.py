"""Marking in columns: many answers at once, equal cells shared, no object per row.

Each axis gives a column of codes into a table of cells. A cell is judged once for each key that it
depends on and then looked up, so that the definition in `scoring` stays the only judge.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.mark.alike import AlikeMarker
from markscheme.mark.axes.base import TextAxis, own_way
from markscheme.mark.axes.contract import JsonSchema
from markscheme.mark.cells import CellTable
from markscheme.mark.memory import Memory
from markscheme.mark.responses import read_response
from markscheme.mark.scoring import judged, leading_axis, mark_answer
from markscheme.mark.shapes import Shape
from markscheme.values import dataclass
from markscheme.vocabulary import Cell, Reading, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.mark.shapes import Texts
    from markscheme.read.answers import AnswerBatch
    from markscheme.vocabulary import AxisSpec, Exam, Item, Rubric

_FEW = 2**12  # sets of axis values that can be numbered as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A batch of answers after marking, in columns, in the order of their lines.

    `table` says what is known of each answer beside its item and output, `items` the position of
    its item in the exam. `codes` holds a column for each axis, with positions in the table of that
    axis. `vectors` numbers the different sets of axis values, and `values` says what each number
    stands for. It holds until the next batch is marked.
    """

    table: pl.DataFrame
    items: pl.Series
    readings: pl.Series
    got: pl.Series
    codes: list[pl.Series]
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
        self._ids = pl.Enum([item.id for item in exam.items])
        self._shape = Shape(rubric.fields)
        self._got = getattr(leading_axis(rubric), "reads", None)
        self._tables = [CellTable(spec) for spec in rubric]
        self._alike = AlikeMarker(rubric.fields, exam.items, self._tables, self._got)
        self._memory = Memory()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that outputs must have as text to be marked in columns of text."""
        texts = all(map(_reads_a_field, self.rubric))
        return tuple(self.rubric.fields.accepted) if texts and self._got is not None else ()

    def mark(self, batch: AnswerBatch, *, outputs: bool = False) -> Marked:
        """Mark the answers of one batch; with `outputs` the table holds those too."""
        if self._memory.full or any(table.full for table in self._tables):
            self._forget()
        table = batch.table()
        items = table["item"].cast(self._ids).to_physical().cast(pl.UInt32).alias("index")
        rows = self._marked(batch, items)
        if outputs:
            table = table.with_columns(batch.output_texts())
        known = (column for column in table if column.name != "item")
        table = pl.DataFrame([*known, items, *rows])
        if batch.alike and batch.items:
            table = table.sort("line")
        codes = [table[f"axis {at}"] for at in range(len(self._tables))]
        vectors, values = _vectors(self._tables, codes)
        return Marked(
            table=table,
            items=table["index"],
            readings=table["reading"],
            got=table["got"],
            codes=codes,
            tables=self._tables,
            vectors=vectors,
            values=values,
        )

    def _marked(self, batch: AnswerBatch, items: pl.Series) -> pl.DataFrame:
        """Mark the rows that are alike, then the others."""
        parts = []
        if batch.alike:
            parts.append(self._alike.rows(batch.alike, items.head(batch.alike.table.height)))
        if batch.transcripts:
            return self._rows_of_logs(batch, items.to_list())
        if batch.items or not parts:
            indices = items.tail(len(batch.items)).to_list()
            parts.append(self._memory.recall(batch.outputs, indices, self._rows))
        return pl.concat(parts)

    def _rows_of_logs(self, batch: AnswerBatch, indices: Sequence[int]) -> pl.DataFrame:
        """Mark answers by the definition: what was done is each one's own, so no cell is shared."""
        rows = [
            mark_answer(self.rubric, self.items[index], output, transcript)
            for index, output, transcript in zip(
                indices, batch.outputs, batch.transcripts, strict=True
            )
        ]
        columns = {
            "reading": pl.Series([row.reading.value for row in rows], dtype=pl.String),
            "got": pl.Series([row.got for row in rows], dtype=pl.String),
        }
        for at, table in enumerate(self._tables):
            codes = [table.add(row.cells[table.spec.name]) for row in rows]
            columns[f"axis {at}"] = pl.Series(codes, dtype=pl.UInt32)
        return pl.DataFrame(columns)

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
            "reading": pl.Series(readings, dtype=pl.String),
            "got": pl.Series(texts.of(self._got), dtype=pl.String),
        }
        for at, table in enumerate(self._tables):
            codes = self._codes(table, indices, texts)
            columns[f"axis {at}"] = pl.Series(codes, dtype=pl.UInt32)
        return pl.DataFrame(columns)

    def _codes(self, table: CellTable, indices: Sequence[int], texts: Texts) -> list[int]:
        """Return the codes of one axis: by key where the axis has keys, else one by one."""
        axis = table.spec.axis
        if isinstance(axis, TextAxis) and type(axis).mark is TextAxis.mark:
            return self._text_codes(table, axis, indices, texts)
        usual = None
        if type(axis) is JsonSchema and axis.asks_for_texts:
            usual = self._usual_code(table, indices, texts)
        codes = [usual or 0] * len(indices)
        for at in range(len(indices)) if usual is None else texts.unusual:
            codes[at] = self._code(table, indices[at], texts, at)
        return codes

    def _text_codes(
        self, table: CellTable, axis: TextAxis, indices: Sequence[int], texts: Texts
    ) -> list[int]:
        read, keys = texts.of(axis.reads), own_way(axis, "keys")
        find = partial(own_way(axis, "finding"), axis)
        known: list[Hashable] = list(keys(axis, read, indices))
        codes: list[Any] = list(map(table.codes.get, known))
        for at, response in texts.unusual.items():
            if axis.reads in response.lacking:  # its cell also says where it was read
                codes[at] = self._code(table, indices[at], texts, at)
            elif codes[at] is None and response.document is None:  # it will hardly come again
                known[at] = self._found(find, read[at], indices[at], known[at])
        for at in [at for at, code in enumerate(codes) if code is None]:
            codes[at] = self._text_code(table, known[at], read[at], indices[at])
        return codes

    def _text_code(self, table: CellTable, key: Hashable, text: str, index: int) -> int:
        """Return the code of a text that was not known before this batch."""
        code = table.codes.get(key)
        if code is None:
            response = Response(reading=Reading.TEXT, text=text)
            code = table.add(judged(table.spec.axis, response, self.items[index]), key, text)
        return code

    def _found(
        self, find: Callable[[str, Item], Hashable], text: str, index: int, key: Hashable
    ) -> Hashable:
        """Return what is found in a text, which others may share, or the key that is its own."""
        try:
            found = find(text, self.items[index])
        except Exception:  # noqa: BLE001 - the judgement tells what is wrong
            return key
        return key if found is None else ("found", found, index)

    def _usual_code(self, table: CellTable, indices: Sequence[int], texts: Texts) -> int | None:
        """Return the code that every response of the usual shape has, judged on the first."""
        code = table.codes.get("usual")
        if code is not None:
            return code
        for at, index in enumerate(indices):
            if at not in texts.unusual:
                code = table.codes["usual"] = self._code(table, index, texts, at)
                return code
        return None

    def _code(self, table: CellTable, index: int, texts: Texts, at: int) -> int:
        """Return the code of one output."""
        response = texts.unusual.get(at) or read_response(texts.outputs[at], self._shape.fields)
        return table.of(response, self.items[index])


def _reads_a_field(spec: AxisSpec) -> bool:
    """Whether the axis judges the text of one field, or the keys of an object of texts."""
    axis = spec.axis
    if type(axis) is JsonSchema:
        return axis.asks_for_texts
    return (
        isinstance(axis, TextAxis)
        and type(axis).mark is TextAxis.mark
        and axis.reads is not None
        and str in axis.accepts
    )


def _vectors(
    tables: list[CellTable], codes: list[pl.Series]
) -> tuple[pl.Series, dict[int, tuple[Fraction | None, ...]]]:
    """Number the sets of axis values, and say what each number stands for."""
    numbers = [table.frame()["number"][column] for table, column in zip(tables, codes, strict=True)]
    sizes = [len(table.values) for table in tables]
    if prod(sizes) <= _FEW:
        vectors = numbers[0]
        for size, column in zip(sizes[1:], numbers[1:], strict=True):
            vectors = vectors * size + column
        each = {vector: _digits(vector, sizes) for vector in vectors.unique()}
    else:
        frame = pl.DataFrame([column.alias(str(at)) for at, column in enumerate(numbers)])
        vectors = frame.select(pl.struct(pl.all()).rank("dense")).to_series()
        firsts = frame.with_columns(vectors.alias("vector")).unique("vector")
        each = {vector: tuple(row) for *row, vector in firsts.iter_rows()}
    values = {
        vector: tuple(table.values[at] for table, at in zip(tables, row, strict=True))
        for vector, row in each.items()
    }
    return vectors, values


def _digits(number: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the positions that a number was made of, one for each size."""
    found: list[int] = []
    for size in reversed(sizes):
        number, at = divmod(number, size)
        found.insert(0, at)
    return tuple(found)

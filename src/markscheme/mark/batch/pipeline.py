"""Mark batches of answers in columns: equal cells are shared, and no object is made per row.

A batch goes through four steps. `responses` reads its outputs into columns of text. For each axis,
the keys that its cells depend on are looked up in the axis's `CellTable` (`cells`); keys that are
new are judged by `mark_cell`, so the definition stays the only judge. The codes of all axes are
combined into numbers of distinct sets of values, for the totals. `frames` turns the result into
rows. `tests/test_columns.py` holds every step to `mark_answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod

import polars as pl
from msgspec import Struct

from markscheme.mark.axes import JsonSchema, TextAxis, compute_cell_keys
from markscheme.mark.axis_cells import mark_cell
from markscheme.mark.batch.cells import CellTable
from markscheme.mark.batch.responses import ResponseColumns, ResponseReader
from markscheme.mark.definition import find_leading_axis, mark_answer
from markscheme.read.answers import AnswerBatch, copy_texts
from markscheme.vocabulary import (
    Axis,
    AxisValue,
    Cell,
    Exam,
    FrozenDict,
    Item,
    Mark,
    Reading,
    Response,
    Rubric,
    Transcript,
)

# Up to so many possible sets of axis values are numbered by arithmetic, more by ranking.
_MAX_PRODUCT_VECTORS = 2**12
_NO_MARKS: Mapping[str, tuple[Mark, ...]] = FrozenDict()


class MarkedColumns(Struct, frozen=True, kw_only=True):
    """A batch of answers after marking, in columns, in the order of their lines.

    `table` holds what is known of each answer except its item and output; `items` holds the
    position of its item in the exam. `codes` has one column for each axis, with positions in the
    cells of the axis's table. `vectors` numbers the different sets of axis values, and `values`
    holds the set for each number. All of it is valid until the next batch is marked.
    """

    table: pl.DataFrame
    items: pl.Series
    readings: pl.Series
    got: pl.Series
    codes: list[pl.Series]
    tables: list[CellTable]
    vectors: pl.Series
    values: Mapping[int, tuple[AxisValue, ...]]

    def get_cell(self, axis: int, at: int) -> Cell:
        """Return the cell of one axis for the answer at a position of the batch."""
        code: int = self.codes[axis][at]
        return self.tables[axis].cells[code]


class BatchMarker:
    """Marks batches of answers under one rubric and exam; cells are kept from batch to batch."""

    def __init__(self, rubric: Rubric, exam: Exam, *, messages: bool = False) -> None:
        self.rubric = rubric
        self.items: tuple[Item, ...] = exam.items
        self._ids = pl.Enum([item.id for item in exam.items])
        self._reader = ResponseReader(rubric.fields)
        self._got_field: str | None = getattr(find_leading_axis(rubric), "reads", None)
        self._tables = [CellTable(spec, messages=messages) for spec in rubric]

    @property
    def fields(self) -> tuple[str, ...]:
        """The text fields of outputs that template rows need; empty if the rubric reads more."""
        reads_only_fields = all(_reads_only_fields(spec.axis) for spec in self.rubric)
        if not reads_only_fields or self._got_field is None:
            return ()
        return tuple(self.rubric.fields.accepted)

    def mark_batch(self, batch: AnswerBatch, *, outputs: bool = False) -> MarkedColumns:
        """Mark the answers of one batch; with `outputs`, the table includes their outputs."""
        for cells in self._tables:
            if cells.is_full:
                cells.clear()
        table = batch.build_table()
        items = table["item"].cast(self._ids).to_physical().cast(pl.UInt32).alias("index")
        if batch.transcripts or batch.marks:
            marked = self._mark_by_definition(batch, items.to_list())
        else:
            marked = self._mark_responses(self._reader.read_batch(batch), items)
        if outputs:
            table = table.with_columns(batch.build_output_texts())
        others = (column for column in table if column.name != "item")
        table = pl.DataFrame([*others, items, *marked])
        if batch.template_rows and batch.items:
            table = table.sort("line")
        codes = [table[get_code_column(axis)] for axis in range(len(self._tables))]
        vectors, values = _number_vectors(self._tables, codes)
        return MarkedColumns(
            table=table,
            items=table["index"],
            readings=table["reading"],
            got=table["got"],
            codes=codes,
            tables=self._tables,
            vectors=vectors,
            values=values,
        )

    def _mark_by_definition(self, batch: AnswerBatch, items: Sequence[int]) -> pl.DataFrame:
        """Mark answers with transcripts or with marks of people: no two of them share a cell."""
        count = len(batch)
        transcripts: Sequence[Transcript | None] = batch.transcripts or [None] * count
        marks = batch.marks or [_NO_MARKS] * count
        rows = zip(items, batch.outputs, transcripts, marks, strict=True)
        breakdowns = [
            mark_answer(self.rubric, self.items[item], output, transcript, given)
            for item, output, transcript, given in rows
        ]
        columns = {
            "reading": pl.Series([row.reading.value for row in breakdowns], dtype=pl.String),
            "got": pl.Series([row.got for row in breakdowns], dtype=pl.String),
        }
        for axis, table in enumerate(self._tables):
            codes = [table.add_cell(row.cells[table.spec.name]) for row in breakdowns]
            columns[get_code_column(axis)] = pl.Series(codes, dtype=pl.UInt32)
        return pl.DataFrame(columns)

    def _mark_responses(self, responses: ResponseColumns, items: pl.Series) -> pl.DataFrame:
        """Return the reading, the text that was got and the codes of each row."""
        columns = {"reading": responses.readings, "got": self._get_got_texts(responses)}
        for axis, table in enumerate(self._tables):
            columns[get_code_column(axis)] = self._find_codes(table, responses, items)
        return pl.DataFrame(columns)

    def _get_got_texts(self, responses: ResponseColumns) -> pl.Series:
        """Return the field that the leading axis reads, or the whole text if it is missing."""
        # A copy, because these texts outlive the batch, and because `scatter` changes its series.
        texts = copy_texts(responses.get_texts(self._got_field))
        if texts.null_count():
            lacking = texts.is_null().arg_true()
            whole = responses.get_whole_texts(lacking.to_list())
            texts.scatter(lacking, pl.Series(whole, dtype=pl.String))
        return texts

    def _find_codes(
        self, table: CellTable, responses: ResponseColumns, items: pl.Series
    ) -> pl.Series:
        """Return the code of one axis for each row."""
        axis = table.spec.axis
        if isinstance(axis, TextAxis) and _judges_one_text(axis):
            return self._find_text_codes(table, axis, responses, items)
        if type(axis) is JsonSchema and axis.checks_keys_only:
            # The cell depends on the shape alone, and not on the item.
            codes = [self._judge(table, one, self.items[0]) for one in responses.shape_examples]
            return pl.Series(codes, dtype=pl.UInt32)[responses.shapes]
        every = responses.read_responses(range(len(items)))
        rows = zip(every, items.to_list(), strict=True)
        codes = [self._judge(table, response, self.items[item]) for response, item in rows]
        return pl.Series(codes, dtype=pl.UInt32)

    def _judge(self, table: CellTable, response: Response, item: Item) -> int:
        """Return the code of one response, found by its key if the axis knows one."""
        axis = table.spec.axis
        key = axis.get_cell_key(response) if type(axis) is JsonSchema else None
        return table.find_code(key, partial(mark_cell, axis, response, item))

    def _find_text_codes(
        self, table: CellTable, axis: TextAxis, responses: ResponseColumns, items: pl.Series
    ) -> pl.Series:
        """Return the codes of an axis that judges one text, by the keys of those texts."""
        texts = responses.get_texts(axis.reads)

        def judge(positions: Sequence[int]) -> list[Cell]:
            rows = zip(texts[positions].to_list(), items[positions].to_list(), strict=True)
            return [
                mark_cell(axis, Response(reading=Reading.TEXT, text=text), self.items[item])
                for text, item in rows
            ]

        codes = table.find_codes(compute_cell_keys(axis, texts, items), judge)
        if not texts.null_count():
            return codes
        # Responses without the field are judged whole. They are few, and read by the definition.
        lacking = texts.is_null().arg_true()
        whole = responses.read_responses(lacking.to_list())
        whole_codes = [
            table.find_code(
                (response.text, item),
                partial(mark_cell, axis, response, self.items[item]),
                size=len(response.text),
            )
            for response, item in zip(whole, items[lacking].to_list(), strict=True)
        ]
        return codes.scatter(lacking, pl.Series(whole_codes, dtype=pl.UInt32))


def get_code_column(axis: int) -> str:
    """Return the name of the column with the codes of an axis."""
    return f"axis {axis}"


def _judges_one_text(axis: Axis) -> bool:
    """Return whether the axis judges one text and the item, and nothing else of a response."""
    return isinstance(axis, TextAxis) and type(axis).mark is TextAxis.mark


def _reads_only_fields(axis: Axis) -> bool:
    """Return whether the axis judges one text field, or only the keys of an object of texts."""
    if type(axis) is JsonSchema:
        return axis.checks_keys_only
    return (
        isinstance(axis, TextAxis)
        and _judges_one_text(axis)
        and axis.reads is not None
        and str in axis.accepts
    )


def _number_vectors(
    tables: list[CellTable], codes: list[pl.Series]
) -> tuple[pl.Series, dict[int, tuple[AxisValue, ...]]]:
    """Number the different sets of axis values; return the number of each row, and the sets."""
    numbers = [
        table.to_frame()["number"][column] for table, column in zip(tables, codes, strict=True)
    ]
    sizes = [len(table.values) for table in tables]
    if prod(sizes) <= _MAX_PRODUCT_VECTORS:
        vectors = numbers[0]
        for size, column in zip(sizes[1:], numbers[1:], strict=True):
            vectors = vectors * size + column
        positions = {vector: _split_vector(vector, sizes) for vector in vectors.unique()}
    else:
        frame = pl.DataFrame([column.alias(str(at)) for at, column in enumerate(numbers)])
        vectors = frame.select(pl.struct(pl.all()).rank("dense")).to_series()
        firsts = frame.with_columns(vectors.alias("vector")).unique("vector")
        positions = {vector: tuple(row) for *row, vector in firsts.iter_rows()}
    values = {
        vector: tuple(table.values[at] for table, at in zip(tables, row, strict=True))
        for vector, row in positions.items()
    }
    return vectors, values


def _split_vector(vector: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the positions that were combined into a number, one for each size."""
    positions: list[int] = []
    for size in reversed(sizes):
        vector, at = divmod(vector, size)
        positions.insert(0, at)
    return tuple(positions)

"""Marking in columns: many answers at once, equal cells shared, no object per row.

Each axis gives a column of codes into a table of cells. A cell is judged once for each key that it
depends on and then looked up, so that the definition in `scoring` stays the only judge.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.mark.axes import JsonSchema, TextAxis, resolve_override
from markscheme.mark.batch.cell_table import CellTable
from markscheme.mark.batch.output_cache import RowCache
from markscheme.mark.batch.response_shapes import ResponseDecoder
from markscheme.mark.batch.text_columns import TemplateMarker
from markscheme.mark.definition import find_leading_axis, mark_answer, mark_cell
from markscheme.mark.response import read_response
from markscheme.vocabulary import Cell, Reading, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.mark.batch.response_shapes import ResponseTexts
    from markscheme.read.answers import AnswerBatch
    from markscheme.vocabulary import AxisSpec, Exam, Item, Rubric

_MAX_PRODUCT_VECTORS = 2**12  # sets of axis values that can be numbered as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedColumns:
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

    def get_cell(self, axis: int, at: int) -> Cell:
        """Return one cell: an axis on the answer at a position of the batch."""
        code: int = self.codes[axis][at]
        return self.tables[axis].cells[code]


class BatchMarker:
    """Marks batches of answers under one rubric and exam, remembering what it has judged."""

    def __init__(self, rubric: Rubric, exam: Exam, *, messages: bool = False) -> None:
        self.rubric = rubric
        self.items: tuple[Item, ...] = exam.items
        self._ids = pl.Enum([item.id for item in exam.items])
        self._decoder = ResponseDecoder(rubric.fields)
        self._got_field = getattr(find_leading_axis(rubric), "reads", None)
        self._tables = [CellTable(spec, messages=messages) for spec in rubric]
        self._template_marker = TemplateMarker(
            rubric.fields, exam.items, self._tables, self._got_field
        )
        self._row_cache = RowCache()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that outputs must have as text to be marked in columns of text."""
        texts = all(map(_can_mark_in_columns, self.rubric))
        return tuple(self.rubric.fields.accepted) if texts and self._got_field is not None else ()

    def mark_batch(self, batch: AnswerBatch, *, outputs: bool = False) -> MarkedColumns:
        """Mark the answers of one batch; with `outputs` the table holds those too."""
        if self._row_cache.is_full or any(table.is_full for table in self._tables):
            self._clear_caches()
        table = batch.build_table()
        items = table["item"].cast(self._ids).to_physical().cast(pl.UInt32).alias("index")
        rows = self._mark_rows(batch, items)
        if outputs:
            table = table.with_columns(batch.build_output_texts())
        known = (column for column in table if column.name != "item")
        table = pl.DataFrame([*known, items, *rows])
        if batch.alike and batch.items:
            table = table.sort("line")
        codes = [table[f"axis {at}"] for at in range(len(self._tables))]
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

    def _mark_rows(self, batch: AnswerBatch, items: pl.Series) -> pl.DataFrame:
        """Mark the rows that are alike, then the others."""
        parts = []
        if batch.alike:
            parts.append(
                self._template_marker.mark_rows(batch.alike, items.head(batch.alike.table.height))
            )
        if batch.transcripts:
            return self._mark_transcripts(batch, items.to_list())
        if batch.items or not parts:
            indices = items.tail(len(batch.items)).to_list()
            parts.append(self._row_cache.get_or_mark(batch.outputs, indices, self._mark_outputs))
        return pl.concat(parts)

    def _mark_transcripts(self, batch: AnswerBatch, indices: Sequence[int]) -> pl.DataFrame:
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
            codes = [table.add_cell(row.cells[table.spec.name]) for row in rows]
            columns[f"axis {at}"] = pl.Series(codes, dtype=pl.UInt32)
        return pl.DataFrame(columns)

    def _clear_caches(self) -> None:
        """Forget rows and cells together: rows hold codes of cells."""
        self._row_cache.clear()
        for table in self._tables:
            table.clear()

    def _mark_outputs(
        self, outputs: Sequence[str | Mapping[str, Any]], indices: Sequence[int]
    ) -> pl.DataFrame:
        """Mark answers: what was got, how it was read, and the code of each axis."""
        texts = self._decoder.read_outputs(outputs)
        readings = [Reading.OBJECT.value] * len(indices)
        for at, response in texts.unusual.items():
            readings[at] = response.reading.value
        columns = {
            "reading": pl.Series(readings, dtype=pl.String),
            "got": pl.Series(texts.get_texts(self._got_field), dtype=pl.String),
        }
        for at, table in enumerate(self._tables):
            codes = self._find_axis_codes(table, indices, texts)
            columns[f"axis {at}"] = pl.Series(codes, dtype=pl.UInt32)
        return pl.DataFrame(columns)

    def _find_axis_codes(
        self, table: CellTable, indices: Sequence[int], texts: ResponseTexts
    ) -> list[int]:
        """Return the codes of one axis: by key where the axis has keys, else one by one."""
        axis = table.spec.axis
        if isinstance(axis, TextAxis) and type(axis).mark is TextAxis.mark:
            return self._find_text_codes(table, axis, indices, texts)
        usual = None
        if type(axis) is JsonSchema and axis.checks_keys_only:
            usual = self._get_usual_code(table, indices, texts)
        codes = [usual or 0] * len(indices)
        for at in range(len(indices)) if usual is None else texts.unusual:
            codes[at] = self._judge_output(table, indices[at], texts, at)
        return codes

    def _find_text_codes(
        self, table: CellTable, axis: TextAxis, indices: Sequence[int], texts: ResponseTexts
    ) -> list[int]:
        read, keys = texts.get_texts(axis.reads), resolve_override(axis, "keys")
        find = partial(resolve_override(axis, "finding"), axis)
        known: list[Hashable] = list(keys(axis, read, indices))
        codes: list[Any] = list(map(table.codes_by_key.get, known))
        for at, response in texts.unusual.items():
            if axis.reads in response.lacking:  # its cell also says where it was read
                codes[at] = self._judge_output(table, indices[at], texts, at)
            elif codes[at] is None and response.document is None:  # it will hardly come again
                known[at] = self._find_shared_key(find, read[at], indices[at], known[at])
        for at in [at for at, code in enumerate(codes) if code is None]:
            codes[at] = self._judge_text(table, known[at], read[at], indices[at])
        return codes

    def _judge_text(self, table: CellTable, key: Hashable, text: str, index: int) -> int:
        """Return the code of a text that was not known before this batch."""
        code = table.codes_by_key.get(key)
        if code is None:
            response = Response(reading=Reading.TEXT, text=text)
            code = table.add_cell(
                mark_cell(table.spec.axis, response, self.items[index]), key, text
            )
        return code

    def _find_shared_key(
        self, find: Callable[[str, Item], Hashable], text: str, index: int, key: Hashable
    ) -> Hashable:
        """Return what is found in a text, which others may share, or the key that is its own."""
        try:
            found = find(text, self.items[index])
        except Exception:  # noqa: BLE001 - the judgement tells what is wrong
            return key
        return key if found is None else ("found", found, index)

    def _get_usual_code(
        self, table: CellTable, indices: Sequence[int], texts: ResponseTexts
    ) -> int | None:
        """Return the code that every response of the usual shape has, judged on the first."""
        code = table.codes_by_key.get("usual")
        if code is not None:
            return code
        for at, index in enumerate(indices):
            if at not in texts.unusual:
                code = table.codes_by_key["usual"] = self._judge_output(table, index, texts, at)
                return code
        return None

    def _judge_output(self, table: CellTable, index: int, texts: ResponseTexts, at: int) -> int:
        """Return the code of one output."""
        response = texts.unusual.get(at) or read_response(texts.outputs[at], self._decoder.fields)
        return table.get_code(response, self.items[index])


def _can_mark_in_columns(spec: AxisSpec) -> bool:
    """Whether the axis judges the text of one field, or the keys of an object of texts."""
    axis = spec.axis
    if type(axis) is JsonSchema:
        return axis.checks_keys_only
    return (
        isinstance(axis, TextAxis)
        and type(axis).mark is TextAxis.mark
        and axis.reads is not None
        and str in axis.accepts
    )


def _number_vectors(
    tables: list[CellTable], codes: list[pl.Series]
) -> tuple[pl.Series, dict[int, tuple[Fraction | None, ...]]]:
    """Number the sets of axis values, and say what each number stands for."""
    numbers = [
        table.to_frame()["number"][column] for table, column in zip(tables, codes, strict=True)
    ]
    sizes = [len(table.values) for table in tables]
    if prod(sizes) <= _MAX_PRODUCT_VECTORS:
        vectors = numbers[0]
        for size, column in zip(sizes[1:], numbers[1:], strict=True):
            vectors = vectors * size + column
        each = {vector: _split_vector(vector, sizes) for vector in vectors.unique()}
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


def _split_vector(number: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the positions that a number was made of, one for each size."""
    found: list[int] = []
    for size in reversed(sizes):
        number, at = divmod(number, size)
        found.insert(0, at)
    return tuple(found)

"""Marks answers that are written alike: their texts come in columns, and cells are found by these.

An output may lack a field, as outputs do of a model that forgets one. The axis that reads it then
reads the whole text, so that text is put together again and judged as the definition judges it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from markscheme.mark.axes import TextAxis, resolve_override
from markscheme.mark.definition import mark_cell
from markscheme.mark.response import read_response
from markscheme.read.answers import copy_texts
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import Reading, Response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.mark.batch.cell_table import CellTable
    from markscheme.read.answers import TemplateRows
    from markscheme.vocabulary import Cell, Item, ResponseFields


class TemplateMarker:
    """Marks rows of texts; `got` is the field that tells what was got."""

    def __init__(
        self,
        fields: ResponseFields,
        items: Sequence[Item],
        tables: Sequence[CellTable],
        got: str | None,
    ) -> None:
        self._fields = fields
        self._items = items
        self._tables = tables
        self._got_field = got

    def mark_rows(self, alike: TemplateRows, items: pl.Series) -> pl.DataFrame:
        """Return what was got, how it was read, and the code of each axis."""
        bare = [
            read_response(spelling.empty_output, self._fields)
            for spelling in alike.output_templates
        ]
        readings = pl.Series([response.reading.value for response in bare])
        got = copy_texts(_get_got_texts(alike, str(self._got_field)))
        columns = {"reading": readings[alike.spelled], "got": got}
        for at, table in enumerate(self._tables):
            columns[f"axis {at}"] = (
                self._find_axis_codes(table, alike, items, bare)
                if isinstance(table.spec.axis, TextAxis)
                else self._judge_spellings(table, bare)[alike.spelled]
            )
        return pl.DataFrame(columns)

    def _judge_spellings(self, table: CellTable, bare: Sequence[Response]) -> pl.Series:
        """Return the code of each spelling: the cell depends on the keys alone."""
        codes = [table.get_code(response, self._items[0]) for response in bare]
        return pl.Series(codes, dtype=pl.UInt32)

    def _find_axis_codes(
        self, table: CellTable, alike: TemplateRows, items: pl.Series, bare: Sequence[Response]
    ) -> pl.Series:
        """Return the codes by the field that the axis reads, or by the whole text without it."""
        read = alike.get_texts(str(getattr(table.spec.axis, "reads", None)))
        if not read.null_count():
            return self._look_up_codes(table, read, items)
        has, lacks = read.is_not_null().arg_true(), read.is_null().arg_true()
        codes = pl.Series([0], dtype=pl.UInt32).new_from_index(0, len(read))
        codes = codes.scatter(has, self._look_up_codes(table, read[has], items[has]))
        spelled = [bare[number] for number in alike.spelled[lacks].to_list()]
        wholes = zip(alike.build_outputs_at(lacks), spelled, items[lacks].to_list(), strict=True)
        whole = [self._judge_whole_output(table, *one) for one in wholes]
        return codes.scatter(lacks, pl.Series(whole, dtype=pl.UInt32))

    def _look_up_codes(self, table: CellTable, read: pl.Series, items: pl.Series) -> pl.Series:
        keys = resolve_override(table.spec.axis, "column_keys")(table.spec.axis, read, items)
        return table.look_up_codes(keys, partial(self._judge_rows, table, read, items))

    def _judge_rows(
        self, table: CellTable, texts: pl.Series, items: pl.Series, at: pl.Series
    ) -> list[Cell]:
        responses = (Response(reading=Reading.TEXT, text=text) for text in texts[at].to_list())
        indices = zip(responses, items[at].to_list(), strict=True)
        return [mark_cell(table.spec.axis, response, self._items[at]) for response, at in indices]

    def _judge_whole_output(
        self, table: CellTable, text: str, spelled: Response, index: int
    ) -> int:
        """Return the code of an output that lacks the field: its cell also says that."""
        key = ("whole", text, index)
        code = table.codes_by_key.get(key)
        if code is None:
            response = Response(
                reading=spelled.reading,
                text=to_nfc(text),
                document=spelled.document,
                lacking=spelled.lacking,
            )
            code = table.add_cell(
                mark_cell(table.spec.axis, response, self._items[index]), key, text
            )
        return code


def _get_got_texts(alike: TemplateRows, name: str) -> pl.Series:
    """Return the texts of a field, or the whole text of an output without it."""
    read = alike.get_texts(name)
    if not read.null_count():
        return read
    lacks = read.is_null().arg_true()
    whole = pl.Series(map(to_nfc, alike.build_outputs_at(lacks)), dtype=pl.String)
    return read.scatter(lacks, whole)

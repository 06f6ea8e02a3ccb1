"""Read the responses of a batch into columns: one text column for each field that axes read.

A response of the usual shape, a JSON object of exactly those fields, is decoded by msgspec without
building the object. Any other output is read by `read_response`, the definition. Rows of line
templates come in columns already. All of them become one `ResponseColumns`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NoReturn, TypeAlias

import msgspec
import polars as pl
from msgspec import Struct

from markscheme.mark.response import read_response
from markscheme.read.answers import AnswerBatch, TemplateRows
from markscheme.read.nfc import convert_all_to_nfc, to_nfc
from markscheme.vocabulary import Response, ResponseFields

Output: TypeAlias = str | Mapping[str, Any]


class ResponseColumns(Struct, frozen=True, kw_only=True):
    """The responses of many outputs.

    `fields` holds the text of each field that axes read, null if a response has no such text. Rows
    of the same shape have the same reading and the same keys: `shapes` has the shape of each row,
    and `shape_examples` one response for each shape. `unusual` maps the positions of outputs that
    were read by the definition to their responses.
    """

    fields: Mapping[str, pl.Series]
    shapes: pl.Series
    shape_examples: Sequence[Response]
    unusual: Mapping[int, Response]
    get_outputs: Callable[[Sequence[int]], Sequence[Output]]
    accepted_fields: ResponseFields

    @property
    def readings(self) -> pl.Series:
        """How each output was read."""
        readings = [response.reading.value for response in self.shape_examples]
        return pl.Series(readings, dtype=pl.String)[self.shapes]

    def get_texts(self, name: str | None) -> pl.Series:
        """Return the texts of a field, null if a response lacks it; of `None`, all whole texts."""
        if name is not None:
            return self.fields[name]
        return pl.Series(self.get_whole_texts(range(len(self.shapes))), dtype=pl.String)

    def get_whole_texts(self, positions: Sequence[int]) -> list[str]:
        """Return the whole text of some responses."""
        usual = self._get_usual_outputs(positions)
        return [
            to_nfc(str(usual[at])) if at in usual else self.unusual[at].text for at in positions
        ]

    def read_responses(self, positions: Sequence[int]) -> list[Response]:
        """Return some responses as the definition reads them."""
        usual = self._get_usual_outputs(positions)
        return [
            read_response(usual[at], self.accepted_fields) if at in usual else self.unusual[at]
            for at in positions
        ]

    def _get_usual_outputs(self, positions: Sequence[int]) -> dict[int, Output]:
        """Return the raw outputs at some positions; unusual ones have been read already."""
        usual = [at for at in positions if at not in self.unusual]
        return dict(zip(usual, self.get_outputs(usual), strict=True))


class ResponseReader:
    """Reads outputs and template rows into columns, for the fields that axes read."""

    def __init__(self, fields: ResponseFields) -> None:
        self._fields = fields
        # Field names need not be Python names, so the decoded structs use names of their own.
        self._slots = {name: f"field_{at}" for at, name in enumerate(fields.accepted)}
        self._decode = _build_decoder(fields, self._slots)
        row_type = msgspec.defstruct("Row", [(slot, str) for slot in self._slots.values()])
        self._empty_row = row_type(*[""] * len(self._slots))

    def read_batch(self, batch: AnswerBatch) -> ResponseColumns:
        """Read all outputs of a batch, template rows first."""
        if not batch.template_rows:
            return self._read_outputs(batch.outputs)
        in_templates = self._read_template_rows(batch.template_rows)
        if not batch.outputs:
            return in_templates
        return _join_columns(in_templates, self._read_outputs(batch.outputs))

    def _read_outputs(self, outputs: Sequence[Output]) -> ResponseColumns:
        """Read raw outputs, by their shape if it is the usual one, else by the definition."""
        decode, unusual = self._decode, dict[int, Response]()
        rows: list[Any] = []
        add_row = rows.append
        for at, output in enumerate(outputs):
            try:
                add_row(decode(output))
            except (msgspec.MsgspecError, TypeError, UnicodeEncodeError):
                unusual[at] = read_response(output, self._fields)
                add_row(self._empty_row)
        columns = {}
        for name, slot in self._slots.items():
            texts: list[str | None] = list(convert_all_to_nfc(list(map(attrgetter(slot), rows))))
            for at, response in unusual.items():
                texts[at] = _get_text_field(response, name)
            columns[name] = pl.Series(name, texts, dtype=pl.String)
        # Shape 0 is the usual one; each unusual response has a shape of its own.
        shapes, examples = [0] * len(outputs), list(unusual.values())
        if len(unusual) < len(outputs):
            usual = next(at for at in range(len(outputs)) if at not in unusual)
            examples = [read_response(outputs[usual], self._fields), *examples]
        for shape, at in enumerate(unusual, len(examples) - len(unusual)):
            shapes[at] = shape
        return ResponseColumns(
            fields=columns,
            shapes=pl.Series(shapes, dtype=pl.UInt32),
            shape_examples=examples,
            unusual=unusual,
            get_outputs=lambda positions: [outputs[at] for at in positions],
            accepted_fields=self._fields,
        )

    def _read_template_rows(self, rows: TemplateRows) -> ResponseColumns:
        """Read template rows; all outputs of one template have the same shape."""
        return ResponseColumns(
            fields={name: rows.get_texts(name) for name in self._slots},
            shapes=rows.template_indexes,
            shape_examples=[
                read_response(template.empty_output, self._fields)
                for template in rows.output_templates
            ],
            unusual={},
            get_outputs=rows.build_outputs_at,
            accepted_fields=self._fields,
        )


def _join_columns(first: ResponseColumns, second: ResponseColumns) -> ResponseColumns:
    """Return the rows of both, so that each axis is looked up once for a whole batch."""
    count = len(first.shapes)

    def get_outputs(positions: Sequence[int]) -> Sequence[Output]:
        # Positions are sorted.
        cut = bisect_left(positions, count)
        rest = [at - count for at in positions[cut:]]
        return [*first.get_outputs(positions[:cut]), *second.get_outputs(rest)]

    return ResponseColumns(
        fields={
            name: pl.concat([texts, second.fields[name]]) for name, texts in first.fields.items()
        },
        shapes=pl.concat([first.shapes, second.shapes + len(first.shape_examples)]),
        shape_examples=[*first.shape_examples, *second.shape_examples],
        unusual={count + at: response for at, response in second.unusual.items()},
        get_outputs=get_outputs,
        accepted_fields=first.accepted_fields,
    )


def _get_text_field(response: Response, name: str) -> str | None:
    text = response.document.get(name) if response.document is not None else None
    return text if isinstance(text, str) else None


def _build_decoder(fields: ResponseFields, slots: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return a decoder of objects with exactly these text fields, or one that rejects all."""
    if not slots or fields.numeric or any(str not in types for types in fields.accepted.values()):
        return _reject_output
    try:
        row_type = msgspec.defstruct(
            "UsualResponse",
            [(slot, str) for slot in slots.values()],
            rename={slot: name for name, slot in slots.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
    # msgspec cannot rename a field to a name with a quotation mark in it.
    except ValueError:
        return _reject_output
    return msgspec.json.Decoder(row_type).decode


def _reject_output(_: Any) -> NoReturn:
    raise msgspec.MsgspecError

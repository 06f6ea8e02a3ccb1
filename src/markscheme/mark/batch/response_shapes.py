"""The usual shape of a response: a JSON object of exactly the fields that axes read, all text.

Nine answers in ten have it, and a decoder that knows the shape reads them without building what
nobody looks at. It decides nothing: what it does not take goes to the definition in `responses`,
and what it takes, the definition would have read in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from markscheme.mark.response import read_response
from markscheme.read.nfc import convert_all_to_nfc, to_nfc
from markscheme.vocabulary import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from markscheme.vocabulary import ResponseFields

    Output = str | Mapping[str, Any]


@dataclass(slots=True)
class ResponseTexts:
    """Outputs after reading: the text that each axis reads, and the responses that are unusual.

    `unusual` maps positions to responses; every other output has the usual shape.
    """

    fields: dict[str, Sequence[str]]
    unusual: dict[int, Response]
    outputs: Sequence[Any]

    def get_texts(self, name: str | None) -> Sequence[str]:
        """Return the text of a field for every output, or the whole text of every output."""
        if name is not None:
            return self.fields[name]
        unusual = self.unusual
        return [
            unusual[at].text if at in unusual else to_nfc(output)
            for at, output in enumerate(self.outputs)
        ]


class ResponseDecoder:
    """Reads outputs into columns of text, one for each field that axes read."""

    def __init__(self, fields: ResponseFields) -> None:
        self.fields = fields
        self._slots = {name: f"field_{at}" for at, name in enumerate(fields.accepted)}
        self._decode = _build_decoder(fields, self._slots)
        self._row_type = msgspec.defstruct("Row", [(slot, str) for slot in self._slots.values()])

    def read_outputs(self, outputs: Sequence[Output]) -> ResponseTexts:
        """Read every output, by its shape where it has it, else by the definition."""
        decode, unusual = self._decode, dict[int, Response]()
        rows: list[Any] = []
        add = rows.append
        for at, output in enumerate(outputs):
            try:
                add(decode(output))
            except (msgspec.MsgspecError, TypeError, UnicodeEncodeError):
                unusual[at] = response = read_response(output, self.fields)
                add(self._row_type(*map(response.text_of, self._slots)))
        columns = {
            name: convert_all_to_nfc(list(map(attrgetter(slot), rows)))
            for name, slot in self._slots.items()
        }
        return ResponseTexts(columns, unusual, outputs)


def _build_decoder(fields: ResponseFields, slots: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return a decoder of exactly these fields as texts, or one that takes nothing."""
    if not slots or fields.numeric or any(str not in types for types in fields.accepted.values()):
        return _reject_output
    try:
        usual = msgspec.defstruct(
            "Usual",
            [(slot, str) for slot in slots.values()],
            rename={slot: name for name, slot in slots.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
    except ValueError:  # a name with a quotation mark in it
        return _reject_output
    return msgspec.json.Decoder(usual).decode


def _reject_output(_: Any) -> NoReturn:
    raise msgspec.MsgspecError

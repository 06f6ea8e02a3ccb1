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

from markscheme.mark.responses import read_response
from markscheme.read.composed import all_composed, composed
from markscheme.vocabulary import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from markscheme.vocabulary import Fields

    Output = str | Mapping[str, Any]


@dataclass(slots=True)
class Texts:
    """Outputs after reading: the text that each axis reads, and the responses that are unusual.

    `unusual` maps positions to responses; every other output has the usual shape.
    """

    fields: dict[str, Sequence[str]]
    unusual: dict[int, Response]
    outputs: Sequence[Any]

    def of(self, name: str | None) -> Sequence[str]:
        """Return the text of a field for every output, or the whole text of every output."""
        if name is not None:
            return self.fields[name]
        unusual = self.unusual
        return [
            unusual[at].text if at in unusual else composed(output)
            for at, output in enumerate(self.outputs)
        ]


class Shape:
    """Reads outputs into columns of text, one for each field that axes read."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self._slots = {name: f"field_{at}" for at, name in enumerate(fields.accepted)}
        self._decode = _decoder(fields, self._slots)
        self._row = msgspec.defstruct("Row", [(slot, str) for slot in self._slots.values()])

    def read(self, outputs: Sequence[Output]) -> Texts:
        """Read every output, by its shape where it has it, else by the definition."""
        decode, unusual = self._decode, dict[int, Response]()
        rows: list[Any] = []
        add = rows.append
        for at, output in enumerate(outputs):
            try:
                add(decode(output))
            except (msgspec.MsgspecError, TypeError, UnicodeEncodeError):
                unusual[at] = response = read_response(output, self.fields)
                add(self._row(*map(response.text_of, self._slots)))
        columns = {
            name: all_composed(list(map(attrgetter(slot), rows)))
            for name, slot in self._slots.items()
        }
        return Texts(columns, unusual, outputs)


def _decoder(fields: Fields, slots: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return a decoder of exactly these fields as texts, or one that takes nothing."""
    if not slots or fields.numeric or any(str not in types for types in fields.accepted.values()):
        return _take_nothing
    try:
        usual = msgspec.defstruct(
            "Usual",
            [(slot, str) for slot in slots.values()],
            rename={slot: name for name, slot in slots.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
    except ValueError:  # a name with a quotation mark in it
        return _take_nothing
    return msgspec.json.Decoder(usual).decode


def _take_nothing(_: Any) -> NoReturn:
    raise msgspec.MsgspecError

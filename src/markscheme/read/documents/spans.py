"""Where values stand in the text of a YAML document, to the character.

So one value can be changed without touching anything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ruamel.yaml import events

from markscheme.read.documents.yaml import iterate_events
from markscheme.read.nfc import to_nfc

FieldPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpan:
    """From which character to which a plain or quoted value stands; `flow`: in brackets."""

    start: int
    end: int
    flow: bool
    quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSpans:
    """The spans of the values and of the keys of a document by their paths."""

    values: dict[FieldPath, TextSpan]
    keys: dict[FieldPath, TextSpan]


def find_spans(text: str) -> DocumentSpans:
    """Return the spans of a document that can be read; values with an anchor are left out."""
    finder = _SpanFinder()
    for event in iterate_events(text):
        finder.handle_event(event)
    return DocumentSpans(values=finder.values, keys=finder.keys)


class _SpanFinder:
    def __init__(self) -> None:
        self.values: dict[FieldPath, TextSpan] = {}
        self.keys: dict[FieldPath, TextSpan] = {}
        self.containers: list[tuple[bool, bool]] = []  # whether a mapping, whether in brackets
        self.path_parts: list[
            str | int | None
        ] = []  # the key that waits for its value, or the index

    def handle_event(self, event: Any) -> None:
        match event:
            case events.ScalarEvent() if self._is_key_expected():
                self.path_parts[-1] = to_nfc(str(event.value))
                self._record_span(self.keys, event)
            case events.ScalarEvent():
                if event.anchor is None:
                    self._record_span(self.values, event)
                self._finish_value()
            case events.AliasEvent():
                self._finish_value()
            case events.MappingStartEvent() | events.SequenceStartEvent():
                mapping = isinstance(event, events.MappingStartEvent)
                self.containers.append((mapping, bool(event.flow_style)))
                self.path_parts.append(None if mapping else 0)
            case events.MappingEndEvent() | events.SequenceEndEvent():
                self.containers.pop()
                self.path_parts.pop()
                self._finish_value()
            case _:
                pass

    def _is_key_expected(self) -> bool:
        return bool(self.containers) and self.containers[-1][0] and self.path_parts[-1] is None

    def _record_span(self, kept: dict[FieldPath, TextSpan], event: Any) -> None:
        path = tuple(place for place in self.path_parts if place is not None)
        kept[path] = TextSpan(
            start=event.start_mark.index,
            end=event.end_mark.index,
            flow=any(flow for _, flow in self.containers),
            quoted=bool(event.style),
        )

    def _finish_value(self) -> None:
        if not self.path_parts:
            return
        place = self.path_parts[-1]
        self.path_parts[-1] = place + 1 if isinstance(place, int) else None

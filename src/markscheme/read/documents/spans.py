"""Find the character span of every key and value of a YAML document.

`markscheme lint --fix` edits single values with it and leaves the rest of the text untouched. This
module is not behind the door of the package, because no other command needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ruamel.yaml import events

from markscheme.read.documents.yaml import FieldPath, iterate_events
from markscheme.read.nfc import to_nfc


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpan:
    """The start and end offset of a scalar. `flow`: it is written inside brackets or braces."""

    start: int
    end: int
    flow: bool
    quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSpans:
    """The spans of all values and of all keys of a document, by path."""

    values: dict[FieldPath, TextSpan]
    keys: dict[FieldPath, TextSpan]


def find_spans(text: str) -> DocumentSpans:
    """Return the spans of a valid document. Values with an anchor are left out.

    A value with an anchor may be used in other places too, so it must not be edited.
    """
    finder = _SpanFinder()
    for event in iterate_events(text):
        finder.handle_event(event)
    return DocumentSpans(values=finder.values, keys=finder.keys)


class _SpanFinder:
    def __init__(self) -> None:
        self.values: dict[FieldPath, TextSpan] = {}
        self.keys: dict[FieldPath, TextSpan] = {}
        # Per open container: whether it is a mapping, and whether it is written in flow style.
        self.containers: list[tuple[bool, bool]] = []
        # Per open container: the key that waits for its value, or the index of the next entry.
        self.path_parts: list[str | int | None] = []

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

    def _record_span(self, spans: dict[FieldPath, TextSpan], event: Any) -> None:
        path = tuple(part for part in self.path_parts if part is not None)
        spans[path] = TextSpan(
            start=event.start_mark.index,
            end=event.end_mark.index,
            flow=any(flow for _, flow in self.containers),
            quoted=bool(event.style),
        )

    def _finish_value(self) -> None:
        if not self.path_parts:
            return
        part = self.path_parts[-1]
        self.path_parts[-1] = part + 1 if isinstance(part, int) else None

"""Where values stand in the text of a YAML document, to the character.

So one value can be changed without touching anything else.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import events

from markscheme.read.composed import composed
from markscheme.read.events import events_of
from markscheme.values import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From which character to which a plain or quoted value stands; `flow`: in brackets."""

    start: int
    end: int
    flow: bool
    quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The spans of the values and of the keys of a document by their paths."""

    values: dict[Path, Span]
    keys: dict[Path, Span]


def spans_of(text: str) -> Spans:
    """Return the spans of a document that can be read; values with an anchor are left out."""
    finder = _Finder()
    for event in events_of(text):
        finder.take(event)
    return Spans(values=finder.values, keys=finder.keys)


class _Finder:
    def __init__(self) -> None:
        self.values: dict[Path, Span] = {}
        self.keys: dict[Path, Span] = {}
        self.holders: list[tuple[bool, bool]] = []  # whether a mapping, whether in brackets
        self.places: list[str | int | None] = []  # the key that waits for its value, or the index

    def take(self, event: Any) -> None:
        match event:
            case events.ScalarEvent() if self._expects_key():
                self.places[-1] = composed(str(event.value))
                self._keep(self.keys, event)
            case events.ScalarEvent():
                if event.anchor is None:
                    self._keep(self.values, event)
                self._value_done()
            case events.AliasEvent():
                self._value_done()
            case events.MappingStartEvent() | events.SequenceStartEvent():
                mapping = isinstance(event, events.MappingStartEvent)
                self.holders.append((mapping, bool(event.flow_style)))
                self.places.append(None if mapping else 0)
            case events.MappingEndEvent() | events.SequenceEndEvent():
                self.holders.pop()
                self.places.pop()
                self._value_done()
            case _:
                pass

    def _expects_key(self) -> bool:
        return bool(self.holders) and self.holders[-1][0] and self.places[-1] is None

    def _keep(self, kept: dict[Path, Span], event: Any) -> None:
        path = tuple(place for place in self.places if place is not None)
        kept[path] = Span(
            start=event.start_mark.index,
            end=event.end_mark.index,
            flow=any(flow for _, flow in self.holders),
            quoted=bool(event.style),
        )

    def _value_done(self) -> None:
        if not self.places:
            return
        place = self.places[-1]
        self.places[-1] = place + 1 if isinstance(place, int) else None

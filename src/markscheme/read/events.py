"""YAML of every kind, from the events of a parser, with a stack of our own.

NaN and infinity, tags, merge keys and a second document are refused. Nothing here recurses, so
depth cannot hurt; nesting and alias expansion have limits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml import events
from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from markscheme.errors import DocumentError, Problem
from markscheme.read.composed import to_nfc
from markscheme.read.scalars import UNUSABLE_NUMBER, parse_plain_scalar
from markscheme.read.syntax import suggest_yaml_fix
from markscheme.read.tree import YamlMapping, YamlSequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_DEPTH = 64
MAX_ALIAS_NODES = 100_000
MAX_PROBLEMS = 100

_LINE_BREAK_PATTERN = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class _YamlRefusal(Exception):  # noqa: N818 - internal: becomes a Problem at the door
    def __init__(self, line: int, message: str, field: str = "") -> None:
        super().__init__(message)
        self.problem = (line, field, message)


def parse_yaml(text: str, shown: str) -> YamlMapping:
    """Return the one mapping in a text, with the problems that did not keep it from being read."""
    builder = _TreeBuilder(shown)
    try:
        for event in iterate_events(text):
            builder.handle_event(event)
    except _YamlRefusal as refusal:
        raise builder.build_error(*refusal.problem) from None
    except MarkedYAMLError as error:
        raise builder.build_error(*_build_syntax_problem(error, text)) from None
    except YAMLError as error:
        message = f"not YAML: {str(error).splitlines()[0]}"
        raise builder.build_error(_find_bad_character_line(text), "", message) from None
    if not isinstance(builder.root, YamlMapping):
        problem = Problem(file=shown, line=1, field="", message=_describe_non_mapping(builder))
        raise DocumentError([problem])
    builder.root.problems = tuple(builder.problems)
    return builder.root


def _build_syntax_problem(error: MarkedYAMLError, text: str) -> tuple[int, str, str]:
    """Return line, field and message of what the parser could not read."""
    lines = _LINE_BREAK_PATTERN.split(text)
    mark, said = error.problem_mark or error.context_mark, error.problem or error.context or ""
    at = min(mark.line, len(lines) - 1) if mark else 0  # the parser puts the end one line further
    told = suggest_yaml_fix(said, lines[at], mark.column if mark else 0)
    return at + 1, "", f"not YAML: {said}; {told}" if told else f"not YAML: {said}"


def _describe_non_mapping(builder: _TreeBuilder) -> str:
    if builder.root is None:
        return "the file is empty; a mapping of keys to values is needed"
    kind = "a list" if isinstance(builder.root, YamlSequence) else "a single value"
    return f"the file holds {kind}; a mapping of keys to values is needed"


def _find_bad_character_line(text: str) -> int:
    for number, line in enumerate(text.split("\n"), start=1):
        if any(not (c.isprintable() or c in "\t\r\x85\xa0") for c in line):
            return number
    return 1


def iterate_events(text: str) -> Iterator[Any]:
    """Yield the events of the parser."""
    take = CParser(text).get_event
    while True:
        event = take()
        yield event
        if event is None or type(event) is events.StreamEndEvent:
            return


class _TreeBuilder:
    """Builds the tree from parser events with a stack of its own."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Any = None
        self.problems: list[Problem] = []
        self.stack: list[YamlMapping | YamlSequence] = []
        self.keys: list[tuple[str, int] | None] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open_anchors: list[tuple[str | None, int]] = []
        self.nodes = 0
        self.alias_nodes = 0
        self.documents = 0

    def handle_event(self, event: Any) -> None:
        taken = _EVENT_HANDLERS.get(type(event))
        if taken is not None:
            taken(self, event, event.start_mark.line + 1)

    def add_problem(self, line: int, field: str, message: str) -> None:
        """Keep a problem and read on."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(file=self.file, line=line, field=field, message=message))

    def build_error(self, line: int, field: str, message: str) -> DocumentError:
        """Return the error that ends the reading, with all that was noted before."""
        last = Problem(file=self.file, line=line, field=field, message=message)
        return DocumentError([*self.problems, last])

    def format_path(self) -> str:
        """Return the dotted path of the place where the parser stands."""
        parts = []
        for depth, (holder, key) in enumerate(zip(self.stack, self.keys, strict=True), start=1):
            if isinstance(holder, YamlSequence):
                parts.append(str(len(holder) - (depth < len(self.stack))))
            elif key is not None:
                parts.append(key[0])
        return ".".join(parts)

    def start_document(self, _: Any, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise _YamlRefusal(line, "a second document starts here; one file holds one")

    def _refuse_tag(self, event: Any, line: int) -> None:
        if str(event.tag) != "!":
            message = f"the tag `{event.tag}` is refused; plain values only"
            raise _YamlRefusal(line, message, self.format_path())

    def open_container(self, event: Any, line: int) -> None:
        if event.ctag is not None:
            self._refuse_tag(event, line)
        if len(self.stack) >= MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels, the most that is read"
            raise _YamlRefusal(line, message)
        holder = (
            YamlMapping(line) if type(event) is events.MappingStartEvent else YamlSequence(line)
        )
        if self._is_key_expected():
            raise _YamlRefusal(
                line, "a key must be plain text, not a list or mapping", self.format_path()
            )
        self.nodes += 1
        self._attach_value(holder, line)
        self.open_anchors.append((event.anchor, self.nodes))
        self.stack.append(holder)
        self.keys.append(None)

    def close_container(self, *_: Any) -> None:
        holder = self.stack.pop()
        self.keys.pop()
        anchor, start = self.open_anchors.pop()
        if anchor is not None:
            self.anchors[anchor] = (holder, self.nodes - start + 1)
        self._finish_value()

    def add_scalar(self, event: Any, line: int) -> None:
        if event.ctag is not None:
            self._refuse_tag(event, line)
        self.nodes += 1
        if self._is_key_expected():
            self._set_key(event, line)
            return
        value = self._parse_scalar(event, line)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        self._attach_value(value, line)
        self._finish_value()

    def add_alias(self, event: Any, line: int) -> None:
        if self._is_key_expected():
            raise _YamlRefusal(line, "an alias cannot be a key", self.format_path())
        if event.anchor not in self.anchors:
            raise _YamlRefusal(
                line, f"`*{event.anchor}` names no finished anchor", self.format_path()
            )
        value, size = self.anchors[event.anchor]
        self.nodes += size
        self.alias_nodes += size
        if self.alias_nodes > MAX_ALIAS_NODES:
            message = f"aliases expand to more than {MAX_ALIAS_NODES} values, the most that is read"
            raise _YamlRefusal(line, message, self.format_path())
        self._attach_value(value, line)
        self._finish_value()

    def _is_key_expected(self) -> bool:
        return bool(self.stack) and self.keys[-1] is None and type(self.stack[-1]) is YamlMapping

    def _set_key(self, event: Any, line: int) -> None:
        key = to_nfc(str(event.value))
        self.keys[-1] = (key, line)
        holder = self.stack[-1]
        if key == "<<" and not event.style:
            raise _YamlRefusal(
                line, "merge keys are refused; write the keys out", self.format_path()
            )
        if type(holder) is YamlMapping and key in holder:
            first = holder.lines[key]
            message = f"the key occurs twice, first on line {first}; each key may occur once"
            self.add_problem(line, self.format_path(), message)

    def _attach_value(self, value: Any, line: int) -> None:
        if not self.stack:
            self.root = value
            return
        holder, key = self.stack[-1], self.keys[-1]
        if type(holder) is YamlMapping and key is not None:
            if key[0] not in holder:
                holder.lines[key[0]] = key[1]
                holder[key[0]] = value
        elif type(holder) is YamlSequence:
            holder.lines.append(line)
            holder.append(value)

    def _finish_value(self) -> None:
        if self.keys:
            self.keys[-1] = None

    def _parse_scalar(self, event: Any, line: int) -> Any:
        text = to_nfc(str(event.value))
        if "\0" in text:
            self.add_problem(
                line, self.format_path(), "holds a NUL character, which no answer may hold either"
            )
        if event.style or not event.implicit[0]:
            return text
        value = parse_plain_scalar(text)
        if value is UNUSABLE_NUMBER:
            allowed = "finite numbers of fewer than 100 digits are allowed"
            message = f"`{text[:20]}` is not a number that can be used; {allowed}"
            self.add_problem(line, self.format_path(), message)
            return None
        return value


_EVENT_HANDLERS: dict[type, Callable[[_TreeBuilder, Any, int], None]] = {
    events.DocumentStartEvent: _TreeBuilder.start_document,
    events.ScalarEvent: _TreeBuilder.add_scalar,
    events.AliasEvent: _TreeBuilder.add_alias,
    events.MappingStartEvent: _TreeBuilder.open_container,
    events.SequenceStartEvent: _TreeBuilder.open_container,
    events.MappingEndEvent: _TreeBuilder.close_container,
    events.SequenceEndEvent: _TreeBuilder.close_container,
}

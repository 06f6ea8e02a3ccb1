"""YAML text to plain values that remember their lines. Closed, bounded, iterative.

Scalars follow the YAML 1.2 core schema (`no` is a word, `0o17` a number) with one change: a number
with a point or an exponent is a `Decimal`, so 0.60 is exactly 0.60. NaN and infinity, tags, merge
keys and a second document are refused. Nothing here recurses, so depth cannot hurt; nesting, size
and alias expansion have limits.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ruamel.yaml import events
from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from markscheme.errors import DocumentError, Problem
from markscheme.read.composed import composed
from markscheme.read.syntax import advice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 64
MAX_ALIAS_NODES = 100_000
MAX_PROBLEMS = 100

_CORE_SCHEMA: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"~|null|Null|NULL|"), lambda _: None),
    (re.compile(r"true|True|TRUE"), lambda _: True),
    (re.compile(r"false|False|FALSE"), lambda _: False),
    (re.compile(r"[-+]?[0-9]+"), int),
    (re.compile(r"0o[0-7]{1,80}|0x[0-9a-fA-F]{1,80}"), lambda text: int(text, 0)),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?"), Decimal),
)
_MAY_BE_MORE = frozenset(["", *"+-.0123456789~nNtTfF"])  # first characters of what is no word
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_LONG_NUMBER = re.compile(r"[-+0-9.eE]{100,}")
_NOT_A_NUMBER = re.compile(
    r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?[0-9.]*[0-9][0-9.]*[eE][-+]?[0-9]{5,}"
)


class Map(dict[str, Any]):
    """A mapping that knows its own line and the line of each of its keys.

    The root also holds the problems that did not keep the rest from being read.
    """

    __slots__ = ("line", "lines", "problems")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}
        self.problems: tuple[Problem, ...] = ()


class Seq(list[Any]):
    """A sequence that knows its own line and the line of each of its entries."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


class _Refusal(Exception):  # noqa: N818 - internal: becomes a Problem at the door
    def __init__(self, line: int, message: str, field: str = "") -> None:
        super().__init__(message)
        self.problem = (line, field, message)


def read_tree(path: Path, shown: str) -> Map:
    """Return the one mapping in the YAML file `path`, which messages call `shown`."""
    return parse_tree(read_bytes(path, shown), shown)


def read_bytes(path: Path, shown: str) -> bytes:
    """Return what is in a file that is not too large for a document."""
    try:
        return _read_bytes(path, shown)
    except OSError as error:
        raise _refused(shown, 1, f"cannot be read: {error.strerror or error}") from None


def _read_bytes(path: Path, shown: str) -> bytes:
    if path.is_dir():
        raise _refused(shown, 1, "is a folder; a YAML file is needed")
    with path.open("rb") as file:
        data: bytes = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        limit = MAX_BYTES // (1024 * 1024)
        raise _refused(shown, 1, f"the file is larger than {limit} MB, the most that is read")
    return data


def parse_tree(data: bytes, shown: str) -> Map:
    """Return the one mapping in `data`, with the problems that did not keep it from being read."""
    text = _decoded(data, shown)
    builder = _Builder(shown)
    try:
        for event in events_of(text):
            builder.take(event)
    except _Refusal as refusal:
        raise builder.refused(*refusal.problem) from None
    except MarkedYAMLError as error:
        raise builder.refused(*_syntax_problem(error, text)) from None
    except YAMLError as error:
        message = f"not YAML: {str(error).splitlines()[0]}"
        raise builder.refused(_bad_character_line(text), "", message) from None
    if not isinstance(builder.root, Map):
        raise _refused(shown, 1, _not_a_mapping(builder))
    builder.root.problems = tuple(builder.problems)
    return builder.root


def _syntax_problem(error: MarkedYAMLError, text: str) -> tuple[int, str, str]:
    """Return line, field and message of what the parser could not read."""
    lines = _LINE_BREAK.split(text)
    mark, said = error.problem_mark or error.context_mark, error.problem or error.context or ""
    at = min(mark.line, len(lines) - 1) if mark else 0  # the parser puts the end one line further
    told = advice(said, lines[at], mark.column if mark else 0)
    return at + 1, "", f"not YAML: {said}; {told}" if told else f"not YAML: {said}"


def _not_a_mapping(builder: _Builder) -> str:
    if builder.root is None:
        return "the file is empty; a mapping of keys to values is needed"
    kind = "a list" if isinstance(builder.root, Seq) else "a single value"
    return f"the file holds {kind}; a mapping of keys to values is needed"


def _decoded(data: bytes, shown: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{data[error.start]:02x} at position {error.start}"
        raise _refused(shown, line, f"{message}; save the file as UTF-8") from None


def _bad_character_line(text: str) -> int:
    for number, line in enumerate(text.split("\n"), start=1):
        if any(not (c.isprintable() or c in "\t\r\x85\xa0") for c in line):
            return number
    return 1


def _refused(shown: str, line: int, message: str) -> DocumentError:
    return DocumentError([Problem(file=shown, line=line, field="", message=message)])


def events_of(text: str) -> Iterator[Any]:
    """Yield the events of the parser."""
    take = CParser(text).get_event
    while True:
        event = take()
        yield event
        if event is None or type(event) is events.StreamEndEvent:
            return


class _Builder:
    """Builds the tree from parser events with a stack of its own."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Any = None
        self.problems: list[Problem] = []
        self.stack: list[Map | Seq] = []
        self.keys: list[tuple[str, int] | None] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.opened: list[tuple[str | None, int]] = []
        self.nodes = 0
        self.alias_nodes = 0
        self.documents = 0

    def take(self, event: Any) -> None:
        taken = _TAKEN.get(type(event))
        if taken is not None:
            taken(self, event, event.start_mark.line + 1)

    def note(self, line: int, field: str, message: str) -> None:
        """Keep a problem and read on."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(file=self.file, line=line, field=field, message=message))

    def refused(self, line: int, field: str, message: str) -> DocumentError:
        """Return the error that ends the reading, with all that was noted before."""
        last = Problem(file=self.file, line=line, field=field, message=message)
        return DocumentError([*self.problems, last])

    def path(self) -> str:
        """Return the dotted path of the place where the parser stands."""
        parts = []
        for depth, (holder, key) in enumerate(zip(self.stack, self.keys, strict=True), start=1):
            if isinstance(holder, Seq):
                parts.append(str(len(holder) - (depth < len(self.stack))))
            elif key is not None:
                parts.append(key[0])
        return ".".join(parts)

    def start(self, _: Any, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise _Refusal(line, "a second document starts here; one file holds one")

    def _refuse_tag(self, event: Any, line: int) -> None:
        if str(event.tag) != "!":
            message = f"the tag `{event.tag}` is refused; plain values only"
            raise _Refusal(line, message, self.path())

    def open(self, event: Any, line: int) -> None:
        if event.ctag is not None:
            self._refuse_tag(event, line)
        if len(self.stack) >= MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels, the most that is read"
            raise _Refusal(line, message)
        holder = Map(line) if type(event) is events.MappingStartEvent else Seq(line)
        if self._expects_key():
            raise _Refusal(line, "a key must be plain text, not a list or mapping", self.path())
        self.nodes += 1
        self._attach(holder, line)
        self.opened.append((event.anchor, self.nodes))
        self.stack.append(holder)
        self.keys.append(None)

    def close(self, *_: Any) -> None:
        holder = self.stack.pop()
        self.keys.pop()
        anchor, start = self.opened.pop()
        if anchor is not None:
            self.anchors[anchor] = (holder, self.nodes - start + 1)
        self._value_done()

    def scalar(self, event: Any, line: int) -> None:
        if event.ctag is not None:
            self._refuse_tag(event, line)
        self.nodes += 1
        if self._expects_key():
            self._take_key(event, line)
            return
        value = self._value_of(event, line)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        self._attach(value, line)
        self._value_done()

    def alias(self, event: Any, line: int) -> None:
        if self._expects_key():
            raise _Refusal(line, "an alias cannot be a key", self.path())
        if event.anchor not in self.anchors:
            raise _Refusal(line, f"`*{event.anchor}` names no finished anchor", self.path())
        value, size = self.anchors[event.anchor]
        self.nodes += size
        self.alias_nodes += size
        if self.alias_nodes > MAX_ALIAS_NODES:
            message = f"aliases expand to more than {MAX_ALIAS_NODES} values, the most that is read"
            raise _Refusal(line, message, self.path())
        self._attach(value, line)
        self._value_done()

    def _expects_key(self) -> bool:
        return bool(self.stack) and self.keys[-1] is None and type(self.stack[-1]) is Map

    def _take_key(self, event: Any, line: int) -> None:
        key = composed(str(event.value))
        self.keys[-1] = (key, line)
        holder = self.stack[-1]
        if key == "<<" and not event.style:
            raise _Refusal(line, "merge keys are refused; write the keys out", self.path())
        if type(holder) is Map and key in holder:
            first = holder.lines[key]
            message = f"the key occurs twice, first on line {first}; each key may occur once"
            self.note(line, self.path(), message)

    def _attach(self, value: Any, line: int) -> None:
        if not self.stack:
            self.root = value
            return
        holder, key = self.stack[-1], self.keys[-1]
        if type(holder) is Map and key is not None:
            if key[0] not in holder:
                holder.lines[key[0]] = key[1]
                holder[key[0]] = value
        elif type(holder) is Seq:
            holder.lines.append(line)
            holder.append(value)

    def _value_done(self) -> None:
        if self.keys:
            self.keys[-1] = None

    def _value_of(self, event: Any, line: int) -> Any:
        text = composed(str(event.value))
        if "\0" in text:
            self.note(line, self.path(), "holds a NUL character, which no answer may hold either")
        if event.style or not event.implicit[0] or text[:1] not in _MAY_BE_MORE:
            return text
        if _NOT_A_NUMBER.fullmatch(text) or _LONG_NUMBER.fullmatch(text):
            allowed = "finite numbers of fewer than 100 digits are allowed"
            message = f"`{text[:20]}` is not a number that can be used; {allowed}"
            self.note(line, self.path(), message)
            return None
        return _plain_value(text)


_TAKEN: dict[type, Callable[[_Builder, Any, int], None]] = {
    events.DocumentStartEvent: _Builder.start,
    events.ScalarEvent: _Builder.scalar,
    events.AliasEvent: _Builder.alias,
    events.MappingStartEvent: _Builder.open,
    events.SequenceStartEvent: _Builder.open,
    events.MappingEndEvent: _Builder.close,
    events.SequenceEndEvent: _Builder.close,
}


def _plain_value(text: str) -> Any:
    for pattern, made in _CORE_SCHEMA:
        if pattern.fullmatch(text):
            return made(text)
    return text


def line_of(tree: Map, path: tuple[str | int, ...]) -> int:
    """Return the line of the deepest part of `path` that the tree holds."""
    line = tree.line
    node: Any = tree
    for part in path:
        if isinstance(node, Map) and part in node.lines:
            line, node = node.lines[str(part)], node[str(part)]
        elif isinstance(node, Seq) and isinstance(part, int) and part < len(node):
            line, node = node.lines[part], node[part]
        else:
            break
    return line

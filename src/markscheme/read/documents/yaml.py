r"""Parse YAML documents into plain values that remember their lines.

The events of ruamel.yaml's C parser (libyaml) are built into a tree of `YamlMapping` and
`YamlSequence`. Scalars follow the YAML 1.2 core schema (`no` is a word, `0o17` is a number), with
one change: a number with a point or an exponent is a `Decimal`, so 0.60 is exactly 0.60.

Input is bounded: file size, nesting depth and alias expansion have limits, and the builder does
not recurse. Tags, merge keys, NaN, infinity and a second document are refused.

>>> tree = parse_yaml("rubric: capitals\npass_mark: 0.90\n", "rubric.yaml")
>>> tree["pass_mark"], tree.lines["pass_mark"]
(Decimal('0.90'), 2)
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from ruamel.yaml import events
from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from markscheme.read.nfc import to_nfc
from markscheme.read.special_files import describe_special_file
from markscheme.vocabulary import DocumentError, Problem

FieldPath = tuple[str | int, ...]
"""Where a value is in a document: keys of mappings and indexes of lists, from the root."""


class YamlMapping(dict[str, Any]):
    """A mapping that knows its own line and the line of each of its keys.

    In the root mapping, `problems` holds the mistakes that did not prevent reading the rest.
    """

    __slots__ = ("line", "lines", "problems")

    def __init__(self, line: int) -> None:
        self.line = line
        self.lines: dict[str, int] = {}
        self.problems: tuple[Problem, ...] = ()


class YamlSequence(list[Any]):
    """A sequence that knows its own line and the line of each of its entries."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        self.line = line
        self.lines: list[int] = []


def find_line(tree: YamlMapping | YamlSequence, path: FieldPath) -> int:
    """Return the line of the deepest part of `path` that is in the tree."""
    line = tree.line
    node: Any = tree
    for part in path:
        if isinstance(node, YamlMapping) and part in node.lines:
            line, node = node.lines[str(part)], node[str(part)]
        elif isinstance(node, YamlSequence) and isinstance(part, int) and part < len(node):
            line, node = node.lines[part], node[part]
        else:
            break
    return line


_WORD_VALUES: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# These patterns are compiled on first use; most documents only need the first two.
_NUMBER_PARSERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    (r"[-+]?[0-9]+", int),
    (r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?", Decimal),
    (r"0o[0-7]{1,80}|0x[0-9a-fA-F]{1,80}", lambda text: int(text, 0)),
)
# The first and last characters that a number can have. Nearly all scalars are words, and this
# test spares them the regular expressions.
_FIRST_CHARACTERS = frozenset("+-.0123456789")
_LAST_CHARACTERS = frozenset(".0123456789abcdefABCDEFnN")
_LONG_NUMBER_LENGTH, _LONG_NUMBER_PATTERN = 100, r"[-+0-9.eE]+"
_UNUSABLE_PATTERN = (
    r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?[0-9.]*[0-9][0-9.]*[eE][-+]?[0-9]{5,}"
)
UNUSABLE_NUMBER: Any = object()
"""The value of NaN, infinity and numbers with too many digits, which are refused."""


def parse_plain_scalar(text: str) -> Any:
    """Return the value of a scalar that is written without quotation marks.

    >>> [parse_plain_scalar(text) for text in ("no", "true", "0.60", "0x10", "~")]
    ['no', True, Decimal('0.60'), 16, None]
    """
    if text in _WORD_VALUES:
        return _WORD_VALUES[text]
    if text[0] not in _FIRST_CHARACTERS:
        return text
    if len(text) >= _LONG_NUMBER_LENGTH and re.fullmatch(_LONG_NUMBER_PATTERN, text):
        return UNUSABLE_NUMBER
    if text[-1] not in _LAST_CHARACTERS:
        return text
    for pattern, parse_number in _NUMBER_PARSERS:
        if re.fullmatch(pattern, text):
            return parse_number(text)
    return UNUSABLE_NUMBER if re.fullmatch(_UNUSABLE_PATTERN, text) else text


_COLON_ADVICE = "a value with a colon and a space in it must stand in quotation marks"
# The parser says what it met, not what to do. Keys are parts of its messages.
_ADVICE_BY_ERROR = {
    "mapping values are not allowed": _COLON_ADVICE,
    "unexpected end of stream": "a quotation mark is never closed",
    "',' or ']'": "a comma is missing in a list, or `[` is never closed",
    "',' or '}'": "a comma is missing in a mapping, or `{` is never closed",
    "expected '-' indicator": "keys of one entry must begin in the same column",
    "expected key": "keys that belong together must begin in the same column",
    "could not find expected ':'": "a key must be followed by a colon and a space",
}


def suggest_yaml_fix(problem: str, line: str, column: int) -> str:
    """Return advice on a syntax error at a column of a line, or an empty text.

    >>> suggest_yaml_fix("found character that cannot start any token", "prompt: @who", 8)
    'a value that begins with `@` must stand in quotation marks'
    """
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "indent with spaces; YAML takes no tabs"
    if "cannot start any token" in problem and line[column : column + 1].strip():
        return f"a value that begins with `{line[column]}` must stand in quotation marks"
    return next((advice for part, advice in _ADVICE_BY_ERROR.items() if part in problem), "")


MAX_DEPTH = 64
MAX_ALIAS_NODES = 100_000
MAX_PROBLEMS = 100

_LINE_BREAK_PATTERN = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class _YamlRefusal(Exception):  # noqa: N818 - internal: `parse_yaml` turns it into a Problem
    """Ends the parsing at a construct that is not allowed."""

    def __init__(self, line: int, message: str, field: str = "") -> None:
        super().__init__(message)
        self.problem = (line, field, message)


def parse_yaml(text: str, shown: str) -> YamlMapping:
    """Return the one mapping in a text; messages call the text `shown`.

    Mistakes after which reading can go on (a duplicate key, NaN) are in its `problems`.

    Raises:
        DocumentError: the text is not YAML, or uses something that is not allowed.
    """
    root, problems = parse_yaml_value(text, shown)
    if not isinstance(root, YamlMapping):
        problem = Problem(file=shown, line=1, field="", message=_describe_non_mapping(root))
        raise DocumentError([problem])
    root.problems = problems
    return root


def parse_yaml_value(text: str, shown: str) -> tuple[Any, tuple[Problem, ...]]:
    """Return the one value in a text, and the mistakes after which reading could go on.

    Raises:
        DocumentError: the text is not YAML, or uses something that is not allowed.
    """
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
    return builder.root, tuple(builder.problems)


def _build_syntax_problem(error: MarkedYAMLError, text: str) -> tuple[int, str, str]:
    """Return line, field and message for a syntax error of the parser."""
    lines = _LINE_BREAK_PATTERN.split(text)
    mark = error.problem_mark or error.context_mark
    message = error.problem or error.context or ""
    # The parser places an error at the end of the text one line too far.
    at = min(mark.line, len(lines) - 1) if mark else 0
    advice = suggest_yaml_fix(message, lines[at], mark.column if mark else 0)
    return at + 1, "", f"not YAML: {message}; {advice}" if advice else f"not YAML: {message}"


def _describe_non_mapping(root: Any) -> str:
    if root is None:
        return "the file is empty; a mapping of keys to values is needed"
    kind = "a list" if isinstance(root, YamlSequence) else "a single value"
    return f"the file holds {kind}; a mapping of keys to values is needed"


def _find_bad_character_line(text: str) -> int:
    for number, line in enumerate(text.split("\n"), start=1):
        if any(not (c.isprintable() or c in "\t\r\x85\xa0") for c in line):
            return number
    return 1


def iterate_events(text: str) -> Iterator[Any]:
    """Yield the parser events of a YAML text."""
    get_event = CParser(text).get_event
    while True:
        event = get_event()
        yield event
        if event is None or type(event) is events.StreamEndEvent:
            return


class _TreeBuilder:
    """Builds the tree from parser events, with an explicit stack instead of recursion."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Any = None
        self.problems: list[Problem] = []
        self.documents = 0
        # One entry per open container in both lists: the container, and the key (with its line)
        # that waits for its value. The key is None between two entries, and always in a sequence.
        self.stack: list[YamlMapping | YamlSequence] = []
        self.keys: list[tuple[str, int] | None] = []
        # Finished anchors with their value and its number of nodes; per open container its anchor
        # and the number of nodes before it. Aliases are counted, so an alias bomb stays harmless.
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open_anchors: list[tuple[str | None, int]] = []
        self.nodes = 0
        self.alias_nodes = 0

    def handle_event(self, event: Any) -> None:
        handler = _EVENT_HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event, event.start_mark.line + 1)

    def add_problem(self, line: int, field: str, message: str) -> None:
        """Record a problem and continue."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(file=self.file, line=line, field=field, message=message))

    def build_error(self, line: int, field: str, message: str) -> DocumentError:
        """Return the error that ends the parsing, with all problems recorded before it."""
        last = Problem(file=self.file, line=line, field=field, message=message)
        return DocumentError([*self.problems, last])

    def format_path(self) -> str:
        """Return the dotted path of the current position."""
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


MAX_DOCUMENT_BYTES = 32 * 1024 * 1024


def read_tree(path: Path, shown: str) -> YamlMapping:
    """Read and parse the YAML file `path`, which messages call `shown`."""
    return parse_tree(read_document_bytes(path, shown), shown)


def read_document_bytes(path: Path, shown: str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Return the bytes of a file; refuse a folder and a file of more than `most` bytes."""
    try:
        if path.is_dir():
            raise _build_document_error(shown, 1, "is a folder; a file is needed")
        if fault := describe_special_file(path, allow_shell_pipes=True):
            raise _build_document_error(shown, 1, fault)
        with path.open("rb") as file:
            data: bytes = file.read(most + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise _build_document_error(shown, 1, message) from error
    if len(data) > most:
        limit = most // (1024 * 1024)
        raise _build_document_error(
            shown, 1, f"the file is larger than {limit} MB, the most that is read"
        )
    return data


def parse_tree(data: bytes, shown: str) -> YamlMapping:
    """Decode and parse the bytes of a YAML file; see `parse_yaml`."""
    return parse_yaml(decode_document(data, shown), shown)


def decode_document(data: bytes, shown: str) -> str:
    """Decode UTF-8, with or without a byte order mark."""
    data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{data[error.start]:02x} at position {error.start}"
        raise _build_document_error(shown, line, f"{message}; save the file as UTF-8") from None


def _build_document_error(shown: str, line: int, message: str) -> DocumentError:
    return DocumentError([Problem(file=shown, line=line, field="", message=message)])

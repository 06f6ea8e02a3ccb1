"""Documents that are written plainly, read line by line: several times as fast as by a parser.

Plain is a mapping whose lines are `key: value`, `- value` or `- key: value`, with values that end
on their line: words, numbers, quoted texts, words in brackets, and JSON. Whatever is not certain to
be so is left to the parser, and so is every mistake.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

from markscheme.read.composed import composed, is_composed
from markscheme.read.scalars import UNUSABLE, plain_value
from markscheme.read.tree import Map, Seq

_DEEPEST = 16
_LONGEST_KEY = 100
_KEY = "[A-Za-z_][A-Za-z0-9_.-]{0,99}"
_LINE = re.compile(rf"^( *)(- )?(?:({_KEY}):(?: +|$))?(.*)$", re.MULTILINE)
_REST = "(?: +#.*| *)"  # of a line, after a value
_ESCAPE = re.compile(r'\\(?:["\\n]|u0(?:0[a-f]|[12][0-9a-f])[0-9a-f])')  # in JSON and YAML alike
_TEXT = re.compile(rf"""(?:"([^"\\]*)"|'([^']*)'){_REST}""")
_ESCAPED = re.compile(rf'("(?:[^"\\]|{_ESCAPE.pattern})*"){_REST}')
_START = r"(?:[A-Za-z0-9_(/<$~^;]|[^\x00-\xa0]|[.+-](?=[A-Za-z0-9]))"
_STARTS = re.compile(_START)
_WORD = rf"{_START}[^\[\]{{}},:#?]*"
_WORDS = re.compile(rf"\[ *({_WORD}(?:, *{_WORD})*)\]{_REST}")
_PAIR = rf"{_KEY}: +{_WORD}"
_PAIRS = re.compile(rf"\{{ *({_PAIR}(?:, *{_PAIR})*)\}}{_REST}")


class _Unsure(Exception):  # noqa: N818 - internal: the parser knows
    """The document is not plain, or something is wrong with it."""


class _Open(NamedTuple):
    """A mapping or list that goes on, and the column in which its keys or dashes stand."""

    column: int
    holder: Map | Seq


def read_plainly(text: str) -> Map | None:
    """Return the tree of a text that is written plainly; none where it is not."""
    text = text.replace("\r\n", "\n")
    if not text.replace("\n", "").isprintable() or not is_composed(text):
        return None
    try:
        tree = _json(text.rstrip("\n"), 1) if text.startswith("{") else _Lines().tree(text)
    except (_Unsure, ValueError, RecursionError):
        return None
    return tree if isinstance(tree, Map) else None


class _Lines:
    """The mappings and lists that are open, the outermost first, and the key without a value."""

    def __init__(self) -> None:
        self.root = Map(0)
        self.open = [_Open(0, self.root)]
        self.key: str | None = None

    def tree(self, text: str) -> Map:
        """Return the tree of a text."""
        for number, parts in enumerate(_LINE.findall(text), start=1):
            self._take(number, *parts)
        if not self.root:
            raise _Unsure
        self.root.line = next(iter(self.root.lines.values()))
        return self.root

    def _take(self, number: int, indent: str, dash: str, key: str, rest: str) -> None:
        """Take one line by its parts; one that is empty or a comment says nothing."""
        empty = not rest or rest[0] == "#"
        if empty and not dash and not key:
            return
        column = len(indent)
        holder = self._holder_at(column, number, entries=bool(dash))
        if type(holder) is Seq:
            holder.lines.append(number)
            if not key:
                holder.append(_value(rest, number))
                return
            inner = Map(number)
            holder.append(inner)
            self._go_into(inner, column + len("- "))
            holder = inner
        if not key or type(holder) is not Map or key in holder:
            raise _Unsure
        holder.lines[key] = number
        holder[key] = None if empty else _value(rest, number)
        self.key = key if empty else None

    def _holder_at(self, column: int, number: int, *, entries: bool) -> Map | Seq:
        """Return what a line at this column goes on with, or begins."""
        at, holder = self.open[-1]
        key, self.key = self.key, None
        if key is not None and (column > at or (column == at and entries)):
            inner = Seq(number) if entries else Map(number)
            holder[key] = inner  # type: ignore[call-overload]
            self._go_into(inner, column)
            return inner
        while at > column or (at == column and entries != (type(holder) is Seq)):
            self.open.pop()
            if not self.open:
                raise _Unsure
            at, holder = self.open[-1]
        if at != column:
            raise _Unsure
        return holder

    def _go_into(self, holder: Map | Seq, column: int) -> None:
        self.open.append(_Open(column, holder))
        if len(self.open) > _DEEPEST:
            raise _Unsure


def _value(text: str, line: int) -> Any:
    """Return the value that the rest of a line holds."""
    if text[:1] in {'"', "'"}:
        return _quoted(text)
    if text[:1] in {"[", "{"}:
        return _in_brackets(text, line)
    if not _STARTS.match(text):
        raise _Unsure
    bare = text.partition(" #")[0].rstrip(" ")
    if ": " in bare or bare[-1] == ":":
        raise _Unsure
    return _plain(bare)


def _plain(text: str) -> Any:
    value = plain_value(text)
    if value is UNUSABLE:
        raise _Unsure
    return value


def _quoted(text: str) -> str:
    found = _TEXT.fullmatch(text)
    if found is not None:
        return found[found.lastindex or 0]
    escaped = _ESCAPED.fullmatch(text)
    if escaped is None:
        raise _Unsure
    return composed(json.loads(escaped[1]))


def _in_brackets(text: str, line: int) -> Any:
    if text[1:2] == '"':
        return _json(text, line)
    words = _WORDS.fullmatch(text)
    if words is not None:
        return _placed([_plain(word.strip(" ")) for word in words[1].split(",")], line)
    pairs = _PAIRS.fullmatch(text)
    if pairs is not None:
        split = (pair.partition(":") for pair in pairs[1].split(","))
        told = _mapped([(key.strip(" "), _plain(word.strip(" "))) for key, _, word in split])
        return _placed(told, line)
    return _json(text, line)


def _json(text: str, line: int) -> Map | Seq:
    """Return what JSON on one line holds."""
    if "\n" in text or ("\\" in text and "\\" in _ESCAPE.sub("", text)):
        raise _Unsure
    if "\\u" in text and not text.isascii():  # what is escaped may combine with what is not
        raise _Unsure
    found, end = _DECODER.raw_decode(text)
    if end < len(text) and text[end:].strip(" "):
        raise _Unsure
    holder: Map | Seq = _placed(found, line)
    return holder


def _refuse(_: str) -> NoReturn:
    raise _Unsure


def _mapped(pairs: list[tuple[str, Any]]) -> Map:
    made = Map(0)
    made.update(pairs)
    if len(made) < len(pairs):
        raise _Unsure
    return made


_DECODER = json.JSONDecoder(
    object_pairs_hook=_mapped, parse_float=_plain, parse_int=_plain, parse_constant=_refuse
)


def _placed(value: Any, line: int, depth: int = 0) -> Any:
    """Return a value with every mapping and list in it as one that knows its lines."""
    if depth > _DEEPEST:
        raise _Unsure
    if type(value) is Map:
        value.line, value.lines = line, dict.fromkeys(value, line)
        for key, inner in value.items():
            if len(key) > _LONGEST_KEY:
                raise _Unsure
            if type(inner) is not str:
                value[key] = _placed(inner, line, depth + 1)
    elif type(value) is list:
        made = Seq(line)
        made += value
        made.lines = [line] * len(value)
        for at, one in enumerate(value):
            if type(one) is not str:
                made[at] = _placed(one, line, depth + 1)
        return made
    return value

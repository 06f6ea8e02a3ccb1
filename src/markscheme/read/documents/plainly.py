"""Documents that are written plainly, read line by line: several times as fast as by a parser.

Plain is a mapping whose lines are `key: value`, `- value` or `- key: value`, with values that end
on their line: words, numbers, quoted texts, words in brackets, and JSON. Whatever is not certain to
be so is left to the parser, and so is every mistake.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NoReturn

from markscheme.read.nfc import is_nfc, to_nfc
from markscheme.read.documents.yaml import UNUSABLE_NUMBER, parse_plain_scalar
from markscheme.read.documents.yaml import YamlMapping, YamlSequence

_DEEPEST = 16
_LONGEST_KEY = 100
_SHORT = 1_000  # so short a text has no key that is too long, however it is written
_KEY = "[A-Za-z_][A-Za-z0-9_.-]{0,99}"
_LINE = re.compile(rf"^( *)(- |)(?:({_KEY}):(?: +|$)|)(.*)", re.MULTILINE)
_REST = "(?: +#.*| *)"  # of a line, after a value
_AFTER = re.compile(_REST)
# Patterns that are compiled where they are used: few documents need them all.
_ESCAPE = r'\\(?:["\\n]|u0(?:0[a-f]|[12][0-9a-f])[0-9a-f])'  # in JSON and YAML alike
_ESCAPED = rf'("(?:[^"\\]|{_ESCAPE})*"){_REST}'
_START = r"(?:[A-Za-z0-9_(/<$~^;]|[^\x00-\xa0]|[.+-](?=[A-Za-z0-9]))"
_WORD = rf"{_START}[^\[\]{{}},:#?]*"
_WORDS = rf"\[ *({_WORD}(?:, *{_WORD})*)\]{_REST}"
_PAIR = rf"{_KEY}: +{_WORD}"
_PAIRS = rf"\{{ *({_PAIR}(?:, *{_PAIR})*)\}}{_REST}"
_PRINTABLE = bytes([ord("\n"), *range(0x20, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])


class _Unsure(Exception):  # noqa: N818 - internal: the parser knows
    """The document is not plain, or something is wrong with it."""


def read_plainly(text: str) -> YamlMapping | None:
    """Return the tree of a text that is written plainly; none where it is not."""
    text = text.replace("\r\n", "\n")
    if not _is_printable(text):
        return None
    try:
        return _one_line(text.rstrip("\n")) if text.startswith("{") else _Lines().tree(text)
    except (_Unsure, ValueError, RecursionError):
        return None


def _one_line(text: str) -> YamlMapping:
    root = YamlMapping(1)
    root.update(_json(text))
    root.lines = dict.fromkeys(root, 1)
    return root


def _is_printable(text: str) -> bool:
    """Whether a text holds nothing but signs and line breaks, and is in NFC."""
    try:
        return not text.encode("latin-1").translate(None, _PRINTABLE)
    except UnicodeEncodeError:
        return text.replace("\n", "").isprintable() and is_nfc(text)


class _Lines:
    """The mappings and lists that are open, the outermost first, and the key without a value.

    With each of them stand the column of its keys or dashes, and the dash if it has them.
    """

    def __init__(self) -> None:
        self.root = YamlMapping(0)
        self.open: list[tuple[int, str, Any]] = [(0, "", self.root)]
        self.key: str | None = None

    def tree(self, text: str) -> YamlMapping:
        """Return the tree of a text."""
        for number, (indent, dash, key, rest) in enumerate(_LINE.findall(text), start=1):
            if key or dash or (rest and rest[0] != "#"):  # what is empty or a comment says nothing
                self._take(number, len(indent), dash, key, rest)
        if not self.root:
            raise _Unsure
        self.root.line = next(iter(self.root.lines.values()))
        return self.root

    def _take(self, number: int, column: int, dash: str, key: str, rest: str) -> None:
        """Take one line by its parts."""
        at, sign, holder = self.open[-1]
        if column != at or dash != sign or self.key is not None:
            holder = self._holder_at(column, dash, number)
        if dash:
            holder.lines.append(number)
            if not key:
                holder.append(_value(rest))
                return
            holder.append(YamlMapping(number))
            holder = self._go_into(holder[-1], column + len(dash), "")
        if not key or key in holder:
            raise _Unsure
        holder.lines[key] = number
        if rest and rest[0] != "#":
            holder[key] = _value(rest)
        else:
            holder[key], self.key = None, key

    def _holder_at(self, column: int, dash: str, number: int) -> Any:
        """Return what a line at this column goes on with, or begins."""
        at, sign, holder = self.open[-1]
        key, self.key = self.key, None
        if key is not None and (column > at or (column == at and dash)):
            holder[key] = YamlSequence(number) if dash else YamlMapping(number)
            return self._go_into(holder[key], column, dash)
        while at > column or (at == column and dash != sign):
            self.open.pop()
            if not self.open:
                raise _Unsure
            at, sign, holder = self.open[-1]
        if at != column:
            raise _Unsure
        return holder

    def _go_into(
        self, holder: YamlMapping | YamlSequence, column: int, dash: str
    ) -> YamlMapping | YamlSequence:
        self.open.append((column, dash, holder))
        if len(self.open) > _DEEPEST:
            raise _Unsure
        return holder


def _value(text: str) -> Any:
    """Return the value that the rest of a line holds."""
    first = text[:1]
    if first in {'"', "'"}:
        return _quoted(text)
    if first in {"[", "{"}:
        return _in_brackets(text)
    if not (first.isalnum() or re.match(_START, text)):
        raise _Unsure
    bare = text.partition(" #")[0].rstrip(" ")
    if ": " in bare or bare[-1] == ":":
        raise _Unsure
    return _plain(bare)


def _plain(text: str) -> Any:
    value = parse_plain_scalar(text)
    if value is UNUSABLE_NUMBER:
        raise _Unsure
    return value


def _quoted(text: str) -> str:
    inside, end, after = text[1:].partition(text[0])
    escapes = text[0] == '"' and "\\" in inside
    if end and not escapes and (not after or _AFTER.fullmatch(after)):
        return inside
    escaped = re.fullmatch(_ESCAPED, text)
    if escaped is None:
        raise _Unsure
    return to_nfc(json.loads(escaped[1]))


def _in_brackets(text: str) -> Any:
    if text[1:2] == '"':
        return _json(text)
    found = _of_words(text)
    return _json(text) if found is None else found.copy()


@lru_cache(maxsize=4096)  # tags and the like recur from item to item
def _of_words(text: str) -> list[Any] | dict[str, Any] | None:
    if text[0] == "[" and (words := re.fullmatch(_WORDS, text)):
        return [_plain(word.strip(" ")) for word in words[1].split(",")]
    if text[0] == "{" and (pairs := re.fullmatch(_PAIRS, text)):
        split = [pair.partition(":") for pair in pairs[1].split(",")]
        return _mapped([(key.strip(" "), _plain(word.strip(" "))) for key, _, word in split])
    return None


def _json(text: str) -> Any:
    """Return what JSON on one line holds."""
    if "\n" in text or ("\\" in text and "\\" in re.sub(_ESCAPE, "", text)):
        raise _Unsure
    if "\\u" in text and not text.isascii():  # what is escaped may combine with what is not
        raise _Unsure
    found, end = _DECODER.raw_decode(text)
    if end < len(text) and text[end:].strip(" "):
        raise _Unsure
    if len(text) > _SHORT or text.count("[") + text.count("{") > _DEEPEST:
        _check_bounds(found)
    return found


def _refuse(_: str) -> NoReturn:
    raise _Unsure


def _mapped(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _Unsure
    return made


_DECODER = json.JSONDecoder(
    object_pairs_hook=_mapped, parse_float=_plain, parse_int=_plain, parse_constant=_refuse
)


def _check_bounds(holder: Any, depth: int = 0) -> None:
    """Refuse longer keys, and more depth, than are certain to be allowed."""
    if depth > _DEEPEST:
        raise _Unsure
    if type(holder) is dict:
        if any(len(key) > _LONGEST_KEY for key in holder):
            raise _Unsure
        holder = holder.values()
    for inner in holder:
        if type(inner) is dict or type(inner) is list:
            _check_bounds(inner, depth + 1)

r"""Write plain values as YAML that people can edit: block style, long texts folded.

A text is written plain where that is safe, folded or literal where it is long or has several
lines, and in quotation marks otherwise. What is written reads back as the same values, texts in
Unicode NFC.

>>> print(dump_yaml({"exam": "capitals", "items": [{"id": "c-01", "prompt": "France?\nItaly?"}]}))
exam: capitals
items:
  - id: c-01
    prompt: |-
      France?
      Italy?
<BLANKLINE>
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from markscheme.read.documents.yaml import parse_plain_scalar


class CommentedMapping(dict[str, Any]):
    """A mapping that is written with a comment before it."""

    def __init__(self, comment: str, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self.comment = comment


_LINE_WIDTH = 100
_MIN_TEXT_WIDTH = 40
# Short words and names that YAML reads as text: no sign has a meaning, and no number is matched.
_PLAIN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9_./,;()' -]*(?<! )")
# What libyaml takes as it is, without line separators and byte order marks.
_BLOCK_TEXT = re.compile(
    "[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
)
# A space between two words, where a folded line may end.
_FOLD = re.compile(r"(?<=[^ \t]) (?=[^ \t])")


def dump_yaml(value: Mapping[str, Any]) -> str:
    """Return a mapping of mappings, lists, texts, numbers and booleans as a YAML document."""
    lines = [*_format_comment(value, 0), *_iterate_mapping_lines(value, 0)]
    return "".join(f"{line}\n" for line in lines)


def _iterate_mapping_lines(value: Mapping[str, Any], indent: int) -> Iterator[str]:
    space = " " * indent
    for key, entry in value.items():
        yield from _format_comment(entry, indent)
        if _is_container(entry):
            yield f"{space}{_format_key(key)}:"
            yield from _iterate_lines(entry, indent + 2)
        else:
            yield f"{space}{_format_key(key)}: {_format_scalar(entry, indent + 2)}"


def _iterate_sequence_lines(entries: Sequence[Any], indent: int) -> Iterator[str]:
    space = " " * indent
    for entry in entries:
        yield from _format_comment(entry, indent)
        if _is_container(entry):
            lines = _iterate_lines(entry, indent + 2)
            yield f"{space}- {next(lines)[indent + 2 :]}"
            yield from lines
        else:
            yield f"{space}- {_format_scalar(entry, indent + 2)}"


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str) and bool(value)


def _iterate_lines(value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        return _iterate_mapping_lines(value, indent)
    return _iterate_sequence_lines(value, indent)


def _format_comment(value: Any, indent: int) -> Iterator[str]:
    """Yield the lines of the comment on a value; signs that no comment can hold are escaped."""
    if not isinstance(value, CommentedMapping):
        return
    space = " " * indent
    for line in value.comment.split("\n"):
        safe = line if _BLOCK_TEXT.fullmatch(line) else _quote_text(line)
        words = _fold_line(safe, max(_MIN_TEXT_WIDTH, _LINE_WIDTH - indent - 2))
        yield from (f"{space}# {words_line}".rstrip() for words_line in words)


def _format_key(key: str) -> str:
    return key if _is_plain(key) else _quote_text(key)


def _format_scalar(value: Any, indent: int) -> str:
    """Return a scalar or an empty container; further lines of a text have this indentation."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            return format(value, "f")
        case str():
            return _format_text(value, indent)
        case Mapping():
            return "{}"
        case _:
            return "[]"


def _format_text(text: str, indent: int) -> str:
    width = max(_MIN_TEXT_WIDTH, _LINE_WIDTH - indent)
    if _is_plain(text) and len(text) <= width:
        return text
    body = text.rstrip("\n")
    is_block = bool(body) and not body[-1].isspace() and _BLOCK_TEXT.fullmatch(text) is not None
    if is_block and "\n" in text:
        return _format_literal(text, body, indent)
    if is_block and not text[0].isspace() and len(text) > width - 2:
        space = " " * indent
        return "\n".join([">-", *(f"{space}{line}" for line in _fold_line(text, width))])
    return _quote_text(text)


def _format_literal(text: str, body: str, indent: int) -> str:
    """Return a literal block. Its header says how it is indented and how many lines end it."""
    ending = len(text) - len(body)
    mark = "2" if text[0].isspace() else ""
    chomping = ("-", "")[ending] if ending < 2 else "+"  # noqa: PLR2004 - more than one
    # Of several line feeds at the end, the last is that of the document itself.
    lines = (body + "\n" * max(0, ending - 1)).split("\n")
    space = " " * indent
    return "\n".join([f"|{mark}{chomping}", *(f"{space}{line}" if line else "" for line in lines)])


def _fold_line(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a folded text: it may only be broken at a single space between words."""
    line = ""
    for word in _FOLD.split(text):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _is_plain(text: str) -> bool:
    return _PLAIN_TEXT.fullmatch(text) is not None and parse_plain_scalar(text) == text


def _quote_text(text: str) -> str:
    """Return a text in quotation marks. JSON's escapes are YAML's, and the rest is escaped too."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(sign if sign.isprintable() else _escape(sign) for sign in quoted)


def _escape(sign: str) -> str:
    code = ord(sign)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - of YAML

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
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from markscheme.read.documents.yaml import parse_plain_scalar


class CommentedMapping(dict[str, Any]):
    """A mapping that is written with a comment before it."""

    def __init__(self, comment: str, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self.comment = comment


_CONTAINERS = (dict, list, tuple)
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
    """Return mappings, lists, texts, numbers and booleans as a YAML document.

    Mappings are `dict`s and lists are `list`s or `tuple`s.
    """
    lines: list[str] = []
    if isinstance(value, CommentedMapping):
        _add_comment(lines, value.comment, 0)
    _add_entries(lines, value, 0)
    lines.append("")
    return "\n".join(lines)


def _add_entries(lines: list[str], value: Any, indent: int, lead: str = "") -> None:
    """Add the lines of a container that is not empty.

    `lead` is what the first line begins with: hyphens of the lists that the container begins.
    """
    space = " " * indent
    lead = lead or space
    is_mapping = isinstance(value, dict)
    for key, entry in value.items() if is_mapping else enumerate(value):
        mark = f"{_format_key(key)}:" if is_mapping else "-"
        if isinstance(entry, CommentedMapping):
            if lead != space:
                lines.append(lead.rstrip())
                lead = space
            _add_comment(lines, entry.comment, indent)
        if not (isinstance(entry, _CONTAINERS) and entry):
            lines.append(f"{lead}{mark} {_format_scalar(entry, indent + 2)}")
        elif is_mapping:
            lines.append(lead + mark)
            _add_entries(lines, entry, indent + 2)
        else:
            _add_entries(lines, entry, indent + 2, f"{lead}- ")
        lead = space


def _add_comment(lines: list[str], comment: str, indent: int) -> None:
    """Add the lines of a comment; signs that no comment can hold are escaped."""
    width = max(_MIN_TEXT_WIDTH, _LINE_WIDTH - indent - 2)
    for line in comment.split("\n"):
        safe = line if _BLOCK_TEXT.fullmatch(line) else _quote_text(line)
        lines += (f"{' ' * indent}# {words}".rstrip() for words in _fold_line(safe, width))


@lru_cache(maxsize=1024)
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
        case dict():
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

r"""Lines that one program wrote: alike but for what they say, so that one pattern reads them all.

The pattern is learnt from a line: its keys in their order, and inside its output a JSON object of
exactly the fields that axes read. A line that the pattern matches from end to end is that JSON and
no other, with texts that hold no escape and are in NFC; so nothing is decided here, and what does
not match is left to the other ways of reading it. Many programs write `\u00f3` for `ó`: such
escapes are replaced first, and one that was none leaves a backslash behind, which does not match.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson
import polars as pl

from markscheme.read.answers.batch import FIELDS, AlikeRows, table_schema

if TYPE_CHECKING:
    from collections.abc import Collection

_TRIED = 20
_PATIENCE = 3
_INSIDE = "output."
_ESCAPE = re.compile(rb"\\u([0-9a-f]{4})")
_ASCII = 0x7F
_HALVES = range(0xD800, 0xE000)
# Characters that may stand in a JSON string as themselves, and of which any text is in NFC: what is
# below U+0300, dashes, quotation marks, the ellipsis, the euro sign.
TEXT = r"[ !#-\[\]-~\x{80}-\x{2ff}\x{2010}-\x{2027}\x{2030}-\x{205e}\x{20ac}]*"
_WHOLE = "(?:null|(0|[1-9][0-9]{0,14}))"
_NUMBER = r"(?:null|((?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,17})?))"
_PATTERNS = {
    "item": f'"({TEXT})"',
    "subject": f'(?:null|"({TEXT})")',
    "attempt": _WHOLE,
    "latency_ms": _NUMBER,
    "tokens_in": _WHOLE,
    "tokens_out": _WHOLE,
    "cost": _NUMBER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """How every line is written: its groups in their order, and what is between those inside."""

    text: str
    groups: tuple[str, ...]
    inside: tuple[str, ...]
    between: tuple[str, ...]


class AlikeLines:
    """Reads lines that are alike, for as long as they are."""

    def __init__(self, items: Collection[str], fields: Collection[str]) -> None:
        self._items = pl.Enum(list(items))
        self._fields = frozenset(fields)
        self._pattern: _Pattern | None = None
        self._patience = _PATIENCE

    def read(
        self, text: bytes, first: int
    ) -> tuple[AlikeRows, list[tuple[int, bytes]], int] | None:
        """Return the rows that are alike, every other line with its number, and how many lines.

        `None` where too few are alike to be worth it. `first` is the number of the first line.
        """
        if not self._patience or b"\r" in text:
            return None
        try:
            lines = pl.read_lines(text).to_series()
        except pl.exceptions.ComputeError:  # not UTF-8
            return None
        plain = _unescaped(lines, text)
        found = self._groups(plain, unescaped=plain is not lines)
        if found is None:
            self._patience -= 1
            return None
        self._patience = _PATIENCE
        groups, self._pattern = found
        positions = groups["item"].is_null().arg_true()
        others = zip(positions.to_list(), lines.gather(positions).to_list(), strict=True)
        rest = [(first + at, line.encode()) for at, line in others if line.strip()]
        count = lines.len() + text.endswith(b"\n")  # of which the last is empty
        rows = self._rows(groups, self._pattern, first)
        if plain is not lines:
            rows = replace(rows, written=lines.filter(groups["item"].is_not_null()))
        return rows, rest, count

    def _groups(self, lines: pl.Series, *, unescaped: bool) -> tuple[pl.DataFrame, _Pattern] | None:
        """Return what each line says by the pattern, or by a new one where that serves better.

        A line that names no item of the exam is not alike, nor is one whose item or subject may
        have been unescaped: there a backslash is one.
        """
        for pattern in (self._pattern, _learnt(lines, self._fields)):
            if pattern is None:
                continue
            groups = lines.str.extract_groups(pattern.text).struct.unnest()
            groups.columns = list(pattern.groups)
            known = groups["item"].cast(self._items, strict=False).is_not_null()
            for name in {"item", "subject"}.intersection(groups.columns) if unescaped else ():
                known &= ~groups[name].str.contains(r"[^\x00-\x7f]").fill_null(value=False)
            groups = groups.with_columns(pl.when(known).then(pl.col("item")))
            if groups["item"].null_count() * 2 <= lines.len():
                return groups, pattern
        return None

    def _rows(self, groups: pl.DataFrame, pattern: _Pattern, first: int) -> AlikeRows:
        numbered = groups.with_row_index("line", offset=first).drop_nulls("item")
        columns = [
            numbered[name].cast(dtype)
            if name in numbered.columns
            else pl.Series(name, [None], dtype=dtype).new_from_index(0, numbered.height)
            for name, dtype in table_schema().items()
        ]
        texts = [numbered[_INSIDE + name].alias(name) for name in pattern.inside]
        return AlikeRows(
            table=pl.DataFrame(columns).with_columns(pl.col("attempt").fill_null(1)),
            texts=pl.DataFrame(texts),
            between=pattern.between,
        )


def _unescaped(lines: pl.Series, text: bytes) -> pl.Series:
    """Return lines with characters instead of their escapes, in the line or in the JSON inside."""
    if not lines.str.contains(r"\u", literal=True).any():
        return lines
    codes = {int(code, 16) for code in set(_ESCAPE.findall(text))}
    characters = [chr(code) for code in codes if code > _ASCII and code not in _HALVES]
    if not characters:
        return lines
    escapes = [rf"\u{ord(character):04x}" for character in characters]
    inside = [rf"\{escape}" for escape in escapes]
    return lines.str.replace_many([*inside, *escapes], characters * 2, leftmost=True)


def _learnt(lines: pl.Series, fields: frozenset[str]) -> _Pattern | None:
    """Return the pattern of one of the first lines."""
    for line in lines.head(_TRIED):
        pattern = _pattern_of(line, fields)
        if pattern and pl.Series([line]).str.contains(pattern.text)[0]:
            return pattern
    return None


def _pattern_of(line: str, fields: frozenset[str]) -> _Pattern | None:
    try:
        row = orjson.loads(line)
        output = orjson.loads(row["output"])
        keys, inside = tuple(row), tuple(output)
        taken = fields == {*inside} and "item" in keys and {*keys} <= {*FIELDS}
        between = _between(row["output"], output) if taken else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    if between is None:
        return None
    escaped = (pl.escape_regex(part.replace('"', r"\"")) for part in between)
    patterns = {**_PATTERNS, "output": f'"{f"({TEXT})".join(escaped)}"'}
    text = ", ?".join(f'"{key}": ?{patterns[key]}' for key in keys)
    at = keys.index("output")
    groups = (*keys[:at], *(_INSIDE + name for name in inside), *keys[at + 1 :])
    return _Pattern(text=rf"^\{{{text}\}}$", groups=groups, inside=inside, between=between)


def _between(output: str, fields: dict[str, str]) -> tuple[str, ...] | None:
    """Return what an output says around the texts of its fields, if it is written as usual."""
    for comma, colon in ((", ", ": "), (",", ":")):
        if json.dumps(fields, ensure_ascii=False, separators=(comma, colon)) == output:
            keys = [f'"{name}"{colon}"' for name in fields]
            return (f"{{{keys[0]}", *(f'"{comma}{key}' for key in keys[1:]), '"}')
    return None

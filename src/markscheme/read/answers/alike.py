r"""Lines that one program wrote: alike but for what they say, so that one pattern reads them all.

A pattern is learnt from a line: its keys in their order, and inside its output a JSON object of
texts, bare or in a code fence, with all fields that axes read. A line that the pattern matches from
end to end is that JSON and no other, with texts that hold no escape and are in NFC; so nothing is
decided here, and what no pattern matches is left to the other ways of reading it. Many programs
write `\u00f3` for `ó`: such escapes are replaced first, and one that was none leaves a backslash
behind, which does not match.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import is_normalized

import orjson
import polars as pl

from markscheme.read.answers.batch import FIELDS, AlikeRows, Spelling, table_schema

if TYPE_CHECKING:
    from collections.abc import Collection

_TRIED = 20
_PATIENCE = 3
_MOST = 8  # patterns of one file
_REFUSED = 32  # patterns that served too few lines, after which no more are learnt
_WORTH_IT = 16  # lines that a further pattern must take
_NAMES = 16  # texts in an output
_LONGEST = 2_000  # characters around them
_AT, _LINE = "at", "line"
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
_PAIR = r'"([^"\\]*)"\s*:\s*"([^"\\]*)"'
_PAIRS = re.compile(_PAIR)
_OUTPUT = re.compile(
    rf"(?P<fence>```[A-Za-z]*\n)?(?P<object>\s*\{{\s*{_PAIR}\s*(?:,\s*{_PAIR}\s*)*\}}\s*?)"
    r"(?(fence)\n```\n?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """How lines are written: the names of the groups of their pattern, and of their outputs."""

    text: str
    groups: tuple[str, ...]
    spelling: Spelling


class AlikeLines:
    """Reads lines that are alike, for as long as most of them are."""

    def __init__(self, items: Collection[str], fields: Collection[str]) -> None:
        self._items = pl.Enum(list(items))
        self._fields = frozenset(fields)
        self._patterns: list[_Pattern] = []
        self._refused: set[str] = set()
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
        found, left = self._matched(plain, unescaped=plain is not lines)
        if not found or left.len() * 2 > lines.len():
            self._patience -= 1
            return None
        self._patience = _PATIENCE
        others = zip(left.to_list(), lines[left].to_list(), strict=True)
        rest = [(first + at, line.encode()) for at, line in others if line.strip()]
        count = lines.len() + text.endswith(b"\n")  # of which the last is empty
        return _rows(found, first, None if plain is lines else lines), rest, count

    def _matched(
        self, lines: pl.Series, *, unescaped: bool
    ) -> tuple[list[tuple[_Pattern, pl.DataFrame]], pl.Series]:
        """Return what lines say by each pattern, and the positions of those that match none."""
        places = pl.int_range(lines.len(), dtype=pl.UInt32, eager=True)
        left = pl.DataFrame([places.alias(_AT), lines.alias(_LINE)])
        found: list[tuple[_Pattern, pl.DataFrame]] = []
        known = iter(self._patterns.copy())
        while left.height and (not found or left.height >= _WORTH_IT):
            pattern = next(known, None) or self._learnt(left[_LINE])
            if pattern is None:
                break
            groups = _groups(pattern, left)
            matched = self._are_alike(groups, unescaped=unescaped)
            if pattern not in self._patterns:
                if matched.sum() < min(_WORTH_IT, left.height / 2):
                    self._refused.add(pattern.text)
                    break
                self._patterns.append(pattern)
            found.append((pattern, groups.filter(matched)))
            left = left.filter(~matched)
        return found, left[_AT]

    def _are_alike(self, groups: pl.DataFrame, *, unescaped: bool) -> pl.Series:
        """Say which lines are: not one that the pattern does not match or that names no item.

        Nor one whose item or subject may have been unescaped: there a backslash is one.
        """
        known = groups["item"].cast(self._items, strict=False).is_not_null()
        for name in {"item", "subject"}.intersection(groups.columns) if unescaped else ():
            known &= ~groups[name].str.contains(r"[^\x00-\x7f]").fill_null(value=False)
        return known

    def _learnt(self, lines: pl.Series) -> _Pattern | None:
        """Return the pattern of one of the first lines, if it is new and more may be learnt."""
        if len(self._patterns) >= _MOST or len(self._refused) >= _REFUSED:
            return None
        known = {pattern.text for pattern in self._patterns} | self._refused
        for line in lines.head(_TRIED):
            pattern = _pattern_of(line, self._fields)
            new = pattern and pattern.text not in known
            if pattern and new and pl.Series([line]).str.contains(pattern.text)[0]:
                return pattern
        return None


def _groups(pattern: _Pattern, lines: pl.DataFrame) -> pl.DataFrame:
    """Return what each line says by the pattern, with its place."""
    groups = lines[_LINE].str.extract_groups(pattern.text).struct.unnest()
    groups.columns = list(pattern.groups)
    return groups.insert_column(0, lines[_AT])


def _rows(
    found: list[tuple[_Pattern, pl.DataFrame]], first: int, lines: pl.Series | None
) -> AlikeRows:
    """Return what the groups of each pattern say, in columns; `lines` where they were unescaped."""
    tables, texts, spelled = [], [], []
    for number, (pattern, groups) in enumerate(found):
        columns = [
            groups[name].cast(dtype).alias(name)
            if name in groups.columns
            else pl.Series(name, [None], dtype=dtype).new_from_index(0, groups.height)
            for name, dtype in table_schema().items()
        ]
        tables.append(pl.DataFrame(columns))
        names = pattern.spelling.names
        texts.append(groups.select(pl.col(_INSIDE + name).alias(name) for name in names))
        spelled.append(pl.repeat(number, groups.height, dtype=pl.UInt32, eager=True))
    places = pl.concat([groups[_AT] for _, groups in found])
    return AlikeRows(
        table=pl.concat(tables).with_columns(
            pl.col("attempt").fill_null(1), line=places.cast(pl.Int64) + first
        ),
        texts=pl.concat(texts, how="diagonal"),
        spelled=pl.concat(spelled),
        spellings=tuple(pattern.spelling for pattern, _ in found),
        written=None if lines is None else lines[places],
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


def _pattern_of(line: str, fields: frozenset[str]) -> _Pattern | None:
    try:
        row = orjson.loads(line)
        keys, output = tuple(row), row["output"]
        spelling = _spelling_of(output) if isinstance(output, str) else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    taken = "item" in keys and {*keys} <= {*FIELDS}
    if spelling is None or not taken or not fields.issubset(spelling.names):
        return None
    around = (json.dumps(part, ensure_ascii=False)[1:-1] for part in spelling.between)
    inside = f"({TEXT})".join(map(pl.escape_regex, around))
    patterns = {**_PATTERNS, "output": f'"{inside}"'}
    text = ", ?".join(f'"{key}": ?{patterns[key]}' for key in keys)
    at = keys.index("output")
    groups = (*keys[:at], *(_INSIDE + name for name in spelling.names), *keys[at + 1 :])
    return _Pattern(text=rf"^\{{{text}\}}$", groups=groups, spelling=spelling)


def _spelling_of(output: str) -> Spelling | None:
    """Return how an object of texts is spelled, bare or in a fence of its own lines.

    What it holds besides stays out of every text, so that how it is read depends on that alone: a
    text has no line end, so it can neither open nor close a fence.
    """
    if not _OUTPUT.fullmatch(output):
        return None
    pairs = list(_PAIRS.finditer(output))
    starts, ends = zip(*(pair.span(2) for pair in pairs), strict=True)
    stretches = zip((0, *ends), (*starts, len(output)), strict=True)
    spelling = Spelling(
        names=tuple(pair[1] for pair in pairs),
        between=tuple(output[end:start] for end, start in stretches),
    )
    bare = _OUTPUT.fullmatch(spelling.bare)
    once = len(set(spelling.names)) == len(pairs) <= _NAMES
    short = len(spelling.bare) <= _LONGEST
    if not bare or not once or not short or not is_normalized("NFC", spelling.bare):
        return None
    holds = orjson.loads(bare["object"])
    return spelling if holds == dict.fromkeys(spelling.names, "") else None

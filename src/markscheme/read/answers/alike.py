r"""Lines that one program wrote: alike but for what they say, so that the same steps read them all.

The steps are learnt from a line: its keys in their order, and inside its output a JSON object of
texts, bare or in a code fence, with fields that axes read. A line that they take from end to end
is that JSON and no other, with texts that hold no escape and are in NFC; so nothing is decided
here, and what no steps take is left to the other ways of reading it. Many programs write `\u00f3`
for `ó`: letters so escaped are read as themselves, and any other escape ends a text.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import chain, product
from typing import TYPE_CHECKING
from unicodedata import is_normalized

import orjson
import polars as pl

from markscheme.read.answers.batch import FIELDS, AlikeRows, Spelling, Written, table_schema
from markscheme.read.answers.scanner import (
    INSIDE,
    NAME,
    NOTHING,
    NUMBER,
    TEXT,
    WHOLE,
    literal,
    scan,
)
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_TRIED = 20
_LONGEST_PAUSE = 32  # texts after which lines are looked at again that were not alike
_MOST = 8  # patterns that are known at a time
_IN_VAIN = 8  # looks for a further pattern that found none of use, after which nobody looks
_WORTH_IT = 16  # lines that a further pattern must take
_NAMES = 16  # texts in an output
_LONGEST = 2_000  # characters around them
_INSIDE = "output."
_VALUES: dict[str, tuple[str | bytes, ...]] = {
    "item": ('"', TEXT, '"'),
    "subject": (NAME,),
    "attempt": (WHOLE,),
    "latency_ms": (NUMBER,),
    "tokens_in": (WHOLE,),
    "tokens_out": (WHOLE,),
    "cost": (NUMBER,),
}
_ESCAPE = re.compile(rb"\\\\?u([0-9a-f]{4})")
_WIDE = re.compile(r"[^\x00-\x7f]")
_ASCII = 0x7F
_HALVES = range(0xD800, 0xE000)
_PAIR = r'"([^"\\]*)"\s*:\s*"([^"\\]*)"'
_PAIRS = re.compile(_PAIR)
_OUTPUT = re.compile(
    rf"(?P<fence>```[A-Za-z]*\n)?(?P<object>\s*\{{\s*{_PAIR}\s*(?:,\s*{_PAIR}\s*)*\}}\s*?)"
    r"(?(fence)\n```\n?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """How lines are written: the steps that read them, and the names of what these capture.

    `escaped` where letters that stand around the texts are.
    """

    steps: bytes
    captures: tuple[str, ...]
    spelling: Spelling
    escaped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matched:
    """The lines that a pattern reads: their positions in the text, and what it captures of them."""

    pattern: _Pattern
    places: pl.Series
    captured: dict[str, pl.Series]
    unescaped: bool


class AlikeLines:
    """Reads lines that are alike, in one text after another; takes pauses where they are not."""

    def __init__(self, items: Collection[str], fields: Collection[str]) -> None:
        self._items = pl.Enum(list(items))
        self._fields = frozenset(fields)
        self._patterns: list[_Pattern] = []
        self._refused: set[bytes] = set()
        self._in_vain = 0
        self._failures = self._pause = 0

    def read(
        self, text: bytes, first: int
    ) -> tuple[AlikeRows, list[tuple[int, bytes]], int] | None:
        """Return the rows that are alike, every other line with its number, and how many lines.

        `None` where too few are alike to be worth it. `first` is the number of the first line.
        """
        if self._pause:
            self._pause -= 1
            return None
        found, left = self._matched(text)
        count = sum(len(matched.places) for matched in found) + len(left)
        if not found or len(left) * 2 > count:
            self._failures += 1
            self._pause = min(2**self._failures, _LONGEST_PAUSE)
            return None
        self._failures = 0
        rest = [(first + at, line) for at, line in left if line.strip()]
        return _rows(found, Written(text=text, first=first)), rest, count

    def _matched(self, text: bytes) -> tuple[list[_Matched], list[tuple[int, bytes]]]:
        """Return what each pattern reads, and every line that none does, with its position."""
        found: list[_Matched] = []
        left: list[tuple[int, bytes]] = []
        known = iter(self._patterns.copy())
        while not found or len(left) >= _WORTH_IT:
            tried = b"\n".join(line for _, line in left) if found else text
            pattern = next(known, None) or self._learnt(tried, first=not found)
            if pattern is None:
                break
            matched, others = self._scanned(tried, pattern)
            if pattern not in self._patterns:
                taken = len(matched.places)
                if taken < min(_WORTH_IT, (taken + len(others)) / 2):
                    self._refused.add(pattern.steps)
                    self._in_vain += 1
                    break
                self._patterns.append(pattern)
                self._in_vain = 0
            if found:
                places = pl.Series([at for at, _ in left], dtype=pl.UInt32)[matched.places]
                matched = replace(matched, places=places)
                others = [left[at] for at, _ in others]
            found.append(matched)
            left = others
        return found, left

    def _scanned(self, text: bytes, pattern: _Pattern) -> tuple[_Matched, list[tuple[int, bytes]]]:
        """Return what the pattern reads, and every other line: also one that names no item."""
        found = scan(text, pattern.steps, len(pattern.captures))
        captured = dict(zip(pattern.captures, found.columns, strict=True))
        left = [(at, text[start:end]) for at, start, end in found.left]
        places, known = found.matched, captured["item"].cast(self._items, strict=False)
        if known.null_count():
            lines, is_known = text.split(b"\n"), known.is_not_null()
            left = sorted(left + [(at, lines[at]) for at in places.filter(~is_known)])
            places = places.filter(is_known)
            captured = {name: column.filter(is_known) for name, column in captured.items()}
        matched = _Matched(
            pattern=pattern, places=places, captured=captured, unescaped=found.unescaped
        )
        return matched, left

    def _learnt(self, text: bytes, *, first: bool) -> _Pattern | None:
        """Return the pattern of one of the first lines, if it is new and more may be learnt.

        Where it would be the `first` to read a text, those that are known have had their time.
        """
        if first:
            self._patterns = self._patterns[: _MOST - 1]
        elif len(self._patterns) >= _MOST or self._in_vain >= _IN_VAIN:
            return None
        known = {pattern.steps for pattern in self._patterns} | self._refused
        for line in text.split(b"\n", _TRIED)[:_TRIED]:
            for pattern in _patterns_of(line, self._fields):
                new = pattern.steps not in known
                if new and not scan(line, pattern.steps, len(pattern.captures)).left:
                    return pattern
        self._in_vain += 1
        return None


def _rows(found: list[_Matched], written: Written) -> AlikeRows:
    """Return what was captured, in columns."""
    tables, texts, spelled = [], [], []
    for number, matched in enumerate(found):
        captured, height = matched.captured, len(matched.places)
        captured["line"] = matched.places.cast(pl.Int64) + written.first
        columns = [
            _typed(captured[name], dtype).alias(name)
            if name in captured
            else pl.Series(name, [None], dtype=dtype).new_from_index(0, height)
            for name, dtype in table_schema().items()
        ]
        tables.append(pl.DataFrame(columns))
        names = matched.pattern.spelling.names
        texts.append(pl.DataFrame([captured[_INSIDE + name].alias(name) for name in names]))
        spelled.append(pl.Series([number], dtype=pl.UInt32).new_from_index(0, height))
    table = pl.concat(tables)
    if table["attempt"].null_count():
        table = table.with_columns(pl.col("attempt").fill_null(1))
    escaped = any(matched.unescaped or matched.pattern.escaped for matched in found)
    return AlikeRows(
        table=table,
        texts=pl.concat(texts, how="diagonal"),
        spelled=pl.concat(spelled),
        spellings=tuple(matched.pattern.spelling for matched in found),
        written=written if escaped else None,
    )


def _typed(captured: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """Return captures as what they are, and null where that was captured: it is no number."""
    if dtype == pl.String:
        nothing = captured == NOTHING
        return captured.set(nothing, None) if nothing.any() else captured
    return captured.cast(dtype, strict=False)


def _patterns_of(line: bytes, fields: frozenset[str]) -> Iterator[_Pattern]:
    """Yield the patterns that a line may have: with spaces or without, letters or escapes."""
    try:
        row = orjson.loads(_ESCAPE.sub(_unescaped, line))
        keys, output = tuple(row), row["output"]
        spelling = _spelling_of(output) if isinstance(output, str) else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return
    taken = "item" in keys and {*keys} <= {*FIELDS}
    if spelling is None or not taken or fields.isdisjoint(spelling.names):
        return
    escapes = ("", "\\u", "\\\\u") if _WIDE.search(spelling.bare) else ("",)
    for comma, colon, escape in product((", ", ","), (": ", ":"), escapes):
        yield _Pattern(
            steps=_joined(_steps(keys, _around(spelling, escape), comma, colon)),
            captures=tuple(_captures(keys, spelling)),
            spelling=spelling,
            escaped=bool(escape),
        )


def _around(spelling: Spelling, escape: str) -> list[str]:
    """Return what stands around the texts of an output, as lines have it that escape so."""
    written = [json.dumps(part, ensure_ascii=False)[1:-1] for part in spelling.between]
    if not escape:
        return written
    return [_WIDE.sub(lambda one: f"{escape}{ord(one[0]):04x}", part) for part in written]


def _steps(
    keys: tuple[str, ...], around: list[str], comma: str, colon: str
) -> Iterator[str | bytes]:
    """Yield the literals and the captures of lines with these keys."""
    for at, key in enumerate(keys):
        yield f'{comma if at else "{"}"{key}"{colon}'
        if key == "output":
            yield f'"{around[0]}'
            yield from chain.from_iterable((INSIDE, part) for part in around[1:])
            yield '"'
        else:
            yield from _VALUES[key]
    yield "}"


def _joined(steps: Iterator[str | bytes]) -> bytes:
    """Return steps as bytes; literals that follow each other become one."""
    joined, text = b"", ""
    for step in steps:
        if isinstance(step, str):
            text += step
        else:
            joined, text = joined + literal(text) + step, ""
    return joined + literal(text)


def _captures(keys: tuple[str, ...], spelling: Spelling) -> Iterator[str]:
    """Yield the names of what is captured, in its order."""
    for key in keys:
        yield from (_INSIDE + name for name in spelling.names) if key == "output" else (key,)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    """Return the character of an escape, if it is one by itself and not of ASCII."""
    code = int(escape[1], 16)
    return escape[0] if code <= _ASCII or code in _HALVES else chr(code).encode()


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

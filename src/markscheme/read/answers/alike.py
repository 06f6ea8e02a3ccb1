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
from itertools import product
from typing import TYPE_CHECKING
from unicodedata import is_normalized

import orjson
import polars as pl

from markscheme.read.answers.batch import (
    FIELDS,
    AlikeRows,
    Spelling,
    Written,
    copied,
    table_schema,
)
from markscheme.read.answers.scanner import (
    ABSENT,
    INSIDE,
    NAME,
    NOTHING,
    NUMBER,
    TEXT,
    WHOLE,
    Scan,
    capture,
    literal,
    scan,
)
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

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
    """How lines are written: literals, and captures by their kind and name, in their order.

    `escaped` where letters that stand around the texts are.
    """

    steps: tuple[str | tuple[bytes, str], ...]
    spelling: Spelling
    escaped: bool

    @property
    def captures(self) -> list[str]:
        """The names of what is captured."""
        return [step[1] for step in self.steps if not isinstance(step, str)]

    def compiled(self, names: Sequence[str]) -> bytes:
        """Return the steps for the scanner, which has a column for each of the names."""
        absent = [(ABSENT, name) for name in names if name not in self.captures]
        return b"".join(
            literal(step) if isinstance(step, str) else capture(step[0], names.index(step[1]))
            for step in (*self.steps, *absent)
        )

    def scanned(self, text: bytes) -> Scan:
        """Return what the pattern reads by itself."""
        names = self.captures
        return scan(text, [self.compiled(names)], len(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matched:
    """The lines that patterns read: what they capture, and every other line with its position.

    `places` are positions in the text, and `ways` tells which pattern reads a line.
    """

    lines: int
    places: pl.Series
    ways: pl.Series
    captured: dict[str, pl.Series]
    left: list[tuple[int, bytes]]
    unescaped: bool


class AlikeLines:
    """Reads lines that are alike, in one text after another; takes pauses where they are not."""

    def __init__(self, items: Collection[str], fields: Collection[str]) -> None:
        self._items = pl.Enum(list(items))
        self._fields = frozenset(fields)
        self._patterns: list[_Pattern] = []
        self._refused: set[object] = set()
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
        found = self._matched(text)
        if found is None or len(found.left) * 2 > found.lines:
            self._failures += 1
            self._pause = min(2**self._failures, _LONGEST_PAUSE)
            return None
        self._failures = 0
        rest = [(first + at, line) for at, line in found.left if line.strip()]
        return _rows(found, self._patterns, Written(text=text, first=first)), rest, found.lines

    def _matched(self, text: bytes) -> _Matched | None:
        """Return what the patterns read; the lines that are left may teach others."""
        found = self._scanned(text) if self._patterns else None
        if found is not None and len(found.places):
            left = b"\n".join(line for _, line in found.left)
            learnt = self._learnt(left, lines=len(found.left))
        else:  # those that are known have had their time
            self._patterns, self._in_vain = self._patterns[: _MOST - 1], 0
            learnt = self._learnt(text, lines=_WORTH_IT)
        return self._scanned(text) if learnt else found

    def _scanned(self, text: bytes) -> _Matched:
        """Return what the patterns read, and every other line: also one that names no item."""
        names = list(dict.fromkeys(name for one in self._patterns for name in one.captures))
        ways = [pattern.compiled(names) for pattern in self._patterns]
        found = scan(text, ways, len(names))
        matched = _Matched(
            lines=found.lines,
            places=found.matched,
            ways=found.ways,
            captured=dict(zip(names, found.columns, strict=True)),
            left=[(at, text[start:end]) for at, start, end in found.left],
            unescaped=found.unescaped,
        )
        known = matched.captured["item"].cast(self._items, strict=False)
        matched.captured["item"] = known
        return _without_strangers(matched, text) if known.null_count() else matched

    def _learnt(self, text: bytes, *, lines: int) -> bool:
        """Learn patterns from so many lines that none reads; return whether there was one."""
        learnt = False
        while lines >= _WORTH_IT and len(self._patterns) < _MOST and self._in_vain < _IN_VAIN:
            self._in_vain += 1
            pattern = self._new(text)
            if pattern is None:
                break
            found = pattern.scanned(text)
            if len(found.ways) < min(_WORTH_IT, found.lines / 2):
                self._refused.add(pattern.steps)
                break
            self._patterns.append(pattern)
            self._in_vain, learnt = 0, True
            text = b"\n".join(text[start:end] for _, start, end in found.left)
            lines = len(found.left)
        return learnt

    def _new(self, text: bytes) -> _Pattern | None:
        """Return the first pattern of one of the first lines that is neither known nor refused."""
        known = {pattern.steps for pattern in self._patterns} | self._refused
        for line in text.split(b"\n", _TRIED)[:_TRIED]:
            for pattern in _patterns_of(line, self._fields):
                if pattern.steps not in known and not pattern.scanned(line).left:
                    return pattern
        return None


def _without_strangers(matched: _Matched, text: bytes) -> _Matched:
    """Leave the lines whose item is not known to others."""
    lines, is_known = text.split(b"\n"), matched.captured["item"].is_not_null()
    strangers = [(at, lines[at]) for at in matched.places.filter(~is_known)]
    return replace(
        matched,
        places=matched.places.filter(is_known),
        ways=matched.ways.filter(is_known),
        captured={name: column.filter(is_known) for name, column in matched.captured.items()},
        left=sorted(matched.left + strangers),
    )


def _rows(found: _Matched, patterns: Sequence[_Pattern], written: Written) -> AlikeRows:
    """Return what was captured, in columns."""
    captured = found.captured | {"line": found.places.cast(pl.Int64) + written.first}
    if "subject" in captured:
        captured["subject"] = copied(captured["subject"])
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, len(found.places))
    table = pl.DataFrame(
        [
            _typed(captured.get(name, nothing), dtype).alias(name)
            for name, dtype in table_schema(captured["item"].dtype).items()
        ]
    )
    if table["attempt"].null_count():
        table = table.with_columns(pl.col("attempt").fill_null(1))
    names = dict.fromkeys(name for pattern in patterns for name in pattern.spelling.names)
    texts = [_typed(captured[_INSIDE + name], pl.String).alias(name) for name in names]
    used = [patterns[way] for way in found.ways.unique()]
    escaped = found.unescaped or any(pattern.escaped for pattern in used)
    return AlikeRows(
        table=table,
        texts=pl.DataFrame(texts),
        spelled=found.ways.cast(pl.UInt32),
        spellings=tuple(pattern.spelling for pattern in patterns),
        written=written if escaped else None,
    )


def _typed(captured: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """Return captures as what they are, and null where that was captured: it is no number."""
    if dtype == captured.dtype == pl.String:
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
        steps = _steps(keys, spelling.names, _around(spelling, escape), comma, colon)
        yield _Pattern(
            steps=tuple(_joined(steps)),
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
    keys: tuple[str, ...], names: tuple[str, ...], around: list[str], comma: str, colon: str
) -> Iterator[str | tuple[bytes, str]]:
    """Yield the literals and the captures of lines with these keys."""
    for at, key in enumerate(keys):
        yield f'{comma if at else "{"}"{key}"{colon}'
        if key == "output":
            yield f'"{around[0]}'
            for name, part in zip(names, around[1:], strict=True):
                yield INSIDE, _INSIDE + name
                yield part
            yield '"'
        else:
            yield from ((part, key) if isinstance(part, bytes) else part for part in _VALUES[key])
    yield "}"


def _joined(steps: Iterator[str | tuple[bytes, str]]) -> Iterator[str | tuple[bytes, str]]:
    """Yield steps with literals that follow each other as one."""
    text = ""
    for step in steps:
        if isinstance(step, str):
            text += step
        else:
            yield text
            yield step
            text = ""
    yield text


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

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
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING
from unicodedata import is_normalized

import orjson
import polars as pl

from markscheme.read.answers.batch import (
    ANSWER_FIELDS,
    OutputTemplate,
    SourceLines,
    TemplateRows,
    copy_texts,
    get_table_schema,
)
from markscheme.read.answers.fast.scanner import (
    CAPTURE_ABSENT,
    CAPTURE_INNER_TEXT,
    CAPTURE_INTEGER,
    CAPTURE_NAME,
    CAPTURE_NUMBER,
    CAPTURE_TEXT,
    NULL_TEXT,
    ScanResult,
    encode_capture,
    encode_literal,
    scan_lines,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_SAMPLE_LINES = 20
_MAX_PAUSE = 32  # texts after which lines are looked at again that were not alike
_MAX_TEMPLATES = 8  # patterns that are known at a time
_MAX_FAILED_SEARCHES = (
    8  # looks for a further pattern that found none of use, after which nobody looks
)
_MIN_MATCHED_LINES = 16  # lines that a further pattern must take
_MAX_OUTPUT_TEXTS = 16  # texts in an output
_MAX_LITERAL_CHARACTERS = 2_000  # characters around them
_OUTPUT_COLUMN_PREFIX = "output."
_VALUE_STEPS: dict[str, tuple[str | bytes, ...]] = {
    "item": ('"', CAPTURE_TEXT, '"'),
    "subject": (CAPTURE_NAME,),
    "attempt": (CAPTURE_INTEGER,),
    "latency_ms": (CAPTURE_NUMBER,),
    "tokens_in": (CAPTURE_INTEGER,),
    "tokens_out": (CAPTURE_INTEGER,),
    "cost": (CAPTURE_NUMBER,),
}
_UNICODE_ESCAPE = re.compile(rb"\\\\?u([0-9a-f]{4})")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_MAX_ASCII = 0x7F
_SURROGATES = range(0xD800, 0xE000)
_KEY_VALUE_PATTERN = r'"([^"\\]*)"\s*:\s*"([^"\\]*)"'
_KEY_VALUE_PAIRS = re.compile(_KEY_VALUE_PATTERN)
_OUTPUT_PATTERN = re.compile(
    rf"(?P<fence>```[A-Za-z]*\n)?(?P<object>\s*\{{\s*{_KEY_VALUE_PATTERN}\s*(?:,\s*{_KEY_VALUE_PATTERN}\s*)*\}}\s*?)"
    r"(?(fence)\n```\n?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LineTemplate:
    """How lines are written: literals, and captures by their kind and name, in their order.

    `escaped` where letters that stand around the texts are.
    """

    steps: tuple[str | tuple[bytes, str], ...]
    output_template: OutputTemplate
    escaped: bool

    @property
    def capture_names(self) -> list[str]:
        """The names of what is captured."""
        return [step[1] for step in self.steps if not isinstance(step, str)]

    def compile_steps(self, names: Sequence[str]) -> bytes:
        """Return the steps for the scanner, which has a column for each of the names."""
        absent = [(CAPTURE_ABSENT, name) for name in names if name not in self.capture_names]
        return b"".join(
            encode_literal(step)
            if isinstance(step, str)
            else encode_capture(step[0], names.index(step[1]))
            for step in (*self.steps, *absent)
        )

    def scan_text(self, text: bytes) -> ScanResult:
        """Return what the pattern reads by itself."""
        names = self.capture_names
        return scan_lines(text, [self.compile_steps(names)], len(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class _MatchedLines:
    """The lines that patterns read: what they capture, and every other line with its position.

    `places` are positions in the text, and `ways` tells which pattern reads a line.
    """

    lines: int
    places: pl.Series
    ways: pl.Series
    captured: dict[str, pl.Series]
    left: list[tuple[int, bytes]]
    unescaped: bool


class LineTemplateReader:
    """Reads lines that are alike, in one text after another; takes pauses where they are not."""

    def __init__(self, items: Collection[str], fields: Collection[str]) -> None:
        self._items = pl.Enum(list(items))
        self._fields = frozenset(fields)
        self._templates: list[_LineTemplate] = []
        self._rejected_steps: set[object] = set()
        self._failed_searches = 0
        self._failures = self._pause = 0

    def read_lines(
        self, text: bytes, first: int
    ) -> tuple[TemplateRows, list[tuple[int, bytes]], int] | None:
        """Return the rows that are alike, every other line with its number, and how many lines.

        `None` where too few are alike to be worth it. `first` is the number of the first line.
        """
        if self._pause:
            self._pause -= 1
            return None
        found = self._match_lines(text)
        if found is None or len(found.left) * 2 > found.lines:
            self._failures += 1
            self._pause = min(2**self._failures, _MAX_PAUSE)
            return None
        self._failures = 0
        rest = [(first + at, line) for at, line in found.left if line.strip()]
        return (
            _build_template_rows(found, self._templates, SourceLines(text=text, first_line=first)),
            rest,
            found.lines,
        )

    def _match_lines(self, text: bytes) -> _MatchedLines | None:
        """Return what the patterns read; the lines that are left may teach others."""
        found = self._scan_lines(text) if self._templates else None
        if found is not None and len(found.places):
            left = b"\n".join(line for _, line in found.left)
            learnt = self._learn_templates(left, lines=len(found.left))
        else:  # those that are known have had their time
            self._templates, self._failed_searches = self._templates[: _MAX_TEMPLATES - 1], 0
            learnt = self._learn_templates(text, lines=_MIN_MATCHED_LINES)
        return self._scan_lines(text) if learnt else found

    def _scan_lines(self, text: bytes) -> _MatchedLines:
        """Return what the patterns read, and every other line: also one that names no item."""
        names = list(dict.fromkeys(name for one in self._templates for name in one.capture_names))
        ways = [pattern.compile_steps(names) for pattern in self._templates]
        found = scan_lines(text, ways, len(names))
        matched = _MatchedLines(
            lines=found.lines,
            places=found.matched_positions,
            ways=found.template_indexes,
            captured=dict(zip(names, found.columns, strict=True)),
            left=[(at, text[start:end]) for at, start, end in found.unmatched],
            unescaped=found.unescaped,
        )
        known = matched.captured["item"].cast(self._items, strict=False)
        matched.captured["item"] = known
        return _drop_unknown_items(matched, text) if known.null_count() else matched

    def _learn_templates(self, text: bytes, *, lines: int) -> bool:
        """Learn patterns from so many lines that none reads; return whether there was one."""
        learnt = False
        while (
            lines >= _MIN_MATCHED_LINES
            and len(self._templates) < _MAX_TEMPLATES
            and self._failed_searches < _MAX_FAILED_SEARCHES
        ):
            self._failed_searches += 1
            pattern = self._find_new_template(text)
            if pattern is None:
                break
            found = pattern.scan_text(text)
            if len(found.template_indexes) < min(_MIN_MATCHED_LINES, found.lines / 2):
                self._rejected_steps.add(pattern.steps)
                break
            self._templates.append(pattern)
            self._failed_searches, learnt = 0, True
            text = b"\n".join(text[start:end] for _, start, end in found.unmatched)
            lines = len(found.unmatched)
        return learnt

    def _find_new_template(self, text: bytes) -> _LineTemplate | None:
        """Return the first pattern of one of the first lines that is neither known nor refused."""
        known = {pattern.steps for pattern in self._templates} | self._rejected_steps
        for line in text.split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]:
            for pattern in _generate_templates(line, self._fields):
                if pattern.steps not in known and not pattern.scan_text(line).unmatched:
                    return pattern
        return None


def _drop_unknown_items(matched: _MatchedLines, text: bytes) -> _MatchedLines:
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


def _build_template_rows(
    found: _MatchedLines, patterns: Sequence[_LineTemplate], written: SourceLines
) -> TemplateRows:
    """Return what was captured, in columns."""
    captured = found.captured | {"line": found.places.cast(pl.Int64) + written.first_line}
    if "subject" in captured:
        captured["subject"] = copy_texts(captured["subject"])
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, len(found.places))
    table = pl.DataFrame(
        [
            _cast_captures(captured.get(name, nothing), dtype).alias(name)
            for name, dtype in get_table_schema(captured["item"].dtype).items()
        ]
    )
    if table["attempt"].null_count():
        table = table.with_columns(pl.col("attempt").fill_null(1))
    names = dict.fromkeys(name for pattern in patterns for name in pattern.output_template.names)
    texts = [
        _cast_captures(captured[_OUTPUT_COLUMN_PREFIX + name], pl.String).alias(name)
        for name in names
    ]
    used = [patterns[way] for way in found.ways.unique()]
    escaped = found.unescaped or any(pattern.escaped for pattern in used)
    return TemplateRows(
        table=table,
        texts=pl.DataFrame(texts),
        spelled=found.ways.cast(pl.UInt32),
        output_templates=tuple(pattern.output_template for pattern in patterns),
        source_lines=written if escaped else None,
    )


def _cast_captures(captured: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """Return captures as what they are, and null where that was captured: it is no number."""
    if dtype == captured.dtype == pl.String:
        nothing = captured == NULL_TEXT
        return captured.set(nothing, None) if nothing.any() else captured
    return captured.cast(dtype, strict=False)


def _generate_templates(line: bytes, fields: frozenset[str]) -> Iterator[_LineTemplate]:
    """Yield the patterns that a line may have: with spaces or without, letters or escapes."""
    try:
        row = orjson.loads(_UNICODE_ESCAPE.sub(_decode_escape, line))
        keys, output = tuple(row), row["output"]
        spelling = _parse_output_template(output) if isinstance(output, str) else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return
    taken = "item" in keys and {*keys} <= {*ANSWER_FIELDS}
    if spelling is None or not taken or fields.isdisjoint(spelling.names):
        return
    escapes = ("", "\\u", "\\\\u") if _NON_ASCII.search(spelling.empty_output) else ("",)
    for comma, colon, escape in product((", ", ","), (": ", ":"), escapes):
        steps = _build_steps(keys, spelling.names, _format_literals(spelling, escape), comma, colon)
        yield _LineTemplate(
            steps=tuple(_merge_literals(steps)),
            output_template=spelling,
            escaped=bool(escape),
        )


def _format_literals(spelling: OutputTemplate, escape: str) -> list[str]:
    """Return what stands around the texts of an output, as lines have it that escape so."""
    written = [json.dumps(part, ensure_ascii=False)[1:-1] for part in spelling.literals]
    if not escape:
        return written
    return [_NON_ASCII.sub(lambda one: f"{escape}{ord(one[0]):04x}", part) for part in written]


def _build_steps(
    keys: tuple[str, ...], names: tuple[str, ...], around: list[str], comma: str, colon: str
) -> Iterator[str | tuple[bytes, str]]:
    """Yield the literals and the captures of lines with these keys."""
    for at, key in enumerate(keys):
        yield f'{comma if at else "{"}"{key}"{colon}'
        if key == "output":
            yield f'"{around[0]}'
            for name, part in zip(names, around[1:], strict=True):
                yield CAPTURE_INNER_TEXT, _OUTPUT_COLUMN_PREFIX + name
                yield part
            yield '"'
        else:
            yield from (
                (part, key) if isinstance(part, bytes) else part for part in _VALUE_STEPS[key]
            )
    yield "}"


def _merge_literals(steps: Iterator[str | tuple[bytes, str]]) -> Iterator[str | tuple[bytes, str]]:
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


def _decode_escape(escape: re.Match[bytes]) -> bytes:
    """Return the character of an escape, if it is one by itself and not of ASCII."""
    code = int(escape[1], 16)
    return escape[0] if code <= _MAX_ASCII or code in _SURROGATES else chr(code).encode()


def _parse_output_template(output: str) -> OutputTemplate | None:
    """Return how an object of texts is spelled, bare or in a fence of its own lines.

    What it holds besides stays out of every text, so that how it is read depends on that alone: a
    text has no line end, so it can neither open nor close a fence.
    """
    if not _OUTPUT_PATTERN.fullmatch(output):
        return None
    pairs = list(_KEY_VALUE_PAIRS.finditer(output))
    starts, ends = zip(*(pair.span(2) for pair in pairs), strict=True)
    stretches = zip((0, *ends), (*starts, len(output)), strict=True)
    spelling = OutputTemplate(
        names=tuple(pair[1] for pair in pairs),
        literals=tuple(output[end:start] for end, start in stretches),
    )
    bare = _OUTPUT_PATTERN.fullmatch(spelling.empty_output)
    once = len(set(spelling.names)) == len(pairs) <= _MAX_OUTPUT_TEXTS
    short = len(spelling.empty_output) <= _MAX_LITERAL_CHARACTERS
    if not bare or not once or not short or not is_normalized("NFC", spelling.empty_output):
        return None
    holds = orjson.loads(bare["object"])
    return spelling if holds == dict.fromkeys(spelling.names, "") else None

r"""Learn line templates from JSONL that one program wrote, and scan whole blocks with them.

A template is learnt from a sample line: its keys in their order, and inside its output a JSON
object of texts, bare or in a code fence, with fields that axes read. A template matches a line only
from end to end. Then the line is exactly that JSON, with texts that hold no escape and are in NFC,
so the columns equal what the normal reader would return. Every other line is left to that reader.

Many programs write `\u00f3` for `ó`. Such escaped letters are decoded; any other escape ends the
text, and the line does not match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from unicodedata import is_normalized

import orjson
import polars as pl
from msgspec import Struct, structs

from markscheme.read.answers.batch import (
    ANSWER_FIELDS,
    OutputTemplate,
    SourceLines,
    TemplateRows,
    copy_texts,
    get_table_schema,
)
from markscheme.read.answers.fast import TemplateMatch
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
from markscheme.vocabulary import find_control_character

_SAMPLE_LINES = 20
# Most blocks to skip before trying again, after blocks in which few lines matched.
_MAX_PAUSE = 32
_MAX_TEMPLATES = 8
# Searches for a further template that may fail in a row before searching stops.
_MAX_FAILED_SEARCHES = 8
# Lines that a further template must match to be worth keeping.
_MIN_MATCHED_LINES = 16
_MAX_OUTPUT_TEXTS = 16
_MAX_LITERAL_CHARACTERS = 2_000
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
    r"(?P<fence>```[A-Za-z]*\n)?"
    rf"(?P<object>\s*\{{\s*{_KEY_VALUE_PATTERN}\s*(?:,\s*{_KEY_VALUE_PATTERN}\s*)*\}}\s*?)"
    r"(?(fence)\n```\n?)"
)


class _LineTemplate(Struct, frozen=True, kw_only=True):
    """How lines are written: literals, and captures as (kind, name), in the order of the line.

    `escaped` is set if letters in the literals of the output are written as escapes.
    """

    steps: tuple[str | tuple[bytes, str], ...]
    output_template: OutputTemplate
    escaped: bool

    @property
    def capture_names(self) -> list[str]:
        """The names of the captures."""
        return [step[1] for step in self.steps if not isinstance(step, str)]

    def compile_steps(self, names: Sequence[str]) -> bytes:
        """Encode the steps for the scanner, which has one column for each of `names`."""
        absent = [(CAPTURE_ABSENT, name) for name in names if name not in self.capture_names]
        return b"".join(
            encode_literal(step)
            if isinstance(step, str)
            else encode_capture(step[0], names.index(step[1]))
            for step in (*self.steps, *absent)
        )

    def scan_text(self, text: bytes) -> ScanResult:
        """Scan lines with this template alone."""
        names = self.capture_names
        return scan_lines(text, [self.compile_steps(names)], len(names))


class _MatchedLines(Struct, frozen=True, kw_only=True):
    """Lines after scanning: the captures of those that match, and all others with their position.

    `positions` are those of the matching lines in the text; `template_indexes` says which template
    matched each of them.
    """

    line_count: int
    positions: pl.Series
    template_indexes: pl.Series
    captured: dict[str, pl.Series]
    unmatched: list[tuple[int, bytes]]
    unescaped: bool


class LineTemplateReader:
    """Reads one block of lines after another, and skips blocks for a while if few lines match."""

    def __init__(self, items: Collection[str], fields: Collection[str]) -> None:
        self._items = pl.Enum(list(items))
        self._fields = frozenset(fields)
        self._templates: list[_LineTemplate] = []
        self._rejected_steps: set[object] = set()
        self._failed_searches = 0
        self._failures = self._pause = 0

    def read_lines(self, text: bytes, first: int) -> TemplateMatch | None:
        """Read whole lines, of which the first has the number `first`.

        Return `None` if more than half of the lines match no template: then it is not worth it.
        """
        if self._pause:
            self._pause -= 1
            return None
        matched = self._match_lines(text)
        if matched is None or len(matched.unmatched) * 2 > matched.line_count:
            self._failures += 1
            self._pause = min(2**self._failures, _MAX_PAUSE)
            return None
        self._failures = 0
        source_lines = SourceLines(text=text, first_line=first)
        return TemplateMatch(
            rows=_build_template_rows(matched, self._templates, source_lines),
            unmatched=[(first + at, line) for at, line in matched.unmatched if line.strip()],
            line_count=matched.line_count,
        )

    def _match_lines(self, text: bytes) -> _MatchedLines | None:
        """Scan lines with all templates, and learn further ones from the lines that are left."""
        matched = self._scan_lines(text) if self._templates else None
        if matched is not None and len(matched.positions):
            rest = b"\n".join(line for _, line in matched.unmatched)
            has_learnt = self._learn_templates(rest, line_count=len(matched.unmatched))
        else:
            # None of the known templates matches any more: make room for a new one.
            self._templates, self._failed_searches = self._templates[: _MAX_TEMPLATES - 1], 0
            has_learnt = self._learn_templates(text, line_count=_MIN_MATCHED_LINES)
        return self._scan_lines(text) if has_learnt else matched

    def _scan_lines(self, text: bytes) -> _MatchedLines:
        """Scan lines with all templates; a line with a name that is refused does not match."""
        names = list(dict.fromkeys(name for t in self._templates for name in t.capture_names))
        steps = [template.compile_steps(names) for template in self._templates]
        scanned = scan_lines(text, steps, len(names))
        matched = _MatchedLines(
            line_count=scanned.lines,
            positions=scanned.matched_positions,
            template_indexes=scanned.template_indexes,
            captured=dict(zip(names, scanned.columns, strict=True)),
            unmatched=[(at, text[start:end]) for at, start, end in scanned.unmatched],
            unescaped=scanned.unescaped,
        )
        items = matched.captured["item"].cast(self._items, strict=False)
        matched.captured["item"] = items
        is_known = items.is_not_null()
        if "subject" in matched.captured:
            is_known &= _are_names(matched.captured["subject"])
        return matched if is_known.all() else _drop_rows(matched, text, is_known)

    def _learn_templates(self, text: bytes, *, line_count: int) -> bool:
        """Learn templates from lines that match none; return whether any was learnt."""
        has_learnt = False
        while (
            line_count >= _MIN_MATCHED_LINES
            and len(self._templates) < _MAX_TEMPLATES
            and self._failed_searches < _MAX_FAILED_SEARCHES
        ):
            self._failed_searches += 1
            template = self._find_new_template(text)
            if template is None:
                break
            scanned = template.scan_text(text)
            if len(scanned.template_indexes) < min(_MIN_MATCHED_LINES, scanned.lines / 2):
                self._rejected_steps.add(template.steps)
                break
            self._templates.append(template)
            self._failed_searches, has_learnt = 0, True
            text = b"\n".join(text[start:end] for _, start, end in scanned.unmatched)
            line_count = len(scanned.unmatched)
        return has_learnt

    def _find_new_template(self, text: bytes) -> _LineTemplate | None:
        """Return the first template of the sample lines that is neither known nor rejected."""
        known = {template.steps for template in self._templates} | self._rejected_steps
        for line in text.split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]:
            for template in _generate_templates(line, self._fields):
                if template.steps not in known and not template.scan_text(line).unmatched:
                    return template
        return None


def _are_names(column: pl.Series) -> pl.Series:
    """Return for each text whether it is null or holds no control character."""
    names = set(column.unique().to_list()) - {NULL_TEXT}
    return ~column.is_in([name for name in names if find_control_character(name)])


def _drop_rows(matched: _MatchedLines, text: bytes, is_known: pl.Series) -> _MatchedLines:
    """Move the lines that are not known to those that do not match."""
    lines = text.split(b"\n")
    unknown = [(at, lines[at]) for at in matched.positions.filter(~is_known)]
    return structs.replace(
        matched,
        positions=matched.positions.filter(is_known),
        template_indexes=matched.template_indexes.filter(is_known),
        captured={name: column.filter(is_known) for name, column in matched.captured.items()},
        unmatched=sorted(matched.unmatched + unknown),
    )


def _build_template_rows(
    matched: _MatchedLines, templates: Sequence[_LineTemplate], source_lines: SourceLines
) -> TemplateRows:
    """Cast the captures to the columns of answers."""
    captured = matched.captured | {
        "line": matched.positions.cast(pl.Int64) + source_lines.first_line
    }
    if "subject" in captured:
        captured["subject"] = copy_texts(captured["subject"])
    nulls = pl.Series([None], dtype=pl.String).new_from_index(0, len(matched.positions))
    table = pl.DataFrame(
        [
            _cast_captures(captured.get(name, nulls), dtype).alias(name)
            for name, dtype in get_table_schema(captured["item"].dtype).items()
        ]
    )
    if table["attempt"].null_count():
        table = table.with_columns(pl.col("attempt").fill_null(1))
    names = dict.fromkeys(name for t in templates for name in t.output_template.names)
    texts = [
        _cast_captures(captured[_OUTPUT_COLUMN_PREFIX + name], pl.String).alias(name)
        for name in names
    ]
    used = [templates[index] for index in matched.template_indexes.unique()]
    escaped = matched.unescaped or any(template.escaped for template in used)
    return TemplateRows(
        table=table,
        texts=pl.DataFrame(texts),
        template_indexes=matched.template_indexes.cast(pl.UInt32),
        output_templates=tuple(template.output_template for template in templates),
        source_lines=source_lines if escaped else None,
    )


def _cast_captures(captured: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """Cast captures to the type of their column; a captured `null` becomes null.

    The text that stands for `null` is no number, so a cast to a number makes it null.
    """
    if dtype == captured.dtype == pl.String:
        is_null = captured == NULL_TEXT
        return captured.set(is_null, None) if is_null.any() else captured
    return captured.cast(dtype, strict=False)


def _generate_templates(line: bytes, fields: frozenset[str]) -> Iterator[_LineTemplate]:
    """Yield the templates that a line may follow: with spaces or without, letters or escapes."""
    try:
        row = orjson.loads(_UNICODE_ESCAPE.sub(_decode_escape, line))
        keys, output = tuple(row), row["output"]
        template = _parse_output_template(output) if isinstance(output, str) else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return
    has_known_keys = "item" in keys and {*keys} <= {*ANSWER_FIELDS}
    if template is None or not has_known_keys or fields.isdisjoint(template.names):
        return
    escapes = ("", "\\u", "\\\\u") if _NON_ASCII.search(template.empty_output) else ("",)
    for comma, colon, escape in product((", ", ","), (": ", ":"), escapes):
        literals = _escape_literals(template, escape)
        steps = _build_steps(keys, template.names, literals, comma, colon)
        yield _LineTemplate(
            steps=tuple(_merge_literals(steps)),
            output_template=template,
            escaped=bool(escape),
        )


def _escape_literals(template: OutputTemplate, escape: str) -> list[str]:
    """Return the literals of an output as they stand in a line; `escape` starts an escape."""
    literals = [json.dumps(literal, ensure_ascii=False)[1:-1] for literal in template.literals]
    if not escape:
        return literals
    return [
        _NON_ASCII.sub(lambda letter: f"{escape}{ord(letter[0]):04x}", literal)
        for literal in literals
    ]


def _build_steps(
    keys: tuple[str, ...], names: tuple[str, ...], literals: list[str], comma: str, colon: str
) -> Iterator[str | tuple[bytes, str]]:
    """Yield the literals and the captures of lines with these keys."""
    for at, key in enumerate(keys):
        yield f'{comma if at else "{"}"{key}"{colon}'
        if key == "output":
            yield f'"{literals[0]}'
            for name, literal in zip(names, literals[1:], strict=True):
                yield CAPTURE_INNER_TEXT, _OUTPUT_COLUMN_PREFIX + name
                yield literal
            yield '"'
        else:
            yield from (
                (part, key) if isinstance(part, bytes) else part for part in _VALUE_STEPS[key]
            )
    yield "}"


def _merge_literals(steps: Iterator[str | tuple[bytes, str]]) -> Iterator[str | tuple[bytes, str]]:
    """Join literals that follow each other into one."""
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
    """Return the character of an escape; leave ASCII and halves of surrogate pairs as they are."""
    code = int(escape[1], 16)
    return escape[0] if code <= _MAX_ASCII or code in _SURROGATES else chr(code).encode()


def _parse_output_template(output: str) -> OutputTemplate | None:
    """Return the template of an output that is a JSON object of texts, bare or in a code fence.

    Return `None` if the reading of such outputs could depend on their texts. A captured text has no
    line end, so it can neither open nor close a fence, and how the output is read depends on the
    literals alone.
    """
    if not _OUTPUT_PATTERN.fullmatch(output):
        return None
    pairs = list(_KEY_VALUE_PAIRS.finditer(output))
    starts, ends = zip(*(pair.span(2) for pair in pairs), strict=True)
    literal_spans = zip((0, *ends), (*starts, len(output)), strict=True)
    template = OutputTemplate(
        names=tuple(pair[1] for pair in pairs),
        literals=tuple(output[start:end] for start, end in literal_spans),
    )
    empty = template.empty_output
    empty_match = _OUTPUT_PATTERN.fullmatch(empty)
    has_unique_names = len(set(template.names)) == len(pairs) <= _MAX_OUTPUT_TEXTS
    if (
        not empty_match
        or not has_unique_names
        or len(empty) > _MAX_LITERAL_CHARACTERS
        or not is_normalized("NFC", empty)
    ):
        return None
    document = orjson.loads(empty_match["object"])
    return template if document == dict.fromkeys(template.names, "") else None

"""The compiled scanner reads what a regular expression would, from any bytes."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markscheme.read.answers import KnownItems, create_template_reader, read_jsonl
from markscheme.read.answers.fast import scanner
from markscheme.read.answers.fast.scanner import (
    CAPTURE_ABSENT,
    CAPTURE_INNER_TEXT,
    CAPTURE_INTEGER,
    CAPTURE_NAME,
    CAPTURE_NUMBER,
    CAPTURE_TEXT,
    NULL_TEXT,
    encode_capture,
    encode_literal,
    scan_lines,
)

CHARACTERS = "[ !#-\\[\\]-~\x80-\u02ff\u2010-\u2027\u2030-\u205e\u20ac]"
CODES = "00[89a-f][0-9a-f]|0[12][0-9a-f]{2}|201[0-9a-f]|202[0-7]|20[34][0-9a-f]|205[0-9a-e]|20ac"
ESCAPE = rf"\\\\?u({CODES})"
PATTERNS = {  # no step goes back: what was taken stays taken
    CAPTURE_TEXT: f"({CHARACTERS}*+)",
    CAPTURE_INNER_TEXT: rf"((?:{CHARACTERS}|\\\\?u(?:{CODES}))*+)",
    CAPTURE_NAME: f'((?>null|"{CHARACTERS}*+"))',
    CAPTURE_INTEGER: "((?>null|0|[1-9][0-9]{0,14}+))",
    CAPTURE_NUMBER: r"((?>null|(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,17}+|(?!\.))))",
}
FILLED = {
    CAPTURE_TEXT: st.text(st.sampled_from("ab ó€’~") | st.characters(codec="utf-8"), max_size=30),
    CAPTURE_INNER_TEXT: st.lists(
        st.sampled_from(["a", "word ", "ó", "\\u00f3", "\\\\u00f3", "\\\\u2014", "\\u20ac"])
        | st.sampled_from(["\\u0041", "\\u00F3", "\\ud83d", "\\\\\\u00f3", "\\n", '"', "\\u00f"]),
        max_size=9,
    ).map("".join),
    CAPTURE_NAME: st.sampled_from(["null", '"', '"a"', '"ó"', "nul", '""', '"a']),
    CAPTURE_INTEGER: st.sampled_from(["null", "0", "07", "12", "9" * 15, "9" * 16, "-1", ""]),
    CAPTURE_NUMBER: st.sampled_from(
        ["null", "0", "0.5", "1.", ".5", "12.25", "1e3", "3." + "1" * 18]
    ),
}
LITERALS = st.sampled_from(['"', ', "', '": ', "}", '{"item":', "a word of many bytes, ó"])
QUOTED = encode_literal('"') + encode_capture(CAPTURE_TEXT, 0) + encode_literal('"')
STEPS = st.lists(st.sampled_from(list(PATTERNS)) | LITERALS, min_size=1, max_size=6)


Parts = list[bytes | str]


def steps_of(parts: Parts, columns: int) -> bytes:
    """Return steps that capture into the first columns, in their order, and leave the others."""
    numbers = iter(range(columns))
    steps = [
        encode_literal(part) if isinstance(part, str) else encode_capture(part, next(numbers))
        for part in parts
    ]
    return b"".join([*steps, *(encode_capture(CAPTURE_ABSENT, number) for number in numbers)])


def captures_of(parts: Parts) -> int:
    return sum(part in PATTERNS for part in parts)


def wanted(parts: Parts, line: bytes) -> list[str] | None:
    """Return what a line says by the definition of each step."""
    pattern = "".join(
        re.escape(part) if isinstance(part, str) else PATTERNS[part] for part in parts
    )
    try:
        found = re.fullmatch(pattern, line.decode())
    except UnicodeDecodeError:
        return None
    if not found:
        return None
    kinds = [part for part in parts if isinstance(part, bytes)]
    return [told(kind, text) for kind, text in zip(kinds, found.groups(), strict=True)]


def told(kind: bytes, text: str) -> str:
    """Return a capture as the scanner writes it."""
    if kind == CAPTURE_INNER_TEXT:
        return re.sub(ESCAPE, lambda escape: chr(int(escape[1], 16)), text)
    if kind in {CAPTURE_NAME, CAPTURE_INTEGER, CAPTURE_NUMBER}:
        return NULL_TEXT if text == "null" else text.strip('"')
    return text


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[Parts], bytes]:
    ways = draw(st.lists(STEPS, min_size=1, max_size=3))
    lines: list[bytes] = draw(st.lists(st.binary(max_size=12), max_size=3))
    for parts in ways:
        one = st.tuples(*(FILLED[p] if isinstance(p, bytes) else st.just(p) for p in parts))
        lines += draw(st.lists(one.map("".join).map(lambda line: line.encode()), max_size=4))
    return ways, b"\n".join(draw(st.permutations(lines)))


@given(texts())
@settings(max_examples=200)
def test_lines_are_read_as_the_first_regular_expression_that_fits_reads_them(
    given: tuple[list[Parts], bytes],
) -> None:
    ways, text = given
    columns = max(map(captures_of, ways))
    lines = text.split(b"\n")
    expected = {}
    for at, line in enumerate(lines):
        fits = ((way, wanted(parts, line)) for way, parts in enumerate(ways))
        way, told = next((one for one in fits if one[1] is not None), (0, None))
        if told is not None:
            expected[at] = (way, told + [NULL_TEXT] * (columns - len(told)))
    found = scan_lines(text, [steps_of(parts, columns) for parts in ways], columns)
    assert found.lines == len(lines)
    assert found.matched_positions.to_list() == list(expected)
    assert found.template_indexes.to_list() == [way for way, _ in expected.values()]
    assert [list(row) for row in zip(*found.columns, strict=True)] == (
        [told for _, told in expected.values()] if columns else []
    )
    assert [(at, text[start:end]) for at, start, end in found.unmatched] == [
        (at, line) for at, line in enumerate(lines) if at not in expected
    ]


def test_a_text_is_made_of_characters_that_are_in_nfc_in_any_order() -> None:
    every = [chr(code) for code in range(0x110000) if code not in range(0xD800, 0xE000)]
    text = "\n".join(f'"{one}"' for one in every if one != "\n").encode()
    (column,) = scan_lines(text, [QUOTED], 1).columns
    taken = set(column)
    assert taken == {one for one in every if re.fullmatch(CHARACTERS, one)}
    parts = [unicodedata.decomposition(character).split() for character in every]
    seconds = {chr(int(one[1], 16)) for one in parts if len(one) == 2 and one[0][0] != "<"}
    jamo = {chr(code) for code in range(0x1161, 0x11C3)}
    assert not taken & (seconds | jamo)  # nothing that what stands before it could take in
    assert all(unicodedata.is_normalized("NFC", one) for one in taken)
    assert not any(map(unicodedata.combining, taken))


@given(st.lists(st.integers(0, 255), max_size=3).map(bytes))
def test_bytes_that_are_no_utf_8_match_nothing(odd: bytes) -> None:
    found = scan_lines(odd, [encode_capture(CAPTURE_TEXT, 0)], 1)
    for text in found.columns[0]:
        assert text.encode() in odd.split(b"\n")


def test_texts_after_each_other_do_not_see_what_was_read_before() -> None:
    long = b"\n".join(b'"%d"' % number for number in range(5_000))
    assert scan_lines(long, [QUOTED], 1).columns[0].len() == 5_000
    assert scan_lines(b'"short"', [QUOTED], 1).columns[0].to_list() == ["short"]
    assert scan_lines(b"", [QUOTED], 1).unmatched == [(0, 0, 0)]


def test_the_scanner_is_built_here() -> None:
    assert scanner.is_available()


@pytest.mark.parametrize(
    "lacking", [{"LIBRARY_PATH": Path("there-is-none.so")}, {"_LIBRARY_VERSION": 0}]
)
def test_without_a_scanner_lines_are_read_in_the_other_ways(
    lacking: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, fields = KnownItems(["a"]), ["said"]
    output = json.dumps({"said": "Ate."})
    row = json.dumps({"item": "a", "output": output, "attempt": 1})
    content = "\n".join(row.replace("1}", f"{at}}}") for at in range(1, 31)).encode()
    (fast,) = read_jsonl(
        [content], known=known, template_reader=create_template_reader(known, fields)
    )
    scanner._load_library.cache_clear()
    for name, value in lacking.items():
        monkeypatch.setattr(scanner, name, value)
    try:
        assert create_template_reader(known, fields) is None
        (slow,) = read_jsonl([content], known=known, template_reader=None)
    finally:
        scanner._load_library.cache_clear()
    assert fast.template_rows is not None
    assert slow.template_rows is None
    assert fast.build_table().equals(slow.build_table())
    assert (
        fast.build_output_texts().to_list() == slow.build_output_texts().to_list() == [output] * 30
    )

"""Recorded answers: every row of every format comes out once, as an answer or as an error."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markscheme.errors import AnswersError, UsageError
from markscheme.read.answers import (
    AnswerBatch,
    KnownItems,
    Ledger,
    Limits,
    read_answers,
    read_jsonl,
    strike_repeats,
)
from markscheme.read.answers import ledger as ledger_module
from markscheme.read.answers.jsonl import _value_of
from markscheme.read.answers.taking import RawRows, take_each

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from markscheme.vocabulary import RowError

ITEMS = ("e-39-01", "e-39-02", "ñandú")
KNOWN = KnownItems(ITEMS)
GOOD = b'{"item":"e-39-01","output":"Ate."}'


def merged(batches: Iterable[AnswerBatch]) -> AnswerBatch:
    whole = AnswerBatch()
    for batch in batches:
        lengths = {len(column) for column in batch.columns()}
        assert lengths == {len(batch)}
        whole.extend(batch.lines, batch.columns()[1:])
        whole.errors.extend(batch.errors)
    return whole


def read(path: Path, content: bytes | None = None, **limits: int) -> AnswerBatch:
    if content is not None:
        path.write_bytes(content)
    return merged(read_answers(path, items=ITEMS, limits=Limits(**limits)))


def only_error(batch: AnswerBatch) -> RowError:
    (error,) = batch.errors
    return error


def written(rows: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


# --- what an answer is ---------------------------------------------------------------------------


def test_every_field_of_an_answer_arrives_in_its_column(tmp_path: Path) -> None:
    row = {
        "item": "e-39-01",
        "output": {"correction": "Ate.", "parts": [1, {"a": None}]},
        "subject": "tutor",
        "attempt": 3,
        "latency_ms": 12.5,
        "tokens_in": 7,
        "tokens_out": 0,
        "cost": 1,
        "ignored": ["further", "keys"],
    }
    batch = read(tmp_path / "a.jsonl", written([row]))
    assert [column[0] for column in batch.columns()] == [1, *list(row.values())[:8]]
    assert batch.errors == []


def test_what_is_absent_or_null_has_its_default(tmp_path: Path) -> None:
    names = ("subject", "attempt", "latency_ms", "tokens_in", "tokens_out", "cost")
    rows: list[dict[str, Any]] = [
        {"item": "e-39-01", "output": ""},
        {"item": "e-39-02", "output": "", **dict.fromkeys(names)},
    ]
    batch = read(tmp_path / "a.jsonl", written(rows))
    assert [column[0] for column in batch.columns()[3:]] == [None, 1, None, None, None, None]
    assert [column[1] for column in batch.columns()[3:]] == [None, 1, None, None, None, None]


def test_names_are_brought_to_nfc_and_outputs_stay_as_they_are(tmp_path: Path) -> None:
    row = {"item": "n\u0303andu\u0301", "output": "comio\u0301", "subject": "Jose\u0301"}
    batch = read(tmp_path / "a.jsonl", written([row, {"item": "e-39-01", "output": "日本"}]))
    assert batch.items == ["ñandú", "e-39-01"]
    assert batch.outputs == ["comio\u0301", "日本"]
    assert batch.subjects == ["José", None]


def test_a_byte_order_mark_blank_lines_and_crlf_are_no_errors(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n  \t\n" + GOOD.replace(b"01", b"02") + b"\r\n\n"
    batch = read(tmp_path / "a.jsonl", content)
    assert (batch.lines, batch.items, batch.errors) == ([1, 4], ["e-39-01", "e-39-02"], [])


# --- what is not an answer -----------------------------------------------------------------------

BAD_ROWS = {
    b"nope": "not JSON",
    b'{"item":"e-39-01","output":"At': "cut off",
    b"[1]": "not a list",
    b"7": "not the number `7`",
    b'{"output":"x"}': "`item` is missing",
    b'{"item":null,"output":"x"}': "`item` is missing",
    b'{"item":3,"output":"x"}': "`item` must be text, not the number `3`",
    b'{"item":["e-39-01"],"output":"x"}': "`item` must be text, not a list",
    b'{"item":"q-1","output":"x"}': "unknown item `q-1`",
    b'{"item":" E_39_1","output":"x"}': "did you mean `e-39-01`?",
    b'{"item":"e-39-01"}': "`output` is missing",
    b'{"item":"e-39-01","output":null}': "not null",
    b'{"item":"e-39-01","output":3}': "text or an object, not the number `3`",
    b'{"item":"e-39-01","output":["x"]}': "text or an object, not a list",
    b'{"item":"e-39-01","output":"\\ud800"}': "lone surrogate",
    b'{"item":"e-39-01","output":"\xed\xa0\x80"}': "lone surrogate",
    b'{"item":"e-39-01","output":"\\u0000"}': "`output` holds a NUL",
    b'{"item":"e-39-01","output":{"a":["\\u0000"]}}': "`output` holds a NUL",
    b'{"item":"e-39-01","output":{"\\u0000":1}}': "`output` holds a NUL",
    b'{"item":"e-39-01","output":"x","subject":"\\u0000"}': "`subject` holds a NUL",
    b'{"item":"\\u0000","output":"x"}': "`item` holds a NUL",
    b'{"item":"e-39-01","output":"\x00"}': "NUL byte",
    b'{"item":"e-39-01","output":"\xff"}': "not UTF-8: byte 0xff at byte 29",
    b'{"item":"e-39-01","output":"x","k":' + b"[" * 3000: "nested too deep",
    b'{"item":"e-39-01","output":{"a":' + b"[" * 200 + b"]" * 200 + b"}}": "nested more than 100",
    b'{"item":"e-39-01","output":"x","subject":7}': "`subject` must be text",
    b'{"item":"e-39-01","output":"x","attempt":true}': "`attempt` must be a whole number",
    b'{"item":"e-39-01","output":"x","attempt":-1}': "`attempt` must be a whole number",
    b'{"item":"e-39-01","output":"x","attempt":1.5}': "`attempt` must be a whole number",
    b'{"item":"e-39-01","output":"x","attempt":"1"}': "not the text `1`",
    b'{"item":"e-39-01","output":"x","attempt":9223372036854775808}': "`attempt` must be a whole",
    b'{"item":"e-39-01","output":"x","tokens_in":1e30}': "`tokens_in` must be a whole number",
    b'{"item":"e-39-01","output":"x","tokens_out":-3}': "`tokens_out` must be a whole number",
    b'{"item":"e-39-01","output":"x","latency_ms":-0.5}': "`latency_ms` must be a number",
    b'{"item":"e-39-01","output":"x","latency_ms":NaN}': "NaN and Infinity",
    b'{"item":"e-39-01","output":"x","latency_ms":-Infinity}': "NaN and Infinity",
    b'{"item":"e-39-01","output":"x","latency_ms":1e999}': "not JSON",
    b'{"item":"e-39-01","output":"x","cost":false}': "`cost` must be a number",
    b'{"item":"e-39-01","output":"x"},{"item":"e-39-02","output":"x"}': "not JSON",
}


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.items(), ids=range(len(BAD_ROWS)))
def test_a_bad_row_is_one_error_and_stops_nothing(tmp_path: Path, row: bytes, reason: str) -> None:
    after = GOOD.replace(b"01", b"02")
    batch = read(tmp_path / "a.jsonl", b"\n".join((GOOD, row, after)))
    error = only_error(batch)
    assert reason in error.reason
    assert error.line == 2
    assert batch.lines == [1, 3]
    assert len(error.excerpt) <= 80
    assert error.excerpt.isprintable()
    assert error.excerpt[:4] == row.decode(errors="replace")[:4]


def test_an_error_names_the_item_where_it_is_known(tmp_path: Path) -> None:
    batch = read(tmp_path / "a.jsonl", b'{"item":"e-39-01"}\n{"item":"q"}\n[]\n' + GOOD)
    assert [error.item for error in batch.errors] == ["e-39-01", "q", None]


def test_a_repeated_attempt_is_an_error_and_the_first_stays(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"item": "e-39-01", "output": "first", "attempt": 2},
        {"item": "e-39-01", "output": "other subject", "attempt": 2, "subject": "s"},
        {"item": "e-39-01", "output": "other attempt"},
        {"item": "e-39-01", "output": "again", "attempt": 2.0},
        {"item": "e-39-01", "output": "wrong", "attempt": -2},
        {"item": "e-39-01", "output": "again by s", "attempt": 2, "subject": "s"},
    ]
    batch = read(tmp_path / "a.jsonl", written(rows), batch_rows=2)
    assert batch.outputs == ["first", "other subject", "other attempt"]
    assert [(error.line, error.excerpt[:5]) for error in batch.errors] == [
        (4, "again"),
        (5, '{"ite'),
        (6, "again"),
    ]
    assert "attempt 2 at item `e-39-01` was already answered" in batch.errors[0].reason
    assert "by `s`" in batch.errors[2].reason


def test_answers_errors_and_blank_lines_add_up_to_the_lines_of_the_file(tmp_path: Path) -> None:
    rows = [*BAD_ROWS, b"", b" \t", *(GOOD[:-1] + b',"attempt":%d}' % n for n in range(3000))]
    batch = read(tmp_path / "a.jsonl", b"\n".join(rows), batch_rows=100, block_bytes=5000)
    assert (len(batch), len(batch.errors)) == (3000, len(BAD_ROWS))
    assert sorted(batch.lines + [error.line for error in batch.errors]) == [
        number for number, row in enumerate(rows, 1) if row.strip()
    ]


@pytest.mark.parametrize("block_bytes", [7, 50, 1000, 100_000])
def test_a_line_over_the_limit_is_an_error_with_its_line(tmp_path: Path, block_bytes: int) -> None:
    long = b'{"item":"e-39-01","output":"' + b"x" * 500 + b'"}'
    content = b"\n".join((GOOD, long, GOOD.replace(b"01", b"02"), long))
    batch = read(tmp_path / "a.jsonl", content, row_bytes=200, block_bytes=block_bytes)
    assert batch.lines == [1, 3]
    assert [error.line for error in batch.errors] == [2, 4]
    assert batch.errors[0].reason == "a line of 530 bytes; a row may have 200"
    assert batch.errors[0].excerpt.startswith('{"item":"e-39-01","output":"xxx')
    assert batch.errors[0].excerpt.endswith("…")


_MEASURED = """
import resource, sys
from markscheme.read.answers import read_answers
list(read_answers(sys.argv[1], items=["e-39-01"]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
batches = list(read_answers(sys.argv[2], items=["e-39-01"]))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sum(map(len, batches)), sum(len(batch.errors) for batch in batches), after - before)
"""


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_line_of_50_mb_is_skipped_in_flat_memory(tmp_path: Path, suffix: str) -> None:
    small, large = tmp_path / f"small{suffix}", tmp_path / f"large{suffix}"
    start, end = (
        (b'{"item":"e-39-01","output":"', b'"}\n') if suffix == ".jsonl" else (b'"', b'"\n')
    )
    good = GOOD + b"\n" if suffix == ".jsonl" else b"e-39-01,Ate.\n"
    header = b"" if suffix == ".jsonl" else b"item,output\n"
    small.write_bytes(header + good)
    with large.open("wb") as stream:
        stream.write(header + start)
        for _ in range(50):
            stream.write(b"x" * 1_000_000)
        stream.write(end + good)
    command = [sys.executable, "-c", _MEASURED, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answers, errors, grown = map(int, done.stdout.split())
    assert (answers, errors) == (1, 1)
    assert grown < 30_000  # kilobytes


# --- one meaning, two ways -----------------------------------------------------------------------

TEXTS = st.one_of(
    st.sampled_from(["", "Ate.", "comió", "comio\u0301", "日本", "\0", "a\n"]), st.text()
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([2**53, 2**63, 2**64 - 1, 1.0, 2.5, -0.0, 1e300]),
    TEXTS,
    st.lists(st.integers(-(2**63), 2**63), max_size=2),
    st.dictionaries(TEXTS, st.one_of(TEXTS, st.lists(TEXTS, max_size=2)), max_size=2),
)
OFTEN_GOOD = {
    "item": st.one_of(st.sampled_from([*ITEMS, "n\u0303andu\u0301", "q"]), VALUES),
    "output": st.one_of(TEXTS, VALUES),
    "subject": st.one_of(st.none(), TEXTS, VALUES),
    "attempt": st.one_of(st.integers(0, 5), VALUES),
    "latency_ms": st.one_of(st.floats(0, 1e6), VALUES),
    "tokens_in": st.one_of(st.integers(0, 5), VALUES),
    "tokens_out": VALUES,
    "cost": VALUES,
    "further": VALUES,
}
ROWS = st.fixed_dictionaries(
    {"item": OFTEN_GOOD["item"], "output": OFTEN_GOOD["output"]},
    optional={
        name: values for name, values in OFTEN_GOOD.items() if name not in {"item", "output"}
    },
)
REGULAR = st.fixed_dictionaries(
    {"item": st.sampled_from(ITEMS), "output": TEXTS.filter(lambda text: "\0" not in text)},
    optional={"attempt": st.integers(0, 9), "subject": st.sampled_from(["a", "b", None])},
)
LINES = st.one_of(
    ROWS.map(orjson.dumps),
    REGULAR.map(orjson.dumps),
    REGULAR.map(lambda row: json.dumps(row).encode() + b"\r"),
    st.sampled_from(list(BAD_ROWS)),
    st.sampled_from([b"", b" ", b'{"a":[{}', b"{}]}", b"{},2718281828,{}", b'{"a":[[1', b"2]]}"]),
    st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"")),
)


def by_definition(lines: Iterable[bytes]) -> AnswerBatch:
    batch = AnswerBatch()
    numbers = [number for number, raw in enumerate(lines, 1) if raw.strip()]
    rows = [_value_of(raw) for raw in lines if raw.strip()]
    raw_rows = RawRows(lines=numbers, rows=rows, shown=lambda _: "")
    take_each(batch, raw_rows, range(len(rows)), KNOWN)
    return batch


def alike(one: AnswerBatch, other: AnswerBatch) -> bool:
    def typed(batch: AnswerBatch) -> list[Any]:
        return [[(type(value), value) for value in column] for column in batch.columns()]

    def told(batch: AnswerBatch) -> list[Any]:
        return [(error.line, error.reason, error.item) for error in batch.errors]

    return typed(one) == typed(other) and told(one) == told(other)


@given(st.lists(LINES, max_size=60))
@settings(max_examples=400, deadline=None)
def test_the_fast_way_agrees_with_the_definition_on_hostile_rows(lines: list[bytes]) -> None:
    assert alike(merged(read_jsonl([b"\n".join(lines)], known=KNOWN)), by_definition(lines))


@given(st.lists(REGULAR.map(orjson.dumps), min_size=1, max_size=60), LINES, st.data())
@settings(max_examples=200, deadline=None)
def test_one_irregular_row_among_regular_ones_agrees_with_the_definition(
    lines: list[bytes], odd: bytes, data: st.DataObject
) -> None:
    lines.insert(data.draw(st.integers(0, len(lines))), odd)
    assert alike(merged(read_jsonl([b"\n".join(lines)], known=KNOWN)), by_definition(lines))


@given(st.lists(LINES, max_size=20), st.integers(1, 200), st.integers(1, 30))
@settings(max_examples=200, deadline=None)
def test_block_and_batch_sizes_do_not_matter(lines: list[bytes], block: int, rows: int) -> None:
    content = b"\n".join(lines)
    blocks = (content[at : at + block] for at in range(0, len(content), block))
    cut = merged(read_jsonl(blocks, known=KNOWN, limits=Limits(batch_rows=rows)))
    assert cut == merged(read_jsonl([content], known=KNOWN))


def test_rows_that_spill_over_their_lines_are_errors_even_where_they_would_fit_together() -> None:
    lines = [b'{"a":[{}', b"{}]}", b"{},2718281828,{}", GOOD]
    batch = merged(read_jsonl([b"\n".join(lines)], known=KNOWN))
    assert batch.lines == [4]
    assert [error.line for error in batch.errors] == [1, 2, 3]


def test_batches_are_bounded_by_rows_and_by_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        written({"item": "e-39-01", "output": "x" * 90, "attempt": n} for n in range(2000))
    )
    by_rows = Limits(batch_rows=100, block_bytes=1000)
    by_bytes = Limits(batch_bytes=10_000, block_bytes=1000)
    for limits in (by_rows, by_bytes):
        sizes = [len(batch) for batch in read_answers(path, items=ITEMS, limits=limits)]
        assert sum(sizes) == 2000
        assert max(sizes[1:]) <= 120


# --- the ledger ----------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from([None, "s"]),
            st.one_of(st.integers(0, 40), st.sampled_from([10**6, 2**40, 2**63 - 1])),
        )
    ),
    st.integers(0, 300),
)
def test_the_ledger_knows_every_attempt(
    entries: list[tuple[str, str | None, int]], spare: int
) -> None:
    ledger, seen = Ledger(), set()
    ledger._spare = spare
    for entry in entries:
        item, subject, attempt = entry
        first = not ledger.repeats((item,), (subject,), (attempt,))
        assert first == (entry not in seen)
        seen.add(entry)


def test_repeats_are_found_across_parts_that_were_read_apart() -> None:
    parts = [merged(read_jsonl([before + GOOD], known=KNOWN)) for before in (b"", b"\n")]
    first, second = strike_repeats(parts, Ledger())
    assert (first.lines, first.errors) == ([1], [])
    assert (second.lines, only_error(second).line) == ([], 2)


def test_the_ledger_spends_about_a_byte_per_attempt_in_any_order() -> None:
    ledger = Ledger()
    attempts = [number * 7919 % 20_000 for number in range(20_000)]
    for item in map(str, range(20)):
        assert ledger.repeats([item] * 20_000, [None] * 20_000, attempts) == []
    spent = sum(map(len, chain.from_iterable(table.values() for table in ledger._marks.values())))
    assert spent <= 2 * 20 * 20_000
    assert not ledger._far
    assert spent < ledger_module._ALLOWANCE


# --- CSV -----------------------------------------------------------------------------------------


def test_csv_has_quoted_newlines_and_the_line_where_a_record_starts(tmp_path: Path) -> None:
    content = b'item,output,attempt\r\ne-39-01,"{""a"":\r\n1}",2\r\n\r\ne-39-02,,\r\n'
    batch = read(tmp_path / "a.csv", content)
    assert batch.outputs == ['{"a":\r\n1}', ""]
    assert (batch.lines, batch.attempts, batch.errors) == ([2, 5], [2, 1], [])


@pytest.mark.parametrize("delimiter", [b",", b";", b"\t"])
def test_the_delimiter_is_recognised_from_the_header(tmp_path: Path, delimiter: bytes) -> None:
    content = b"\xef\xbb\xbf\n" + b"cost|item|output\n0.5|e-39-01|Ate.".replace(b"|", delimiter)
    batch = read(tmp_path / "a.csv", content)
    assert (batch.lines, batch.costs, batch.outputs) == ([3], [0.5], ["Ate."])


BAD_RECORDS = {
    b"e-39-01,x": "2 fields where the header has 4",
    b"e-39-01,x,1,2,3": "5 fields where the header has 4",
    b"q-1,x,1,": "unknown item `q-1`",
    b",x,1,": "`item` is missing",
    b"e-39-01,\xff,1,": "not UTF-8: byte 0xff at byte 9",
    b"e-39-01,\xed\xa0\x80,1,": "lone surrogate",
    b"e-39-01,\x00,1,": "NUL",
    b"e-39-01,x,true,": "`attempt` must be a whole number",
    b"e-39-01,x,-1,": "`attempt` must be a whole number",
    b"e-39-01,x,1_0,": "`attempt` must be a whole number",
    b"e-39-01,x,1,nan": "`latency_ms` must be a number",
    b"e-39-01,x,1,1e999": "`latency_ms` must be a number",
    b"e-39-01,x,1,inf": "`latency_ms` must be a number",
    b'e-39-01,"x,1,': "a quote that is never closed",
    b'e-39-01,"x"y,1,': "a quote that is never closed, or a field that goes on",
    b"e-39-01," + b"x" * 300 + b",1,": "a row may have 200",
    b"e-39-01,x,1,\rz": "not CSV",
}


@pytest.mark.parametrize(("record", "reason"), BAD_RECORDS.items(), ids=range(len(BAD_RECORDS)))
@pytest.mark.parametrize("after", [b"e-39-02,fine,,", b'e-39-02,"fine",,', b'e-39-02,"fi\nne",,'])
def test_a_bad_record_is_one_error_and_stops_nothing(
    tmp_path: Path, record: bytes, reason: str, after: bytes
) -> None:
    content = b"\n".join((b"item,output,attempt,latency_ms", b"e-39-01,Ate.,,", record, after))
    batch = read(tmp_path / "a.csv", content, row_bytes=200)
    error = only_error(batch)
    assert reason in error.reason
    assert error.line == 3
    assert batch.lines == [2, 4]
    assert len(error.excerpt) <= 80
    assert error.excerpt.isprintable()


def test_a_record_cut_off_at_the_end_is_an_error(tmp_path: Path) -> None:
    batch = read(tmp_path / "a.csv", b'item,output\ne-39-01,x\ne-39-02,"cut o')
    assert (batch.lines, only_error(batch).line) == ([2], 3)


def test_many_unclosed_quotes_cost_linear_time_and_lose_nothing_silently(tmp_path: Path) -> None:
    lines = [b'x",y"z,"'] * 20_000
    batch = read(tmp_path / "a.csv", b"item,output\n" + b"\n".join(lines), row_bytes=100_000)
    assert len(batch) == 0
    assert batch.errors[0].line == 2
    assert any("are lost with it" in error.reason for error in batch.errors)


def test_the_field_limit_of_the_process_is_left_as_it_was(tmp_path: Path) -> None:
    batch = read(tmp_path / "a.csv", b"item,output\ne-39-01," + b"x" * 200_000)
    assert len(batch.outputs[0]) == 200_000
    assert csv.field_size_limit() == 131_072


def test_everything_wrong_with_a_header_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match="must name `item` and `output`") as caught:
        read(tmp_path / "a.csv", b"\nitem,answer,item\n1,2,3")
    told = [(problem.line, problem.field) for problem in caught.value.problems]
    assert told == [(2, "item"), (2, "output")]


def test_further_columns_are_ignored_as_further_keys_are(tmp_path: Path) -> None:
    batch = read(tmp_path / "a.csv", b"model,item,output,ts\nm,e-39-01,Ate.,3\n")
    assert (batch.items, batch.outputs, batch.errors) == (["e-39-01"], ["Ate."], [])


@pytest.mark.parametrize("header", [b'item,"output', b"item,\xff\n", b"x" * 300 + b"\n"])
def test_a_header_that_cannot_be_read_is_refused(tmp_path: Path, header: bytes) -> None:
    with pytest.raises(AnswersError, match=r"a\.csv:1: "):
        read(tmp_path / "a.csv", header, row_bytes=200)


# --- Parquet -------------------------------------------------------------------------------------


def test_parquet_keeps_its_bad_rows_as_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [
        ("e-39-01", "Ate.", 1, 1.5, "a"),
        (None, "x", 1, 1.5, None),
        ("q", "x", 1, 1.5, None),
        ("e-39-01", None, 2, 1.5, None),
        ("e-39-01", "\0", 3, 1.5, None),
        ("e-39-01", "x", -1, 1.5, None),
        ("e-39-01", "x", 4, float("nan"), None),
        ("e-39-01", "x", 5, float("inf"), None),
        ("e-39-01", "again", 1, None, "a"),
        ("n\u0303andu\u0301", "comio\u0301", None, None, None),
    ]
    schema = ["item", "output", "attempt", "latency_ms", "subject"]
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path)
    batch = read(path, batch_rows=3)
    assert (batch.lines, batch.items, batch.outputs) == (
        [1, 10],
        ["e-39-01", "ñandú"],
        ["Ate.", "comio\u0301"],
    )
    assert [error.line for error in batch.errors] == list(range(2, 10))
    reasons = ["missing", "unknown", "null", "NUL", "attempt", "nan", "inf", "already"]
    assert all(word in error.reason for word, error in zip(reasons, batch.errors, strict=True))


def test_a_struct_is_an_object_and_other_text_and_number_types_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    outputs = [
        {"correction": "Ate.", "parts": [1.5]},
        {"correction": None, "parts": [float("nan")]},
    ]
    pl.DataFrame({"item": ["e-39-01", "e-39-02"], "output": outputs, "cost": [1, 2]}).with_columns(
        pl.col("item").cast(pl.Categorical), pl.col("cost").cast(pl.Decimal(10, 2))
    ).write_parquet(path)
    batch = read(path)
    assert batch.outputs == outputs[:1]
    assert batch.costs == [1.0]
    assert only_error(batch).reason == "`output` holds the number `nan`"


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ({"item": ["e-39-01"]}, "output"),
        ({"item": [1], "output": ["x"]}, "item"),
        ({"item": ["e-39-01"], "output": [1.5]}, "output"),
        ({"item": ["e-39-01"], "output": [{"raw": b"x"}]}, "output"),
        ({"item": ["e-39-01"], "output": ["x"], "attempt": ["1"]}, "attempt"),
        ({"item": ["e-39-01"], "output": ["x"], "cost": [True]}, "cost"),
    ],
)
def test_parquet_with_a_wrong_column_is_refused(
    tmp_path: Path, column: dict[str, list[Any]], field: str
) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame(column).write_parquet(path)
    with pytest.raises(AnswersError, match=f"1: {field}: the column") as caught:
        read(path)
    assert len(caught.value.problems) == 1


# --- the same answers in every format ------------------------------------------------------------

PLAIN_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "item": st.sampled_from(ITEMS),
            "output": st.text(
                st.characters(exclude_categories=["Cs"], exclude_characters="\0")
            ).map(lambda text: text.replace("\r", "")),
            "subject": st.one_of(st.none(), st.sampled_from(["tutor", "José"])),
            "attempt": st.integers(0, 5),
            "latency_ms": st.one_of(st.none(), st.floats(0, 1e6)),
            "tokens_in": st.one_of(st.none(), st.integers(0, 10**6)),
        }
    ),
    min_size=1,
    max_size=20,
)


@given(PLAIN_ROWS)
@settings(max_examples=60, deadline=None)
def test_the_same_answers_read_the_same_from_every_format(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("formats")
    types = {"subject": pl.String, "latency_ms": pl.Float64, "tokens_in": pl.Int64}
    frame = pl.DataFrame(rows, schema_overrides=types)
    frame.write_csv(folder / "a.csv", quote_style="non_numeric")
    frame.write_parquet(folder / "a.parquet")
    batch = read(folder / "a.jsonl", written(rows))
    for other in (read(folder / "a.parquet"), read(folder / "a.csv")):
        assert other.columns()[1:] == batch.columns()[1:]
        assert [error.reason for error in other.errors] == [error.reason for error in batch.errors]


# --- files as a whole ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.jsonl", "a.NDJSON", "a.csv", "a.parquet"])
def test_an_empty_file_has_no_batches(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert list(read_answers(tmp_path / name, items=ITEMS)) == []


def test_files_with_nothing_in_them_have_no_batches(tmp_path: Path) -> None:
    pl.DataFrame({"item": [], "output": []}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("item,output\n")
    (tmp_path / "a.jsonl").write_text("\n \n")
    for name in ("a.parquet", "a.csv", "a.jsonl"):
        assert list(read_answers(tmp_path / name, items=ITEMS)) == []


def test_a_header_may_be_written_with_capitals_as_in_ratings(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"Item,OUTPUT,Latency_ms\n{ITEMS[0]},x,5\n")
    (batch,) = read_answers(tmp_path / "a.csv", items=ITEMS)
    assert (len(batch), batch.errors) == (1, [])


def test_a_named_pipe_is_refused_before_it_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(AnswersError, match="this is a pipe; give `-`"):
        read_answers(tmp_path / "a.jsonl", items=ITEMS)


def test_a_folder_a_missing_file_and_an_unknown_extension_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match="this is a folder"):
        read_answers(tmp_path, items=ITEMS)
    with pytest.raises(AnswersError, match=r"none\.jsonl:1: there is no such file"):
        read_answers(tmp_path / "none.jsonl", items=ITEMS)
    with pytest.raises(UsageError, match=r"read from \.jsonl, \.ndjson, \.parquet, \.csv, or `-`"):
        read_answers(tmp_path / "answers.txt", items=ITEMS)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_in_another_encoding_is_refused_as_a_whole(
    tmp_path: Path, name: str, encoding: str
) -> None:
    with pytest.raises(AnswersError, match="UTF-16 or UTF-32; save it as UTF-8"):
        read(tmp_path / name, ("item,output\n" + GOOD.decode()).encode(encoding))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_file_that_is_no_text_is_refused_as_a_whole(tmp_path: Path, name: str) -> None:
    with pytest.raises(AnswersError, match=f"{name}:1: this (is not|cannot)"):
        read(tmp_path / name, bytes(number * 7919 % 253 + 1 for number in range(5000)))


def test_one_line_of_garbage_among_rows_is_only_an_error_row(tmp_path: Path) -> None:
    batch = read(tmp_path / "a.jsonl", bytes(range(128, 256)) + b"\n" + GOOD)
    assert (batch.lines, only_error(batch).line) == ([2], 1)


def test_stdin_is_read_as_jsonl(monkeypatch: pytest.MonkeyPatch) -> None:
    class Trickle(io.RawIOBase):
        content = io.BytesIO(b"\xef\xbb\xbf" + GOOD + b"\nnope\n")

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1, /) -> bytes:
            return self.content.read(min(size, 2))

    class Stdin:
        buffer = Trickle()

    monkeypatch.setattr(sys, "stdin", Stdin())
    batch = merged(read_answers("-", items=ITEMS))
    assert (batch.lines, only_error(batch).line) == ([1], 2)

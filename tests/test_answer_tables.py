"""Answers in tables: a CSV record and a Parquet row is an answer, or one error with its line."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from answer_rows import ITEMS, only_error, read
from markscheme.read.answers import read_answers
from markscheme.vocabulary import AnswersError

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_header_may_be_written_with_capitals_as_in_ratings(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"Item,OUTPUT,Latency_ms\n{ITEMS[0]},x,5\n")
    (batch,) = read_answers(tmp_path / "a.csv", items=ITEMS)
    assert (len(batch), batch.errors) == (1, [])


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

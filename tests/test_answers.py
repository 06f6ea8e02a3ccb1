"""Recorded answers: every row comes out once, as an answer or as an error."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from answer_rows import BAD_ROWS, GOOD, only_error, read, written

if TYPE_CHECKING:
    from pathlib import Path

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
    assert [column[0] for column in batch.get_columns()] == [1, *list(row.values())[:8]]
    assert batch.errors == []


def test_what_is_absent_or_null_has_its_default(tmp_path: Path) -> None:
    names = ("subject", "attempt", "latency_ms", "tokens_in", "tokens_out", "cost")
    rows: list[dict[str, Any]] = [
        {"item": "e-39-01", "output": ""},
        {"item": "e-39-02", "output": "", **dict.fromkeys(names)},
    ]
    batch = read(tmp_path / "a.jsonl", written(rows))
    assert [column[0] for column in batch.get_columns()[3:]] == [None, 1, None, None, None, None]
    assert [column[1] for column in batch.get_columns()[3:]] == [None, 1, None, None, None, None]


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

"""Files of answers as a whole: the same from every format, empty, refused, or read from stdin."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_rows import GOOD, ITEMS, merged, only_error, read, written
from markscheme.read.answers import read_answers
from markscheme.vocabulary import AnswersError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

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
        assert other.get_columns()[1:] == batch.get_columns()[1:]
        assert [error.reason for error in other.errors] == [error.reason for error in batch.errors]


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

"""A Parquet file that was damaged is refused in one sentence, whatever the library prints."""

from __future__ import annotations

import os
import random
import threading
from typing import TYPE_CHECKING

import polars as pl
import pytest

from markscheme import load_exam, load_rubric, score
from markscheme.read.answers import hide_native_stderr
from markscheme.vocabulary import InputError

if TYPE_CHECKING:
    from pathlib import Path


def test_panics_of_the_library_never_reach_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rubric = load_rubric("tutor-capstone")
    exam = load_exam("capstone", rubric=rubric)
    whole = tmp_path / "whole.parquet"
    frame = pl.DataFrame(
        {"item": [f"e-39-{n:02d}" for n in range(1, 41)], "output": [f"Ate {n}" for n in range(40)]}
    )
    frame.write_parquet(whole)
    content, chance = whole.read_bytes(), random.Random(1)  # noqa: S311 - damage, no secret
    refused: list[InputError] = []
    path = tmp_path / "damaged.parquet"
    for _ in range(120):
        damaged = bytearray(content)
        for _ in range(chance.choice([1, 2, 5, 20])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            score(rubric, exam, path)
        except InputError as error:
            refused.append(error)
    assert len(refused) > 40
    assert {problem.file for error in refused for problem in error.problems} == {str(path)}
    assert capfd.readouterr().err == ""


def test_a_file_that_claims_more_rows_than_its_bytes_can_hold_is_refused(tmp_path: Path) -> None:
    """Equal rows take almost no room: this file of a few kilobytes would be read for minutes."""
    path = tmp_path / "equal.parquet"
    pl.select(item=pl.repeat("e-39-01", 1_000_001), output=pl.repeat("x", 1_000_001)).write_parquet(
        path
    )
    with pytest.raises(InputError) as refused:
        score("tutor-capstone", "capstone", path)
    size = path.stat().st_size
    assert size < 100_000
    assert str(refused.value) == (
        f"{path}:1: claims 1,000,001 rows in {size:,} bytes; a file of this size may hold 1,000,000"
    )


def test_overlapping_threads_restore_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hide_until_told() -> None:
        with hide_native_stderr():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=hide_until_told)
    thread.start()
    inside.wait(10)
    with hide_native_stderr():
        os.write(2, b"hidden\n")
    leave.set()
    thread.join()
    os.write(2, b"shown\n")
    assert capfd.readouterr().err == "shown\n"

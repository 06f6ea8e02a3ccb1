"""A file of answers that changes while it is read is noticed, and the run is undecided."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from markscheme import load_exam, load_rubric, score
from markscheme.read.answers import splits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = [{"item": f"e-39-{n:02d}", "output": f"Ate {n}."} for n in range(1, 61)]
LINES = [json.dumps(row) + "\n" for row in ROWS]


def cut_file(path: Path) -> None:
    path.write_text("".join(LINES[:30]))


def rewrite_file(path: Path) -> None:
    path.write_text("".join(reversed(LINES)))


def append_line(path: Path) -> None:
    with path.open("a") as stream:
        stream.write(LINES[0].replace("{", '{"attempt": 2, '))


def replace_file(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_text("".join(LINES))
    other.replace(path)


@pytest.mark.parametrize("change", [cut_file, rewrite_file, append_line, replace_file])
def test_a_file_that_changes_while_it_is_read_makes_the_run_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(LINES))
    read = getattr(splits, "read_jsonl_text")  # noqa: B009 - it is not exported

    def change_then_read(*args: Any, **options: Any) -> Any:
        change(path)
        return read(*args, **options)

    monkeypatch.setattr(splits, "read_jsonl_text", change_then_read)
    rubric = load_rubric("tutor-capstone")
    result = score(rubric, load_exam("capstone", rubric=rubric), path)
    assert not result.summary.complete
    (error,) = [error for error in result.errors if "changed while it was read" in error.reason]
    assert error.file == "answers.jsonl"


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_file_that_stays_as_it_is_makes_a_complete_run(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"answers{suffix}"
    frame = pl.DataFrame(ROWS)
    if suffix == ".csv":
        frame.write_csv(path)
    elif suffix == ".parquet":
        frame.write_parquet(path)
    else:
        path.write_text("".join(LINES))
    rubric = load_rubric("tutor-capstone")
    result = score(rubric, load_exam("capstone", rubric=rubric), path)
    assert result.summary.complete
    assert not result.errors

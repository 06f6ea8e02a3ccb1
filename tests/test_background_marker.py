"""Answers are marked in the background while others are asked, and the run is the same."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import polars as pl
import pytest

from markscheme import load_exam, load_rubric, run
from markscheme.workflows import live_run
from markscheme.workflows.run import execute_plan
from markscheme.workflows.run_plan import Settings, build_run_plan


def test_answers_that_are_marked_in_parts_make_the_same_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def examined() -> tuple[Any, Any]:
        result = run("tutor-capstone", "capstone", "tutor:flawed", attempts=3, seed=7)
        return result.summary, result.frame.drop("latency_ms").to_dicts()

    whole = examined()
    monkeypatch.setattr("markscheme.workflows.run._MIN_BATCH", 7)
    monkeypatch.setattr("markscheme.workflows.run._MAX_BATCH", 7)
    assert examined() == whole
    assert [row["line"] for row in whole[1]] == list(range(1, 181))


def test_what_goes_wrong_while_others_are_asked_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no marks")

    monkeypatch.setattr(live_run.SubjectMarker, "mark_replies", fail)
    rubric = load_rubric("tutor-capstone")
    plan = build_run_plan(rubric, load_exam("capstone", rubric=rubric), ["tutor"], Settings())
    with pytest.raises(RuntimeError, match="no marks"):
        execute_plan(plan, skip=True)


def test_what_is_kept_together_is_bounded_by_rows_and_by_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_run, "_CHUNK_ROWS", 4)
    monkeypatch.setattr(live_run, "_CHUNK_BYTES", 10)
    outputs = pl.Series(["é" * 3, "b" * 9, *"cdefghij", "", "k" * 30])
    parts = list(live_run._split_chunks(outputs))
    begins = [0, *accumulate(length for _, length in parts)]
    assert begins == [*(start for start, _ in parts), outputs.len()]
    for start, length in parts:
        part = outputs.slice(start, length)
        assert length <= 4
        assert length == 1 or part.str.len_bytes().sum() < 20  # less than twice, but for one alone


def test_a_run_without_answers_has_no_parts() -> None:
    assert list(live_run._split_chunks(pl.Series([], dtype=pl.String))) == []

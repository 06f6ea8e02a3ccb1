"""Answers are marked while others are asked, and the run is the same."""

from __future__ import annotations

import sys
from itertools import accumulate
from typing import Any

import polars as pl
import pytest

from markscheme import load_exam, load_rubric, run
from markscheme.workflows import background_marker as marking
from markscheme.workflows.live_session import RunObserver
from markscheme.workflows.run import execute_plan
from markscheme.workflows.run_plan import Settings, build_run_plan


def test_answers_that_are_marked_in_parts_make_the_same_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def examined() -> tuple[Any, Any]:
        result = run("tutor-capstone", "capstone", "tutor:flawed", attempts=3, seed=7)
        return result.summary, result.frame.drop("latency_ms").to_dicts()

    whole = examined()
    monkeypatch.setattr("markscheme.workflows.background_marker._FEW", 7)
    monkeypatch.setattr("markscheme.workflows.background_marker._MANY", 7)
    assert examined() == whole
    assert [row["line"] for row in whole[1]] == list(range(1, 181))


def test_what_goes_wrong_while_others_are_asked_is_told() -> None:
    def load() -> None:
        raise RuntimeError("no page")

    rubric = load_rubric("tutor-capstone")
    plan = build_run_plan(rubric, load_exam("capstone", rubric=rubric), ["tutor"], Settings())
    slice_ = sys.getswitchinterval()
    with pytest.raises(RuntimeError, match="no page"):
        execute_plan(plan, skip=True, observer=RunObserver(on_waiting=load))
    assert sys.getswitchinterval() == slice_


def test_what_is_kept_together_is_bounded_by_rows_and_by_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(marking, "_ROWS", 4)
    monkeypatch.setattr(marking, "_BYTES", 10)
    outputs = pl.Series(["é" * 3, "b" * 9, *"cdefghij", "", "k" * 30])
    parts = list(marking._split_parts(outputs))
    begins = [0, *accumulate(length for _, length in parts)]
    assert begins == [*(start for start, _ in parts), outputs.len()]
    for start, length in parts:
        part = outputs.slice(start, length)
        assert length <= 4
        assert length == 1 or part.str.len_bytes().sum() < 20  # less than twice, but for one alone


def test_a_run_without_answers_has_no_parts() -> None:
    assert list(marking._split_parts(pl.Series([], dtype=pl.String))) == []

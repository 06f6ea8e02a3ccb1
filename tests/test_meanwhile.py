"""Answers are marked while others are asked, and the run is the same."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from markscheme import load_exam, load_rubric, run
from markscheme.history.asking import Onlooker
from markscheme.history.examining import examine
from markscheme.history.plans import Settings, plan_of


def test_answers_that_are_marked_in_parts_make_the_same_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def examined() -> tuple[Any, Any]:
        result = run("tutor-capstone", "capstone", "tutor:flawed", attempts=3, seed=7)
        return result.summary, result.frame.drop("latency_ms").to_dicts()

    whole = examined()
    monkeypatch.setattr("markscheme.history.meanwhile._FEW", 7)
    monkeypatch.setattr("markscheme.history.meanwhile._MANY", 7)
    assert examined() == whole
    assert [row["line"] for row in whole[1]] == list(range(1, 181))


def test_what_goes_wrong_while_others_are_asked_is_told() -> None:
    def load() -> None:
        raise RuntimeError("no page")

    rubric = load_rubric("tutor-capstone")
    plan = plan_of(rubric, load_exam("capstone", rubric=rubric), ["tutor"], Settings())
    slice_ = sys.getswitchinterval()
    with pytest.raises(RuntimeError, match="no page"):
        examine(plan, skip=True, onlooker=Onlooker(load=load))
    assert sys.getswitchinterval() == slice_

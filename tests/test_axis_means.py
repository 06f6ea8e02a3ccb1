"""The mean of an axis is known if it could judge every answer, whatever other axes abstain from."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import here
from comparisons import GOOD, Files, rows
from marked_criteria import rubric_of
from markscheme import score
from markscheme.mark.axes import MaxWords
from markscheme.vocabulary import NOT_APPLICABLE, UNKNOWN_SCORE, ScoreBounds, compute_mean
from markscheme.weigh.totals import WeightScale

PACKAGE = (
    "# Memory\n# Codebase\n- a (src/a.py:3)\n# Patterns\n# Dispatched\n# Gaps\n# Recommendation\n"
)
ANSWERS: list[dict[str, Any]] = [
    {"item": "TQ-1", "subject": "big", "output": PACKAGE},
    {"item": "TQ-2", "subject": "big", "output": "no headings"},
]
TEXT_CHECKS, TRACE_CHECKS = ("S-01", "S-02", "S-03"), ("S-04", "S-05", "S-06")


def test_checks_of_the_text_have_means_where_checks_of_the_log_abstain() -> None:
    summary = score("context-agent", "context-queries", ANSWERS).summary
    assert summary.score is None
    assert (summary.n, summary.unscored) == (0, 2)
    assert [summary.axes[axis] for axis in TRACE_CHECKS] == [None] * 3
    assert summary.axes["S-01"] is not None
    assert float(summary.axes["S-01"]) == 0.5
    assert {axis: summary.judged[axis] for axis in TEXT_CHECKS} == dict.fromkeys(TEXT_CHECKS, 2)
    assert {axis: summary.unjudged[axis] for axis in TRACE_CHECKS} == dict.fromkeys(TRACE_CHECKS, 2)
    assert summary.subjects[0].axes == summary.axes


def test_such_a_result_is_verified_and_one_of_an_earlier_version_too(tmp_path: Path) -> None:
    document = score("context-agent", "context-queries", ANSWERS).to_dict()
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document))
    assert here("verify", path).code == 0
    document["summary"]["judged"]["S-01"] = 1
    path.write_text(json.dumps(document))
    assert here("verify", path).code == 1
    for part in (document["summary"], *document["summary"]["subjects"]):
        del part["judged"], part["unjudged"], part["bounds"], part["axis_bounds"]
        part["axes"] = dict.fromkeys(part["axes"])
    document["summary"]["groups"] = []
    document["summary"]["exact"] = {"axes": dict.fromkeys(document["summary"]["axes"])}
    path.write_text(json.dumps(document))
    assert here("verify", path).code == 0


def test_the_terminal_says_how_many_answers_an_axis_could_judge(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ANSWERS))
    done = here("score", "-r", "context-agent", "-e", "context-queries", "-a", path, "--no-store")
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.startswith("  S-")}
    assert "could be judged" not in lines["S-01"]
    assert "0 of 2 answers could be judged" in lines["S-04"]


VALUES = st.sampled_from([UNKNOWN_SCORE, NOT_APPLICABLE]) | st.fractions(0, 1, max_denominator=9)
RUBRIC = rubric_of(("a", MaxWords(limit=1)), ("b", MaxWords(limit=1)))


@given(st.lists(st.tuples(st.tuples(VALUES, VALUES), st.integers(1, 5)), max_size=6))
def test_the_mean_is_over_what_applies_and_unknown_as_soon_as_one_value_is(
    counts: list[tuple[Any, int]],
) -> None:
    totals = WeightScale(RUBRIC).sum_answers(counts)
    for at, axis in enumerate(("a", "b")):
        every = [values[at] for values, count in counts for _ in range(count)]
        known = [value for value in every if isinstance(value, Fraction)]
        unknown = every.count(UNKNOWN_SCORE)
        total = totals.axes[axis]
        assert (total.n, total.not_applicable) == (len(known), every.count(NOT_APPLICABLE))
        assert total.mean == (None if unknown else compute_mean(sum(known), len(known)))
        if unknown:
            low, high = sum(known), sum(known) + unknown
            n = len(known) + unknown
            assert total.bounds == ScoreBounds(low=Fraction(low, n), high=Fraction(high, n))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_comparison_counts_what_was_judged_and_what_was_not_apart(files: Files) -> None:
    lines = [{**row, "subject": who} for row in ANSWERS for who in ("big", "small")]
    answers = files.write("a.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    done = here(*files.words(ratings, "--answers", answers, "--format", "json"))
    assert done.json["structural"]["S-01"]["baseline"] == {
        "judged": 2,
        "failed": 1,
        "abstained": 0,
        "mean": 0.5,
    }
    assert done.json["structural"]["S-06"]["candidate"] == {
        "judged": 0,
        "failed": 0,
        "abstained": 2,
        "mean": None,
    }
    assert "0/0 (2 not judged)" in here(*files.words(ratings, "--answers", answers)).out

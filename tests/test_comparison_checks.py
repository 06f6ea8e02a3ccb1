"""Checks and measures in a comparison: both variants side by side, and whose doing a failure is."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from commands import here
from comparisons import AXES, GOOD, ITEMS, Files, rows
from markscheme import compare, load_exam, load_rubric
from markscheme.vocabulary import Cell
from markscheme.weigh.compare import Observed, Sides

RUBRIC = load_rubric("context-agent")


def observed(files: Files, failing: dict[tuple[str, str], list[str]]) -> Any:
    """Return a comparison with checks of two axes; the failing ones are named by axis."""
    exam = load_exam(files.exam, rubric=RUBRIC)
    seen = [
        Observed(
            item=item,
            variant=variant,
            structural={
                axis: Cell.missed("no")
                if axis in failing.get((item, variant), [])
                else Cell.passed("")
                for axis in ("S-01", "S-02")
            },
            metrics={"latency_s": Fraction(10 if variant == "big" else 20), "tokens": None},
        )
        for item in ITEMS
        for variant in ("big", "small")
    ]
    ratings = files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    return compare(RUBRIC, exam, ratings, baseline="big", candidate="small", observed=seen)


def test_a_check_that_fails_for_both_is_a_prompt_problem(files: Files) -> None:
    failing = {(item, variant): ["S-02"] for item in ITEMS[:4] for variant in ("big", "small")}
    found = observed(files, failing)
    told = "S-02 fails for both variants in 8 of 10: a prompt problem, not a model problem"
    assert told in found.decision.warnings
    assert found.structural[1].failed == (4, 4)


def test_a_check_that_fails_only_for_the_candidate_is_its_doing(files: Files) -> None:
    found = observed(files, {("TQ-1", "small"): ["S-01"]})
    told = "S-01 fails only for small, in 1 of 5: the same prompt works for big"
    assert told in found.decision.warnings


def test_measured_numbers_stand_side_by_side_and_unknown_ones_stay_unknown(files: Files) -> None:
    latency, tokens = observed(files, {}).operational
    assert latency.mean == Sides(baseline=Fraction(10), candidate=Fraction(20))
    assert (tokens.n, tokens.mean) == (0, Sides(baseline=None, candidate=None))


def test_answers_are_marked_and_shown_beside_the_verdicts(files: Files) -> None:
    anchors = "{1: a, 2: b, 3: c, 4: d, 5: e}"
    rubric = files.write(
        "rubric.yaml",
        RUBRIC.source.partition("axes:")[0].replace("context-agent", "mine")
        + "axes:\n  - {name: brief, kind: max_words, weight: 1, limit: 3}\n"
        + "".join(
            f"  - {{name: {axis}, kind: scale, question: q, anchors: {anchors}}}\n" for axis in AXES
        )
        + "verdicts:"
        + RUBRIC.source.partition("verdicts:")[2],
    )
    answers = files.write(
        "answers.jsonl",
        "".join(
            json.dumps({"item": item, "subject": variant, "output": text, "latency_ms": 5}) + "\n"
            for item in ITEMS
            for variant, text in (("big", "one two"), ("small", "one two three four"))
        ),
    )
    words = ("--ratings", files.ratings(rows([GOOD] * 5, [GOOD] * 5)), "-a", answers)
    usual = ("compare", "-r", rubric, "-e", files.exam, "-b", "big", "-c", "small")
    done = here(*usual, *words, "--format", "json")
    assert done.code == 0
    assert done.json["structural"]["brief"]["baseline"] == {
        "judged": 5,
        "failed": 0,
        "abstained": 0,
        "mean": 1.0,
    }
    assert done.json["structural"]["brief"]["candidate"] == {
        "judged": 5,
        "failed": 5,
        "abstained": 0,
        "mean": 0.0,
    }
    assert done.json["operational"]["latency_ms"]["baseline"] == 5
    assert done.json["operational"]["cost"]["baseline"] is None
    assert "brief" in here(*usual, *words).out


def test_checks_and_measures_of_every_query_are_side_by_side(files: Files) -> None:
    lines = [
        {"item": item, "subject": variant, "output": "no headers", "tokens_in": 1000 + 500 * at}
        for item in ITEMS
        for at, variant in enumerate(("big", "small"))
    ]
    answers = files.write("a.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    page = files.folder / "o.md"
    words = files.words(files.ratings(rows([GOOD] * 5, [23] * 5)), "--answers", answers)
    told = "TQ-3 (medium): S-01 ✗ / ✗, S-02 ✓ / ✓, S-03 ✗ / ✗; tokens_in 1,000 / 1,500"
    assert told in here(*words, "--markdown", page).out
    assert told in page.read_text(encoding="utf-8").replace("\\", "")

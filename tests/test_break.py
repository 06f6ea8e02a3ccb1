"""`markscheme break`: the effects of a missing rule, the quiz, and that no file is changed."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from commands import here
from markscheme import UsageError
from markscheme.prove.exercise import ChangeShape, explain_cascade
from markscheme.workflows.prove import Exercise

ROOT = Path(__file__).parent.parent
PRACTICE = Exercise()
CHAPTER = (ROOT / "docs" / "break.md").read_text(encoding="utf-8")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "markscheme", "break", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, check=False, encoding="utf-8", stdin=subprocess.DEVNULL
    )


def test_a_file_in_place_of_a_rule_is_told_how_to_give_a_rubric() -> None:
    done = here("break", "rubric.yaml")
    assert done.code == 2
    assert "`rubric.yaml` is no rule; a rubric is given with --rubric" in done.err


def test_the_list_of_rules_is_what_the_chapter_shows() -> None:
    shown = CHAPTER.partition("```console\n$ markscheme break\n")[2].partition("```")[0]
    assert run().stdout == shown


def test_what_the_chapter_shows_of_the_case_fold_is_what_the_command_prints() -> None:
    printed = [line.rstrip() for line in run("lower").stdout.splitlines()]
    for block in CHAPTER.split("```text\n")[1:]:
        for line in block.partition("```")[0].splitlines():
            assert line in printed
    assert "The rule is back: mean 0.9469. No file was changed." in printed


def test_what_the_chapter_says_of_the_other_rules_is_so() -> None:
    tags = {
        step: {pattern.tag for pattern in PRACTICE.remove_step(step).patterns}
        for step in ("strip", "lower", "strip_trailing_period")
    }
    assert tags == {
        "strip": {"tense: future-simple"},
        "lower": {"tense: past-simple"},
        "strip_trailing_period": {"tense: present-perfect"},
    }
    columns = [p for p in PRACTICE.remove_step("substring").patterns if not p.rises]
    assert [(p.axis, p.shape) for p in columns] == [
        ("correctness", ChangeShape.COLUMN),
        ("spanish_gloss", ChangeShape.COLUMN),
    ]
    loose = PRACTICE.remove_step("every_entry")
    assert not loose.effect.falls
    assert {loose.after[item] for item in loose.items} == {Fraction(1)}
    assert {loose.before[item] for item in loose.items} == {Fraction(15, 100)}
    assert len(loose.items) == 5
    assert loose.effect.after == 1
    assert not loose.effect.gates


def test_the_case_fold_turns_right_answers_wrong_and_the_cells_name_it() -> None:
    found = PRACTICE.remove_step("lower")
    assert len(found.items) == 14
    assert len(found.effect.falls) == 28
    assert not found.effect.rises
    assert {flip.after.near_miss for flip in found.effect.flips} == {"lower"}
    assert [(change.gate, change.before, change.after) for change in found.effect.gates] == [
        ("capstone", "pass", "fail")
    ]
    assert any("near miss `lower`" in line for line in explain_cascade(found))


@pytest.mark.parametrize("step", ["strip", "lower", "strip_trailing_period", "every_entry"])
def test_golden_cases_notice_every_rule_that_can_be_removed(step: str) -> None:
    assert PRACTICE.remove_step(step).golden


def exercise_on(folder: Path, outputs: dict[str, str]) -> Exercise:
    answers = folder / "a.jsonl"
    rows = [json.dumps({"item": item, "output": output}) for item, output in outputs.items()]
    answers.write_text("\n".join(rows))
    return Exercise(exams=["capstone"], answers=answers)


def test_one_shouted_answer_is_an_outlier(tmp_path: Path) -> None:
    exercise = exercise_on(tmp_path, {"e-39-01": "ATE", "e-39-02": "will be"})
    (pattern,) = exercise.remove_step("lower").patterns
    assert (pattern.shape, pattern.items, pattern.of) == (ChangeShape.OUTLIER, 1, 2)
    assert any("one outlier" in line for line in explain_cascade(exercise.remove_step("lower")))


def test_answers_that_a_rule_does_nothing_for_say_so(tmp_path: Path) -> None:
    found = exercise_on(tmp_path, {"e-39-01": "ate"}).remove_step("strip")
    assert not found.patterns
    assert list(explain_cascade(found)) == [
        "nothing changes in these answers; golden cases are there to notice it all the same"
    ]


def test_without_an_answer_nothing_can_be_told(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"item": "no-such-item", "output": "ate"}\n', encoding="utf-8")
    done = run("lower", "--exam", "capstone", "--answers", answers)
    assert done.returncode == 4
    assert done.stderr == "nothing was marked: there is no answer to capstone\n"
    assert run("lower", "--exam", "capstone", "--answers", answers, "--format", "json").stdout


def test_an_unknown_rule_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(UsageError, match="allowed: strip, lower, strip_trailing_period"):
        PRACTICE.remove_step("upper")
    assert run("upper").returncode == 2


def test_a_quiz_gives_nothing_away_until_it_is_asked() -> None:
    asked = json.loads(run("--quiz", "--seed", 3, "--format", "json").stdout)
    assert "solution" not in asked
    assert {key for flip in asked["symptoms"]["flips"] for key in flip}.isdisjoint(
        {"near_miss", "reason"}
    )
    solved = json.loads(run("--quiz", "--seed", 3, "--reveal", "--format", "json").stdout)
    step = solved["solution"]["step"]
    assert {key: solved[key] for key in asked} == asked
    assert step in {choice["step"] for choice in asked["choices"]}
    assert run("--quiz", "--seed", 3, "--answer", step).returncode == 0
    other = next(c["step"] for c in asked["choices"] if c["step"] != step)
    wrong = run("--quiz", "--seed", 3, "--answer", other)
    assert wrong.returncode == 1
    assert f"Not this one. It is `{step}`" in wrong.stdout


def test_in_a_pipe_a_quiz_is_only_asked() -> None:
    done = run("--quiz")
    assert done.returncode == 0
    assert done.stdout.endswith("Answer with --answer STEP, or --reveal the solution.\n")
    assert "near miss" not in done.stdout


def test_seeds_give_different_faults_and_the_same_seed_the_same() -> None:
    riddles = [Exercise(seed=seed).choose_quiz() for seed in range(8)]
    assert len({riddle.step for riddle in riddles}) > 2
    again = Exercise(seed=0).choose_quiz()
    assert (again.step, again.effect) == (riddles[0].step, riddles[0].effect)


@pytest.mark.parametrize(
    "arguments",
    [("lower", "--quiz"), ("--reveal",), ("lower", "--seed", "1"), ("lower", "--answers", "x")],
)
def test_options_that_make_no_sense_together_are_refused(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).returncode == 2

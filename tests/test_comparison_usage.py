"""What a comparison needs: what is missing or does not go together is refused by its name."""

from __future__ import annotations

import pytest

from commands import here
from comparisons import GOOD, Files, rows
from markscheme import DocumentError, UsageError, compare, load_exam, load_rubric
from markscheme.weigh.compare import ComparisonRules

RUBRIC = load_rubric("context-agent")


def test_what_is_missing_is_named(files: Files) -> None:
    done = here("compare", "-r", "context-agent", "-e", files.exam)
    assert done.code == 2
    assert "missing: --baseline, --candidate, --ratings" in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-b", "small"], "baseline and candidate are both `small`"),
        (["--margin", "-1"], "is not above 0"),
        (["--margin", "nan"], "is not above 0"),
        (["--margin", "1e400"], "is not between"),
        (["--plan", "--noise", "1e-300"], "is not between"),
        (["--markdown", "ratings.csv"], "is an input of this run"),
        (["--log-map", "map.csv"], "--log-map goes with --logs"),
        (["--plan", "--seed", "1"], "--seed goes with ratings"),
        (["--noise", "1"], "--noise goes with --plan"),
        (["--cluster", "mode"], "--cluster goes with runs"),
        (["--markdown", "out", "--html", "./out"], "one file for --markdown and --html"),
        (["-r", "tutor-capstone"], "no axes of kind `scale`, no `verdict_rules`, no `decision_"),
    ],
)
def test_what_cannot_be_carried_out_is_wrong_usage(
    files: Files, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.chdir(files.folder)
    files.ratings(rows([GOOD] * 5, [GOOD] * 5))
    usual = ["-r", "context-agent", "-e", "exam.yaml", "-b", "big", "-c", "small"]
    exam = ["-e", "capstone"] if "tutor-capstone" in words else usual[2:4]
    done = here("compare", *usual[:2], *exam, *usual[4:], "--ratings", "ratings.csv", *words)
    assert done.code == 2
    assert told in done.err


def test_a_variant_is_the_same_however_its_accent_is_typed(files: Files) -> None:
    lines = [line.replace("small", "zo\u00eb") for line in rows([GOOD] * 5, [GOOD] * 5)]
    words = files.words(files.ratings(lines), "--format", "json")
    done = here(*("zoe\u0308" if word == "small" else word for word in words))
    assert done.code == 0
    assert done.json["candidate"] == "zo\u00eb"


@pytest.mark.parametrize(("noise", "margin"), [("1e-6", "1e6"), ("1e6", "1e-6")])
def test_a_plan_for_the_strangest_numbers_is_a_plan(noise: str, margin: str) -> None:
    assert here("compare", "--plan", "--noise", noise, "--margin", margin).code == 0


def test_a_query_without_a_mode_of_the_table_is_refused_with_its_line(files: Files) -> None:
    files.write("exam.yaml", files.exam.read_text().replace("mode: quick", "mode: fast"))
    with pytest.raises(DocumentError) as refused:
        compare(RUBRIC, load_exam(files.exam), [], baseline="big", candidate="small")
    (problem,) = refused.value.problems
    assert (problem.line, problem.field) == (3, "items.0.tags.mode")
    assert "`fast` is no mode of the decision table" in problem.message


def test_a_contest_needs_rules_and_scales() -> None:
    tutor = load_rubric("tutor-capstone")
    exam = load_exam("capstone", rubric=tutor)
    with pytest.raises(UsageError, match="no axes of kind `scale`, no `verdict_rules`"):
        ComparisonRules(rubric=tutor, exam=exam, baseline="a", candidate="b")

"""Comparisons: verdicts and decisions on every case there is, averages to the digit."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from commands import Done, here
from comparisons import AXES, GOOD, ITEMS, MODES, Files, as_json, compared, rows, spread
from markscheme import load_exam, load_rubric
from markscheme.vocabulary import Rating
from markscheme.weigh.compare import ComparisonRules, Sides, index_scores

RUBRIC = load_rubric("context-agent")
VERDICTS = ("superior", "equivalent", "acceptable", "degraded")


@pytest.fixture
def rules(files: Files) -> ComparisonRules:
    exam = load_exam(files.exam, rubric=RUBRIC)
    return ComparisonRules(rubric=RUBRIC, exam=exam, baseline="big", candidate="small")


def verdict_of(b: int, c: int) -> tuple[str, set[str]]:
    """Say the verdict on two sums of six scores in whole numbers: the contract, written anew."""
    reasons = {"floor"} if c < 18 else set()
    if c - b <= -9:
        reasons.add("relative")
    if reasons:
        return "degraded", reasons
    if -3 <= c - b <= 3:
        return "equivalent", set()
    return ("acceptable" if c < b else "superior"), set()


def decision_of(verdicts: tuple[str, ...]) -> str:
    """Say the decision on five verdicts: the contract, written anew."""
    bad = Counter(m for m, verdict in zip(MODES, verdicts, strict=True) if verdict == "degraded")
    quick, medium, thorough = bad["quick"], bad["medium"], bad["thorough"]
    if quick or medium >= 2 or (medium and thorough) or quick + medium + thorough > 2:
        return "no-go"
    if thorough == 2:
        return "conditional"
    if medium + thorough == 1 or "acceptable" in verdicts:
        return "go-with-monitoring"
    return "go"


def test_the_verdict_on_all_625_pairs_of_averages(rules: ComparisonRules) -> None:
    item = rules.exam.items[0]
    for b, c in product(range(6, 31), repeat=2):
        ratings = [
            Rating(item=item.id, variant=variant, rater="r", axis=axis, score=Fraction(score))
            for variant, total in (("big", b), ("small", c))
            for axis, score in zip(AXES, spread(total), strict=True)
        ]
        query = rules.judge_query(item, index_scores(ratings))
        assert (query.verdict, set(query.reasons)) == verdict_of(b, c), (b, c)
        assert query.mean == Sides(baseline=Fraction(b, 6), candidate=Fraction(c, 6))
        assert query.baseline_below_floor == (b < 18)


def test_the_decision_on_all_1024_vectors_of_verdicts(rules: ComparisonRules) -> None:
    for verdicts in product(VERDICTS, repeat=5):
        ruling = rules.decide(dict(zip(ITEMS, verdicts, strict=True)))
        assert ruling.outcome is not None
        assert ruling.outcome.value == decision_of(verdicts), verdicts


def test_a_missing_verdict_decides_nothing(rules: ComparisonRules) -> None:
    for missing in range(5):
        verdicts = dict.fromkeys(ITEMS, "equivalent") | {ITEMS[missing]: None}
        ruling = rules.decide(verdicts)
        assert ruling.outcome is None
        assert ITEMS[missing] in ruling.because


@pytest.mark.parametrize(
    ("candidate", "outcome", "rule", "code"),
    [
        ([24, 24, 24, 24, 24], "go", "all-equivalent-or-superior", 0),
        ([24, 24, 20, 24, 24], "go-with-monitoring", "some-acceptable", 0),
        ([24, 24, 15, 24, 24], "go-with-monitoring", "one-degraded", 0),
        ([24, 24, 24, 15, 15], "conditional", "two-degraded-in-thorough", 4),
        ([15, 24, 24, 24, 24], "no-go", "degraded-in-quick", 1),
        ([24, 15, 15, 24, 24], "no-go", "two-degraded-in-medium", 1),
        ([24, 15, 24, 15, 24], "no-go", "degraded-in-medium-and-thorough", 1),
    ],
)
def test_each_decision_has_its_rule_and_exit_code(
    files: Files, candidate: list[int], outcome: str, rule: str, code: int
) -> None:
    done = compared(files, [GOOD] * 5, candidate, "--format", "json")
    decision = done.json["decision"]
    assert (decision["outcome"], decision["rule"], done.code) == (outcome, rule, code)
    assert decision["because"]
    assert decision["next"]


def test_both_reasons_are_recorded_where_both_hold(files: Files) -> None:
    found = as_json(files, [27, 24, 24, 24, 24], [17, 24, 24, 24, 24])
    assert found["queries"][0]["reasons"] == ["floor", "relative"]


def test_a_baseline_below_the_floor_is_flagged(files: Files) -> None:
    found = as_json(files, [17, 24, 24, 24, 24], [17, 24, 24, 24, 24])
    assert found["queries"][0]["baseline_below_floor"]
    assert not found["queries"][1]["baseline_below_floor"]
    assert any("below the floor" in note for note in found["decision"]["monitoring"])


def test_two_points_on_an_axis_are_meaningful_and_one_is_not(files: Files) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5)
    lines = [line.replace("TQ-2,small,anna,Q-03,4", "TQ-2,small,anna,Q-03,2") for line in lines]
    lines = [line.replace("TQ-2,small,anna,Q-04,4", "TQ-2,small,anna,Q-04,5") for line in lines]
    done = here(*files.words(files.ratings(lines), "--format", "json"))
    assert done.json["queries"][1]["meaningful_axes"] == ["Q-03"]


def test_the_mean_of_several_raters_is_exact(files: Files) -> None:
    lines = rows([GOOD] * 5, [GOOD] * 5, raters=("a", "b", "c"))
    lines = [line.replace("TQ-1,small,a,Q-01,4", "TQ-1,small,a,Q-01,3") for line in lines]
    found = here(*files.words(files.ratings(lines), "--format", "json")).json
    assert found["queries"][0]["difference"] == -1 / 18
    assert found["raters"] == ["a", "b", "c"]


def test_conditional_says_where_to_run_three_more_queries(files: Files) -> None:
    found = as_json(files, [GOOD] * 5, [24, 24, 24, 15, 15])
    assert "3" in found["decision"]["next"]
    assert found["decision"]["next"].endswith("in: thorough.")


def test_the_widest_mode_and_the_weakest_axis_are_named(files: Files) -> None:
    notes = as_json(files, [GOOD] * 5, [24, 19, 20, 23, 24])["decision"]["monitoring"]
    assert "medium shows the widest gap: −0.75 on average" in notes
    assert any(note.endswith("loses most: −0.60 on average") for note in notes)


def test_no_variant_and_no_rubric_names_a_model() -> None:
    assert "haiku" not in RUBRIC.source.lower()
    assert "sonnet" not in RUBRIC.source.lower()


TWO_SCALES = """\
rubric: summaries
axes:
  - {name: truth, kind: scale, points: 2, question: "True?", anchors: {1: bad, 2: fair, 3: good}}
  - {name: style, kind: scale, points: 1, question: "Good?", anchors: {1: bad, 2: fair, 3: good}}
verdicts: [same, worse]
verdict_rules:
  match: first
  scores: {lowest: 1, highest: 3, axes: 2}
  rules:
    - {verdict: worse, when: {difference: {at_most: -0.5}}}
    - {verdict: same}
decision_table:
  outcomes: [go, no-go]
  queries: {quick: 1, medium: 2, thorough: 2}
  rows:
    - {name: some, when: [{count: [worse], at_least: 1}], outcome: no-go}
    - {name: none, when: [{count: [worse], exactly: 0}], outcome: go}
"""


def compare_two_scales(files: Files, rubric: str) -> Done:
    lines = ["item,variant,rater,truth,style"]
    for item in range(1, 6):
        lines += [f"TQ-{item},big,anna,3,{2 + item % 2}", f"TQ-{item},small,anna,{1 + item % 3},3"]
    ratings = files.write("two.csv", "\n".join(lines))
    words = ("-r", files.write("two.yaml", rubric), "-e", files.exam, "--ratings", ratings)
    return here("compare", *words, "-b", "big", "-c", "small")


def test_scales_of_different_weight_count_equally_and_a_warning_says_so(files: Files) -> None:
    warning = "warning: Here each scale counts equally"
    assert warning in compare_two_scales(files, TWO_SCALES).out
    equal = compare_two_scales(files, TWO_SCALES.replace("points: 2", "points: 1"))
    assert "decision: " in equal.out
    assert warning not in equal.out


def test_a_scale_without_a_title_and_a_table_of_two_outcomes_are_told_plainly(
    files: Files,
) -> None:
    told = compare_two_scales(files, TWO_SCALES).out
    assert "  truth loses most: −0.80 on average" in told
    assert "two identical variants would get go " in told
    assert "conditional" not in told

"""Patterns: each is found first where it is, absent where it is not, and luck raises no alarm."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Project, here
from markscheme import load_exam, load_rubric, score
from markscheme.vocabulary import UNKNOWN_SCORE
from markscheme.weigh.distribution import Drift
from markscheme.weigh.gates import BaselineReport, ItemChange
from markscheme.weigh.patterns import (
    PATTERN_KINDS,
    Pattern,
    RowObservations,
    compute_dice_tail,
    compute_hypergeometric_tail,
    compute_smallest_tail,
    count_testable_questions,
    find_patterns,
    observe_rows,
)
from markscheme.weigh.totals import Marks, Measures, Run
from markscheme.workflows.demo import generate_tutor_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from markscheme.weigh.totals import AxisValues

RUBRIC = load_rubric("tutor-capstone")
EXAM = load_exam("capstone", "capstone-extra", rubric=RUBRIC)
AXES = tuple(spec.name for spec in RUBRIC)
ITEMS = EXAM.items
PAST = tuple(item.id for item in ITEMS if item.tags["tense"] == "past-simple")
GO = tuple(item.id for item in ITEMS if item.tags["verb"] == "go")


def run_of(misses: Mapping[str, set[str]], attempts: int = 1) -> Run:
    """Return a run in which items miss some axes and have the others right."""
    items: dict[str, dict[AxisValues, int]] = {
        item.id: {tuple(Fraction(axis not in misses.get(item.id, ())) for axis in AXES): attempts}
        for item in ITEMS
    }
    return bare(Marks(axes=AXES, items=items))


def bare(marks: Marks) -> Run:
    return Run(
        name="this",
        rubric=RUBRIC.fingerprint,
        exam=EXAM.fingerprint,
        marks=marks,
        measures=Measures(),
    )


def patterns(misses: Mapping[str, set[str]], **more: Any) -> tuple[Pattern, ...]:
    return find_patterns(RUBRIC, EXAM, run_of(misses), **more)


def answered(change: Callable[[Any, dict[str, Any]], Any]) -> tuple[Pattern, ...]:
    """Return the patterns of the tutor's answers after a change to each of them."""
    rows = []
    for item, row in zip(ITEMS, generate_tutor_answers(EXAM), strict=True):
        change(item, row)
        rows.append(row)
    result = score(RUBRIC, EXAM, rows)
    return find_patterns(RUBRIC, EXAM, next(result.runs), observe_rows(RUBRIC, [result.frame]))


def test_a_perfect_run_has_no_pattern() -> None:
    assert answered(lambda item, row: None) == ()  # noqa: ARG005


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5, 0.8])
def test_chance_alone_raises_an_alarm_in_fewer_than_one_run_of_twenty(rate: float) -> None:
    alarms, runs = 0, 60
    for seed in range(runs):
        chance = random.Random(f"{rate} {seed}")  # noqa: S311 - a seeded test
        misses = {item.id: {axis for axis in AXES if chance.random() < rate} for item in ITEMS}
        observed = RowObservations(
            latency_ms={item.id: Fraction(chance.randrange(50, 500)) for item in ITEMS},
            wrong={
                item: f"answer {chance.randrange(12)}"
                for item, axes in misses.items()
                if "correctness" in axes
            },
        )
        alarms += bool(patterns(misses, observed=observed))
    assert alarms <= runs // 20


def test_a_column_that_is_missing_is_a_broken_formatter_and_is_told_once() -> None:
    found = patterns({item.id: {"schema"} for item in ITEMS})
    assert [(one.kind, one.axis, one.hits, one.of) for one in found] == [
        ("column", "schema", 80, 80)
    ]
    assert "systematic miss" in found[0].sentence
    assert "formatter is broken" in found[0].action
    assert found[0].p == Fraction(5, 2**80)


def test_nothing_right_at_all_is_one_pattern_and_not_four() -> None:
    found = patterns({item.id: set(AXES) for item in ITEMS})
    assert [(one.kind, one.axis) for one in found] == [("column", None)]


def test_a_row_of_zeros_for_a_verb_says_to_check_its_corpus() -> None:
    found = patterns({item: {"correctness"} for item in GO})
    assert [(one.kind, dict(one.tags), one.items) for one in found] == [("row", {"verb": "go"}, GO)]
    assert found[0].action == "it is mis-learned: check the corpus for verb: go"


@pytest.mark.parametrize("unrelated", [3, 4, 5, 6])
def test_a_row_of_zeros_is_named_among_unrelated_misses(unrelated: int) -> None:
    rest = [item.id for item in ITEMS if item.id not in GO]
    for seed in range(10):
        chance = random.Random(seed)  # noqa: S311 - a seeded test
        misses = {item: {"correctness"} for item in (*GO, *chance.sample(rest, unrelated))}
        found = patterns(misses)
        assert ("row", {"verb": "go"}) in [(one.kind, dict(one.tags)) for one in found]


def test_two_items_that_all_miss_are_no_row_of_zeros_at_the_weaker_level() -> None:
    pair = GO[:2]
    rest = [item.id for item in ITEMS if item.id not in GO]
    assert patterns({item: {"correctness"} for item in (*pair, *rest[::12])}) == ()


def test_a_verb_that_is_wrong_in_every_axis_is_not_told_again_by_axis() -> None:
    found = patterns({item: set(AXES) for item in GO})
    assert [(one.kind, one.axis, dict(one.tags)) for one in found] == [
        ("row", None, {"verb": "go"})
    ]


def test_a_verb_that_is_wrong_in_two_axes_is_told_once_with_the_other_as_evidence() -> None:
    found = patterns({item: {"correctness", "spanish_gloss"} for item in GO})
    assert [(one.kind, one.axis) for one in found] == [("row", "correctness")]
    assert "`spanish_gloss` misses there too, on 3 of 3" in found[0].evidence


def test_no_gloss_in_the_past_simple_is_told_as_such() -> None:
    found = patterns({item: {"spanish_gloss"} for item in PAST})
    assert [(one.kind, one.axis, dict(one.tags)) for one in found] == [
        ("within", "spanish_gloss", {"tense": "past-simple"})
    ]
    assert found[0].p is not None
    assert found[0].p < Fraction(1, 10**12)
    assert "debug why" in found[0].action


def test_an_axis_may_miss_only_within_two_tags_together() -> None:
    both = [
        item.id
        for item in ITEMS
        if (item.tags["tense"], item.tags["person"]) == ("present-perfect", "2sg")
    ]
    found = patterns({item: {"spanish_gloss"} for item in both})
    assert dict(found[0].tags) == {"person": "2sg", "tense": "present-perfect"}
    assert len(found) == 1


def test_a_cluster_of_identical_wrong_answers_is_quoted() -> None:
    every_third = {item.id for item in ITEMS[::3]}

    def refuse(item: Any, row: dict[str, Any]) -> None:
        if item.id in every_third:
            row["output"] = "Sorry, busy now."

    found = answered(refuse)
    assert (found[0].kind, found[0].hits, found[0].of) == ("cluster", 27, 27)
    assert '"Sorry, busy now."' in found[0].sentence
    assert set(found[0].items) == every_third


def test_a_cluster_of_one_verb_is_the_evidence_of_its_row() -> None:
    observed = RowObservations(wrong=dict.fromkeys(PAST, "I do not know."))
    found = patterns({item: {"correctness"} for item in PAST}, observed=observed)
    assert [one.kind for one in found] == ["row"]
    assert any("identical wrong answers" in reason for reason in found[0].evidence)


def test_one_outlier_item_is_proven_by_its_near_miss() -> None:
    def dash(item: Any, row: dict[str, Any]) -> None:
        if item.id == "e-39-02":
            row["output"] = row["output"].replace("will be", "will  be")

    found = answered(dash)
    assert [(one.kind, one.items) for one in found] == [("outlier", ("e-39-02",))]
    assert "check the normalisation" in found[0].action
    assert "near miss proves it" in found[0].evidence[0]


def test_an_outlier_without_a_near_miss_must_stand_alone_in_several_axes() -> None:
    three = {"correctness", "spanish_gloss", "schema"}
    found = patterns({"e-39-02": three})
    assert [(one.kind, one.items) for one in found] == [("outlier", ("e-39-02",))]
    assert patterns({"e-39-02": {"correctness"}}) == ()
    assert patterns({"e-39-02": three, "e-39-03": {"schema"}}) == ()


def test_errors_that_are_tied_to_a_tag_are_told() -> None:
    marks = run_of({}).marks
    failed: dict[AxisValues, int] = {(UNKNOWN_SCORE,) * len(AXES): 1}
    items = {item: failed if item in PAST else counts for item, counts in marks.items.items()}
    found = find_patterns(RUBRIC, EXAM, bare(Marks(axes=AXES, items=items)))
    assert [(one.kind, dict(one.tags)) for one in found] == [("errors", {"tense": "past-simple"})]


def test_latency_that_is_tied_to_a_tag_is_told() -> None:
    def timed(item: Any, row: dict[str, Any]) -> None:
        row["latency_ms"] = 900 if item.id in PAST else 100 + ITEMS.index(item)

    found = answered(timed)
    assert [(one.kind, dict(one.tags)) for one in found] == [("latency", {"tense": "past-simple"})]
    assert "900.00 ms" in found[0].sentence


def test_one_axis_that_trends_down_asks_whether_the_prompt_changed() -> None:
    drift = Drift(
        axis="conciseness",
        first=Fraction(1),
        last=Fraction(1, 2),
        p=Fraction(1, 1000),
        alone=True,
    )
    found = patterns({}, history=([drift], 8))
    assert [one.kind for one in found] == ["trend"]
    assert "`conciseness` alone is trending down over 8 runs" in found[0].sentence
    assert found[0].action == "the model grew verbose: did the prompt template change?"


def test_a_jump_too_good_to_be_true_comes_before_everything() -> None:
    rise = ItemChange(item="e-39-01", before=Fraction(0), after=Fraction(1))
    report = BaselineReport(
        baseline="release",
        before=Fraction(95, 100),
        after=Fraction(98, 100),
        floor=None,
        moved=(rise,),
        unmoved=79,
        warning="too good",
    )
    found = patterns({item: {"correctness"} for item in GO}, comparison=report)
    assert [one.kind for one in found] == ["jump", "row"]
    assert "audit the rubric first" in found[0].action
    assert found[0].items == ("e-39-01",)


def test_the_faults_of_the_flawed_tutor_that_cost_points_are_named() -> None:
    result = score(RUBRIC, EXAM, generate_tutor_answers(EXAM, flawed=True))
    found = find_patterns(RUBRIC, EXAM, next(result.runs), observe_rows(RUBRIC, [result.frame]))
    assert [(one.kind, one.axis, dict(one.tags)) for one in found] == [
        ("within", "spanish_gloss", {"tense": "past-simple"}),
        ("row", "correctness", {"verb": "go"}),
        ("within", "conciseness", {"tense": "present-perfect"}),
        ("within", "conciseness", {"tense": "present-continuous"}),
    ]


def test_several_attempts_at_an_item_count_as_one_item() -> None:
    misses = {item: {"correctness"} for item in GO}
    once, often = (find_patterns(RUBRIC, EXAM, run_of(misses, n)) for n in (1, 1000))
    assert once == often


def test_a_fault_that_shows_in_some_of_the_attempts_is_found() -> None:
    right, wrong = run_of({}).marks, run_of({item: {"spanish_gloss"} for item in PAST}).marks
    found = find_patterns(RUBRIC, EXAM, bare(right.merged(right).merged(wrong)))
    assert [(one.kind, one.items) for one in found] == [("within", PAST)]


def test_the_patterns_of_a_stored_run_and_of_its_result_file_are_the_same(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    assert here("demo", "--flawed", "--no-report", "--store", store).code == 1
    shown = here("show", "latest", "--patterns", "--format", "json", "--store", store).json
    assert [one["kind"] for one in shown["patterns"]] == ["within", "row", "within", "within"]
    assert shown["patterns"][1]["exact"]["lost"] == "9/400"
    file = tmp_path / "result.json"
    here("show", "latest", "-o", file, "--store", store)
    judged = here("gate", file, "--store", tmp_path / "none.db", "--format", "json")
    if judged.code == 1:
        assert json.loads(judged.out)["patterns"] == shown["patterns"]
    judged = here("gate", "latest", "--store", store, "--format", "json")
    assert judged.json["patterns"] == shown["patterns"]
    text = here("show", "latest", "--patterns", "--store", store).out
    assert "2. a row of zeros for verb: go: 3 of 3 items miss `correctness`" in text
    assert "What to look at first" in here("gate", "latest", "--store", store).out


def test_a_run_that_passes_has_nothing_to_look_at_first(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    assert "look at first" not in here("demo", "--no-report", "--store", store).out
    assert here("gate", "latest", "--store", store, "--format", "json").json["patterns"] == []
    assert "no pattern" in here("show", "latest", "--patterns", "--store", store).out


def test_an_axis_that_falls_alone_from_run_to_run_is_found_in_the_store(tmp_path: Path) -> None:
    project = Project(tmp_path, items=12)
    for long in range(8):
        project.stored(*["yes a b c"] * long, *["yes"] * (12 - long))
    told = project.run("show", "latest", "--patterns", "--format", "json").json["patterns"]
    assert [(one["kind"], one["axis"]) for one in told if one["kind"] == "trend"] == [
        ("trend", "shorter")
    ]
    first = project.run("show", "latest~7", "--patterns", "--format", "json").json["patterns"]
    assert first == []


@given(st.integers(1, 9), st.data())
def test_the_chance_of_a_draw_is_the_share_of_all_draws(among: int, data: st.DataObject) -> None:
    of, marked = (data.draw(st.integers(0, among)) for _ in range(2))
    draws = [sum(at < marked for at in draw) for draw in combinations(range(among), of)]
    for hits in range(of + 1):
        wanted = Fraction(sum(count >= hits for count in draws), len(draws))
        assert compute_hypergeometric_tail(hits, of, marked, among) == wanted
    assert compute_smallest_tail(of, marked, among, Fraction(0)) == compute_hypergeometric_tail(
        min(of, marked), of, marked, among
    )


@given(st.integers(1, 30), st.integers(1, 7), st.data())
def test_the_chance_of_a_toss_is_the_tail_of_the_binomial(
    of: int, sides: int, data: st.DataObject
) -> None:
    hits = data.draw(st.integers(0, of))
    ways = sum(math.comb(of, n) * (sides - 1) ** (of - n) for n in range(hits, of + 1))
    assert compute_dice_tail(hits, of, sides) == Fraction(ways, sides**of)


@given(st.lists(st.fractions(0, 1), max_size=30))
def test_questions_that_count_are_as_few_as_can_be_answered(chances: list[Fraction]) -> None:
    level = Fraction(1, 100)
    count = count_testable_questions(Counter(chances), level)
    assert sum(p <= level / count for p in chances) <= count
    smaller = range(1, count)
    assert all(sum(p <= level / one for p in chances) > one for one in smaller)


def test_every_pattern_has_a_kind_that_is_known() -> None:
    assert len(set(PATTERN_KINDS)) == len(PATTERN_KINDS)

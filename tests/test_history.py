"""History: the stable distribution, drifts that are no noise, and weights changed in the open."""

from __future__ import annotations

import dataclasses
import json
import random
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy import stats

from markscheme import Exam, Gate, Item, Level, Marks, Measures, Rubric, Run
from markscheme.mark.axes import ContainsAll, MaxWords
from markscheme.vocabulary import Allowance, AxisSpec, BaselineLimit, FrozenDict, to_record
from markscheme.weigh.distribution import (
    ScoreDistribution,
    count_runs_needed,
    describe_distribution,
    find_drifts,
)
from markscheme.weigh.gates import evaluate_gates
from markscheme.weigh.recalibrate import PastRun, find_reuse_obstacles, recalibrate_history

RIGHT, BRIEF = ContainsAll(), MaxWords(limit=30)
BAR = Gate(name="bar", level=Level.HARD, at_least=Decimal("0.7"))
TWO_PERCENT = Allowance(amount=Decimal("0.02"), relative=True)
KEEP = Gate(
    name="keep",
    level=Level.HARD,
    metric="baseline",
    baseline=BaselineLimit(max_drop=TWO_PERCENT, suspicious_rise=TWO_PERCENT),
)
EXAM = Exam(
    names=("e",),
    items=tuple(
        Item(id=f"i{n}", prompt="?", tags=FrozenDict({"t": "ab"[n % 2]})) for n in range(4)
    ),
    fingerprint="b2:e",
)


def rubric(right: str, *gates: Gate, **more: Any) -> Rubric:
    axes = (
        AxisSpec(name="right", weight=Decimal(right), axis=more.get("right_axis", RIGHT)),
        AxisSpec(name="brief", weight=1 - Decimal(right), axis=more.get("brief_axis", BRIEF)),
    )
    mark = Decimal("0.5")
    return Rubric(
        name="r", version=1, axes=axes, gates=gates, fingerprint=f"b2:{right}", pass_mark=mark
    )


OLD, NEW = rubric("0.8", BAR), rubric("0.4", BAR)


def run_of(name: str, right: Any, brief: Any, **more: Any) -> Run:
    """Return a run of four items; a number is how many of them have the axis right."""
    columns = [
        [Fraction(at < value) for at in range(4)] if isinstance(value, int) else value
        for value in (right, brief)
    ]
    cells = zip(*columns, strict=True)
    marks = Marks(
        axes=("right", "brief"),
        items={f"i{at}": {values: 1} for at, values in enumerate(cells)},
        errors=more.pop("errors", 0),
    )
    fields = {"rubric": OLD.fingerprint, "exam": "b2:e", **more}
    return Run(name=name, marks=marks, measures=Measures(answers=4), **fields)


def past(*given_: Any, **more: Any) -> PastRun:
    return PastRun(run=run_of(*given_, **more), rubric=OLD, exam=EXAM)


# --- the stable distribution --------------------------------------------------------------------


def described(run: Run, *history: Run) -> ScoreDistribution:
    found = describe_distribution(OLD, EXAM, run, history)
    assert found is not None
    return found


def test_a_distribution_computed_by_hand() -> None:
    found = described(run_of("one", 3, 2))
    assert found.score.mean == Fraction(8 * 3 + 2 * 2, 40)
    assert found.quantiles[50] == Fraction(9, 10)
    assert [found.quantiles[at] for at in (0, 25, 100)] == [
        Fraction(0),
        Fraction(6, 10),
        Fraction(1),
    ]
    scores = [1.0, 1.0, 0.8, 0.0]
    wanted = stats.t.interval(0.95, 3, stats.tmean(scores), stats.sem(scores))
    assert found.score.lower == pytest.approx(max(0, wanted[0]))
    assert found.score.upper == 1  # no score is above it
    assert (found.passed.mean, found.passed.method) == (Fraction(3, 4), "Wilson")
    assert (found.axes["brief"].mean, found.axes["brief"].method) == (Fraction(1, 2), "Wilson")
    assert [(group.value, group.score) for group in found.groups] == [
        ("b", Fraction(1, 2)),
        ("a", Fraction(9, 10)),
    ]


def test_scores_that_are_all_equal_are_not_known_for_certain() -> None:
    halves = [Fraction(1, 2)] * 4
    estimate = described(run_of("one", halves, halves)).score
    assert (estimate.mean, estimate.method) == (Fraction(1, 2), "all items equal")
    assert estimate.lower is not None
    assert estimate.upper is not None
    assert 0 < estimate.lower < 0.5 < estimate.upper < 1


def test_nothing_scored_has_no_distribution() -> None:
    nothing = Marks(axes=("right", "brief"), items={f"i{at}": {} for at in range(4)})
    assert (
        describe_distribution(OLD, EXAM, structs.replace(run_of("x", 1, 1), marks=nothing)) is None
    )


def test_the_trend_leaves_out_what_cannot_be_compared_and_says_why() -> None:
    base = run_of("base", 4, 4)
    others = (
        run_of("first", 4, 3),
        run_of("reweighed", 4, 4, rubric="b2:x"),
        run_of("asked", 4, 4, exam="b2:x"),
        run_of("torn", 4, 4, errors=1),
        run_of("last", 3, 4),
    )
    found = described(base, *others)
    assert [(point.run, point.score) for point in found.trend] == [
        ("first", Fraction(95, 100)),
        ("last", Fraction(80, 100)),
    ]
    assert found.left_out == (
        ("reweighed", "another rubric"),
        ("asked", "another exam"),
        ("torn", "incomplete"),
    )
    document = json.loads(json.dumps(to_record(found), allow_nan=False))
    assert document["trend"][1] == {
        "run": "last",
        "subject": None,
        "started": None,
        "score": 0.8,
        "axes": {"right": 0.75, "brief": 1.0},
    }


# --- drift --------------------------------------------------------------------------------------


def hundredths(*values: int) -> list[Fraction]:
    return [Fraction(value, 100) for value in values]


def test_conciseness_alone_trending_down_is_told() -> None:
    axes = {
        "correctness": hundredths(95, 96, 95, 94, 96, 95),
        "gloss": hundredths(90, 90, 91, 90, 90, 91),
        "schema": hundredths(100, 100, 100, 100, 100, 100),
        "conciseness": hundredths(99, 97, 94, 92, 90, 85),
    }
    (drift,) = find_drifts(axes)
    assert (drift.axis, drift.alone) == ("conciseness", True)
    assert (drift.first, drift.last) == (Fraction(99, 100), Fraction(85, 100))
    assert drift.p == Fraction(4, 720)


def test_axes_that_fall_together_do_not_fall_alone() -> None:
    falling = hundredths(99, 97, 94, 92, 90, 85, 80)
    found = find_drifts({"a": falling, "b": falling, "c": hundredths(*[50] * 7)})
    assert [(drift.axis, drift.alone) for drift in found] == [("a", False), ("b", False)]


def test_too_few_runs_show_no_drift_and_the_number_needed_is_known() -> None:
    for axes in (1, 4, 6):
        needed = count_runs_needed(axes)
        values = hundredths(*range(100, 100 - needed, -1))
        flat = {f"flat{at}": hundredths(*[50] * needed) for at in range(axes - 1)}
        assert len(find_drifts({"a": values, **flat})) == 1
        shorter = {axis: means[:-1] for axis, means in flat.items()}
        assert find_drifts({"a": values[:-1], **shorter}) == ()
    assert count_runs_needed(4) == 6


def test_a_rise_or_a_standstill_is_no_drift() -> None:
    assert find_drifts({"a": hundredths(*range(50, 70)), "b": hundredths(*[9] * 20)}) == ()
    assert find_drifts({"a": [], "b": []}) == ()


def test_noise_raises_the_alarm_no_more_often_than_once_in_a_hundred() -> None:
    rng = random.Random(20)  # noqa: S311 - noise, not a secret
    alarms = 0
    for _ in range(2_000):
        runs = rng.randint(6, 12)
        axes = {
            name: [Fraction(sum(rng.random() < 0.9 for _ in range(60)), 60) for _ in range(runs)]
            for name in "abcd"
        }
        alarms += bool(find_drifts(axes))
    assert alarms <= 2_000 // 100


@given(st.lists(st.integers(0, 100), min_size=2, max_size=12))
def test_a_drift_is_told_only_of_what_ends_lower_in_most_pairs(values: list[int]) -> None:
    for drift in find_drifts({"a": hundredths(*values)}):
        assert drift.p <= Fraction(1, 100)
        assert len(values) >= count_runs_needed(1)


# --- recalibration ------------------------------------------------------------------------------


def test_history_under_new_weights_computed_by_hand() -> None:
    found = recalibrate_history([past("one", 4, 0), past("two", 3, 4)], NEW)
    one, two = found.runs
    assert (one.before, one.after) == (Fraction(8, 10), Fraction(4, 10))
    assert (two.before, two.after) == (Fraction(8, 10), Fraction(9, 10))
    assert [(flip.gate, flip.before, flip.after) for flip in one.flips] == [("bar", "pass", "fail")]
    assert two.flips == ()
    assert (one.rank_before, two.rank_before, one.rank_after, two.rank_after) == (1, 1, 2, 1)
    assert found.rankings[0].tied_before == 1
    assert found.rankings[0].tau is None


def test_a_ranking_turned_around_has_a_correlation_of_minus_one() -> None:
    found = recalibrate_history([past("one", 4, 1), past("two", 3, 4)], NEW)
    (ranking,) = found.rankings
    assert (ranking.concordant, ranking.discordant, ranking.tau) == (0, 1, -1.0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_the_rank_correlation_is_that_of_scipy(cells: list[tuple[int, int]]) -> None:
    found = recalibrate_history([past(str(at), *cell) for at, cell in enumerate(cells)], NEW)
    tau = found.rankings[0].tau
    before = [float(run.before or 0) for run in found.runs]
    after = [float(run.after or 0) for run in found.runs]
    exact = len(set(before)) > 1 and len(set(after)) > 1
    if exact:
        assert tau == pytest.approx(stats.kendalltau(before, after).statistic)
    else:
        assert tau is None


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_pairs_and_places_are_counted_as_one_would_by_hand(cells: list[tuple[int, int]]) -> None:
    found = recalibrate_history([past(f"p{at}", *cell) for at, cell in enumerate(cells)], NEW)
    counted = {"concordant": 0, "discordant": 0, "tied_before": 0, "tied_after": 0}
    for one, other in combinations(found.runs, 2):
        assert None not in {one.before, one.after, other.before, other.after}
        before, after = one.before - other.before, one.after - other.after  # type: ignore[operator]
        counted["concordant"] += before * after > 0
        counted["discordant"] += before * after < 0
        counted["tied_before"] += before == 0
        counted["tied_after"] += after == 0
    (ranking,) = found.rankings
    assert {name: getattr(ranking, name) for name in counted} == counted
    for one in found.runs:
        better = sum(other.after > one.after for other in found.runs)  # type: ignore[operator]
        assert one.rank_after == 1 + better


@given(*[st.tuples(st.integers(0, 4), st.integers(0, 4))] * 2, st.booleans())
def test_judging_without_details_decides_the_same(
    cell: tuple[int, int],
    before: tuple[int, int],
    required: bool,  # noqa: FBT001
) -> None:
    limit = BaselineLimit(
        max_drop=TWO_PERCENT, suspicious_rise=TWO_PERCENT, evidence_required=required
    )
    axis = structs.replace(BAR, name="axis", metric="axis", axis="right", tags={"t": "a"})
    keep = structs.replace(KEEP, baseline=limit)
    share = structs.replace(BAR, name="share", metric="passed")
    judged_by = rubric("0.8", BAR, keep, axis, share)
    run, baseline = run_of("now", *cell), run_of("then", *before)
    whole, brief = (
        evaluate_gates(judged_by, EXAM, run, baseline, detailed=detailed)
        for detailed in (True, False)
    )
    assert (whole.verdict, whole.because) == (brief.verdict, brief.because)
    for one, other in zip(whole.outcomes, brief.outcomes, strict=True):
        assert (one.outcome, one.observed, one.margin) == (
            other.outcome,
            other.observed,
            other.margin,
        )


def test_the_same_weights_change_nothing() -> None:
    found = recalibrate_history([past("one", 4, 0), past("two", 3, 4)], OLD)
    assert all(run.before == run.after and not run.flips for run in found.runs)


def test_the_baseline_gate_is_judged_under_both_rubrics() -> None:
    old, new = rubric("0.8", KEEP), rubric("0.4", KEEP)
    base, later = (
        PastRun(run=run_of(name, *cells), rubric=old, exam=EXAM)
        for name, cells in (("base", (4, 2)), ("later", (4, 1)))
    )
    found = recalibrate_history([base, later], new, {EXAM.fingerprint: base})
    flips = {run.run: run.flips for run in found.runs}
    assert flips["base"] == ()
    assert flips["later"] == ()  # 0.9 to 0.85 is a drop of more than 2 % under both
    kept = PastRun(run=run_of("kept", 4, 4), rubric=old, exam=EXAM)
    lost = PastRun(run=run_of("lost", 4, [Fraction(95, 100)] * 4), rubric=old, exam=EXAM)
    found = recalibrate_history([lost], new, {EXAM.fingerprint: kept})
    assert [(f.gate, f.before, f.after) for f in found.runs[0].flips] == [("keep", "pass", "fail")]


def test_the_present_baseline_is_proposed_again_where_it_still_may_be_one() -> None:
    base = past("base", 3, 4)
    found = recalibrate_history([base, past("later", 4, 4)], NEW, {EXAM.fingerprint: base})
    (proposal,) = found.proposals
    assert (proposal.run, proposal.score) == ("base", Fraction(9, 10))
    assert "it is the baseline now" in proposal.because


def test_else_the_latest_complete_run_that_meets_the_gates() -> None:
    base = past("base", 4, 0)  # 0.4 under the new weights
    history = [base, past("good", 4, 4), past("torn", 4, 4, errors=1), past("bad", 0, 0)]
    (proposal,) = recalibrate_history(history, NEW, {EXAM.fingerprint: base}).proposals
    assert (proposal.run, proposal.score) == ("good", Fraction(1))
    (proposal,) = recalibrate_history([past("bad", 0, 0)], NEW).proposals
    assert (proposal.run, proposal.score) == (None, None)


def test_where_no_gate_has_a_say_any_complete_run_may_be_the_baseline() -> None:
    free = dataclasses.replace(NEW, gates=(KEEP,))
    (proposal,) = recalibrate_history(
        [past("one", 1, 1), past("torn", 1, 1, errors=1)], free
    ).proposals
    assert proposal.run == "one"


def test_an_incomplete_run_is_weighed_but_has_no_rank() -> None:
    found = recalibrate_history([past("torn", 4, 4, errors=1), past("one", 4, 0)], NEW)
    assert (found.runs[0].after, found.runs[0].rank_after) == (Fraction(1), None)
    assert found.rankings[0].runs == 1


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (rubric("0.4", brief_axis=MaxWords(limit=20)), "`limit` of the axis `brief` was 30 and is"),
        (rubric("0.4", right_axis=BRIEF), "the axis `right` was `contains_all` and is `max_words`"),
    ],
)
def test_cells_of_other_axes_are_not_used_and_it_is_said_why(new: Rubric, why: str) -> None:
    found = recalibrate_history([past("one", 4, 0)], new)
    assert found.runs == ()
    assert why in found.refused[0][1]


def test_axes_that_are_gone_or_new_are_named() -> None:
    other = dataclasses.replace(NEW, axes=(NEW.axes[0], structs.replace(NEW.axes[1], name="short")))
    assert list(find_reuse_obstacles(past("one", 1, 1), other)) == [
        "the axis `brief` is gone",
        "the axis `short` is new: its cells were never judged",
    ]
    stranger = past("one", 1, 1, rubric="b2:x")
    assert "is not there any more" in next(find_reuse_obstacles(stranger, NEW))


def test_axes_may_change_places() -> None:
    turned = dataclasses.replace(NEW, axes=NEW.axes[::-1])
    found = recalibrate_history([past("one", 4, 0)], turned)
    assert found.runs[0].after == Fraction(4, 10)


def test_a_recalibration_is_plain_data_and_changes_no_run() -> None:
    history = [past("one", 4, 0), past("two", 3, 4)]
    before = [one.run.marks.to_dict() for one in history]
    found = recalibrate_history(history, NEW)
    document = json.loads(json.dumps(to_record(found), allow_nan=False))
    assert document["runs"][0]["flips"] == [{"gate": "bar", "before": "pass", "after": "fail"}]
    assert document["proposals"][0]["run"] == "two"
    assert [one.run.marks.to_dict() for one in history] == before

"""Gates: exact limits on every metric, and what to fix first."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gates import MIXED, Cells, exam_of, gate, judged, rubric, run_of
from markscheme import Gate, Outcome, load_rubric
from markscheme.vocabulary import Attempts, FrozenDict, to_record
from markscheme.weigh.gates import evaluate_gates
from markscheme.weigh.totals import MeasureTotal

TUTOR = load_rubric("tutor-capstone")
SHARES = st.fractions(0, 1, max_denominator=1000)


def outcome(items: dict[str, list[Cells]], found: Gate, **more: Any) -> Outcome:
    return judged(items, found, **more).outcomes[0].outcome


# --- exact limits -------------------------------------------------------------------------------


@given(SHARES, st.integers(1, 10**15))
def test_a_limit_is_met_at_exactly_its_value_and_not_one_step_below(
    value: Fraction, step: int
) -> None:
    limit = Fraction(round(value * 10**6), 10**6)
    text = str(Decimal(limit.numerator) / Decimal(limit.denominator))
    at_least, at_most = gate(at_least=text), gate(at_most=text)
    below, above = limit - Fraction(1, step * 10**6), limit + Fraction(1, step * 10**6)
    assert outcome({"a": [(limit, limit)]}, at_least) == "pass"
    assert outcome({"a": [(limit, limit)]}, at_most) == "pass"
    if below >= 0:
        assert outcome({"a": [(below, below)]}, at_least) == "fail"
    if above <= 1:
        assert outcome({"a": [(above, above)]}, at_most) == "fail"


def test_the_seeds_bar_of_0_92_is_met_at_0_92() -> None:
    part = Fraction(84, 100)
    found = judged({"a": [(1, 1)], "b": [(part, part)]}, gate(at_least="0.92")).outcomes[0]
    assert (found.outcome, found.margin) == ("pass", Fraction(0))
    assert found.because == "score 0.92 is at least 0.92, exactly"


def test_what_is_shown_is_never_rounded_onto_the_limit() -> None:
    value = Fraction(92, 100) - Fraction(1, 10**9)
    found = judged({"a": [(value, value)]}, gate(at_least="0.92")).outcomes[0]
    assert found.because.startswith("score 0.919999999 is below 0.92, by 0.000000001")


@given(st.permutations(range(8)), st.lists(SHARES, min_size=8, max_size=8))
def test_the_order_of_items_changes_no_outcome(order: list[int], values: list[Fraction]) -> None:
    items = {f"i{n}": [(values[n], values[n])] for n in range(8)}
    moved = {f"i{n}": items[f"i{n}"] for n in order}
    gates = (gate(at_least="0.5"), gate("passed", name="p", at_least="0.5"))
    one, two = judged(items, *gates, bar="0.5"), judged(moved, *gates, bar="0.5")
    assert [(o.outcome, o.observed) for o in one.outcomes] == [
        (o.outcome, o.observed) for o in two.outcomes
    ]


def test_a_gate_without_a_finite_limit_cannot_be_made() -> None:
    for limits in ({}, {"at_least": "NaN"}, {"at_most": "Infinity"}):
        with pytest.raises(ValueError, match="a finite limit or a baseline"):
            gate(**limits)


# --- each metric --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "observed"),
    [
        (gate(at_least="0.75"), Fraction(3, 4)),
        (gate("axis", axis="right", at_least="0.75"), Fraction(3, 4)),
        (gate("axis", axis="brief", at_least="0.75"), Fraction(3, 4)),
        (gate("passed", at_least="0.5"), Fraction(1, 2)),
        (gate("failures", axis="brief", at_most="1"), Fraction(1)),
        (gate("errors", at_most="0"), Fraction(0)),
        (gate("missing", at_most="0"), Fraction(0)),
        (gate(tags=FrozenDict({"t": "x"}), at_least="1"), Fraction(1)),
        (gate("axis", axis="brief", tags=FrozenDict({"t": "y"}), at_least="0.5"), Fraction(1, 2)),
        (gate("passed", tags=FrozenDict({"t": "y"}), at_least="0"), Fraction(0)),
        (gate("failures", axis="right", tags=FrozenDict({"t": "y"}), at_most="1"), Fraction(1)),
        (gate("latency_p50", at_most="25"), Fraction(25)),
        (gate("latency_p90", at_most="37"), Fraction(37)),
        (gate("latency_max", at_most="40"), Fraction(40)),
        (gate("cost", at_most="0.4"), Fraction(4, 10)),
        (gate("cost_per_answer", at_most="0.1"), Fraction(1, 10)),
    ],
)
def test_each_metric_is_what_a_person_would_compute_by_hand(
    found: Gate, observed: Fraction
) -> None:
    tags = {"a": {"t": "x"}, "b": {"t": "y"}, "c": {"t": "y"}, "d": {"t": "x"}}
    latency = {10.0: 1, 20.0: 1, 30.0: 1, 40.0: 1}
    cost = MeasureTotal(n=4, sum=Fraction(4, 10))
    report = judged(MIXED, found, tags=tags, latency_ms=latency, cost=cost)
    assert (report.outcomes[0].observed, report.outcomes[0].outcome) == (observed, "pass")
    low, high = found.at_least, found.at_most
    tighter = structs.replace(
        found,
        at_least=None if low is None else low + Decimal("1e-9"),
        at_most=None if high is None else high - Decimal("1e-9"),
    )
    report = judged(MIXED, tighter, tags=tags, latency_ms=latency, cost=cost)
    assert (report.outcomes[0].outcome, report.verdict) == ("fail", "fail")


def test_both_limits_of_a_gate_hold_and_the_nearer_one_is_told() -> None:
    found = judged(MIXED, gate(at_least="0.5", at_most="0.8")).outcomes[0]
    assert (found.outcome, found.margin) == ("pass", Fraction(1, 20))
    assert "is at most 0.8" in found.because


def test_k_of_n_attempts() -> None:
    items: dict[str, list[Cells]] = {
        "a": [(1, 1), (1, 1), (0, 1)],
        "b": [(1, 1), (0, 1), (0, 1)],
    }
    two = gate("passed", at_least="0.5", attempts=Attempts(at_least=2, of=3))
    assert outcome(items, two) == "pass"
    assert outcome(items, structs.replace(two, at_least=Decimal("0.6"))) == "fail"
    one = gate("passed", at_least="1", attempts=Attempts(at_least=1, of=3))
    assert outcome(items, one) == "pass"


def test_an_item_with_other_than_n_attempts_is_undecided() -> None:
    found = gate("passed", at_least="0", attempts=Attempts(at_least=1, of=3))
    report = judged({"a": [(1, 1)] * 3, "b": [(1, 1)] * 2}, found)
    assert report.verdict == "undecided"
    assert report.outcomes[0].because == "not every item has 3 attempts: b has 2"


def test_an_item_passes_by_its_mean_over_attempts_at_exactly_the_pass_mark() -> None:
    items: dict[str, list[Cells]] = {"a": [(1, 1), (0, 1)]}  # 1 and 0.25: a mean of 0.625
    assert outcome(items, gate("passed", at_least="1"), bar="0.625") == "pass"
    assert outcome(items, gate("passed", at_least="1"), bar="0.6251") == "fail"


# --- what to fix first --------------------------------------------------------------------------


def test_the_items_that_cost_most_come_first_with_what_is_lost() -> None:
    found = judged(MIXED, gate(at_least="0.9")).outcomes[0]
    assert [(loss.item, loss.lost) for loss in found.fix_first] == [
        ("b", Fraction(75, 400)),
        ("c", Fraction(25, 400)),
    ]
    assert found.fix_first[0].axes == {"right": Fraction(75, 400)}
    assert found.because.endswith("; mending b would meet it")


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=12))
def test_the_losses_are_all_that_is_missing_to_full_marks(cells: list[Cells]) -> None:
    items = {f"i{n}": [cell] for n, cell in enumerate(cells)}
    for found in (gate(at_least="1"), gate("axis", axis="right", at_least="1")):
        seen = judged(items, found).outcomes[0]
        assert seen.observed is not None
        assert seen.observed + sum(loss.lost for loss in seen.fix_first) == 1
        losses = [loss.lost for loss in seen.fix_first]
        assert losses == sorted(losses, reverse=True)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=6), SHARES)
def test_without_detail_the_outcomes_are_the_same(cells: list[Cells], before: Fraction) -> None:
    items = {f"i{n}": [cell] for n, cell in enumerate(cells)}
    gates = (gate(at_least="0.5"), gate("passed", name="p", at_least="0.5"), *TUTOR.gates[4:])
    baseline = run_of({item: [(before, before)] for item in items})
    one, two = (
        evaluate_gates(rubric(*gates), exam_of(items), run_of(items), baseline, detailed=detailed)
        for detailed in (True, False)
    )
    assert [(o.outcome, o.observed, o.margin) for o in one.outcomes] == [
        (o.outcome, o.observed, o.margin) for o in two.outcomes
    ]
    assert (one.verdict, one.because) == (two.verdict, two.because)


def test_what_the_gates_say_is_plain_data() -> None:
    report = judged(MIXED, gate(at_least="0.9"), gate("cost", name="c", at_most="1"))
    document = json.loads(json.dumps(to_record(report), allow_nan=False))
    assert document["verdict"] == "fail"
    first = document["gates"][0]
    assert (first["observed"], first["at_least"], first["exact"]["margin"]) == (0.75, 0.9, "-3/20")
    assert first["fix_first"][0] == {"item": "b", "lost": 0.1875, "axes": {"right": 0.1875}}
    assert document["gates"][1]["observed"] is None

"""The baseline gate: exact drops, items in pairs, evidence beside it, rises that look too good."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from markscheme import (
    BaselineReport,
    Exam,
    Gate,
    GateOutcome,
    Item,
    Level,
    Marks,
    Measures,
    NonInferiority,
    Rubric,
    Run,
)
from markscheme.mark.axes import MaxWords
from markscheme.vocabulary import Allowance, AxisSpec, BaselineLimit, to_record
from markscheme.weigh.gates import evaluate_gates, evaluate_non_inferiority
from markscheme.weigh.totals import AxisValues

TWO_PERCENT = Allowance(amount=Decimal("0.02"), relative=True)
TWO_POINTS = Allowance(amount=Decimal("0.02"), relative=False)
SHARES = st.fractions(0, 1, max_denominator=10**4)
AXIS = AxisSpec(name="a", weight=Decimal(1), axis=MaxWords(limit=1))


def run_of(*scores: Any, name: str = "run", **more: Any) -> Run:
    """Return a run in which item i0, i1, … got these scores."""
    items: dict[str, dict[AxisValues, int]] = {
        f"i{at}": {(Fraction(value),): 1} for at, value in enumerate(scores)
    }
    marks = Marks(axes=("a",), items=items, errors=more.pop("errors", 0))
    fields = {"rubric": "b2:r", "exam": "b2:e", **more}
    return Run(name=name, marks=marks, measures=Measures(answers=len(items)), **fields)


def gated(
    run: Run,
    baseline: Run | None,
    drop: Allowance = TWO_PERCENT,
    rise: Allowance | None = None,
    **more: Any,
) -> GateOutcome:
    required = more.pop("required", False)
    limit = BaselineLimit(max_drop=drop, suspicious_rise=rise or drop, evidence_required=required)
    level = more.pop("level", Level.HARD)
    gate = Gate(name="b", level=level, metric="baseline", baseline=limit)
    rubric = Rubric(
        name="r",
        version=1,
        axes=(AXIS,),
        gates=(gate,),
        fingerprint=run.rubric or "b2:r",
        pass_mark=Decimal("0.9"),
    )
    items = tuple(Item(id=item, prompt="?") for item in run.marks.items)
    exam = Exam(names=("e",), items=items, fingerprint=run.exam or "b2:e")
    return evaluate_gates(rubric, exam, run, baseline).outcomes[0]


def report(outcome: GateOutcome) -> BaselineReport:
    assert outcome.baseline is not None
    return outcome.baseline


# --- the exact drop -----------------------------------------------------------------------------


@settings(max_examples=300)
@given(SHARES, st.integers(1, 10**18), st.sampled_from([TWO_PERCENT, TWO_POINTS]))
def test_a_drop_of_exactly_the_limit_passes_and_one_unit_more_fails(
    before: Fraction, unit: int, drop: Allowance
) -> None:
    floor = before * Fraction(98, 100) if drop.relative else before - Fraction(2, 100)
    step = Fraction(1, unit)
    assume(floor - step >= 0)
    assert gated(run_of(floor), run_of(before), drop).outcome == "pass"
    assert gated(run_of(floor), run_of(before), drop).margin == 0
    assert gated(run_of(floor - step), run_of(before), drop).outcome == "fail"


@settings(max_examples=120)
@given(st.lists(SHARES, min_size=1, max_size=20), st.data())
def test_the_same_over_many_items(before: list[Fraction], data: st.DataObject) -> None:
    after = [value * Fraction(98, 100) for value in before]
    at = data.draw(st.integers(0, len(before) - 1))
    assume(after[at] > 0)
    assert gated(run_of(*after), run_of(*before)).outcome == "pass"
    after[at] -= min(after[at], Fraction(1, 10**15))
    assert gated(run_of(*after), run_of(*before)).outcome == "fail"


def test_a_drop_in_points_is_not_a_drop_in_percent() -> None:
    run, baseline = run_of("0.9305"), run_of("0.95")
    assert gated(run, baseline, TWO_PERCENT).outcome == "fail"  # the floor is 0.931
    assert gated(run, baseline, TWO_POINTS).outcome == "pass"  # the floor is 0.93


def test_the_seeds_regression_from_0_95_to_0_85_blocks() -> None:
    outcome = gated(run_of("0.85"), run_of("0.95"))
    assert (outcome.outcome, outcome.observed) == ("fail", Fraction(85, 100))
    assert outcome.because.startswith("score 0.85 is down 0.10 from 0.95, below 0.931 (a drop of 2")


def test_a_soft_baseline_gate_warns() -> None:
    assert gated(run_of("0.85"), run_of("0.95"), level=Level.SOFT).outcome == "warn"


# --- items --------------------------------------------------------------------------------------


def test_items_that_went_from_pass_to_fail_are_listed_even_when_the_mean_holds() -> None:
    outcome = gated(run_of("0.8", 1, 1), run_of(1, "0.8", 1))
    assert outcome.outcome == "pass"
    assert [change.item for change in report(outcome).regressed] == ["i0"]
    assert [change.item for change in report(outcome).recovered] == ["i1"]
    assert "1 item went from pass to fail" in outcome.because
    assert report(outcome).regressed[0].axes == {"a": Fraction(-1, 5)}


def test_an_item_passes_at_exactly_the_pass_mark() -> None:
    assert report(gated(run_of("0.9", 1), run_of(1, 1))).regressed == ()
    below = Fraction(9, 10) - Fraction(1, 10**12)
    assert len(report(gated(run_of(below, 1), run_of(1, 1))).regressed) == 1


def test_the_items_that_moved_come_worst_first_and_those_that_fell_are_to_be_fixed() -> None:
    outcome = gated(run_of("0.5", 1, "0.7", 1), run_of(1, "0.5", 1, 1))
    assert [change.item for change in report(outcome).moved] == ["i0", "i2", "i1"]
    assert report(outcome).unmoved == 1
    lost = {loss.item: loss.lost for loss in outcome.fix_first}
    assert lost == {"i0": Fraction(1, 8), "i2": Fraction(3, 40)}


def test_an_item_is_compared_by_its_mean_over_attempts() -> None:
    marks = Marks(axes=("a",), items={"i0": {(Fraction(1),): 1, (Fraction(0),): 1}})
    run = structs.replace(run_of(1), marks=marks)
    assert report(gated(run, run_of(1))).moved[0].after == Fraction(1, 2)


def test_new_and_removed_items_are_listed_and_the_gate_cannot_tell() -> None:
    baseline = run_of(1, 1, 1, exam="b2:older")
    fewer = Marks(axes=("a",), items={**run_of(1, 1).marks.items, "new": {(Fraction(1),): 1}})
    outcome = gated(structs.replace(run_of(1), marks=fewer), baseline)
    assert outcome.outcome == "undecided"
    assert (report(outcome).added, report(outcome).removed) == (("new",), ("i2",))


# --- fail closed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "baseline", "why"),
    [
        ({}, {"rubric": "b2:x"}, "another rubric fingerprint; recalibrate or set a new baseline"),
        ({}, {"exam": "b2:x"}, "another exam fingerprint; recalibrate or set a new baseline"),
        ({}, {"rubric": None}, "the baseline does not say under which rubric"),
        ({"exam": None}, {}, "the run does not say under which exam"),
        ({"errors": 1}, {}, "the run is incomplete (1 error)"),
        ({}, {"errors": 1}, "the baseline `old` is incomplete (1 error)"),
    ],
)
def test_what_cannot_be_compared_never_passes(
    run: dict[str, Any], baseline: dict[str, Any], why: str
) -> None:
    outcome = gated(run_of(1, 1, **run), run_of(1, 1, name="old", **baseline))
    assert outcome.outcome == "undecided"
    assert why in outcome.because
    assert report(outcome).evidence is None


def test_an_empty_baseline_never_passes() -> None:
    empty = structs.replace(run_of(1), marks=Marks(axes=("a",), items={"i0": {}}))
    assert gated(run_of(1), empty).outcome == "undecided"
    assert gated(empty, run_of(1)).outcome == "undecided"


def test_without_a_baseline_the_gate_does_not_apply_and_says_so() -> None:
    outcome = gated(run_of(1), None)
    assert outcome.outcome == "not applicable"
    assert outcome.because == "there is no baseline to compare with"


# --- a rise that looks too good -----------------------------------------------------------------


def test_the_seeds_jump_from_0_95_to_0_98_is_reported_with_the_items_that_moved() -> None:
    outcome = gated(run_of("0.98", 1), run_of("0.92", "0.98"))
    assert outcome.outcome == "pass"
    warning = report(outcome).warning or ""
    assert "a rise from 0.95 to 0.99 is more than 2%" in warning
    assert "audit the rubric first (`markscheme audit`)" in warning
    assert [change.item for change in report(outcome).moved] == ["i1", "i0"]
    assert "0.95 to 0.98" in (report(gated(run_of("0.98"), run_of("0.95"))).warning or "")


@given(SHARES)
def test_a_rise_of_exactly_the_plausible_amount_is_not_suspicious(before: Fraction) -> None:
    top = before * Fraction(102, 100)
    assume(before > 0)
    assert report(gated(run_of(top), run_of(before))).warning is None
    higher = top + Fraction(1, 10**15)
    assert report(gated(run_of(higher), run_of(before))).warning is not None


def test_the_rubric_may_say_what_rise_is_plausible() -> None:
    ten = Allowance(amount=Decimal("0.1"), relative=False)
    assert report(gated(run_of("0.98"), run_of("0.95"), rise=ten)).warning is None


# --- evidence -----------------------------------------------------------------------------------


def sixths(before: tuple[int, ...], after: tuple[int, ...]) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(b, 6), Fraction(a, 6)) for b, a in zip(before, after, strict=True)]


D5 = sixths((27, 24, 26, 23, 25), (25, 24, 23, 21, 24))


def test_the_evidence_of_d5_is_that_of_the_reference() -> None:
    half = evaluate_non_inferiority(D5, Allowance(amount=Decimal("0.5"), relative=False))
    assert half.p == pytest.approx(0.025803, abs=1e-6)
    assert half.outcome == "pass"
    relative = evaluate_non_inferiority(D5, TWO_PERCENT)
    assert relative.mean == Fraction(-11, 60)
    assert relative.p == pytest.approx(0.952720, abs=1e-6)
    assert relative.outcome == "fail"


def test_evidence_that_is_inconclusive_says_how_many_items_would_settle_it() -> None:
    pairs = [(Fraction(1), Fraction(1 - (at == 0), 1)) for at in range(20)]
    found = evaluate_non_inferiority(pairs, TWO_PERCENT)
    assert found.outcome == "inconclusive"
    needed = found.items_needed
    assert needed is not None
    assert settled(found, needed)
    assert not settled(found, needed - 1)
    assert f"about {needed:,} items would settle it" in found.because


def settled(found: NonInferiority, n: int) -> bool:
    """Return whether so many items of the same mean and spread would settle it, by scipy."""
    from scipy import stats  # noqa: PLC0415

    assert found.mean is not None
    assert found.upper is not None
    sd = (found.upper - float(found.mean)) * found.n**0.5 / stats.t.ppf(0.95, found.n - 1)
    return bool(abs(float(found.mean - found.margin)) > stats.t.ppf(0.95, n - 1) * sd / n**0.5)


@pytest.mark.parametrize("pairs", [[], [(Fraction(1), Fraction(1))]])
def test_fewer_than_two_pairs_are_no_evidence(pairs: list[tuple[Fraction, Fraction]]) -> None:
    found = evaluate_non_inferiority(pairs, TWO_PERCENT)
    assert (found.outcome, found.mean, found.p) == ("inconclusive", None, None)


@pytest.mark.parametrize("n", [2, 148, 149])
def test_pairs_without_any_difference_are_evidence_only_from_149_on(n: int) -> None:
    found = evaluate_non_inferiority([(Fraction(1), Fraction(1))] * n, TWO_PERCENT)
    assert found.outcome == ("pass" if n == 149 else "inconclusive")
    assert found.items_needed == (None if n == 149 else 149)
    assert found.p is None


def test_the_spread_of_the_baseline_itself_is_no_evidence_about_the_drop() -> None:
    unmoved = [(Fraction(at, 10), Fraction(at, 10)) for at in (8, 9, 10)]
    assert evaluate_non_inferiority(unmoved, TWO_PERCENT).outcome == "inconclusive"


def test_a_common_drop_without_spread_is_no_certainty_either() -> None:
    pairs = [(Fraction(1), Fraction(97, 100)) for _ in range(10)]
    found = evaluate_non_inferiority(pairs, TWO_POINTS)
    assert found.outcome == "inconclusive"
    assert evaluate_non_inferiority(pairs * 100, TWO_POINTS).outcome == "fail"


def test_a_spread_too_small_for_a_double_is_no_spread() -> None:
    tiny = Fraction(1, 10**300)
    found = evaluate_non_inferiority(
        [(Fraction(1), Fraction(1)), (Fraction(1), 1 - tiny)], TWO_PERCENT
    )
    assert (found.outcome, found.p) == ("inconclusive", None)


def test_a_mean_exactly_at_the_margin_is_settled_by_no_number_of_items() -> None:
    pairs = [(Fraction(1), Fraction(96, 100)), (Fraction(1), Fraction(1))]
    found = evaluate_non_inferiority(pairs, TWO_PERCENT)
    assert (found.outcome, found.items_needed) == ("inconclusive", None)


PAIRS = st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=12)


@given(PAIRS, st.sampled_from([TWO_PERCENT, TWO_POINTS]))
def test_evidence_does_not_depend_on_order_and_never_contradicts_the_mean(
    pairs: list[tuple[Fraction, Fraction]], limit: Allowance
) -> None:
    found = evaluate_non_inferiority(pairs, limit)
    assert found == evaluate_non_inferiority(pairs[::-1], limit)
    assert found.mean is not None
    if found.outcome == "pass":
        assert found.mean > found.margin
    if found.outcome == "fail":
        assert found.mean < found.margin


def test_required_evidence_makes_an_inconclusive_gate_undecided() -> None:
    run, baseline = run_of(1, 1, 1), run_of(1, 1, 1)
    assert gated(run, baseline).outcome == "pass"
    outcome = gated(run, baseline, required=True)
    assert outcome.outcome == "undecided"
    assert "evidence is required and is inconclusive" in outcome.because


def test_required_evidence_that_is_there_passes() -> None:
    many = run_of(*[1] * 150)
    assert gated(many, many, required=True).outcome == "pass"


def test_required_evidence_does_not_save_a_drop() -> None:
    assert gated(run_of(0, 0), run_of(1, 1), required=True).outcome == "fail"


def test_the_report_is_plain_data() -> None:
    outcome = gated(run_of("0.8", 1), run_of(1, 1))
    rubric = Rubric(name="r", version=1, axes=(AXIS,), gates=(outcome.gate,), fingerprint="b2:r")
    items = tuple(Item(id=f"i{at}", prompt="?") for at in range(2))
    exam = Exam(names=("e",), items=items, fingerprint="b2:e")
    whole = evaluate_gates(rubric, exam, run_of("0.8", 1), run_of(1, 1, name="old"))
    document = json.loads(json.dumps(to_record(whole), allow_nan=False))
    found = document["gates"][0]["baseline"]
    assert (found["baseline"], found["before"], found["floor"]) == ("old", 1.0, 0.98)
    assert found["exact"]["change"] == "-1/10"
    assert found["regressed"][0]["item"] == "i0"
    assert found["evidence"]["outcome"] == "inconclusive"

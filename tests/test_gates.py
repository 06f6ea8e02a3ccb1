"""Gates: exact limits on every metric, nothing green that was not judged, and what to fix first."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme import (
    DocumentError,
    Exam,
    Gate,
    GateReport,
    Item,
    Level,
    Marks,
    Measures,
    Outcome,
    Rubric,
    Run,
    load_exam,
    load_rubric,
    score,
)
from markscheme.ask.tutor import FLAWED, Tutor
from markscheme.frozen import Frozen
from markscheme.mark.axes.size import MaxWords
from markscheme.vocabulary import Allowance, Attempts, AxisSpec, BaselineLimit
from markscheme.weigh.gates import judge
from markscheme.weigh.measures import Total
from markscheme.weigh.records import report_record

if TYPE_CHECKING:
    from pathlib import Path

TUTOR = load_rubric("tutor-capstone")
SHARES = st.fractions(0, 1, max_denominator=1000)
AXES = (
    AxisSpec(name="right", weight=Decimal("0.75"), axis=MaxWords(limit=1)),
    AxisSpec(name="brief", weight=Decimal("0.25"), axis=MaxWords(limit=1)),
)
Cells = tuple[Any, Any]


def rubric(*gates: Gate, bar: str = "1") -> Rubric:
    return Rubric(
        name="r",
        version=1,
        axes=AXES,
        gates=gates,
        fingerprint="b2:r",
        pass_mark=Decimal(bar),
    )


def gate(metric: str = "score", **more: Any) -> Gate:
    limits: dict[str, Any] = {
        key: Decimal(more.pop(key)) for key in ("at_least", "at_most", "target") if key in more
    }
    level = more.pop("level", Level.HARD)
    return Gate(name=more.pop("name", "bar"), level=level, metric=metric, **limits, **more)


def exam_of(items: dict[str, list[Cells]], tags: dict[str, dict[str, str]] | None = None) -> Exam:
    given_tags = tags or {}
    made = (Item(id=i, prompt="?", tags=Frozen(given_tags.get(i, {}))) for i in items)
    return Exam(names=("e",), items=tuple(made), fingerprint="b2:e")


def run_of(items: dict[str, list[Cells]], *, errors: int = 0, **measures: Any) -> Run:
    counts: dict[str, dict[tuple[Fraction | None, ...], int]] = {}
    for item, answers in items.items():
        cells = [tuple(None if v is None else Fraction(v) for v in answer) for answer in answers]
        counts[item] = {values: cells.count(values) for values in cells}
    marks = Marks(axes=("right", "brief"), items=counts, errors=errors)
    return Run(
        name="mine",
        rubric="b2:r",
        exam="b2:e",
        marks=marks,
        measures=Measures(answers=marks.answers, **measures),
    )


def judged(
    items: dict[str, list[Cells]],
    *gates: Gate,
    bar: str = "1",
    tags: dict[str, dict[str, str]] | None = None,
    **run: Any,
) -> GateReport:
    return judge(rubric(*gates, bar=bar), exam_of(items, tags), run_of(items, **run))


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

MIXED: dict[str, list[Cells]] = {"a": [(1, 1)], "b": [(0, 1)], "c": [(1, 0)], "d": [(1, 1)]}


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
        (gate(tags=Frozen({"t": "x"}), at_least="1"), Fraction(1)),
        (gate("axis", axis="brief", tags=Frozen({"t": "y"}), at_least="0.5"), Fraction(1, 2)),
        (gate("passed", tags=Frozen({"t": "y"}), at_least="0"), Fraction(0)),
        (gate("failures", axis="right", tags=Frozen({"t": "y"}), at_most="1"), Fraction(1)),
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
    cost = Total(n=4, sum=Fraction(4, 10))
    report = judged(MIXED, found, tags=tags, latency_ms=latency, cost=cost)
    assert (report.outcomes[0].observed, report.outcomes[0].outcome) == (observed, "pass")
    low, high = found.at_least, found.at_most
    tighter = dataclasses.replace(
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
    assert outcome(items, dataclasses.replace(two, at_least=Decimal("0.6"))) == "fail"
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


# --- nothing green that was not judged ----------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "more", "why"),
    [
        ({"a": []}, {}, "holds no answer"),
        ({"a": [(1, 1)], "b": []}, {}, "1 missing"),
        ({"a": [(1, 1)]}, {"errors": 2}, "2 errors"),
        ({"a": [(1, None)]}, {}, "1 unscored"),
    ],
)
@pytest.mark.parametrize(
    "found",
    [
        gate(at_least="0"),
        gate("axis", axis="brief", at_least="0"),
        gate("passed", at_least="0"),
        gate("failures", axis="right", at_most="9"),
        gate("errors", at_most="9"),
        gate("missing", at_most="9"),
        gate("latency_max", at_most="999"),
        gate("cost", at_most="999"),
    ],
)
def test_an_incomplete_run_passes_no_gate(
    items: dict[str, list[Cells]], more: dict[str, Any], why: str, found: Gate
) -> None:
    cost = Total(n=1, sum=Fraction(1))
    report = judged(items, found, **more, latency_ms={1.0: 1}, cost=cost)
    assert (report.verdict, report.outcomes[0].outcome) == ("undecided", "undecided")
    assert why in report.outcomes[0].because


def test_too_many_errors_or_missing_items_fail_although_the_run_is_incomplete() -> None:
    items: dict[str, list[Cells]] = {"a": [(1, 1)], "b": [], "c": []}
    assert judged(items, gate("missing", at_most="1")).verdict == "fail"
    assert judged(MIXED, gate("errors", at_most="1"), errors=2).verdict == "fail"
    soft = gate("missing", at_most="1", level=Level.SOFT)
    assert judged(items, soft).verdict == "undecided"


@pytest.mark.parametrize(
    ("metric", "measures", "why"),
    [
        ("latency_p50", {}, "no latency was recorded"),
        ("latency_p50", {"latency_ms": {1.0: 3}}, "the latency of 1 of 4 answers"),
        ("cost", {}, "no cost was recorded"),
        ("cost_per_answer", {"cost": Total(n=1, sum=Fraction(1))}, "the cost of 3 of 4 answers"),
    ],
)
def test_a_measure_that_is_not_known_of_every_answer_is_undecided(
    metric: str, measures: dict[str, Any], why: str
) -> None:
    report = judged(MIXED, gate(metric, at_most="999"), **measures)
    assert report.verdict == "undecided"
    assert report.outcomes[0].because.startswith(why)


def test_a_tag_that_no_item_has_is_undecided() -> None:
    report = judged(MIXED, gate(tags=Frozen({"tense": "none"}), at_least="0"))
    assert report.verdict == "undecided"
    assert report.outcomes[0].because == "no item has the tags tense: none"


def test_a_run_of_another_rubric_or_exam_is_undecided() -> None:
    bar, exam, run = gate(at_least="0"), exam_of(MIXED), run_of(MIXED)
    for other in (
        dataclasses.replace(run, rubric="b2:x"),
        dataclasses.replace(run, exam="b2:x"),
    ):
        report = judge(rubric(bar), exam, other)
        assert report.verdict == "undecided"
        assert "score it anew" in report.outcomes[0].because
    fewer = exam_of({"a": []})
    assert judge(rubric(bar), fewer, run).verdict == "undecided"


def test_answers_of_several_subjects_are_judged_run_by_run() -> None:
    exam = load_exam("capstone", rubric=TUTOR)
    tutors = {"good": Tutor(), "bad": Tutor(faults=FLAWED)}
    rows = [
        {"item": item.id, "output": tutor.answer(item.prompt), "subject": name}
        for name, tutor in tutors.items()
        for item in exam.items
    ]
    result = score(TUTOR, exam, rows)
    assert result.judge().verdict == "undecided"
    verdicts = {run.subject: judge(TUTOR, exam, run).verdict for run in result.runs}
    assert verdicts == {"good": "pass", "bad": "fail"}


# --- the verdict --------------------------------------------------------------------------------

MET, BROKEN = gate(name="met", at_least="0"), gate(name="broken", at_least="1")
SOFT = dataclasses.replace(BROKEN, name="soft", level=Level.SOFT)
SOFT_MET = dataclasses.replace(MET, name="soft-met", level=Level.SOFT)
TWO_PERCENT = Allowance(amount=Decimal("0.02"), relative=True)
BASELINE = Gate(
    name="beside",
    level=Level.HARD,
    metric="baseline",
    baseline=BaselineLimit(max_drop=TWO_PERCENT, suspicious_rise=TWO_PERCENT),
)
POWERLESS = "; no hard gate judged this run, so nothing could have failed"
BLIND = gate("cost", name="blind", at_most="1")
SOFT_BLIND = dataclasses.replace(BLIND, name="soft-blind", level=Level.SOFT)


@pytest.mark.parametrize(
    ("gates", "verdict", "because"),
    [
        ((MET,), "pass", "met"),
        ((MET, SOFT), "pass", "met, with warnings: soft"),
        ((SOFT,), "pass", f"met, with warnings: soft{POWERLESS}"),
        ((SOFT_MET,), "pass", f"met{POWERLESS}"),
        ((SOFT_MET, BASELINE), "pass", f"met{POWERLESS}"),
        ((SOFT_MET, MET), "pass", "met"),
        ((MET, SOFT_BLIND), "pass", "met"),
        ((MET, BROKEN), "fail", "not met: broken"),
        ((BROKEN, BLIND), "fail", "not met: broken"),
        ((MET, BLIND), "undecided", "undecided: blind"),
        ((SOFT_BLIND,), "undecided", "nothing was judged"),
        ((), "undecided", "nothing was judged"),
        ((dataclasses.replace(MET, exams=("other",)),), "undecided", "nothing was judged"),
    ],
)
def test_the_verdict_over_all_gates(gates: tuple[Gate, ...], verdict: str, because: str) -> None:
    report = judged(MIXED, *gates)
    assert report.verdict == verdict
    assert report.because.startswith(because)
    assert report.because.endswith(POWERLESS) == because.endswith(POWERLESS)


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
        judge(rubric(*gates), exam_of(items), run_of(items), baseline, detailed=detailed)
        for detailed in (True, False)
    )
    assert [(o.outcome, o.observed, o.margin) for o in one.outcomes] == [
        (o.outcome, o.observed, o.margin) for o in two.outcomes
    ]
    assert (one.verdict, one.because) == (two.verdict, two.because)


def test_what_the_gates_say_is_plain_data() -> None:
    report = judged(MIXED, gate(at_least="0.9"), gate("cost", name="c", at_most="1"))
    document = json.loads(json.dumps(report_record(report), allow_nan=False))
    assert document["verdict"] == "fail"
    first = document["gates"][0]
    assert (first["observed"], first["at_least"], first["exact"]["margin"]) == (0.75, 0.9, "-3/20")
    assert first["fix_first"][0] == {"item": "b", "lost": 0.1875, "axes": {"right": 0.1875}}
    assert document["gates"][1]["observed"] is None


# --- the seed's gates, and gates in YAML --------------------------------------------------------


def test_the_seeds_gates_stand_as_in_the_contract() -> None:
    assert Decimal("0.92") == TUTOR.pass_mark
    told = {
        found.name: (found.level.value, found.metric, found.at_least, found.at_most, found.exams)
        for found in TUTOR.gates
    }
    both = ("capstone", "capstone-extra")
    assert told == {
        "capstone": ("hard", "score", Decimal("0.92"), None, both),
        "latency": ("soft", "latency_p50", None, 250, ()),
        "schema": ("soft", "failures", None, 0, ("regression",)),
        "regression": ("soft", "score", Decimal("0.93"), None, ("regression",)),
        "baseline": ("hard", "baseline", None, None, ()),
    }
    assert TUTOR.gates[0].target == Decimal("0.95")
    limit = TUTOR.gates[4].baseline
    assert limit is not None
    assert str(limit.max_drop) == str(limit.suspicious_rise) == "2%"


def test_the_soft_gates_of_the_seed_warn_on_the_regression_set() -> None:
    exam = load_exam("regression", rubric=TUTOR)
    tutor = Tutor(faults=FLAWED)
    rows = [{"item": i.id, "output": tutor.answer(i.prompt), "latency_ms": 251} for i in exam.items]
    rows[0]["output"] = f"Sure! {rows[0]['output']}"
    report = score(TUTOR, exam, rows).judge()
    told = {found.gate.name: found.outcome.value for found in report.outcomes}
    assert told == {
        "latency": "warn",
        "schema": "warn",
        "regression": "warn",
        "baseline": "not applicable",
    }
    assert report.verdict == "pass"


RUBRIC = """\
rubric: mine
axes:
  - {name: right, kind: max_words, weight: 1, limit: 5}
gates:
  - {name: bar, level: hard, METRIC}
"""


def load(folder: Path, metric: str, *more: str) -> Rubric:
    path = folder / "r.yaml"
    path.write_text(RUBRIC.replace("METRIC", metric) + "".join(more))
    return load_rubric(path)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("at_most: 1.5", "gates.0.at_most: 1.5 is above 1"),
        ("metric: score", "gates.0: has no limit; give it `at_least`, `at_most` or both"),
        ("at_least: 0.9, at_most: 0.8", "gates.0.at_least: 0.9 is above `at_most`, 0.8"),
        ("metric: axis, at_least: 1", "gates.0.axis: is missing"),
        ("metric: axis, axis: left, at_least: 1", "`left` is no axis of this rubric; allowed: ri"),
        ("axis: right, at_least: 1", "gates.0.axis: unknown key"),
        ("metric: scor, at_least: 1", "gates.0.metric: `scor` is no metric; allowed: score, axis"),
        ("metric: [score], at_least: 1", "gates.0.metric: must be text, not a list"),
        ("metric: latency_p0, at_most: 1", "`latency_p0` is no metric"),
        ("metric: latency_p100, at_most: 1", "`latency_p100` is no metric"),
        ("metric: latency_p50, at_least: 1", "gates.0.at_least: unknown key"),
        ("metric: latency_p50, at_most: -1", "gates.0.at_most: -1 is below 0"),
        ("metric: latency_p50, at_most: .nan", "`.nan` is not a number that can be used"),
        ("metric: cost, at_most: .inf", "`.inf` is not a number that can be used"),
        ("metric: cost, at_most: 1e400", "is above 9223372036854775807"),
        ("metric: failures, axis: right, at_most: 0.5", "must be a whole number"),
        ("metric: errors, at_most: 0, tags: {a: b}", "gates.0.tags: unknown key"),
        ("at_least: 1, tags: {}", "gates.0.tags: is empty"),
        ("at_least: 1, tags: {a: [b]}", "gates.0.tags.a: must be"),
        (
            "metric: passed, at_least: 1, attempts: {at_least: 3, of: 2}",
            "attempts.at_least: 3 is more than `of`, 2",
        ),
        ("metric: passed, at_least: 1, attempts: {at_least: 0, of: 2}", "0 is below 1"),
        ("metric: baseline", "gates.0.max_drop: is missing"),
        ("metric: baseline, max_drop: 2 percent", "must be a share such as `2%` or points"),
        ("metric: baseline, max_drop: 101%", "must be a share such as `2%` or points"),
        ("metric: baseline, max_drop: -0.1", "must be a share such as `2%` or points"),
        ("metric: baseline, max_drop: 2%, at_least: 1", "gates.0.at_least: unknown key"),
        ("metric: baseline, max_drop: 2%, evidence: yes", "`yes` is not allowed; allowed: `shown`"),
    ],
)
def test_each_mistake_in_a_gate_is_told_with_line_and_field(
    tmp_path: Path, metric: str, said: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        load(tmp_path, metric)
    assert any("r.yaml:5: gates.0" in str(p) and said in str(p) for p in caught.value.problems), (
        caught.value.problems
    )


@pytest.mark.parametrize("value", ["0", "1.1", "'1'", "-0.5"])
def test_a_pass_mark_is_above_0_and_at_most_1(tmp_path: Path, value: str) -> None:
    with pytest.raises(DocumentError, match=r"r\.yaml:6: pass_mark: "):
        load(tmp_path, "at_least: 1", f"pass_mark: {value}\n")


def test_gates_and_pass_mark_change_no_fingerprint(tmp_path: Path) -> None:
    one = load(tmp_path, "at_least: 1")
    two = load(tmp_path, "metric: baseline, max_drop: 0.02", "pass_mark: 0.5\n")
    assert one.fingerprint == two.fingerprint


def test_gates_are_read_as_they_are_written(tmp_path: Path) -> None:
    found = load(tmp_path, "metric: passed, at_least: 0.9, attempts: {at_least: 2, of: 3}").gates[0]
    assert found.attempts == Attempts(at_least=2, of=3)
    found = load(tmp_path, "at_least: 0.9, tags: {person: 3, done: true}").gates[0]
    assert found.tags == {"person": "3", "done": "true"}
    found = load(tmp_path, "metric: latency_p99.9, at_most: 250.5, target: 100").gates[0]
    assert (found.metric, found.target) == ("latency_p99.9", Decimal(100))
    assert found.at_most == Decimal("250.5")
    limit = "metric: baseline, max_drop: 2.5%, suspicious_rise: 0.04, evidence: required"
    baseline = load(tmp_path, limit).gates[0].baseline
    assert baseline is not None
    assert (baseline.max_drop.amount, baseline.max_drop.relative) == (Decimal("0.025"), True)
    assert (str(baseline.max_drop), str(baseline.suspicious_rise)) == ("2.5%", "0.04")
    assert baseline.evidence_required

"""The verdict over all gates: nothing is green that was not judged."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from msgspec import structs

from gates import MIXED, Cells, exam_of, gate, judged, rubric, run_of
from markscheme import Gate, Level, load_exam, load_rubric, score
from markscheme.ask.subjects import FLAWED, Tutor
from markscheme.vocabulary import Allowance, BaselineLimit, FrozenDict
from markscheme.weigh.gates import evaluate_gates
from markscheme.weigh.totals import MeasureTotal

TUTOR = load_rubric("tutor-capstone")


@pytest.mark.parametrize(
    ("items", "more", "why"),
    [
        ({"a": []}, {}, "holds no answer"),
        ({"a": [(1, 1)], "b": []}, {}, "1 missing"),
        ({"a": [(1, 1)]}, {"errors": 2}, "2 errors"),
        ({"a": [(1, None)], "b": []}, {}, "1 missing, 1 unscored"),
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
    cost = MeasureTotal(n=1, sum=Fraction(1))
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
        (
            "cost_per_answer",
            {"cost": MeasureTotal(n=1, sum=Fraction(1))},
            "the cost of 3 of 4 answers",
        ),
    ],
)
def test_a_measure_that_is_not_known_of_every_answer_is_undecided(
    metric: str, measures: dict[str, Any], why: str
) -> None:
    report = judged(MIXED, gate(metric, at_most="999"), **measures)
    assert report.verdict == "undecided"
    assert report.outcomes[0].because.startswith(why)


def test_a_tag_that_no_item_has_is_undecided() -> None:
    report = judged(MIXED, gate(tags=FrozenDict({"tense": "none"}), at_least="0"))
    assert report.verdict == "undecided"
    assert report.outcomes[0].because == "no item has the tags tense: none"


def test_a_run_of_another_rubric_or_exam_is_undecided() -> None:
    bar, exam, run = gate(at_least="0"), exam_of(MIXED), run_of(MIXED)
    for other in (
        structs.replace(run, rubric="b2:x"),
        structs.replace(run, exam="b2:x"),
    ):
        report = evaluate_gates(rubric(bar), exam, other)
        assert report.verdict == "undecided"
        assert "score it anew" in report.outcomes[0].because
    fewer = exam_of({"a": []})
    assert evaluate_gates(rubric(bar), fewer, run).verdict == "undecided"


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
    verdicts = {run.subject: evaluate_gates(TUTOR, exam, run).verdict for run in result.runs}
    assert verdicts == {"good": "pass", "bad": "fail"}


MET, BROKEN = gate(name="met", at_least="0"), gate(name="broken", at_least="1")
SOFT = structs.replace(BROKEN, name="soft", level=Level.SOFT)
SOFT_MET = structs.replace(MET, name="soft-met", level=Level.SOFT)
TWO_PERCENT = Allowance(amount=Decimal("0.02"), relative=True)
BASELINE = Gate(
    name="beside",
    level=Level.HARD,
    metric="baseline",
    baseline=BaselineLimit(max_drop=TWO_PERCENT, suspicious_rise=TWO_PERCENT),
)
POWERLESS = "; no hard gate judged this run, so nothing could have failed"
BLIND = gate("cost", name="blind", at_most="1")
SOFT_BLIND = structs.replace(BLIND, name="soft-blind", level=Level.SOFT)


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
        ((structs.replace(MET, exams=("other",)),), "undecided", "nothing was judged"),
    ],
)
def test_the_verdict_over_all_gates(gates: tuple[Gate, ...], verdict: str, because: str) -> None:
    report = judged(MIXED, *gates)
    assert report.verdict == verdict
    assert report.because.startswith(because)
    assert report.because.endswith(POWERLESS) == because.endswith(POWERLESS)

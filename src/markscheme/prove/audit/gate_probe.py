"""Probe a gate: build the smallest run whose metric has a value, and evaluate the gate on it.

So golden cases about gates test the code that decides about real runs, not a copy of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from msgspec import structs

from markscheme.vocabulary import Exam, Gate, Item, Level, Outcome, Rubric
from markscheme.weigh.gates import GateOutcome, evaluate_gates
from markscheme.weigh.totals import AxisValues, Marks, Measures, MeasureTotal, Run

_PROBE_EXAM = "b2:shown"


def probe_gate(
    rubric: Rubric, gate: Gate, seen: Decimal, baseline: Decimal | None = None
) -> GateOutcome:
    """Return the outcome of a gate if its metric is `seen` and the baseline's score `baseline`."""
    single = replace(rubric, gates=(structs.replace(gate, exams=()),))
    run = _build_probe_run(single, gate, Fraction(seen))
    exam = Exam(
        names=("shown",),
        items=tuple(Item(id=name, prompt=name, tags=gate.tags) for name in run.marks.items),
        fingerprint=_PROBE_EXAM,
    )
    before = None if baseline is None else _build_probe_run(single, gate, Fraction(baseline))
    return evaluate_gates(single, exam, run, before, detailed=False).outcomes[0]


def probe_pass_mark(rubric: Rubric, seen: Decimal) -> bool:
    """Return whether an item with this mean score passes."""
    gate = Gate(name="pass mark", level=Level.HARD, metric="score", at_least=Decimal(1))
    run = _build_probe_run(rubric, gate, Fraction(seen))
    exam = Exam(names=("shown",), items=(Item(id="0", prompt="0"),), fingerprint=_PROBE_EXAM)
    passed_gate = structs.replace(gate, metric="passed")
    report = evaluate_gates(replace(rubric, gates=(passed_gate,)), exam, run, detailed=False)
    return report.outcomes[0].outcome is Outcome.PASS


def _build_probe_run(rubric: Rubric, gate: Gate, seen: Fraction) -> Run:
    axes = tuple(spec.name for spec in rubric)
    items, errors = _build_probe_items(gate, axes, seen)
    marks = Marks(axes=axes, items=items, errors=errors)
    return Run(
        name="shown",
        rubric=rubric.fingerprint,
        exam=_PROBE_EXAM,
        marks=marks,
        measures=Measures(
            answers=marks.answers, latency_ms={float(seen): 1}, cost=MeasureTotal(n=1, sum=seen)
        ),
    )


def _build_probe_items(
    gate: Gate, axes: tuple[str, ...], seen: Fraction
) -> tuple[Mapping[str, Mapping[AxisValues, int]], int]:
    """Return items and a number of errors that give the metric of the gate the value `seen`."""
    full: AxisValues = tuple(Fraction(1) for _ in axes)
    none: AxisValues = tuple(Fraction(0) for _ in axes)
    match gate.metric:
        case "score" | "axis" | "baseline":
            return {"0": {tuple(seen for _ in axes): 1}}, 0
        case "passed":
            times = gate.attempts.of if gate.attempts else 1
            each = [full] * seen.numerator + [none] * (seen.denominator - seen.numerator)
            return {str(index): {values: times} for index, values in enumerate(each)}, 0
        case "failures":
            return {"0": {full: 1, none: int(seen)} if seen else {full: 1}}, 0
        case "missing":
            return {"0": {full: 1}, **{f"missing {n}": {} for n in range(int(seen))}}, 0
        case "errors":
            return {"0": {full: 1}}, int(seen)
        case _:
            return {"0": {full: 1}}, 0

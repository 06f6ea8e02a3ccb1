"""Golden cases: run them on a rubric and its mutants, and suggest new ones for survivors.

A case about a gate is run on the smallest run whose metric has the value of the case. So it tests
the code that decides about real runs, not a copy of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from msgspec import structs

from markscheme.mark import compute_score, get_expectation_key, mark_cell, read_response
from markscheme.mark.axes import ComparingAxis, Equals, NumberWithin
from markscheme.prove.audit.known_answers import list_right_texts, to_json_object
from markscheme.prove.audit.mutation_operators import (
    Mutant,
    MutantKind,
    generate_threshold_neighbours,
)
from markscheme.read.golden_cases import GateCase, GoldenCase, GoldenCases, PassCase
from markscheme.vocabulary import (
    Axis,
    AxisSpec,
    Cell,
    Exam,
    FrozenDict,
    Gate,
    Item,
    Level,
    Outcome,
    Response,
    Rubric,
    format_decimal,
    format_plain,
)
from markscheme.weigh.gates import GateOutcome, evaluate_gates
from markscheme.weigh.totals import AxisValues, Marks, Measures, MeasureTotal, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFailure:
    """What a golden case expects and does not get, `on` an axis, the score, a gate or pass mark."""

    case: str
    on: str
    expected: str
    got: str
    because: str = ""


class GoldenSuite:
    """The golden cases of a rubric. `failures` holds the cases that the rubric itself fails."""

    def __init__(self, rubric: Rubric, cases: GoldenCases) -> None:
        self.rubric = rubric
        self.cases = cases
        self._responses = [
            structs.replace(read_response(case.answer, rubric.fields), transcript=case.transcript)
            for case in cases.items
        ]
        self._cells = [
            {spec.name: _mark_case(spec, response, case) for spec in rubric}
            for case, response in zip(cases.items, self._responses, strict=True)
        ]
        self.failures = tuple(self._find_failures())
        self._failed = {(failure.case, failure.on) for failure in self.failures}

    def __len__(self) -> int:
        return len(self.cases.items) + len(self.cases.gates) + len(self.cases.pass_mark)

    def _find_failures(self) -> Iterator[CaseFailure]:
        for case, cells in zip(self.cases.items, self._cells, strict=True):
            for axis, expected in case.cells.items():
                if cells[axis].value != expected:
                    yield _build_cell_failure(case, axis, expected, cells[axis])
        yield from self._check_scores(self.rubric)
        yield from self._check_gate_cases(self.rubric, [gate.name for gate in self.rubric.gates])
        yield from self._check_pass_mark(self.rubric)

    def check_mutant(self, mutant: Mutant) -> tuple[CaseFailure, ...]:
        """Return the cases that pass under the rubric and fail under a mutant of it."""
        if mutant.item is not None:
            failures = self._compare_criteria(mutant, mutant.item)
        else:
            failures = self._compare_mutant(mutant.rubric, mutant.axes)
        return tuple(f for f in failures if (f.case, f.on) not in self._failed)

    def _compare_criteria(self, mutant: Mutant, changed: Item) -> Iterator[CaseFailure]:
        """Check the cases with the criteria of an item of the exam, with these criteria changed."""
        if mutant.original is None:
            return
        specs = {spec.name: spec for spec in mutant.rubric}
        keys = {spec.name: get_expectation_key(spec.axis) or "" for spec in self.rubric}
        for case, response in zip(self.cases.items, self._responses, strict=True):
            for axis in (axis for axis in mutant.axes if axis in case.cells):
                key = keys[axis]
                known = case.item.expectations.get(key)
                if known is None or known != mutant.original.expectations.get(key):
                    continue
                expectations = {**case.item.expectations, key: changed.expectations[key]}
                item = replace(case.item, expectations=FrozenDict(expectations))
                cell = _mark_case(specs[axis], response, replace(case, item=item))
                if cell.value != case.cells[axis]:
                    yield _build_cell_failure(case, axis, case.cells[axis], cell)

    def _compare_mutant(self, changed: Rubric, axes: Collection[str]) -> Iterator[CaseFailure]:
        """Check only what the mutant can change: cells of some axes, or scores and decisions."""
        yield from self._check_cells(changed, axes)
        if axes:
            return
        if changed.axes != self.rubric.axes:
            yield from self._check_scores(changed)
        changed_gates = {g.name for g in self.rubric.gates if g not in changed.gates}
        yield from self._check_gate_cases(changed, changed_gates)
        if changed.pass_mark != self.rubric.pass_mark:
            yield from self._check_pass_mark(changed)

    def _check_cells(self, changed: Rubric, axes: Collection[str]) -> Iterator[CaseFailure]:
        specs = {spec.name: spec for spec in changed}
        for case, response in zip(self.cases.items, self._responses, strict=True):
            for axis, expected in case.cells.items():
                if axis not in specs:
                    yield _build_failure(case.item.id, axis, format_decimal(expected), "no cell")
                elif axis in axes:
                    cell = _mark_case(specs[axis], response, case)
                    if cell.value != expected:
                        yield _build_cell_failure(case, axis, expected, cell)

    def _check_scores(self, rubric: Rubric) -> Iterator[CaseFailure]:
        for case, cells in zip(self.cases.items, self._cells, strict=True):
            got = compute_score(rubric, [cells[spec.name].axis_value for spec in rubric])
            if case.score is not None and got != case.score:
                yield _build_failure(
                    case.item.id,
                    "score",
                    format_decimal(case.score),
                    format_decimal(got),
                    case.because,
                )

    def _check_gate_cases(self, rubric: Rubric, names: Collection[str]) -> Iterator[CaseFailure]:
        gates = {gate.name: gate for gate in rubric.gates}
        for case in self.cases.gates:
            if case.gate in names:
                yield from _check_gate_case(rubric, gates.get(case.gate), case)

    def _check_pass_mark(self, rubric: Rubric) -> Iterator[CaseFailure]:
        for case in self.cases.pass_mark:
            if probe_pass_mark(rubric, case.seen) is not case.passes:
                words = ("passes", "does not pass")
                name = f"an item with {format_plain(case.seen)}"
                yield _build_failure(name, "pass_mark", words[not case.passes], words[case.passes])


def _mark_case(spec: AxisSpec, response: Response, case: GoldenCase) -> Cell:
    return mark_cell(spec.axis, response, case.item, case.marks.get(spec.name, ()))


def _check_gate_case(rubric: Rubric, gate: Gate | None, case: GateCase) -> Iterator[CaseFailure]:
    baseline = "" if case.baseline is None else f" after {format_plain(case.baseline)}"
    name = f"{case.gate} at {format_plain(case.seen)}{baseline}"
    if gate is None:
        yield _build_failure(name, case.gate, case.outcome.value, "no gate")
        return
    result = probe_gate(rubric, gate, case.seen, case.baseline)
    if result.outcome is not case.outcome:
        yield _build_failure(name, case.gate, case.outcome.value, result.outcome.value)
    warned = result.baseline is not None and result.baseline.warning is not None
    if case.suspicious not in {None, warned}:
        words = ("suspicious", "not suspicious")
        yield _build_failure(name, case.gate, words[not case.suspicious], words[not warned])


def _build_cell_failure(
    case: GoldenCase, axis: str, expected: Fraction | None, cell: Cell
) -> CaseFailure:
    got = f"{format_decimal(cell.value)} ({cell.reason})"
    return _build_failure(case.item.id, axis, format_decimal(expected), got, case.because)


def _build_failure(case: str, on: str, expected: str, got: str, because: str = "") -> CaseFailure:
    return CaseFailure(case=case, on=on, expected=expected, got=got, because=because)


# Probes: the smallest run that shows a gate a value

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


# Suggestions: a fixed list of texts and expectations is tried, simplest first

_TRIAL_ENTRIES: tuple[tuple[str, ...], ...] = (
    ("alpha",),
    (" Alpha. ",),
    ("alpha...",),
    ("alpha", "beta"),
    ("\N{LATIN SMALL LETTER E WITH ACUTE}cole",),
    ("alpha  beta",),
    ("'alpha'",),
    ("a.b",),
)
_TRIAL_TEXTS = (
    "",
    "alpha",
    "ALPHA",
    "  alpha  ",
    "alpha.",
    "alpha...",
    "alpha. beta",
    "alphabet",
    "the alpha",
    "beta",
    "ecole",
    "alpha beta",
    "'alpha'",
    "a.b",
    "ab",
)
_MAX_COUNTED = 10_000
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def suggest_cases(rubric: Rubric, mutant: Mutant, exam: Exam) -> GoldenCases | None:
    """Return a case that would notice a mutant, or None if none is found.

    What the case expects is what the rubric gives today.
    """
    if mutant.item is not None:
        # Golden cases bring their own items, so they cannot notice a changed item of the exam.
        return None
    if mutant.axes or mutant.kind in {MutantKind.WEIGHT, MutantKind.DROP_AXIS}:
        case = next(_generate_telling_cases(rubric, mutant, exam.items[0]), None)
        return None if case is None else GoldenCases(items=(case,))
    return _suggest_threshold_case(rubric, mutant)


def _generate_telling_cases(rubric: Rubric, mutant: Mutant, item: Item) -> Iterator[GoldenCase]:
    """Yield cases whose cells or score the mutant changes, simplest first."""
    axes = mutant.axes or tuple(spec.name for spec in rubric)
    for spec in rubric:
        if spec.name in axes:
            trial_items = _generate_trial_items(spec.axis, item)
            trial_texts = _generate_trial_texts(spec.axis, item)
            for trial_item, text in product(trial_items, trial_texts):
                output = _format_trial_output(rubric, spec.axis, text)
                yield from _try_case(rubric, mutant, trial_item, output)
    for output in _generate_trial_objects(rubric):
        yield from _try_case(rubric, mutant, item, output)


def _generate_trial_items(axis: Axis, item: Item) -> Iterator[Item]:
    yield item
    if isinstance(axis, ComparingAxis):
        for entries in _TRIAL_ENTRIES:
            value: Any = entries[0] if isinstance(axis, Equals) else entries
            yield replace(item, expectations=FrozenDict({**item.expectations, axis.expects: value}))


def _generate_trial_texts(axis: Axis, item: Item) -> Iterator[str]:
    yield from list_right_texts(axis, item)
    yield from _TRIAL_TEXTS
    for name in ("limit", "at_least", "at_most"):
        limit = getattr(axis, name, None)
        if isinstance(limit, int) and limit <= _MAX_COUNTED:
            for count in (limit - 1, limit, limit + 1):
                yield from (" ".join(["word"] * count), "x" * count, "x\n" * count)
    if isinstance(axis, NumberWithin):
        yield from _generate_trial_numbers(axis, item)


def _generate_trial_numbers(axis: NumberWithin, item: Item) -> Iterator[str]:
    """Yield the number at the tolerance, and one step inside and outside it."""
    expected = Decimal(item.expectations[axis.expects])
    text = str(axis.tolerance)
    share = Decimal(text.removesuffix("%"))
    for amount in (share, *generate_threshold_neighbours(share, share=False)):
        yield f"{expected + (amount * abs(expected) / 100 if text.endswith('%') else amount):f}"


def _format_trial_output(rubric: Rubric, axis: Axis, text: str) -> str:
    field = getattr(axis, "reads", None)
    if field is None:
        return text
    return to_json_object({**dict.fromkeys(rubric.fields.accepted, "x"), field: text})


def _generate_trial_objects(rubric: Rubric) -> Iterator[str]:
    """Yield whole responses: usual, with an extra field, empty, and not an object."""
    usual = dict.fromkeys(rubric.fields.accepted, "x")
    yield to_json_object(usual)
    yield to_json_object({**usual, "something_else": "x"})
    yield to_json_object({})
    yield "no object"


def _try_case(rubric: Rubric, mutant: Mutant, item: Item, output: str) -> Iterator[GoldenCase]:
    """Yield the case if rubric and mutant score the output differently."""
    response = read_response(output, rubric.fields)
    before, after = (
        {spec.name: mark_cell(spec.axis, response, item).axis_value for spec in version}
        for version in (rubric, mutant.rubric)
    )
    score, mutant_score = (
        compute_score(version, [values[spec.name] for spec in version])
        for version, values in ((rubric, before), (mutant.rubric, after))
    )
    values = {axis: value for axis, value in before.items() if isinstance(value, Fraction)}
    if len(values) == len(before) and (before != after or score != mutant_score):
        yield GoldenCase(
            item=replace(item, id=_NOT_A_NAME.sub("-", mutant.name), tags={}),
            answer=output,
            cells=FrozenDict(values),
            score=score,
            because=f"tells apart: {mutant.says}",
        )


def _suggest_threshold_case(rubric: Rubric, mutant: Mutant) -> GoldenCases | None:
    if mutant.rubric.pass_mark != rubric.pass_mark:
        for seen in (rubric.pass_mark, mutant.rubric.pass_mark):
            passes = probe_pass_mark(rubric, seen)
            if passes is not probe_pass_mark(mutant.rubric, seen):
                return GoldenCases(pass_mark=(PassCase(seen=seen, passes=passes),))
    changed = {gate.name: gate for gate in mutant.rubric.gates}
    for gate in rubric.gates:
        if changed.get(gate.name, gate) != gate:
            return _suggest_gate_case(rubric, gate, changed[gate.name])
    return None


def _suggest_gate_case(rubric: Rubric, gate: Gate, changed: Gate) -> GoldenCases | None:
    """Return a case with a limit of one gate as the value, if the two gates then differ."""
    baseline = None if gate.baseline is None else Decimal("0.5")
    for seen in (*_list_gate_limits(gate), *_list_gate_limits(changed)):
        before, after = (probe_gate(rubric, version, seen, baseline) for version in (gate, changed))
        warned = before.baseline is not None and before.baseline.warning is not None
        warns = after.baseline is not None and after.baseline.warning is not None
        if (before.outcome, warned) != (after.outcome, warns):
            return GoldenCases(
                gates=(
                    GateCase(
                        gate=gate.name,
                        seen=seen,
                        outcome=before.outcome,
                        baseline=baseline,
                        suspicious=None if baseline is None else warned,
                    ),
                )
            )
    return None


def _list_gate_limits(gate: Gate) -> Iterator[Decimal]:
    yield from (limit for limit in (gate.at_least, gate.at_most) if limit is not None)
    if gate.baseline is not None:
        half = Decimal("0.5")
        for allowance, sign in ((gate.baseline.max_drop, -1), (gate.baseline.suspicious_rise, 1)):
            yield half + sign * allowance.amount * (half if allowance.relative else 1)

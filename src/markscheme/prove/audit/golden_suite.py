"""Run golden cases: which ones the rubric fails, and which ones notice a mutant."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from msgspec import structs

from markscheme.mark import compute_score, mark_cell, read_response
from markscheme.prove.audit.gate_probe import probe_gate, probe_pass_mark
from markscheme.prove.audit.mutation_operators import Mutant
from markscheme.read.golden_cases import GateCase, GoldenCase, GoldenCases
from markscheme.vocabulary import Cell, Gate, Rubric, format_decimal, format_plain


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
            {spec.name: mark_cell(spec.axis, response, case.item) for spec in rubric}
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
            return ()
        failures = self._compare_mutant(mutant.rubric, mutant.axes)
        return tuple(f for f in failures if (f.case, f.on) not in self._failed)

    def _compare_mutant(self, changed: Rubric, axes: Collection[str]) -> Iterator[CaseFailure]:
        """Check only what the mutant can change: cells of some axes, or scores and decisions."""
        yield from self._check_cells(changed, axes)
        if axes:
            return
        if changed.axes != self.rubric.axes:
            yield from self._check_scores(changed)
        yield from self._check_gate_cases(changed, _find_changed_gates(self.rubric, changed))
        if changed.pass_mark != self.rubric.pass_mark:
            yield from self._check_pass_mark(changed)

    def _check_cells(self, changed: Rubric, axes: Collection[str]) -> Iterator[CaseFailure]:
        specs = {spec.name: spec.axis for spec in changed}
        for case, response in zip(self.cases.items, self._responses, strict=True):
            for axis, expected in case.cells.items():
                if axis not in specs:
                    yield _build_failure(case.item.id, axis, format_decimal(expected), "no cell")
                elif axis in axes:
                    cell = mark_cell(specs[axis], response, case.item)
                    if cell.value != expected:
                        yield _build_cell_failure(case, axis, expected, cell)

    def _check_scores(self, rubric: Rubric) -> Iterator[CaseFailure]:
        for case, cells in zip(self.cases.items, self._cells, strict=True):
            got = compute_score(rubric, [cells[spec.name].value for spec in rubric])
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


def _find_changed_gates(before: Rubric, after: Rubric) -> set[str]:
    return {gate.name for gate in before.gates if gate not in after.gates}


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

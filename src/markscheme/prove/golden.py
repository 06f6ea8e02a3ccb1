"""Golden cases held against a rubric: which it fails, and which of them notice a mutant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from markscheme.exact import plain, show
from markscheme.mark.responses import read_response
from markscheme.mark.scoring import judged, score_of
from markscheme.prove.decided import outcome_at, passes_at
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from fractions import Fraction

    from markscheme.prove.mutants import Mutant
    from markscheme.read.cases import Cases, GateCase, GoldenCase
    from markscheme.vocabulary import Cell, Gate, Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """What a golden case expects and does not get: `on` an axis, the score, a gate."""

    case: str
    on: str
    expected: str
    got: str
    because: str = ""


class Golden:
    """The golden cases of a rubric; `failures` is what the rubric itself gets wrong."""

    def __init__(self, rubric: Rubric, cases: Cases) -> None:
        self.rubric = rubric
        self.cases = cases
        self._responses = [
            replace(read_response(case.answer, rubric.fields), transcript=case.transcript)
            for case in cases.items
        ]
        self._cells = [
            {spec.name: judged(spec.axis, response, case.item) for spec in rubric}
            for case, response in zip(cases.items, self._responses, strict=True)
        ]
        self.failures = tuple(self._failures())
        self._failed = {(miss.case, miss.on) for miss in self.failures}

    def __len__(self) -> int:
        return len(self.cases.items) + len(self.cases.gates) + len(self.cases.pass_mark)

    def _failures(self) -> Iterator[Miss]:
        for case, cells in zip(self.cases.items, self._cells, strict=True):
            for axis, expected in case.cells.items():
                if cells[axis].value != expected:
                    yield _missed(case, axis, expected, cells[axis])
        yield from self._scores(self.rubric)
        yield from self._gates(self.rubric, [gate.name for gate in self.rubric.gates])
        yield from self._pass_mark(self.rubric)

    def notices(self, mutant: Mutant) -> tuple[Miss, ...]:
        """Return what the cases get from the rubric and not from a mutant, of what it changes."""
        if mutant.item is not None:
            return ()
        found = self._notices(mutant.rubric, mutant.axes)
        return tuple(miss for miss in found if (miss.case, miss.on) not in self._failed)

    def _notices(self, changed: Rubric, axes: Collection[str]) -> Iterator[Miss]:
        yield from self._cells_missed(changed, axes)
        if axes:
            return
        if changed.axes != self.rubric.axes:
            yield from self._scores(changed)
        yield from self._gates(changed, _changed_gates(self.rubric, changed))
        if changed.pass_mark != self.rubric.pass_mark:
            yield from self._pass_mark(changed)

    def _cells_missed(self, changed: Rubric, axes: Collection[str]) -> Iterator[Miss]:
        specs = {spec.name: spec.axis for spec in changed}
        for case, response in zip(self.cases.items, self._responses, strict=True):
            for axis, expected in case.cells.items():
                if axis not in specs:
                    yield _miss(case.item.id, axis, show(expected), "no cell")
                elif axis in axes:
                    cell = judged(specs[axis], response, case.item)
                    if cell.value != expected:
                        yield _missed(case, axis, expected, cell)

    def _scores(self, rubric: Rubric) -> Iterator[Miss]:
        for case, cells in zip(self.cases.items, self._cells, strict=True):
            got = score_of(rubric, [cells[spec.name].value for spec in rubric])
            if case.score is not None and got != case.score:
                yield _miss(case.item.id, "score", show(case.score), show(got), case.because)

    def _gates(self, rubric: Rubric, names: Collection[str]) -> Iterator[Miss]:
        gates = {gate.name: gate for gate in rubric.gates}
        for case in self.cases.gates:
            if case.gate in names:
                yield from _gate_misses(rubric, gates.get(case.gate), case)

    def _pass_mark(self, rubric: Rubric) -> Iterator[Miss]:
        for case in self.cases.pass_mark:
            if passes_at(rubric, case.seen) is not case.passes:
                told = ("passes", "does not pass")
                name = f"an item with {plain(case.seen)}"
                yield _miss(name, "pass_mark", told[not case.passes], told[case.passes])


def _changed_gates(before: Rubric, after: Rubric) -> set[str]:
    return {gate.name for gate in before.gates if gate not in after.gates}


def _gate_misses(rubric: Rubric, gate: Gate | None, case: GateCase) -> Iterator[Miss]:
    beside = "" if case.baseline is None else f" after {plain(case.baseline)}"
    name = f"{case.gate} at {plain(case.seen)}{beside}"
    if gate is None:
        yield _miss(name, case.gate, case.outcome.value, "no gate")
        return
    found = outcome_at(rubric, gate, case.seen, case.baseline)
    if found.outcome is not case.outcome:
        yield _miss(name, case.gate, case.outcome.value, found.outcome.value)
    warned = found.baseline is not None and found.baseline.warning is not None
    if case.suspicious not in {None, warned}:
        told = ("suspicious", "not suspicious")
        yield _miss(name, case.gate, told[not case.suspicious], told[not warned])


def _missed(case: GoldenCase, axis: str, expected: Fraction | None, cell: Cell) -> Miss:
    got = f"{show(cell.value)} ({cell.reason})"
    return _miss(case.item.id, axis, show(expected), got, case.because)


def _miss(case: str, on: str, expected: str, got: str, because: str = "") -> Miss:
    return Miss(case=case, on=on, expected=expected, got=got, because=because)

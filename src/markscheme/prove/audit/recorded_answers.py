"""Recorded answers under the rubric and under its mutants.

The answers are read and scored once. A mutant scores again only the cells that it can change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markscheme.mark import mark_cell, read_response
from markscheme.prove.audit.mutation_operators import Mutant
from markscheme.vocabulary import Cell, Exam, Item, Outcome, Response, Rubric
from markscheme.weigh.gates import evaluate_gates
from markscheme.weigh.totals import AxisValues, Marks, Measures, Run, WeightScale


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFlip:
    """A cell of a recorded answer that has another value under a changed rubric."""

    item: str
    axis: str
    got: str
    before: Cell
    after: Cell
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChange:
    """A gate with another outcome under a changed rubric; `after` is None if it was removed."""

    gate: str
    before: Outcome
    after: Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantEffect:
    """What a changed rubric does to recorded answers: to cells, to the mean score, to gates."""

    flips: tuple[CellFlip, ...]
    before: Fraction | None
    after: Fraction | None
    gates: tuple[GateChange, ...]

    @property
    def falls(self) -> tuple[CellFlip, ...]:
        """The cells that lose points: false negatives of the mutant, if the rubric is right."""
        return tuple(
            flip
            for flip in self.flips
            if _get_comparable_value(flip.after) < _get_comparable_value(flip.before)
        )

    @property
    def rises(self) -> tuple[CellFlip, ...]:
        """The cells that gain points."""
        return tuple(
            flip
            for flip in self.flips
            if _get_comparable_value(flip.after) > _get_comparable_value(flip.before)
        )

    @property
    def seen(self) -> bool:
        """Whether the recorded answers show the change."""
        return bool(self.flips or self.gates) or self.before != self.after


def _get_comparable_value(cell: Cell) -> Fraction:
    """Return the value of a cell; a cell without a value counts as less than any other."""
    return Fraction(-1) if cell.value is None else cell.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordedRow:
    item: Item
    response: Response
    cells: Mapping[str, Cell]
    answers: int


class RecordedAnswers:
    """Recorded answers, scored under the rubric. Equal answers are one row with a count.

    `measures` is None if the answers are from several subjects; gates are then not evaluated.
    """

    def __init__(
        self,
        rubric: Rubric,
        exam: Exam,
        answers: Iterable[tuple[str, str | Mapping[str, Any]]],
        measures: Measures | None,
        errors: int = 0,
    ) -> None:
        self.rubric = rubric
        self.exam = exam
        self._measures = measures
        self._errors = errors
        items = {item.id: item for item in exam.items}
        equal: dict[tuple[str, str], list[Any]] = {}
        for item, output in answers:
            # Compare by `repr`: in Python 1 and True are equal, but they are different answers.
            equal.setdefault((item, repr(output)), []).append(output)
        self._rows = [
            self._build_row(items[item], outputs[0], len(outputs))
            for (item, _), outputs in equal.items()
        ]
        self._rows_by_item: dict[str, list[int]] = {item.id: [] for item in exam.items}
        for number, row in enumerate(self._rows):
            self._rows_by_item[row.item.id].append(number)
        counts = self._count_values(rubric, {})
        self.score = WeightScale(rubric).sum_answers(_chain_counts(counts)).mean
        self.outcomes = self._judge_gates(rubric, counts)

    def __len__(self) -> int:
        return sum(row.answers for row in self._rows)

    def _build_row(self, item: Item, output: Any, count: int) -> _RecordedRow:
        response = read_response(output, self.rubric.fields)
        cells = {spec.name: mark_cell(spec.axis, response, item) for spec in self.rubric}
        return _RecordedRow(item=item, response=response, cells=cells, answers=count)

    def measure_effect(self, mutant: Mutant) -> MutantEffect:
        """Return the effect of a mutant on cells, the mean and gates."""
        changed = self._find_changed_cells(mutant)
        if mutant.axes and not changed:
            return MutantEffect(flips=(), before=self.score, after=self.score, gates=())
        counts = self._count_values(mutant.rubric, changed)
        outcomes = self._judge_gates(mutant.rubric, counts)
        return MutantEffect(
            flips=tuple(self._build_flip(*where, after) for where, after in changed.items()),
            before=self.score,
            after=WeightScale(mutant.rubric).sum_answers(_chain_counts(counts)).mean,
            gates=tuple(
                GateChange(gate=name, before=before, after=outcomes.get(name))
                for name, before in self.outcomes.items()
                if outcomes.get(name) is not before
            ),
        )

    def compute_item_means(self, mutant: Mutant | None = None) -> dict[str, Fraction]:
        """Return the mean score of each item, under the rubric or under a mutant of it."""
        rubric = self.rubric if mutant is None else mutant.rubric
        counts = self._count_values(
            rubric, {} if mutant is None else self._find_changed_cells(mutant)
        )
        means = {
            item: WeightScale(rubric).sum_answers(values.items()).mean
            for item, values in counts.items()
        }
        return {item: mean for item, mean in means.items() if mean is not None}

    def get_cells(self, axis: str) -> dict[str, list[Cell]]:
        """Return the cells of an axis by item, under the unchanged rubric."""
        return {
            item: [self._rows[number].cells[axis] for number in rows]
            for item, rows in self._rows_by_item.items()
        }

    def _find_changed_cells(self, mutant: Mutant) -> dict[tuple[int, str], Cell]:
        """Return the cells whose value the mutant changes, by row and axis."""
        rows = self._rows_by_item[mutant.item.id] if mutant.item else range(len(self._rows))
        changed = {}
        for spec in mutant.rubric:
            for number in rows if spec.name in mutant.axes else ():
                row = self._rows[number]
                cell = mark_cell(spec.axis, row.response, mutant.item or row.item)
                if cell.value != row.cells[spec.name].value:
                    changed[number, spec.name] = cell
        return changed

    def _build_flip(self, number: int, axis: str, after: Cell) -> CellFlip:
        row = self._rows[number]
        spec = next(spec for spec in self.rubric if spec.name == axis)
        return CellFlip(
            item=row.item.id,
            axis=axis,
            got=row.response.text_of(getattr(spec.axis, "reads", None)),
            before=row.cells[axis],
            after=after,
            answers=row.answers,
        )

    def _count_values(
        self, rubric: Rubric, changed: Mapping[tuple[int, str], Cell]
    ) -> dict[str, Counter[AxisValues]]:
        """Count the tuples of axis values of each item, in the order of the rubric's axes."""
        items: dict[str, Counter[AxisValues]] = {item.id: Counter() for item in self.exam.items}
        names = [spec.name for spec in rubric]
        for number, row in enumerate(self._rows):
            cells = (changed.get((number, name), row.cells[name]) for name in names)
            items[row.item.id][tuple(cell.axis_value for cell in cells)] += row.answers
        return items

    def _judge_gates(
        self, rubric: Rubric, counts: Mapping[str, Mapping[AxisValues, int]]
    ) -> dict[str, Outcome]:
        """Return the outcome of each gate; none if the answers are from several subjects."""
        if self._measures is None:
            return {}
        axes = tuple(spec.name for spec in rubric)
        run = Run(
            name="recorded",
            rubric=None,
            exam=None,
            marks=Marks(axes=axes, items=counts, errors=self._errors),
            measures=self._measures,
        )
        report = evaluate_gates(rubric, self.exam, run, detailed=False)
        return {outcome.gate.name: outcome.outcome for outcome in report.outcomes}


def _chain_counts(
    counts: Mapping[str, Mapping[AxisValues, int]],
) -> Iterator[tuple[AxisValues, int]]:
    for values in counts.values():
        yield from values.items()

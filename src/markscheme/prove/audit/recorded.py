"""Recorded answers, read once and marked once: a mutant marks anew only what it can change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.mark import mark_cell, read_response
from markscheme.vocabulary import Cell, Item, Outcome, Response
from markscheme.weigh.gates import evaluate_gates
from markscheme.weigh.totals import Marks, Run, WeightScale

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.prove.audit.mutants import Mutant
    from markscheme.vocabulary import Exam, Rubric
    from markscheme.weigh.totals import AxisValues, Measures


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFlip:
    """A cell of a recorded answer that another rubric judges otherwise, and what became of it."""

    item: str
    axis: str
    got: str
    before: Cell
    after: Cell
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChange:
    """A gate that says something else; `None` where it is gone."""

    gate: str
    before: Outcome
    after: Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantEffect:
    """What a changed rubric does to recorded answers: cells, the mean score, gates."""

    flips: tuple[CellFlip, ...]
    before: Fraction | None
    after: Fraction | None
    gates: tuple[GateChange, ...]

    @property
    def falls(self) -> tuple[CellFlip, ...]:
        """The cells that lose: right answers that turn wrong, if the rubric was right."""
        return tuple(
            flip
            for flip in self.flips
            if _get_comparable_value(flip.after) < _get_comparable_value(flip.before)
        )

    @property
    def rises(self) -> tuple[CellFlip, ...]:
        """The cells that gain."""
        return tuple(
            flip
            for flip in self.flips
            if _get_comparable_value(flip.after) > _get_comparable_value(flip.before)
        )

    @property
    def seen(self) -> bool:
        """Whether anything can be seen of the change."""
        return bool(self.flips or self.gates) or self.before != self.after


def _get_comparable_value(cell: Cell) -> Fraction:
    """Return a value to compare by; a cell without one is worth less than any."""
    return Fraction(-1) if cell.value is None else cell.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordedRow:
    item: Item
    response: Response
    cells: Mapping[str, Cell]
    answers: int


class RecordedAnswers:
    """Recorded answers under the rubric as it is; equal answers are one row with a count.

    Without `measures` the answers are of several subjects, and gates say nothing.
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
        alike: dict[tuple[str, str], list[Any]] = {}
        for item, output in answers:  # 1 and true are equal, but not as answers: told apart by repr
            alike.setdefault((item, repr(output)), []).append(output)
        self._rows = [
            self._build_row(items[i], same[0], len(same)) for (i, _), same in alike.items()
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
        """Return what a mutant does; cells that it cannot change are not judged again."""
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
            item: WeightScale(rubric).sum_answers(found.items()).mean
            for item, found in counts.items()
        }
        return {item: mean for item, mean in means.items() if mean is not None}

    def get_cells(self, axis: str) -> dict[str, list[Cell]]:
        """Return the cells of an axis by item, under the rubric as it is."""
        return {
            item: [self._rows[at].cells[axis] for at in rows]
            for item, rows in self._rows_by_item.items()
        }

    def _find_changed_cells(self, mutant: Mutant) -> dict[tuple[int, str], Cell]:
        """Return the cells that get another value, by row and axis."""
        rows = self._rows_by_item[mutant.item.id] if mutant.item else range(len(self._rows))
        found = {}
        for spec in mutant.rubric:
            for number in rows if spec.name in mutant.axes else ():
                row = self._rows[number]
                cell = mark_cell(spec.axis, row.response, mutant.item or row.item)
                if cell.value != row.cells[spec.name].value:
                    found[number, spec.name] = cell
        return found

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
        """Count the sets of axis values of each item, in the order of the rubric's axes."""
        items: dict[str, Counter[AxisValues]] = {item.id: Counter() for item in self.exam.items}
        names = [spec.name for spec in rubric]
        for number, row in enumerate(self._rows):
            cells = (changed.get((number, name), row.cells[name]) for name in names)
            items[row.item.id][tuple(cell.value for cell in cells)] += row.answers
        return items

    def _judge_gates(
        self, rubric: Rubric, counts: Mapping[str, Mapping[AxisValues, int]]
    ) -> dict[str, Outcome]:
        """Return what each gate says; gates judge one run, so of several subjects nothing."""
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
        found = evaluate_gates(rubric, self.exam, run, detailed=False)
        return {outcome.gate.name: outcome.outcome for outcome in found.outcomes}


def _chain_counts(
    counts: Mapping[str, Mapping[AxisValues, int]],
) -> Iterator[tuple[AxisValues, int]]:
    for found in counts.values():
        yield from found.items()

"""The audit: a rubric under test. Does anything notice when one of its rules is broken?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.mark import mark_cell, read_response
from markscheme.prove.audit.golden import CaseFailure, GoldenSuite
from markscheme.prove.audit.known_answers import KnownAnswer, generate_known_answers
from markscheme.prove.audit.mutants import (
    Mutant,
    generate_axis_mutants,
    generate_expectation_mutants,
    generate_structural_mutants,
    generate_threshold_mutants,
    generate_weight_mutants,
)
from markscheme.prove.audit.recorded import MutantEffect, RecordedAnswers
from markscheme.prove.audit.suggestions import suggest_cases
from markscheme.read.golden_cases import GoldenCase, GoldenCases
from markscheme.vocabulary import Cell, Exam, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterator


class MutantFate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


class AuditVerdict(StrEnum):
    """What an audit says of a rubric as a whole."""

    SOUND = "sound"
    WRONG = "wrong"
    UNGUARDED = "unguarded"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisjudgedAnswer:
    """A known answer that the rubric judges wrongly."""

    known: KnownAnswer
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """How often an axis is wrong about answers that are known: right ones, and wrong ones."""

    axis: str
    right: int
    wrong: int
    false_negatives: tuple[MisjudgedAnswer, ...]
    false_positives: tuple[MisjudgedAnswer, ...]

    @property
    def false_negative_rate(self) -> Fraction | None:
        """The share of right answers that the axis does not pass."""
        return Fraction(len(self.false_negatives), self.right) if self.right else None

    @property
    def false_positive_rate(self) -> Fraction | None:
        """The share of wrong answers that the axis passes."""
        return Fraction(len(self.false_positives), self.wrong) if self.wrong else None

    @property
    def errors(self) -> tuple[MisjudgedAnswer, ...]:
        """The known answers that the axis judges wrongly."""
        return (*self.false_negatives, *self.false_positives)

    @property
    def forms(self) -> Counter[str]:
        """How many known answers were judged wrongly in each form."""
        return Counter(error.known.form for error in self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantResult:
    """A mutant, and who noticed it: golden cases, recorded answers, or a known answer.

    Known answers are asked where the others noticed nothing. `add` is a case that would notice a
    survivor, with what the rubric says of it today.
    """

    mutant: Mutant
    fate: MutantFate
    golden: tuple[CaseFailure, ...] = ()
    recorded: MutantEffect | None = None
    known: KnownAnswer | None = None
    add: GoldenCases | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """A rubric under test: the golden cases it fails, its error rates, and every mutant's fate."""

    rubric: Rubric
    exam: Exam
    cases: int
    answers: int
    failures: tuple[CaseFailure, ...]
    rates: tuple[ErrorRates, ...]
    mutants: tuple[MutantResult, ...] = field(repr=False)

    def of(self, fate: MutantFate) -> tuple[MutantResult, ...]:
        """Return the mutants with one fate."""
        return tuple(tried for tried in self.mutants if tried.fate == fate)

    @property
    def verdict(self) -> AuditVerdict:
        """Wrong about a case or a known answer, unguarded where a mutant survived, else sound."""
        if not (self.cases or self.answers or any(r.right + r.wrong for r in self.rates)):
            return AuditVerdict.UNTESTED
        if self.failures or any(rates.errors for rates in self.rates):
            return AuditVerdict.WRONG
        if self.of(MutantFate.SURVIVED):
            return AuditVerdict.UNGUARDED
        return AuditVerdict.SOUND if self.mutants else AuditVerdict.UNTESTED

    @property
    def to_add(self) -> GoldenCases:
        """The cases that would notice the survivors, each once."""
        found = [tried.add for tried in self.mutants if tried.add is not None]
        items: dict[Any, GoldenCase] = {}
        for case in (case for cases in found for case in cases.items):
            items.setdefault((case.item.expectations, case.answer), case)
        return GoldenCases(
            items=tuple(items.values()),
            gates=tuple(dict.fromkeys(case for cases in found for case in cases.gates)),
            pass_mark=tuple(dict.fromkeys(case for cases in found for case in cases.pass_mark)),
        )


def audit_rubric(golden: GoldenSuite, recorded: RecordedAnswers) -> AuditReport:
    """Test a rubric: hold golden cases and known answers against it, then against its mutants."""
    rubric, exam = recorded.rubric, recorded.exam
    known = list(generate_known_answers(rubric, exam, golden.cases))
    rates = tuple(_compute_rates(rubric, known))
    trial = _MutantTester(golden, recorded, known, rates)
    mutants = (
        *generate_axis_mutants(rubric),
        *generate_structural_mutants(rubric),
        *generate_weight_mutants(rubric),
        *generate_threshold_mutants(rubric),
        *generate_expectation_mutants(rubric, exam.items),
    )
    return AuditReport(
        rubric=rubric,
        exam=exam,
        cases=len(golden),
        answers=len(recorded),
        failures=golden.failures,
        rates=rates,
        mutants=tuple(map(trial.try_mutant, mutants)),
    )


def _compute_rates(rubric: Rubric, known: list[KnownAnswer]) -> Iterator[ErrorRates]:
    fields = rubric.fields
    for spec in rubric:
        mine = [answer for answer in known if answer.axis == spec.name]
        cells = [mark_cell(spec.axis, read_response(a.output, fields), a.item) for a in mine]
        wrong = [
            MisjudgedAnswer(known=answer, cell=cell)
            for answer, cell in zip(mine, cells, strict=True)
            if (cell.value == 1) is not answer.right
        ]
        right = sum(answer.right for answer in mine)
        yield ErrorRates(
            axis=spec.name,
            right=right,
            wrong=len(mine) - right,
            false_negatives=tuple(error for error in wrong if error.known.right),
            false_positives=tuple(error for error in wrong if not error.known.right),
        )


class _MutantTester:
    """Tries mutants, one after the other."""

    def __init__(
        self,
        golden: GoldenSuite,
        recorded: RecordedAnswers,
        known: list[KnownAnswer],
        rates: tuple[ErrorRates, ...],
    ) -> None:
        self._golden = golden
        self._recorded = recorded
        self._fields = recorded.rubric.fields
        self._answers_by_axis: dict[tuple[str, str | None], list[KnownAnswer]] = {}
        own = set(map(id, recorded.exam.items))
        wrongly = {id(error.known) for found in rates for error in found.errors}
        for answer in known:
            if id(answer) in wrongly:
                continue
            self._answers_by_axis.setdefault((answer.axis, None), []).append(answer)
            if id(answer.item) in own:  # an item of the exam, not one that a golden case brought
                self._answers_by_axis.setdefault((answer.axis, answer.item.id), []).append(answer)

    def try_mutant(self, mutant: Mutant) -> MutantResult:
        """Return who notices a mutant, if anybody can."""
        if mutant.equivalent:
            return MutantResult(mutant=mutant, fate=MutantFate.EQUIVALENT)
        golden, effect = self._golden.check_mutant(mutant), self._recorded.measure_effect(mutant)
        if golden or effect.seen:
            return MutantResult(
                mutant=mutant, fate=MutantFate.KILLED, golden=golden, recorded=effect
            )
        known = self._find_noticing_answer(mutant)
        if known is not None:
            return MutantResult(mutant=mutant, fate=MutantFate.KILLED, recorded=effect, known=known)
        add = suggest_cases(self._golden.rubric, mutant, self._recorded.exam)
        return MutantResult(mutant=mutant, fate=MutantFate.SURVIVED, recorded=effect, add=add)

    def _find_noticing_answer(self, mutant: Mutant) -> KnownAnswer | None:
        """Return the first known answer that the mutant judges otherwise than the truth."""
        where = None if mutant.item is None else mutant.item.id
        specs = {spec.name: spec.axis for spec in mutant.rubric}
        for axis in mutant.axes:
            for answer in self._answers_by_axis.get((axis, where), ()):
                response = read_response(answer.output, self._fields)
                cell = mark_cell(specs[axis], response, mutant.item or answer.item)
                if (cell.value == 1) is not answer.right:
                    return answer
        return None

"""The audit: a rubric under test. Does anything notice when one of its rules is broken?"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.mark.responses import read_response
from markscheme.mark.scoring import judged
from markscheme.prove.golden import Golden, Miss
from markscheme.prove.known import Known, known_answers
from markscheme.prove.mutants import Mutant, axis_mutants, expectation_mutants, weight_mutants
from markscheme.prove.recorded import Effect, Recorded
from markscheme.prove.structural import structural_mutants
from markscheme.prove.suggestions import suggestion
from markscheme.prove.thresholds import threshold_mutants
from markscheme.read.cases import Cases, GoldenCase
from markscheme.values import dataclass
from markscheme.vocabulary import Cell, Exam, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterator


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


class Judged(StrEnum):
    """What an audit says of a rubric as a whole."""

    SOUND = "sound"
    WRONG = "wrong"
    UNGUARDED = "unguarded"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongForm:
    """A known answer that the rubric judges wrongly."""

    known: Known
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often an axis is wrong about answers that are known: right ones, and wrong ones."""

    axis: str
    right: int
    wrong: int
    false_negatives: tuple[WrongForm, ...]
    false_positives: tuple[WrongForm, ...]

    @property
    def false_negative_rate(self) -> Fraction | None:
        """The share of right answers that the axis does not pass."""
        return Fraction(len(self.false_negatives), self.right) if self.right else None

    @property
    def false_positive_rate(self) -> Fraction | None:
        """The share of wrong answers that the axis passes."""
        return Fraction(len(self.false_positives), self.wrong) if self.wrong else None

    @property
    def errors(self) -> tuple[WrongForm, ...]:
        """The known answers that the axis judges wrongly."""
        return (*self.false_negatives, *self.false_positives)

    @property
    def forms(self) -> Counter[str]:
        """How many known answers were judged wrongly in each form."""
        return Counter(error.known.form for error in self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A mutant, and who noticed it: golden cases, recorded answers, or a known answer.

    Known answers are asked where the others noticed nothing. `add` is a case that would notice a
    survivor, with what the rubric says of it today.
    """

    mutant: Mutant
    fate: Fate
    golden: tuple[Miss, ...] = ()
    recorded: Effect | None = None
    known: Known | None = None
    add: Cases | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """A rubric under test: the golden cases it fails, its error rates, and every mutant's fate."""

    rubric: Rubric
    exam: Exam
    cases: int
    answers: int
    failures: tuple[Miss, ...]
    rates: tuple[Rates, ...]
    mutants: tuple[Tried, ...] = field(repr=False)

    def of(self, fate: Fate) -> tuple[Tried, ...]:
        """Return the mutants with one fate."""
        return tuple(tried for tried in self.mutants if tried.fate == fate)

    @property
    def verdict(self) -> Judged:
        """Wrong about a case or a known answer, unguarded where a mutant survived, else sound."""
        if not (self.cases or self.answers or any(r.right + r.wrong for r in self.rates)):
            return Judged.UNTESTED
        if self.failures or any(rates.errors for rates in self.rates):
            return Judged.WRONG
        if self.of(Fate.SURVIVED):
            return Judged.UNGUARDED
        return Judged.SOUND if self.mutants else Judged.UNTESTED

    @property
    def to_add(self) -> Cases:
        """The cases that would notice the survivors, each once."""
        found = [tried.add for tried in self.mutants if tried.add is not None]
        items: dict[Any, GoldenCase] = {}
        for case in (case for cases in found for case in cases.items):
            items.setdefault((case.item.expectations, case.answer), case)
        return Cases(
            items=tuple(items.values()),
            gates=tuple(dict.fromkeys(case for cases in found for case in cases.gates)),
            pass_mark=tuple(dict.fromkeys(case for cases in found for case in cases.pass_mark)),
        )


def audit_rubric(golden: Golden, recorded: Recorded) -> AuditReport:
    """Test a rubric: hold golden cases and known answers against it, then against its mutants."""
    rubric, exam = recorded.rubric, recorded.exam
    known = list(known_answers(rubric, exam, golden.cases))
    rates = tuple(_rates(rubric, known))
    trial = _Trial(golden, recorded, known, rates)
    mutants = (
        *axis_mutants(rubric),
        *structural_mutants(rubric),
        *weight_mutants(rubric),
        *threshold_mutants(rubric),
        *expectation_mutants(rubric, exam.items),
    )
    return AuditReport(
        rubric=rubric,
        exam=exam,
        cases=len(golden),
        answers=len(recorded),
        failures=golden.failures,
        rates=rates,
        mutants=tuple(map(trial.tried, mutants)),
    )


def _rates(rubric: Rubric, known: list[Known]) -> Iterator[Rates]:
    fields = rubric.fields
    for spec in rubric:
        mine = [answer for answer in known if answer.axis == spec.name]
        cells = [judged(spec.axis, read_response(a.output, fields), a.item) for a in mine]
        wrong = [
            WrongForm(known=answer, cell=cell)
            for answer, cell in zip(mine, cells, strict=True)
            if (cell.value == 1) is not answer.right
        ]
        right = sum(answer.right for answer in mine)
        yield Rates(
            axis=spec.name,
            right=right,
            wrong=len(mine) - right,
            false_negatives=tuple(error for error in wrong if error.known.right),
            false_positives=tuple(error for error in wrong if not error.known.right),
        )


class _Trial:
    """Tries mutants, one after the other."""

    def __init__(
        self, golden: Golden, recorded: Recorded, known: list[Known], rates: tuple[Rates, ...]
    ) -> None:
        self._golden = golden
        self._recorded = recorded
        self._fields = recorded.rubric.fields
        self._known: dict[tuple[str, str | None], list[Known]] = {}
        own = set(map(id, recorded.exam.items))
        wrongly = {id(error.known) for found in rates for error in found.errors}
        for answer in known:
            if id(answer) in wrongly:
                continue
            self._known.setdefault((answer.axis, None), []).append(answer)
            if id(answer.item) in own:  # an item of the exam, not one that a golden case brought
                self._known.setdefault((answer.axis, answer.item.id), []).append(answer)

    def tried(self, mutant: Mutant) -> Tried:
        """Return who notices a mutant, if anybody can."""
        if mutant.equivalent:
            return Tried(mutant=mutant, fate=Fate.EQUIVALENT)
        golden, effect = self._golden.notices(mutant), self._recorded.effect(mutant)
        if golden or effect.seen:
            return Tried(mutant=mutant, fate=Fate.KILLED, golden=golden, recorded=effect)
        known = self._notice(mutant)
        if known is not None:
            return Tried(mutant=mutant, fate=Fate.KILLED, recorded=effect, known=known)
        add = suggestion(self._golden.rubric, mutant, self._recorded.exam)
        return Tried(mutant=mutant, fate=Fate.SURVIVED, recorded=effect, add=add)

    def _notice(self, mutant: Mutant) -> Known | None:
        """Return the first known answer that the mutant judges otherwise than the truth."""
        where = None if mutant.item is None else mutant.item.id
        specs = {spec.name: spec.axis for spec in mutant.rubric}
        for axis in mutant.axes:
            for answer in self._known.get((axis, where), ()):
                response = read_response(answer.output, self._fields)
                cell = judged(specs[axis], response, mutant.item or answer.item)
                if (cell.value == 1) is not answer.right:
                    return answer
        return None

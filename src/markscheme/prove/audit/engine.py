"""The audit engine: test a rubric by mutation testing.

Golden cases and known answers are checked against the rubric, which gives its failures and error
rates. Then every mutant of the rubric is tried: does a golden case, a recorded answer or a known
answer notice the change?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

from markscheme.mark import mark_cell, read_response
from markscheme.prove.audit.golden_suite import CaseFailure, GoldenSuite, suggest_cases
from markscheme.prove.audit.known_answers import KnownAnswer, generate_known_answers
from markscheme.prove.audit.mutation_operators import Mutant, generate_mutants
from markscheme.prove.audit.recorded_answers import MutantEffect, RecordedAnswers
from markscheme.read.golden_cases import GoldenCase, GoldenCases
from markscheme.vocabulary import Cell, Exam, Rubric, format_ratio, to_float
from markscheme.weigh.records import build_exam_record, build_rubric_record


class MutantFate(StrEnum):
    """Whether a mutant was noticed, not noticed, or proved to be equivalent to the rubric."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


class AuditVerdict(StrEnum):
    """The result of an audit as a whole."""

    SOUND = "sound"
    WRONG = "wrong"
    UNGUARDED = "unguarded"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisjudgedAnswer:
    """A known answer that the rubric scores wrongly."""

    known: KnownAnswer
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """How often an axis is wrong about known answers: right ones it fails, wrong ones it passes."""

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
        """The known answers that the axis scores wrongly."""
        return (*self.false_negatives, *self.false_positives)

    @property
    def forms(self) -> Counter[str]:
        """The number of known answers that the axis scores wrongly, by form."""
        return Counter(error.known.form for error in self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantResult:
    """A mutant, and what noticed it: golden cases, recorded answers, or a known answer.

    Known answers are tried only if the others noticed nothing. `add` is a golden case that would
    notice a survivor; it expects what the rubric gives today.
    """

    mutant: Mutant
    fate: MutantFate
    golden: tuple[CaseFailure, ...] = ()
    recorded: MutantEffect | None = None
    known: KnownAnswer | None = None
    add: GoldenCases | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of an audit: failed golden cases, error rates, and the fate of every mutant."""

    rubric: Rubric
    exam: Exam
    cases: int
    answers: int
    failures: tuple[CaseFailure, ...]
    rates: tuple[ErrorRates, ...]
    mutants: tuple[MutantResult, ...] = field(repr=False)

    def of(self, fate: MutantFate) -> tuple[MutantResult, ...]:
        """Return the mutants with one fate."""
        return tuple(result for result in self.mutants if result.fate == fate)

    @property
    def verdict(self) -> AuditVerdict:
        """Wrong if a case or known answer is, unguarded if a mutant survived, else sound."""
        if not (self.cases or self.answers or any(r.right + r.wrong for r in self.rates)):
            return AuditVerdict.UNTESTED
        if self.failures or any(rates.errors for rates in self.rates):
            return AuditVerdict.WRONG
        if self.of(MutantFate.SURVIVED):
            return AuditVerdict.UNGUARDED
        return AuditVerdict.SOUND if self.mutants else AuditVerdict.UNTESTED

    @property
    def to_add(self) -> GoldenCases:
        """The suggested golden cases for the survivors, each once."""
        suggested = [result.add for result in self.mutants if result.add is not None]
        items: dict[Any, GoldenCase] = {}
        for case in (case for cases in suggested for case in cases.items):
            items.setdefault((case.item.expectations, case.answer), case)
        return GoldenCases(
            items=tuple(items.values()),
            gates=tuple(dict.fromkeys(case for cases in suggested for case in cases.gates)),
            pass_mark=tuple(dict.fromkeys(case for cases in suggested for case in cases.pass_mark)),
        )


def audit_rubric(golden: GoldenSuite, recorded: RecordedAnswers) -> AuditReport:
    """Test a rubric with golden cases and known answers, then try every mutant of it."""
    rubric, exam = recorded.rubric, recorded.exam
    known = list(generate_known_answers(rubric, exam, golden.cases))
    rates = tuple(_compute_rates(rubric, known))
    tester = _MutantTester(golden, recorded, known, rates)
    return AuditReport(
        rubric=rubric,
        exam=exam,
        cases=len(golden),
        answers=len(recorded),
        failures=golden.failures,
        rates=rates,
        mutants=tuple(map(tester.try_mutant, generate_mutants(rubric, exam))),
    )


def _compute_rates(rubric: Rubric, known: list[KnownAnswer]) -> Iterator[ErrorRates]:
    fields = rubric.fields
    for spec in rubric:
        answers = [answer for answer in known if answer.axis == spec.name]
        cells = [mark_cell(spec.axis, read_response(a.output, fields), a.item) for a in answers]
        errors = [
            MisjudgedAnswer(known=answer, cell=cell)
            for answer, cell in zip(answers, cells, strict=True)
            if (cell.value == 1) is not answer.right
        ]
        right = sum(answer.right for answer in answers)
        yield ErrorRates(
            axis=spec.name,
            right=right,
            wrong=len(answers) - right,
            false_negatives=tuple(error for error in errors if error.known.right),
            false_positives=tuple(error for error in errors if not error.known.right),
        )


class _MutantTester:
    """Tries mutants: finds out what notices each of them.

    Known answers that the rubric itself scores wrongly cannot notice anything and are left out.
    """

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
        exam_items = set(map(id, recorded.exam.items))
        misjudged = {id(error.known) for axis_rates in rates for error in axis_rates.errors}
        for answer in known:
            if id(answer) in misjudged:
                continue
            self._answers_by_axis.setdefault((answer.axis, None), []).append(answer)
            # By identity: the item of a golden case may have the id of an item of the exam.
            if id(answer.item) in exam_items:
                self._answers_by_axis.setdefault((answer.axis, answer.item.id), []).append(answer)

    def try_mutant(self, mutant: Mutant) -> MutantResult:
        """Return the fate of a mutant, and what noticed it."""
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
        """Return the first known answer that the mutant scores wrongly."""
        item_id = None if mutant.item is None else mutant.item.id
        specs = {spec.name: spec.axis for spec in mutant.rubric}
        for axis in mutant.axes:
            for answer in self._answers_by_axis.get((axis, item_id), ()):
                response = read_response(answer.output, self._fields)
                cell = mark_cell(specs[axis], response, mutant.item or answer.item)
                if (cell.value == 1) is not answer.right:
                    return answer
        return None


# Reports as plain data, for `--format json`

_MAX_EXAMPLES = 10


def build_audit_record(report: AuditReport) -> dict[str, Any]:
    """Return the record of a whole audit."""
    return {
        "rubric": build_rubric_record(report.rubric),
        "exam": build_exam_record(report.exam),
        "verdict": report.verdict.value,
        "cases": report.cases,
        "answers": report.answers,
        "rates": [_build_rates_record(rates) for rates in report.rates],
        "failures": [build_failure_record(failure) for failure in report.failures],
        "counts": count_fates(report),
        "mutants": [_build_mutant_record(result) for result in report.mutants],
    }


def count_fates(report: AuditReport) -> dict[str, dict[str, int]]:
    """Return the number of mutants by kind and fate."""
    counts = Counter((result.mutant.kind.value, result.fate) for result in report.mutants)
    kinds = dict.fromkeys(result.mutant.kind.value for result in report.mutants)
    return {kind: {fate.value: counts[kind, fate] for fate in MutantFate} for kind in kinds}


def _build_rates_record(rates: ErrorRates) -> dict[str, Any]:
    return {
        "axis": rates.axis,
        "right": rates.right,
        "false_negatives": len(rates.false_negatives),
        "false_negative_rate": _build_exact_number(rates.false_negative_rate),
        "wrong": rates.wrong,
        "false_positives": len(rates.false_positives),
        "false_positive_rate": _build_exact_number(rates.false_positive_rate),
        "forms": dict(rates.forms),
        "examples": [
            {**_build_known_answer_record(error.known), "reason": error.cell.reason}
            for error in rates.errors[:_MAX_EXAMPLES]
        ],
    }


def _build_exact_number(value: Fraction | None) -> dict[str, Any]:
    return {"value": to_float(value), "exact": format_ratio(value)}


def _build_known_answer_record(known: KnownAnswer) -> dict[str, Any]:
    return {
        "item": known.item.id,
        "axis": known.axis,
        "right": known.right,
        "form": known.form,
        "output": known.output,
    }


def build_failure_record(failure: CaseFailure) -> dict[str, Any]:
    """Return the record of a golden case that fails."""
    return {
        "case": failure.case,
        "on": failure.on,
        "expected": failure.expected,
        "got": failure.got,
        "because": failure.because,
    }


def build_effect_record(effect: MutantEffect) -> dict[str, Any]:
    """Return the record of what a mutant does to recorded answers."""
    change = None
    if effect.before is not None and effect.after is not None:
        change = effect.after - effect.before
    return {
        "flips": [
            {
                "item": flip.item,
                "axis": flip.axis,
                "got": flip.got,
                "before": to_float(flip.before.value),
                "after": to_float(flip.after.value),
                "reason": flip.after.reason,
                "near_miss": flip.after.near_miss,
                "answers": flip.answers,
            }
            for flip in effect.flips
        ],
        "mean": {
            "before": _build_exact_number(effect.before),
            "after": _build_exact_number(effect.after),
            "change": _build_exact_number(change),
        },
        "gates": [
            {
                "gate": gate.gate,
                "before": gate.before.value,
                "after": None if gate.after is None else gate.after.value,
            }
            for gate in effect.gates
        ],
    }


def _build_mutant_record(result: MutantResult) -> dict[str, Any]:
    mutant = result.mutant
    return {
        "name": mutant.name,
        "kind": mutant.kind.value,
        "says": mutant.says,
        "fate": result.fate.value,
        "equivalent": mutant.equivalent or None,
        "golden": [build_failure_record(failure) for failure in result.golden],
        "recorded": None if result.recorded is None else build_effect_record(result.recorded),
        "known": None if result.known is None else _build_known_answer_record(result.known),
        "add": None if result.add is None else _build_cases_record(result.add),
    }


def _build_cases_record(cases: GoldenCases) -> dict[str, Any]:
    """Return golden cases with the keys that they have in a file."""
    record: dict[str, Any] = {
        "items": [
            {
                "id": case.item.id,
                "prompt": case.item.prompt,
                **{key: _to_plain_value(value) for key, value in case.item.expectations.items()},
                "answer": case.answer,
                "cells": {axis: to_float(value) for axis, value in case.cells.items()},
                "score": to_float(case.score),
                "because": case.because,
            }
            for case in cases.items
        ],
        "gates": [
            {
                "gate": case.gate,
                "seen": float(case.seen),
                "outcome": case.outcome.value,
                "baseline": None if case.baseline is None else float(case.baseline),
                "suspicious": case.suspicious,
            }
            for case in cases.gates
        ],
        "pass_mark": [
            {"seen": float(case.seen), "passes": case.passes} for case in cases.pass_mark
        ],
    }
    return {key: value for key, value in record.items() if value}


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return [_to_plain_value(entry) for entry in value] if isinstance(value, tuple) else value

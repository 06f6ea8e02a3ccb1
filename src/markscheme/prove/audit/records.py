"""Audit reports as plain data, for `--format json`."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

from markscheme.prove.audit.engine import (
    AuditReport,
    ErrorRates,
    MisjudgedAnswer,
    MutantFate,
    MutantResult,
)
from markscheme.prove.audit.golden_suite import CaseFailure
from markscheme.prove.audit.known_answers import KnownAnswer
from markscheme.prove.audit.recorded_answers import MutantEffect
from markscheme.read.golden_cases import GoldenCases
from markscheme.vocabulary import format_ratio, to_float
from markscheme.weigh.result import build_exam_record, build_rubric_record

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
        "examples": [_build_misjudged_record(error) for error in rates.errors[:_MAX_EXAMPLES]],
    }


def _build_exact_number(value: Fraction | None) -> dict[str, Any]:
    return {"value": to_float(value), "exact": format_ratio(value)}


def _build_misjudged_record(error: MisjudgedAnswer) -> dict[str, Any]:
    return {**_build_known_answer_record(error.known), "reason": error.cell.reason}


def _build_known_answer_record(known: KnownAnswer) -> dict[str, Any]:
    """Return the record of a known answer."""
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

"""Audits as plain data: what `--format json` prints."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from markscheme.prove.audit.audit import MutantFate
from markscheme.vocabulary import format_ratio, to_float
from markscheme.weigh.records import build_exam_record, build_rubric_record

if TYPE_CHECKING:
    from fractions import Fraction

    from markscheme.prove.audit.audit import AuditReport, ErrorRates, MisjudgedAnswer, MutantResult
    from markscheme.prove.audit.golden import CaseFailure
    from markscheme.prove.audit.known_answers import KnownAnswer
    from markscheme.prove.audit.recorded import MutantEffect
    from markscheme.read.golden_cases import GoldenCases

_MAX_EXAMPLES = 10


def build_audit_record(report: AuditReport) -> dict[str, Any]:
    """Return a whole audit."""
    return {
        "rubric": build_rubric_record(report.rubric),
        "exam": build_exam_record(report.exam),
        "verdict": report.verdict.value,
        "cases": report.cases,
        "answers": report.answers,
        "rates": [_build_rates_record(rates) for rates in report.rates],
        "failures": [build_failure_record(miss) for miss in report.failures],
        "counts": count_fates(report),
        "mutants": [_build_mutant_record(tried) for tried in report.mutants],
    }


def count_fates(report: AuditReport) -> dict[str, dict[str, int]]:
    """Return how many mutants of each kind had which fate."""
    found = Counter((tried.mutant.kind.value, tried.fate) for tried in report.mutants)
    kinds = dict.fromkeys(tried.mutant.kind.value for tried in report.mutants)
    return {kind: {fate.value: found[kind, fate] for fate in MutantFate} for kind in kinds}


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
    return {**build_known_answer_record(error.known), "reason": error.cell.reason}


def build_known_answer_record(known: KnownAnswer) -> dict[str, Any]:
    """Return a known answer."""
    return {
        "item": known.item.id,
        "axis": known.axis,
        "right": known.right,
        "form": known.form,
        "output": known.output,
    }


def build_failure_record(miss: CaseFailure) -> dict[str, Any]:
    """Return what a golden case expects and does not get."""
    return {
        "case": miss.case,
        "on": miss.on,
        "expected": miss.expected,
        "got": miss.got,
        "because": miss.because,
    }


def build_effect_record(effect: MutantEffect) -> dict[str, Any]:
    """Return what recorded answers show: cells that flip, the mean, gates."""
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


def _build_mutant_record(tried: MutantResult) -> dict[str, Any]:
    mutant = tried.mutant
    return {
        "name": mutant.name,
        "kind": mutant.kind.value,
        "says": mutant.says,
        "fate": tried.fate.value,
        "equivalent": mutant.equivalent or None,
        "golden": [build_failure_record(miss) for miss in tried.golden],
        "recorded": None if tried.recorded is None else build_effect_record(tried.recorded),
        "known": None if tried.known is None else build_known_answer_record(tried.known),
        "add": None if tried.add is None else build_cases_record(tried.add),
    }


def build_cases_record(cases: GoldenCases) -> dict[str, Any]:
    """Return golden cases with the keys of their file."""
    found: dict[str, Any] = {
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
    return {key: value for key, value in found.items() if value}


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return [_to_plain_value(entry) for entry in value] if isinstance(value, tuple) else value

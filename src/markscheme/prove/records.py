"""Audits as plain data: what `--format json` prints."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from markscheme.exact import number, ratio
from markscheme.prove.audit import Fate
from markscheme.weigh.records import exam_record, rubric_record

if TYPE_CHECKING:
    from fractions import Fraction

    from markscheme.prove.audit import AuditReport, Rates, Tried, WrongForm
    from markscheme.prove.golden import Miss
    from markscheme.prove.known import Known
    from markscheme.prove.recorded import Effect
    from markscheme.read.cases import Cases

_EXAMPLES = 10


def audit_record(report: AuditReport) -> dict[str, Any]:
    """Return a whole audit."""
    return {
        "rubric": rubric_record(report.rubric),
        "exam": exam_record(report.exam),
        "verdict": report.verdict.value,
        "cases": report.cases,
        "answers": report.answers,
        "rates": [_rates_record(rates) for rates in report.rates],
        "failures": [miss_record(miss) for miss in report.failures],
        "counts": counts(report),
        "mutants": [_tried_record(tried) for tried in report.mutants],
    }


def counts(report: AuditReport) -> dict[str, dict[str, int]]:
    """Return how many mutants of each kind had which fate."""
    found = Counter((tried.mutant.kind.value, tried.fate) for tried in report.mutants)
    kinds = dict.fromkeys(tried.mutant.kind.value for tried in report.mutants)
    return {kind: {fate.value: found[kind, fate] for fate in Fate} for kind in kinds}


def _rates_record(rates: Rates) -> dict[str, Any]:
    return {
        "axis": rates.axis,
        "right": rates.right,
        "false_negatives": len(rates.false_negatives),
        "false_negative_rate": _exactly(rates.false_negative_rate),
        "wrong": rates.wrong,
        "false_positives": len(rates.false_positives),
        "false_positive_rate": _exactly(rates.false_positive_rate),
        "forms": dict(rates.forms),
        "examples": [_error_record(error) for error in rates.errors[:_EXAMPLES]],
    }


def _exactly(value: Fraction | None) -> dict[str, Any]:
    return {"value": number(value), "exact": ratio(value)}


def _error_record(error: WrongForm) -> dict[str, Any]:
    return {**known_record(error.known), "reason": error.cell.reason}


def known_record(known: Known) -> dict[str, Any]:
    """Return a known answer."""
    return {
        "item": known.item.id,
        "axis": known.axis,
        "right": known.right,
        "form": known.form,
        "output": known.output,
    }


def miss_record(miss: Miss) -> dict[str, Any]:
    """Return what a golden case expects and does not get."""
    return {
        "case": miss.case,
        "on": miss.on,
        "expected": miss.expected,
        "got": miss.got,
        "because": miss.because,
    }


def effect_record(effect: Effect) -> dict[str, Any]:
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
                "before": number(flip.before.value),
                "after": number(flip.after.value),
                "reason": flip.after.reason,
                "near_miss": flip.after.near_miss,
                "answers": flip.answers,
            }
            for flip in effect.flips
        ],
        "mean": {
            "before": _exactly(effect.before),
            "after": _exactly(effect.after),
            "change": _exactly(change),
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


def _tried_record(tried: Tried) -> dict[str, Any]:
    mutant = tried.mutant
    return {
        "name": mutant.name,
        "kind": mutant.kind.value,
        "says": mutant.says,
        "fate": tried.fate.value,
        "equivalent": mutant.equivalent or None,
        "golden": [miss_record(miss) for miss in tried.golden],
        "recorded": None if tried.recorded is None else effect_record(tried.recorded),
        "known": None if tried.known is None else known_record(tried.known),
        "add": None if tried.add is None else cases_record(tried.add),
    }


def cases_record(cases: Cases) -> dict[str, Any]:
    """Return golden cases with the keys of their file."""
    found: dict[str, Any] = {
        "items": [
            {
                "id": case.item.id,
                "prompt": case.item.prompt,
                **{key: _plain(value) for key, value in case.item.expectations.items()},
                "answer": case.answer,
                "cells": {axis: number(value) for axis, value in case.cells.items()},
                "score": number(case.score),
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


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value

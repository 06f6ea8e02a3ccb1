"""Golden cases as a file: what an audit asks for, ready to be read, checked and kept."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import format_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.read.cases import GateCase, GoldenCase, GoldenCases

_CASES_HEADER = """\
# Written by `markscheme audit`. What it expects is what the rubric says today:
# read each case, and keep it if that is what you mean.
"""


def format_golden_cases(name: str, cases: GoldenCases) -> str:
    """Return golden cases as YAML, every value in the notation of JSON."""
    return _CASES_HEADER + "\n".join(_format_case_lines(name, cases)) + "\n"


def _format_case_lines(name: str, cases: GoldenCases) -> Iterator[str]:
    yield f"cases: {_format_yaml_value(name)}"
    if cases.items:
        yield "items:"
        for case in cases.items:
            yield from _format_case_entry(_build_case_fields(case))
    if cases.gates:
        yield "gates:"
        for gate in cases.gates:
            yield from _format_case_entry(_build_gate_case_fields(gate))
    if cases.pass_mark:
        yield "pass_mark:"
        for mark in cases.pass_mark:
            yield from _format_case_entry({"seen": mark.seen, "passes": mark.passes})


def _build_case_fields(case: GoldenCase) -> dict[str, Any]:
    return {
        "id": case.item.id,
        "prompt": case.item.prompt,
        **case.item.expectations,
        "answer": case.answer,
        "cells": case.cells,
        "score": case.score,
        "because": case.because,
    }


def _build_gate_case_fields(case: GateCase) -> dict[str, Any]:
    return {
        "gate": case.gate,
        "seen": case.seen,
        "outcome": case.outcome.value,
        "baseline": case.baseline,
        "suspicious": case.suspicious,
    }


def _format_case_entry(fields: Mapping[str, Any]) -> Iterator[str]:
    mark = "- "
    for key, value in fields.items():
        if value is not None:
            yield f"  {mark}{key}: {_format_yaml_value(value)}"
            mark = "  "


def _format_yaml_value(value: Any) -> str:
    match value:
        case Decimal():
            return format_plain(value)
        case Fraction():
            return format_plain(Decimal(value.numerator) / Decimal(value.denominator))
        case dict():
            return f"{{{', '.join(f'{json.dumps(k)}: {_format_yaml_value(v)}' for k, v in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_format_yaml_value, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)

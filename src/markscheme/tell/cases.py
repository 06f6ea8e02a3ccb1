"""Golden cases as a file: what an audit asks for, ready to be read, checked and kept."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.exact import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.read.cases import Cases, GateCase, GoldenCase

_HEAD = """\
# Written by `markscheme audit`. What it expects is what the rubric says today:
# read each case, and keep it if that is what you mean.
"""


def cases_text(name: str, cases: Cases) -> str:
    """Return golden cases as YAML, every value in the notation of JSON."""
    return _HEAD + "\n".join(_lines(name, cases)) + "\n"


def _lines(name: str, cases: Cases) -> Iterator[str]:
    yield f"cases: {_value(name)}"
    if cases.items:
        yield "items:"
        for case in cases.items:
            yield from _entry(_case(case))
    if cases.gates:
        yield "gates:"
        for gate in cases.gates:
            yield from _entry(_gate(gate))
    if cases.pass_mark:
        yield "pass_mark:"
        for mark in cases.pass_mark:
            yield from _entry({"seen": mark.seen, "passes": mark.passes})


def _case(case: GoldenCase) -> dict[str, Any]:
    return {
        "id": case.item.id,
        "prompt": case.item.prompt,
        **case.item.expectations,
        "answer": case.answer,
        "cells": case.cells,
        "score": case.score,
        "because": case.because,
    }


def _gate(case: GateCase) -> dict[str, Any]:
    return {
        "gate": case.gate,
        "seen": case.seen,
        "outcome": case.outcome.value,
        "baseline": case.baseline,
        "suspicious": case.suspicious,
    }


def _entry(fields: Mapping[str, Any]) -> Iterator[str]:
    mark = "- "
    for key, value in fields.items():
        if value is not None:
            yield f"  {mark}{key}: {_value(value)}"
            mark = "  "


def _value(value: Any) -> str:
    match value:
        case Decimal():
            return plain(value)
        case Fraction():
            return plain(Decimal(value.numerator) / Decimal(value.denominator))
        case dict():
            return f"{{{', '.join(f'{json.dumps(k)}: {_value(v)}' for k, v in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)

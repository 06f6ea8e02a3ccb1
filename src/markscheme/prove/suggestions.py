"""The case to add: an answer, or a value of a gate, that tells a mutant from the rubric."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

from markscheme.frozen import Frozen
from markscheme.mark.axes.numeric import NumberWithin
from markscheme.mark.axes.text import ComparingAxis, Equals
from markscheme.mark.responses import read_response
from markscheme.mark.scoring import judged, score_of
from markscheme.prove.decided import outcome_at, passes_at
from markscheme.prove.forms import as_json
from markscheme.prove.known import right_texts
from markscheme.prove.mutants import Kind, Mutant
from markscheme.prove.thresholds import around
from markscheme.read.cases import Cases, GateCase, GoldenCase, PassCase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.vocabulary import Axis, Exam, Gate, Item, Rubric

_ENTRIES: tuple[tuple[str, ...], ...] = (
    ("alpha",),
    (" Alpha. ",),
    ("alpha...",),
    ("alpha", "beta"),
    ("\N{LATIN SMALL LETTER E WITH ACUTE}cole",),
    ("alpha  beta",),
    ("'alpha'",),
    ("a.b",),
)
_TEXTS = (
    "",
    "alpha",
    "ALPHA",
    "  alpha  ",
    "alpha.",
    "alpha...",
    "alpha. beta",
    "alphabet",
    "the alpha",
    "beta",
    "ecole",
    "alpha beta",
    "'alpha'",
    "a.b",
    "ab",
)
_MOST_COUNTED = 10_000
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def suggestion(rubric: Rubric, mutant: Mutant, exam: Exam) -> Cases | None:
    """Return a case that would notice a mutant, with what the rubric says of it; or none found."""
    if mutant.item is not None:
        return None
    if mutant.axes or mutant.kind in {Kind.WEIGHT, Kind.DROP_AXIS}:
        case = next(_telling(rubric, mutant, exam.items[0]), None)
        return None if case is None else Cases(items=(case,))
    return _threshold(rubric, mutant)


def _telling(rubric: Rubric, mutant: Mutant, item: Item) -> Iterator[GoldenCase]:
    """Yield answers whose cells or score a mutant changes, the plainest first."""
    axes = mutant.axes or tuple(spec.name for spec in rubric)
    for spec in rubric:
        if spec.name in axes:
            for changed, text in product(_items(spec.axis, item), _texts(spec.axis, item)):
                yield from _if_it_tells(rubric, mutant, changed, _output(rubric, spec.axis, text))
    for output in _objects(rubric):
        yield from _if_it_tells(rubric, mutant, item, output)


def _items(axis: Axis, item: Item) -> Iterator[Item]:
    yield item
    if isinstance(axis, ComparingAxis):
        for entries in _ENTRIES:
            value: Any = entries[0] if isinstance(axis, Equals) else entries
            yield replace(item, expectations=Frozen({**item.expectations, axis.expects: value}))


def _texts(axis: Axis, item: Item) -> Iterator[str]:
    yield from right_texts(axis, item)
    yield from _TEXTS
    for name in ("limit", "at_least", "at_most"):
        limit = getattr(axis, name, None)
        if isinstance(limit, int) and limit <= _MOST_COUNTED:
            for count in (limit - 1, limit, limit + 1):
                yield from (" ".join(["word"] * count), "x" * count, "x\n" * count)
    if isinstance(axis, NumberWithin):
        yield from _numbers(axis, item)


def _numbers(axis: NumberWithin, item: Item) -> Iterator[str]:
    """Yield the numbers at the tolerance, and one step inside and outside of it."""
    expected = Decimal(item.expectations[axis.expects])
    text = str(axis.tolerance)
    share = Decimal(text.removesuffix("%"))
    for amount in (share, *around(share, share=False)):
        yield f"{expected + (amount * abs(expected) / 100 if text.endswith('%') else amount):f}"


def _output(rubric: Rubric, axis: Axis, text: str) -> str:
    field = getattr(axis, "reads", None)
    if field is None:
        return text
    return as_json({**dict.fromkeys(rubric.fields.accepted, "x"), field: text})


def _objects(rubric: Rubric) -> Iterator[str]:
    """Yield responses for axes on the whole of them: an object, a strange one, none at all."""
    usual = dict.fromkeys(rubric.fields.accepted, "x")
    yield as_json(usual)
    yield as_json({**usual, "something_else": "x"})
    yield as_json({})
    yield "no object"


def _if_it_tells(rubric: Rubric, mutant: Mutant, item: Item, output: str) -> Iterator[GoldenCase]:
    response = read_response(output, rubric.fields)
    before, after = (
        {spec.name: judged(spec.axis, response, item).value for spec in found}
        for found in (rubric, mutant.rubric)
    )
    score, other = (
        score_of(found, [values[spec.name] for spec in found])
        for found, values in ((rubric, before), (mutant.rubric, after))
    )
    values = {axis: value for axis, value in before.items() if value is not None}
    if len(values) == len(before) and (before != after or score != other):
        yield GoldenCase(
            item=replace(item, id=_NOT_A_NAME.sub("-", mutant.name), tags={}),
            answer=output,
            cells=Frozen(values),
            score=score,
            because=f"tells apart: {mutant.says}",
        )


def _threshold(rubric: Rubric, mutant: Mutant) -> Cases | None:
    if mutant.rubric.pass_mark != rubric.pass_mark:
        for seen in (rubric.pass_mark, mutant.rubric.pass_mark):
            passes = passes_at(rubric, seen)
            if passes is not passes_at(mutant.rubric, seen):
                return Cases(pass_mark=(PassCase(seen=seen, passes=passes),))
    changed = {gate.name: gate for gate in mutant.rubric.gates}
    for gate in rubric.gates:
        if changed.get(gate.name, gate) != gate:
            return _gate_case(rubric, gate, changed[gate.name])
    return None


def _gate_case(rubric: Rubric, gate: Gate, changed: Gate) -> Cases | None:
    """Return the value at which two gates differ: at one of their limits."""
    baseline = None if gate.baseline is None else Decimal("0.5")
    for seen in (*_limits(gate), *_limits(changed)):
        before, after = (outcome_at(rubric, one, seen, baseline) for one in (gate, changed))
        warned = before.baseline is not None and before.baseline.warning is not None
        warns = after.baseline is not None and after.baseline.warning is not None
        if (before.outcome, warned) != (after.outcome, warns):
            return Cases(
                gates=(
                    GateCase(
                        gate=gate.name,
                        seen=seen,
                        outcome=before.outcome,
                        baseline=baseline,
                        suspicious=None if baseline is None else warned,
                    ),
                )
            )
    return None


def _limits(gate: Gate) -> Iterator[Decimal]:
    yield from (limit for limit in (gate.at_least, gate.at_most) if limit is not None)
    if gate.baseline is not None:
        half = Decimal("0.5")
        for allowance, sign in ((gate.baseline.max_drop, -1), (gate.baseline.suspicious_rise, 1)):
            yield half + sign * allowance.amount * (half if allowance.relative else 1)

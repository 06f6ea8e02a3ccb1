"""Suggest a golden case for a mutant that survived: an input that tells it from the rubric.

A fixed list of texts and expectations is tried, simplest first. If none shows a difference, there
is no suggestion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import Any

from markscheme.mark import compute_score, mark_cell, read_response
from markscheme.mark.axes import ComparingAxis, Equals, NumberWithin
from markscheme.prove.audit.gate_probe import probe_gate, probe_pass_mark
from markscheme.prove.audit.known_answers import list_right_texts, to_json_object
from markscheme.prove.audit.mutation_operators import (
    Mutant,
    MutantKind,
    generate_threshold_neighbours,
)
from markscheme.read.golden_cases import GateCase, GoldenCase, GoldenCases, PassCase
from markscheme.vocabulary import Axis, Exam, FrozenDict, Gate, Item, Rubric

_TRIAL_ENTRIES: tuple[tuple[str, ...], ...] = (
    ("alpha",),
    (" Alpha. ",),
    ("alpha...",),
    ("alpha", "beta"),
    ("\N{LATIN SMALL LETTER E WITH ACUTE}cole",),
    ("alpha  beta",),
    ("'alpha'",),
    ("a.b",),
)
_TRIAL_TEXTS = (
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
_MAX_COUNTED = 10_000
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def suggest_cases(rubric: Rubric, mutant: Mutant, exam: Exam) -> GoldenCases | None:
    """Return a case that would notice a mutant, or None if none is found.

    What the case expects is what the rubric gives today.
    """
    if mutant.item is not None:
        # Golden cases bring their own items, so they cannot notice a changed item of the exam.
        return None
    if mutant.axes or mutant.kind in {MutantKind.WEIGHT, MutantKind.DROP_AXIS}:
        case = next(_generate_telling_cases(rubric, mutant, exam.items[0]), None)
        return None if case is None else GoldenCases(items=(case,))
    return _suggest_threshold_case(rubric, mutant)


def _generate_telling_cases(rubric: Rubric, mutant: Mutant, item: Item) -> Iterator[GoldenCase]:
    """Yield cases whose cells or score the mutant changes, simplest first."""
    axes = mutant.axes or tuple(spec.name for spec in rubric)
    for spec in rubric:
        if spec.name in axes:
            trial_items = _generate_trial_items(spec.axis, item)
            trial_texts = _generate_trial_texts(spec.axis, item)
            for trial_item, text in product(trial_items, trial_texts):
                output = _format_trial_output(rubric, spec.axis, text)
                yield from _try_case(rubric, mutant, trial_item, output)
    for output in _generate_trial_objects(rubric):
        yield from _try_case(rubric, mutant, item, output)


def _generate_trial_items(axis: Axis, item: Item) -> Iterator[Item]:
    yield item
    if isinstance(axis, ComparingAxis):
        for entries in _TRIAL_ENTRIES:
            value: Any = entries[0] if isinstance(axis, Equals) else entries
            yield replace(item, expectations=FrozenDict({**item.expectations, axis.expects: value}))


def _generate_trial_texts(axis: Axis, item: Item) -> Iterator[str]:
    yield from list_right_texts(axis, item)
    yield from _TRIAL_TEXTS
    for name in ("limit", "at_least", "at_most"):
        limit = getattr(axis, name, None)
        if isinstance(limit, int) and limit <= _MAX_COUNTED:
            for count in (limit - 1, limit, limit + 1):
                yield from (" ".join(["word"] * count), "x" * count, "x\n" * count)
    if isinstance(axis, NumberWithin):
        yield from _generate_trial_numbers(axis, item)


def _generate_trial_numbers(axis: NumberWithin, item: Item) -> Iterator[str]:
    """Yield the number at the tolerance, and one step inside and outside it."""
    expected = Decimal(item.expectations[axis.expects])
    text = str(axis.tolerance)
    share = Decimal(text.removesuffix("%"))
    for amount in (share, *generate_threshold_neighbours(share, share=False)):
        yield f"{expected + (amount * abs(expected) / 100 if text.endswith('%') else amount):f}"


def _format_trial_output(rubric: Rubric, axis: Axis, text: str) -> str:
    field = getattr(axis, "reads", None)
    if field is None:
        return text
    return to_json_object({**dict.fromkeys(rubric.fields.accepted, "x"), field: text})


def _generate_trial_objects(rubric: Rubric) -> Iterator[str]:
    """Yield whole responses: usual, with an extra field, empty, and not an object."""
    usual = dict.fromkeys(rubric.fields.accepted, "x")
    yield to_json_object(usual)
    yield to_json_object({**usual, "something_else": "x"})
    yield to_json_object({})
    yield "no object"


def _try_case(rubric: Rubric, mutant: Mutant, item: Item, output: str) -> Iterator[GoldenCase]:
    """Yield the case if rubric and mutant score the output differently."""
    response = read_response(output, rubric.fields)
    before, after = (
        {spec.name: mark_cell(spec.axis, response, item).value for spec in version}
        for version in (rubric, mutant.rubric)
    )
    score, mutant_score = (
        compute_score(version, [values[spec.name] for spec in version])
        for version, values in ((rubric, before), (mutant.rubric, after))
    )
    values = {axis: value for axis, value in before.items() if value is not None}
    if len(values) == len(before) and (before != after or score != mutant_score):
        yield GoldenCase(
            item=replace(item, id=_NOT_A_NAME.sub("-", mutant.name), tags={}),
            answer=output,
            cells=FrozenDict(values),
            score=score,
            because=f"tells apart: {mutant.says}",
        )


def _suggest_threshold_case(rubric: Rubric, mutant: Mutant) -> GoldenCases | None:
    if mutant.rubric.pass_mark != rubric.pass_mark:
        for seen in (rubric.pass_mark, mutant.rubric.pass_mark):
            passes = probe_pass_mark(rubric, seen)
            if passes is not probe_pass_mark(mutant.rubric, seen):
                return GoldenCases(pass_mark=(PassCase(seen=seen, passes=passes),))
    changed = {gate.name: gate for gate in mutant.rubric.gates}
    for gate in rubric.gates:
        if changed.get(gate.name, gate) != gate:
            return _suggest_gate_case(rubric, gate, changed[gate.name])
    return None


def _suggest_gate_case(rubric: Rubric, gate: Gate, changed: Gate) -> GoldenCases | None:
    """Return a case with a limit of one gate as the value, if the two gates then differ."""
    baseline = None if gate.baseline is None else Decimal("0.5")
    for seen in (*_list_gate_limits(gate), *_list_gate_limits(changed)):
        before, after = (probe_gate(rubric, version, seen, baseline) for version in (gate, changed))
        warned = before.baseline is not None and before.baseline.warning is not None
        warns = after.baseline is not None and after.baseline.warning is not None
        if (before.outcome, warned) != (after.outcome, warns):
            return GoldenCases(
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


def _list_gate_limits(gate: Gate) -> Iterator[Decimal]:
    yield from (limit for limit in (gate.at_least, gate.at_most) if limit is not None)
    if gate.baseline is not None:
        half = Decimal("0.5")
        for allowance, sign in ((gate.baseline.max_drop, -1), (gate.baseline.suspicious_rise, 1)):
            yield half + sign * allowance.amount * (half if allowance.relative else 1)

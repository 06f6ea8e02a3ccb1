"""Mutants of the axes on how an answer is built and on what was done: lists, choices, order."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes.budget import TokenBudget
from markscheme.mark.axes.structure import Citations, Sections
from markscheme.mark.axes.trace import CallOrder, TraceAxis
from markscheme.prove.mutants import Mutant, MutantKind, build_mutant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.vocabulary import AxisSpec, Rubric

_STRUCTURAL_AXES = (Sections, TokenBudget, Citations, TraceAxis)


def generate_structural_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Yield the mutants of the structural axes, beside those of their numbers."""
    for spec in rubric:
        if isinstance(spec.axis, _STRUCTURAL_AXES):
            yield from _generate_entry_mutants(rubric, spec)
            yield from _generate_choice_mutants(rubric, spec)
            yield from _generate_order_mutants(rubric, spec)


def _generate_entry_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the axis with one entry of each list among its parameters gone."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for at, entry in enumerate(value if isinstance(value, tuple) else ()):
            changed = replace(axis, **{field.name: (*value[:at], *value[at + 1 :])})
            if not any(True for _ in changed.parameter_problems()):
                told = f"`{field.name}` lacks `{entry}`"
                label = f"{field.name}.{at}"
                yield build_mutant(rubric, spec, MutantKind.DROP_ENTRY, (label, told), changed)


def _generate_choice_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the axis with each word among its parameters that has others beside it, changed."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for other in type(value) if isinstance(value, StrEnum) else ():
            if other is not value:
                told = (f"{field.name}={other}", f"`{field.name}` is {other}, not {value}")
                changed = replace(axis, **{field.name: other})
                yield build_mutant(rubric, spec, MutantKind.CHOICE, told, changed)


def _generate_order_mutants(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    axis = spec.axis
    if isinstance(axis, CallOrder):
        told = ("", f"`{axis.then}` must come before `{axis.first}`")
        changed = replace(axis, first=axis.then, then=axis.first)
        yield build_mutant(rubric, spec, MutantKind.ORDER, told, changed)

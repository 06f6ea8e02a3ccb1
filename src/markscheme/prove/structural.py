"""Mutants of the axes on how an answer is built and on what was done: lists, choices, order."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes.budget import TokenBudget
from markscheme.mark.axes.structure import Citations, Sections
from markscheme.mark.axes.trace import CallOrder, TraceAxis
from markscheme.prove.mutants import Kind, Mutant, mutated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.vocabulary import AxisSpec, Rubric

_STRUCTURAL = (Sections, TokenBudget, Citations, TraceAxis)


def structural_mutants(rubric: Rubric) -> Iterator[Mutant]:
    """Yield the mutants of the structural axes, beside those of their numbers."""
    for spec in rubric:
        if isinstance(spec.axis, _STRUCTURAL):
            yield from _entries(rubric, spec)
            yield from _choices(rubric, spec)
            yield from _order(rubric, spec)


def _entries(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the axis with one entry of each list among its parameters gone."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for at, entry in enumerate(value if isinstance(value, tuple) else ()):
            changed = replace(axis, **{field.name: (*value[:at], *value[at + 1 :])})
            if not any(True for _ in changed.parameter_problems()):
                told = f"`{field.name}` lacks `{entry}`"
                label = f"{field.name}.{at}"
                yield mutated(rubric, spec, Kind.DROP_ENTRY, (label, told), changed)


def _choices(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    """Yield the axis with each word among its parameters that has others beside it, changed."""
    axis: Any = spec.axis
    for field in fields(axis):
        value = getattr(axis, field.name)
        for other in type(value) if isinstance(value, StrEnum) else ():
            if other is not value:
                told = (f"{field.name}={other}", f"`{field.name}` is {other}, not {value}")
                changed = replace(axis, **{field.name: other})
                yield mutated(rubric, spec, Kind.CHOICE, told, changed)


def _order(rubric: Rubric, spec: AxisSpec) -> Iterator[Mutant]:
    axis = spec.axis
    if isinstance(axis, CallOrder):
        told = ("", f"`{axis.then}` must come before `{axis.first}`")
        changed = replace(axis, first=axis.then, then=axis.first)
        yield mutated(rubric, spec, Kind.ORDER, told, changed)

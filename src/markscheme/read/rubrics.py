"""Rubrics: from YAML to frozen types, with every mistake of a file told at once."""

from __future__ import annotations

import dataclasses
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from markscheme.errors import DocumentError, shown
from markscheme.exact import plain
from markscheme.frozen import Frozen
from markscheme.read.checks import Refused, checked
from markscheme.read.complaints import Complaints, guess, iterate
from markscheme.read.fingerprints import rubric_fingerprint
from markscheme.read.gates import read_gates
from markscheme.read.models import (
    COMPARISON,
    RATED,
    AxisModel,
    RubricModel,
    axis_model,
    is_rated,
    parameter_types,
)
from markscheme.read.parsing import decoded, parse_tree, read_bytes
from markscheme.read.scales import check_scales, read_rated
from markscheme.read.sources import locate
from markscheme.read.tree import Map, line_of
from markscheme.vocabulary import AxisSpec, Rubric

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterator, Mapping

    from markscheme.read.checks import Path
    from markscheme.verdicts import DecisionTable, VerdictRules
    from markscheme.vocabulary import Axis

_SEED_WEIGHTS = "0.60 + 0.25 + 0.10 + 0.05 in the built-in rubric"


def read_rubric(
    source: str | pathlib.Path, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Read one rubric whose axes are of the given kinds and use the given normalisation steps."""
    path, file = locate(source, "rubrics")
    return parse_rubric(read_bytes(path, file), file, kinds=kinds, steps=steps)


def parse_rubric(
    data: bytes, file: str, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Read a rubric from the bytes of a file, which messages call `file`."""
    rubric = rubric_of(parse_tree(data, file), file, kinds=kinds, steps=steps)
    return dataclasses.replace(rubric, source=decoded(data, file))


def rubric_of(
    tree: Map, file: str, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Return the rubric that a tree holds, or raise all that is wrong with it."""
    complaints = Complaints(tree, file)
    head = cast("RubricModel | None", complaints.check(RubricModel, tree))
    inherited = {
        "normalise": _inherited_steps(tree, steps, complaints),
        "tool_families": _tool_families(tree, complaints),
    }
    axes = _read_axes(tree, inherited, kinds, tuple(steps), complaints)
    scales, notes = read_rated(tree, complaints)
    marked = [entry for _, entry in iterate(tree.get("axes")) if not is_rated(entry)]
    names = [entry.get("name") for entry in marked]
    gates = read_gates(tree, [name for name in names if isinstance(name, str)], complaints)
    rules, table = _for_comparisons(tree, complaints)
    check_scales(scales, rules, complaints)
    _check_unique(tree.get("axes"), ("axes",), "name", complaints)
    _check_unique(tree.get("gates"), ("gates",), "name", complaints)
    _check_unique(_rows(tree), ("decision_table", "rows"), "name", complaints)
    axes = _weighed(tree, axes, complaints)
    if not {"axes", "verdict_rules", "decision_table"} & tree.keys():
        complaints.add(("axes",), "is missing; it is required")
    if complaints.problems or head is None:
        raise DocumentError(complaints.problems)
    return Rubric(
        name=head.rubric,
        version=head.version,
        title=head.title,
        axes=tuple(axes),
        gates=tuple(gates),
        pass_mark=head.pass_mark,
        verdict_rules=rules,
        decision_table=table,
        scales=scales,
        notes=notes,
        fingerprint=rubric_fingerprint(
            head.rubric, head.version, axes, (rules, table, *scales, *notes)
        ),
    )


def _for_comparisons(
    tree: Map, complaints: Complaints
) -> tuple[VerdictRules | None, DecisionTable | None]:
    """Read verdict rules and decision table; most rubrics have none, and start faster for it."""
    if not any(key in tree for key in COMPARISON):
        return None, None
    from markscheme.read.decisions import read_decisions

    return read_decisions(tree, complaints)


def _inherited_steps(
    tree: Map, steps: Collection[str], complaints: Complaints
) -> tuple[str, ...] | None:
    """Return the rubric's normalisation for axes that have none of their own."""
    stated = tree.get("normalise")
    if not isinstance(stated, list):
        return None
    for index, step in enumerate(stated):
        if not isinstance(step, str) or step not in steps:
            message = f"{shown(step)} is no normalisation step; allowed: {', '.join(steps)}"
            complaints.add(("normalise", index), message + guess(step, steps))
    return tuple(map(str, stated))


def _tool_families(tree: Map, complaints: Complaints) -> Frozen | None:
    """Return what the rubric says of families of tools, for the axes that look at calls."""
    if "tool_families" not in tree:
        return None
    from markscheme.read.families import family_problems

    problems = list(family_problems(tree["tool_families"]))
    for path, message in problems:
        complaints.add(("tool_families", *path), message)
    return None if problems else Frozen.of(tree["tool_families"])


def _read_axes(
    tree: Map,
    inherited: Mapping[str, Any],
    kinds: Mapping[str, type[Axis]],
    steps: tuple[str, ...],
    complaints: Complaints,
) -> list[AxisSpec]:
    found: list[AxisSpec] = []
    stated = tree.get("axes")
    for index, entry in enumerate(stated if isinstance(stated, list) else ()):
        path = ("axes", index)
        if is_rated(entry):
            continue
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            _complain_of_kind(entry, path, kinds, complaints)
            continue
        wanted = axis_model(kinds[kind], steps)
        model = complaints.check(wanted, entry, path) or _without_common(wanted, entry)
        if model is not None:
            spec = _made(cast("AxisModel", model), kinds[kind], inherited)
            for field, message in (*spec.axis.parameter_problems(), *_expects_problems(spec)):
                complaints.add((*path, *field.split(".")), message)
            found.append(spec)
    return found


def _without_common(model: type[AxisModel], entry: Any) -> AxisModel | None:
    """Return an axis by its parameters alone, so that these are checked though a name is wrong."""
    if not isinstance(entry, dict):
        return None
    try:
        return checked(model, {**entry, "name": "unnamed", "weight": 0})
    except Refused:
        return None


def _complain_of_kind(
    entry: Any,
    path: tuple[str | int, ...],
    kinds: Collection[str],
    complaints: Complaints,
) -> None:
    """Complain of an axis whose kind is not known, and of what every axis has, but no more."""
    if not isinstance(entry, dict):
        complaints.check(AxisModel, entry, path)
        return
    common = {key: value for key, value in entry.items() if key in AxisModel.own_keys()}
    complaints.check(AxisModel, common, path)
    kind = entry.get("kind")
    if isinstance(kind, str):
        allowed = [*kinds, *RATED]
        message = f"{shown(kind)} is no kind of axis; allowed: {', '.join(allowed)}"
        complaints.add((*path, "kind"), message + guess(kind, allowed))


def _expects_problems(spec: AxisSpec) -> Iterator[tuple[str, str]]:
    """Refuse an axis that would read what every item has under its own name."""
    expects = getattr(spec.axis, "expects", None)
    if expects is not None and (not expects or expects in {"id", "prompt", "tags"}):
        yield "expects", f"{shown(expects)} is no expectation; name a key of the items for it"


def _made(model: AxisModel, axis: type[Axis], inherited: Mapping[str, Any]) -> AxisSpec:
    """Build the axis from its checked entry; what the entry does not say keeps its default."""
    hints = {field.name: field for field in dataclasses.fields(axis)}  # type: ignore[arg-type]
    stated = {
        key.alias: getattr(model, name)
        for name, key in model.own_keys().items()
        if name in model.stated and key.alias in hints
    }
    for name, value in inherited.items():
        if name in hints and value is not None:
            stated.setdefault(name, value)
    types = parameter_types(axis)
    parameters = {
        name: float(value) if types[name] is float else _frozen(value, hints[name].default)
        for name, value in stated.items()
        if value is not None
    }
    weight = model.weight if "weight" in model.stated else Fraction(0)
    return AxisSpec(name=model.name, weight=weight, axis=axis(**parameters))


def _frozen(value: Any, default: Any) -> Any:
    """Freeze lists and mappings, and turn a word into the enum member that the field holds."""
    if isinstance(value, list | dict):
        return Frozen.of(value)
    if isinstance(value, str) and isinstance(default, str) and type(default) is not str:
        return type(default)(value)
    return value


def _rows(tree: Map) -> Any:
    table = tree.get("decision_table")
    return table.get("rows") if isinstance(table, dict) else None


def _check_unique(node: Any, path: Path, key: str, complaints: Complaints) -> None:
    first: dict[str, int] = {}
    for index, entry in iterate(node):
        name = entry.get(key)
        if isinstance(name, str) and name in first:
            line = line_of(complaints.tree, (*path, first[name], key))
            message = f"`{name}` occurs twice, first on line {line}; each {key} may occur once"
            complaints.add((*path, index, key), message)
        elif isinstance(name, str):
            first[name] = index


def _weighed(tree: Map, axes: list[AxisSpec], complaints: Complaints) -> list[AxisSpec]:
    """Return the axes with their weights: the stated ones, or where there is none, equal ones."""
    marked = [(index, entry) for index, entry in iterate(tree.get("axes")) if not is_rated(entry)]
    lacking = [index for index, entry in marked if "weight" not in entry]
    if axes and len(lacking) == len(marked):
        return [dataclasses.replace(spec, weight=Fraction(1, len(axes))) for spec in axes]
    for index in lacking:
        told = "is missing; give every axis a weight, or none: then all count alike"
        complaints.add(("axes", index, "weight"), told)
    _check_weights(tree, complaints)
    return axes


def _check_weights(tree: Map, complaints: Complaints) -> None:
    """Blame the weight at which the sum first leaves 1, or the last one where it falls short."""
    stated = tree.get("axes")
    entries = list(iterate(stated))
    weights: list[tuple[int, Any]] = [
        (i, entry.get("weight")) for i, entry in entries if not is_rated(entry)
    ]
    if not weights or len(entries) != len(stated or ()):
        return
    if not all(isinstance(w, int | Decimal) and not isinstance(w, bool) for _, w in weights):
        return
    if not all(0 <= weight <= 1 for _, weight in weights):
        return  # complained of already; a sum with it in would blame another axis
    total, blamed = Fraction(0), weights[-1]
    for index, weight in weights:
        total += Fraction(weight)
        if total > 1 and blamed[0] == weights[-1][0]:
            blamed = (index, weight)
    path = ("axes", blamed[0], "weight")
    if total != 1:
        blame = shown(blamed[1]).removeprefix("the number ")
        message = f"{blame} makes the weights sum to {_exactly(total)}; they must sum to exactly 1"
        complaints.add(path, f"{message} ({_SEED_WEIGHTS})")


def _exactly(total: Fraction) -> str:
    """Return the sum as a decimal, all of it, or on which side of 1 it lies where that is long."""
    exact = Context(prec=50).divide(Decimal(total.numerator), Decimal(total.denominator))
    if Fraction(exact) == total:
        return plain(exact)
    return "a little more than 1" if total > 1 else "a little less than 1"

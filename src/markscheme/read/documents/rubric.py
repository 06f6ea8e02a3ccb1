"""Axes that people answer: scales with their anchors, and notes. Nothing marks them.

Rubrics: from YAML to frozen types, with every mistake of a file told at once.
"""

from __future__ import annotations

import dataclasses
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from markscheme.read.documents.fingerprint import compute_rubric_fingerprint
from markscheme.read.documents.gates import read_gates
from markscheme.read.documents.models import (
    COMPARISON_KEYS,
    RATED_MODELS,
    AxisModel,
    NoteModel,
    RubricModel,
    ScaleModel,
    build_axis_model,
    get_parameter_types,
    is_rated,
)
from markscheme.read.documents.sources import locate_document
from markscheme.read.documents.validation import (
    ModelValidationError,
    ProblemCollector,
    iterate_mappings,
    suggest_match,
    validate_model,
)
from markscheme.read.documents.yaml import (
    YamlMapping,
    decode_document,
    find_line,
    parse_tree,
    read_document_bytes,
)
from markscheme.vocabulary import (
    AxisSpec,
    DocumentError,
    FrozenDict,
    Rubric,
    format_plain,
    format_value,
)

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from markscheme.read.documents.validation import FieldPath
    from markscheme.vocabulary import Axis, DecisionTable, NoteAxis, ScaleAxis, VerdictRules


def read_rated_axes(
    tree: YamlMapping, complaints: ProblemCollector
) -> tuple[tuple[ScaleAxis, ...], tuple[NoteAxis, ...]]:
    """Read the scales and the notes of a rubric; complain of all that is wrong with them."""
    scales: list[ScaleAxis] = []
    notes: list[NoteAxis] = []
    for index, entry in iterate_mappings(tree.get("axes")):
        model = RATED_MODELS.get(str(entry.get("kind")))
        found = complaints.validate_node(model, entry, ("axes", index)) if model else None
        if isinstance(found, ScaleModel):
            scale = _build_scale_axis(found)
            scales.append(scale)
            for told in _find_anchor_problems(scale):
                complaints.add_problem(("axes", index, "anchors"), told)
        elif isinstance(found, NoteModel):
            notes.append(_build_note_axis(found))
    return tuple(scales), tuple(notes)


def _build_note_axis(model: NoteModel) -> NoteAxis:
    from markscheme.vocabulary import NoteAxis

    return NoteAxis(name=model.name, title=model.title, question=model.question)


def _build_scale_axis(model: ScaleModel) -> ScaleAxis:
    from markscheme.vocabulary import ScaleAxis

    anchors = sorted((int(score), text) for score, text in model.anchors.items())
    return ScaleAxis(
        name=model.name, title=model.title, question=model.question, anchors=FrozenDict(anchors)
    )


def _find_anchor_problems(scale: ScaleAxis) -> Iterator[str]:
    between = range(scale.lowest, scale.highest + 1)
    missing = [str(score) for score in between if score not in scale.anchors]
    if missing:
        told = f"every whole number from {scale.lowest} to {scale.highest} needs an anchor"
        yield f"lacks {', '.join(missing)}; {told}"


def check_scales(
    scales: Sequence[ScaleAxis], rules: VerdictRules | None, complaints: ProblemCollector
) -> None:
    """Complain where the rules are made for other averages than those of the scales."""
    if not scales or rules is None:
        return
    stated = rules.scores
    for key, told, found in (
        ("axes", stated.axes, len(scales)),
        ("lowest", stated.lowest, min(scale.lowest for scale in scales)),
        ("highest", stated.highest, max(scale.highest for scale in scales)),
    ):
        if told != found:
            message = f"{told} is not what the axes of kind `scale` give, which is {found}"
            complaints.add_problem(("verdict_rules", "scores", key), message)


_EXAMPLE_WEIGHTS = "0.60 + 0.25 + 0.10 + 0.05 in the built-in rubric"


def read_rubric(
    source: str | pathlib.Path, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Read one rubric whose axes are of the given kinds and use the given normalisation steps."""
    path, file = locate_document(source, "rubrics")
    return parse_rubric(read_document_bytes(path, file), file, kinds=kinds, steps=steps)


def parse_rubric(
    data: bytes, file: str, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Read a rubric from the bytes of a file, which messages call `file`."""
    rubric = parse_rubric_tree(parse_tree(data, file), file, kinds=kinds, steps=steps)
    return dataclasses.replace(rubric, source=decode_document(data, file))


def parse_rubric_tree(
    tree: YamlMapping, file: str, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Return the rubric that a tree holds, or raise all that is wrong with it."""
    complaints = ProblemCollector(tree, file)
    head = cast("RubricModel | None", complaints.validate_node(RubricModel, tree))
    inherited = {
        "normalise": _read_inherited_steps(tree, steps, complaints),
        "tool_families": _read_tool_families(tree, complaints),
    }
    axes = _read_axes(tree, inherited, kinds, tuple(steps), complaints)
    scales, notes = read_rated_axes(tree, complaints)
    marked = [entry for _, entry in iterate_mappings(tree.get("axes")) if not is_rated(entry)]
    names = [entry.get("name") for entry in marked]
    gates = read_gates(tree, [name for name in names if isinstance(name, str)], complaints)
    rules, table = _read_comparison_rules(tree, complaints)
    check_scales(scales, rules, complaints)
    _check_unique_names(tree.get("axes"), ("axes",), "name", complaints)
    _check_unique_names(tree.get("gates"), ("gates",), "name", complaints)
    _check_unique_names(_get_decision_rows(tree), ("decision_table", "rows"), "name", complaints)
    axes = _assign_weights(tree, axes, complaints)
    if not {"axes", "verdict_rules", "decision_table"} & tree.keys():
        complaints.add_problem(("axes",), "is missing; it is required")
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
        fingerprint=compute_rubric_fingerprint(
            head.rubric, head.version, axes, (rules, table, *scales, *notes)
        ),
    )


def _read_comparison_rules(
    tree: YamlMapping, complaints: ProblemCollector
) -> tuple[VerdictRules | None, DecisionTable | None]:
    """Read verdict rules and decision table; most rubrics have none, and start faster for it."""
    if not any(key in tree for key in COMPARISON_KEYS):
        return None, None
    from markscheme.read.documents.decisions import read_decisions

    return read_decisions(tree, complaints)


def _read_inherited_steps(
    tree: YamlMapping, steps: Collection[str], complaints: ProblemCollector
) -> tuple[str, ...] | None:
    """Return the rubric's normalisation for axes that have none of their own."""
    stated = tree.get("normalise")
    if not isinstance(stated, list):
        return None
    for index, step in enumerate(stated):
        if not isinstance(step, str) or step not in steps:
            message = f"{format_value(step)} is no normalisation step; allowed: {', '.join(steps)}"
            complaints.add_problem(("normalise", index), message + suggest_match(step, steps))
    return tuple(map(str, stated))


def _read_tool_families(tree: YamlMapping, complaints: ProblemCollector) -> FrozenDict | None:
    """Return what the rubric says of families of tools, for the axes that look at calls."""
    if "tool_families" not in tree:
        return None
    from markscheme.read.tools import find_family_problems

    problems = list(find_family_problems(tree["tool_families"]))
    for path, message in problems:
        complaints.add_problem(("tool_families", *path), message)
    return None if problems else FrozenDict.freeze(tree["tool_families"])


def _read_axes(
    tree: YamlMapping,
    inherited: Mapping[str, Any],
    kinds: Mapping[str, type[Axis]],
    steps: tuple[str, ...],
    complaints: ProblemCollector,
) -> list[AxisSpec]:
    found: list[AxisSpec] = []
    stated = tree.get("axes")
    for index, entry in enumerate(stated if isinstance(stated, list) else ()):
        path = ("axes", index)
        if is_rated(entry):
            continue
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            _report_unknown_kind(entry, path, kinds, complaints)
            continue
        wanted = build_axis_model(kinds[kind], steps)
        model = complaints.validate_node(wanted, entry, path) or _validate_parameters_only(
            wanted, entry
        )
        if model is not None:
            spec = _build_axis_spec(cast("AxisModel", model), kinds[kind], inherited)
            for field, message in (*spec.axis.parameter_problems(), *_find_expects_problems(spec)):
                complaints.add_problem((*path, *field.split(".")), message)
            found.append(spec)
    return found


def _validate_parameters_only(model: type[AxisModel], entry: Any) -> AxisModel | None:
    """Return an axis by its parameters alone, so that these are checked though a name is wrong."""
    if not isinstance(entry, dict):
        return None
    try:
        return validate_model(model, {**entry, "name": "unnamed", "weight": 0})
    except ModelValidationError:
        return None


def _report_unknown_kind(
    entry: Any,
    path: tuple[str | int, ...],
    kinds: Collection[str],
    complaints: ProblemCollector,
) -> None:
    """Complain of an axis whose kind is not known, and of what every axis has, but no more."""
    if not isinstance(entry, dict):
        complaints.validate_node(AxisModel, entry, path)
        return
    common = {key: value for key, value in entry.items() if key in AxisModel.get_keys()}
    complaints.validate_node(AxisModel, common, path)
    kind = entry.get("kind")
    if isinstance(kind, str):
        allowed = [*kinds, *RATED_MODELS]
        message = f"{format_value(kind)} is no kind of axis; allowed: {', '.join(allowed)}"
        complaints.add_problem((*path, "kind"), message + suggest_match(kind, allowed))


def _find_expects_problems(spec: AxisSpec) -> Iterator[tuple[str, str]]:
    """Refuse an axis that would read what every item has under its own name."""
    expects = getattr(spec.axis, "expects", None)
    if expects is not None and (not expects or expects in {"id", "prompt", "tags"}):
        yield (
            "expects",
            f"{format_value(expects)} is no expectation; name a key of the items for it",
        )


def _build_axis_spec(model: AxisModel, axis: type[Axis], inherited: Mapping[str, Any]) -> AxisSpec:
    """Build the axis from its checked entry; what the entry does not say keeps its default."""
    hints = {field.name: field for field in dataclasses.fields(axis)}  # type: ignore[arg-type]
    stated = {
        key.alias: getattr(model, name)
        for name, key in model.get_keys().items()
        if name in model.stated_keys and key.alias in hints
    }
    for name, value in inherited.items():
        if name in hints and value is not None:
            stated.setdefault(name, value)
    types = get_parameter_types(axis)
    parameters = {
        name: float(value)
        if types[name] is float
        else _freeze_parameter(value, hints[name].default)
        for name, value in stated.items()
        if value is not None
    }
    weight = model.weight if "weight" in model.stated_keys else Fraction(0)
    return AxisSpec(name=model.name, weight=weight, axis=axis(**parameters))


def _freeze_parameter(value: Any, default: Any) -> Any:
    """Freeze lists and mappings, and turn a word into the enum member that the field holds."""
    if isinstance(value, list | dict):
        return FrozenDict.freeze(value)
    if isinstance(value, str) and isinstance(default, str) and type(default) is not str:
        return type(default)(value)
    return value


def _get_decision_rows(tree: YamlMapping) -> Any:
    table = tree.get("decision_table")
    return table.get("rows") if isinstance(table, dict) else None


def _check_unique_names(node: Any, path: FieldPath, key: str, complaints: ProblemCollector) -> None:
    first: dict[str, int] = {}
    for index, entry in iterate_mappings(node):
        name = entry.get(key)
        if isinstance(name, str) and name in first:
            line = find_line(complaints.tree, (*path, first[name], key))
            message = f"`{name}` occurs twice, first on line {line}; each {key} may occur once"
            complaints.add_problem((*path, index, key), message)
        elif isinstance(name, str):
            first[name] = index


def _assign_weights(
    tree: YamlMapping, axes: list[AxisSpec], complaints: ProblemCollector
) -> list[AxisSpec]:
    """Return the axes with their weights: the stated ones, or where there is none, equal ones."""
    marked = [
        (index, entry) for index, entry in iterate_mappings(tree.get("axes")) if not is_rated(entry)
    ]
    lacking = [index for index, entry in marked if "weight" not in entry]
    if axes and len(lacking) == len(marked):
        return [dataclasses.replace(spec, weight=Fraction(1, len(axes))) for spec in axes]
    for index in lacking:
        told = "is missing; give every axis a weight, or none: then all count alike"
        complaints.add_problem(("axes", index, "weight"), told)
    _check_weight_sum(tree, complaints)
    return axes


def _check_weight_sum(tree: YamlMapping, complaints: ProblemCollector) -> None:
    """Blame the weight at which the sum first leaves 1, or the last one where it falls short."""
    stated = tree.get("axes")
    entries = list(iterate_mappings(stated))
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
        blame = format_value(blamed[1]).removeprefix("the number ")
        message = f"{blame} makes the weights sum to {_format_weight_sum(total)}; they must sum to exactly 1"
        complaints.add_problem(path, f"{message} ({_EXAMPLE_WEIGHTS})")


def _format_weight_sum(total: Fraction) -> str:
    """Return the sum as a decimal, all of it, or on which side of 1 it lies where that is long."""
    exact = Context(prec=50).divide(Decimal(total.numerator), Decimal(total.denominator))
    if Fraction(exact) == total:
        return format_plain(exact)
    return "a little more than 1" if total > 1 else "a little less than 1"

"""Read rubrics: a YAML document becomes a `Rubric`, or one error with every mistake.

`parse_rubric_tree` is the whole of it, part by part: head, axes, scales and notes, gates, verdict
rules and decision table, weights. Gates are in `gates`, the rules of a comparison in `decisions`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from msgspec import structs

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
    is_exam_tree,
    is_rated,
)
from markscheme.read.documents.sources import locate_document
from markscheme.read.documents.validation import (
    ModelValidationError,
    ProblemCollector,
    describe_unknown_word,
    iterate_mappings,
    validate_model,
)
from markscheme.read.documents.yaml import (
    FieldPath,
    YamlMapping,
    decode_document,
    find_line,
    parse_tree,
    read_document_bytes,
)
from markscheme.vocabulary import (
    Axis,
    AxisSpec,
    DecisionRequirements,
    DecisionTable,
    DocumentError,
    FrozenDict,
    NoteAxis,
    Problem,
    Rubric,
    ScaleAxis,
    VerdictRules,
    format_plain,
    format_value,
)

_MAX_SHOWN_WEIGHTS = 12
_ITEM_KEYS = {"id", "prompt", "tags"}


def read_rubric(
    source: str | Path, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Read a rubric by path or built-in name.

    `kinds` are the axis kinds and `steps` the normalisation steps that it may name.
    """
    path, file = locate_document(source, "rubrics")
    return parse_rubric(read_document_bytes(path, file), file, kinds=kinds, steps=steps)


def parse_rubric(
    data: bytes, file: str, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Parse a rubric from the bytes of a file, which messages call `file`."""
    rubric = parse_rubric_tree(parse_tree(data, file), file, kinds=kinds, steps=steps)
    return dataclasses.replace(rubric, source=decode_document(data, file))


def parse_rubric_tree(
    tree: YamlMapping, file: str, *, kinds: Mapping[str, type[Axis]], steps: Collection[str]
) -> Rubric:
    """Build the rubric in a tree.

    Raises:
        DocumentError: something is wrong; the error holds every problem.
    """
    if is_exam_tree(tree):
        message = "this is an exam, not a rubric; give it with -e (--exam), and a rubric with -r"
        raise DocumentError([Problem(file=file, line=1, field="", message=message)])
    collector = ProblemCollector(tree, file)
    head = cast("RubricModel | None", collector.validate_node(RubricModel, tree))
    inherited = {
        "normalise": _read_inherited_steps(tree, steps, collector),
        "tool_families": _read_tool_families(tree, collector),
    }
    axes = _read_axes(tree, inherited, kinds, tuple(steps), collector)
    scales, notes = _read_rated_axes(tree, collector)
    names = [entry.get("name") for _, entry in _iterate_scored_entries(tree)]
    gates = read_gates(tree, [name for name in names if isinstance(name, str)], collector)
    rules, table, requirements = _read_comparison_rules(tree, collector)
    _check_scales(scales, rules, collector)
    _check_unique_names(tree.get("axes"), ("axes",), collector)
    _check_unique_names(tree.get("gates"), ("gates",), collector)
    decision_table = tree.get("decision_table")
    if isinstance(decision_table, dict):
        rows, further = decision_table.get("rows"), decision_table.get("follow_up")
        _check_unique_names(rows, ("decision_table", "rows"), collector)
        if isinstance(further, dict):
            path = ("decision_table", "follow_up", "rows")
            _check_unique_names(further.get("rows"), path, collector)
    axes = _assign_weights(tree, axes, collector)
    if not {"axes", "verdict_rules", "decision_table"} & tree.keys():
        collector.add_problem(("axes",), "is missing; it is required")
    if collector.problems or head is None:
        raise DocumentError(collector.problems)
    return Rubric(
        name=head.rubric,
        version=head.version,
        title=head.title,
        axes=tuple(axes),
        gates=tuple(gates),
        pass_mark=head.pass_mark,
        verdict_rules=rules,
        decision_table=table,
        requirements=requirements,
        scales=scales,
        notes=notes,
        fingerprint=compute_rubric_fingerprint(
            head.rubric, head.version, axes, (rules, table, *scales, *notes, requirements)
        ),
    )


def _iterate_scored_entries(tree: YamlMapping) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of `axes` that are scored by code, with their index."""
    entries = iterate_mappings(tree.get("axes"))
    return ((index, entry) for index, entry in entries if not is_rated(entry))


# Values that axes inherit from the rubric.


def _read_inherited_steps(
    tree: YamlMapping, steps: Collection[str], collector: ProblemCollector
) -> tuple[str, ...] | None:
    """Return the rubric's normalisation, for axes that state none of their own."""
    stated = tree.get("normalise")
    if not isinstance(stated, list):
        return None
    for index, step in enumerate(stated):
        if not isinstance(step, str) or step not in steps:
            message = describe_unknown_word(step, "normalisation step", steps)
            collector.add_problem(("normalise", index), message)
    return tuple(map(str, stated))


def _read_tool_families(tree: YamlMapping, collector: ProblemCollector) -> FrozenDict | None:
    """Return the rubric's families of tools, for axes that look at tool calls."""
    if "tool_families" not in tree:
        return None
    # Few rubrics have the key; the others start faster without this import.
    from markscheme.read.tools import find_family_problems

    problems = list(find_family_problems(tree["tool_families"]))
    for path, message in problems:
        collector.add_problem(("tool_families", *path), message)
    return None if problems else FrozenDict.freeze(tree["tool_families"])


# Axes that code scores.


def _read_axes(
    tree: YamlMapping,
    inherited: Mapping[str, Any],
    kinds: Mapping[str, type[Axis]],
    steps: tuple[str, ...],
    collector: ProblemCollector,
) -> list[AxisSpec]:
    specs: list[AxisSpec] = []
    stated = tree.get("axes")
    for index, entry in enumerate(stated if isinstance(stated, list) else ()):
        path = ("axes", index)
        if is_rated(entry):
            continue
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            _report_unknown_kind(entry, path, kinds, collector)
            continue
        axis_model = build_axis_model(kinds[kind], steps)
        model = collector.validate_node(axis_model, entry, path)
        model = model or _validate_parameters_only(axis_model, entry)
        if model is not None:
            spec = _build_axis_spec(cast("AxisModel", model), kinds[kind], inherited)
            for field, message in (*spec.axis.parameter_problems(), *_find_expects_problems(spec)):
                collector.add_problem((*path, *field.split(".")), message)
            specs.append(spec)
    return specs


def _validate_parameters_only(model: type[AxisModel], entry: Any) -> AxisModel | None:
    """Return the model of an axis whose name or weight is wrong, to check its parameters too."""
    if not isinstance(entry, dict):
        return None
    try:
        return validate_model(model, {**entry, "name": "unnamed", "weight": 0})
    except ModelValidationError:
        return None


def _report_unknown_kind(
    entry: Any, path: FieldPath, kinds: Collection[str], collector: ProblemCollector
) -> None:
    """Report an unknown kind of axis, and problems with the keys that every axis has."""
    if not isinstance(entry, dict):
        collector.validate_node(AxisModel, entry, path)
        return
    common = {key: value for key, value in entry.items() if key in AxisModel.get_keys()}
    collector.validate_node(AxisModel, common, path)
    kind = entry.get("kind")
    if isinstance(kind, str):
        message = describe_unknown_word(kind, "kind of axis", [*kinds, *RATED_MODELS])
        collector.add_problem((*path, "kind"), message)


def _find_expects_problems(spec: AxisSpec) -> Iterator[tuple[str, str]]:
    """Refuse an axis whose expectation key is one that every item has."""
    expects = getattr(spec.axis, "expects", None)
    if expects is not None and (not expects or expects in _ITEM_KEYS):
        message = f"{format_value(expects)} is no expectation; name a key of the items for it"
        yield "expects", message


def _build_axis_spec(model: AxisModel, axis: type[Axis], inherited: Mapping[str, Any]) -> AxisSpec:
    """Build an axis from its validated entry. Parameters that are not stated keep their default."""
    fields = {field.name: field for field in dataclasses.fields(axis)}  # type: ignore[arg-type]
    stated = {
        key.alias: getattr(model, name)
        for name, key in model.get_keys().items()
        if name in model.stated_keys and key.alias in fields
    }
    for name, value in inherited.items():
        if name in fields and value is not None:
            stated.setdefault(name, value)
    types = get_parameter_types(axis)
    parameters = {
        name: float(value)
        if types[name] is float
        else _freeze_parameter(value, fields[name].default)
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


# Axes that people rate, and the rules of a comparison.


def _read_rated_axes(
    tree: YamlMapping, collector: ProblemCollector
) -> tuple[tuple[ScaleAxis, ...], tuple[NoteAxis, ...]]:
    """Return the scales and the notes of a rubric."""
    scales: list[ScaleAxis] = []
    notes: list[NoteAxis] = []
    for index, entry in iterate_mappings(tree.get("axes")):
        model_class = RATED_MODELS.get(str(entry.get("kind")))
        if model_class is None:
            continue
        model = collector.validate_node(model_class, entry, ("axes", index))
        if isinstance(model, ScaleModel):
            anchors = sorted((int(score), text) for score, text in model.anchors.items())
            scale = ScaleAxis(
                name=model.name,
                title=model.title,
                question=model.question,
                anchors=FrozenDict(anchors),
            )
            scales.append(scale)
            for message in _find_anchor_problems(scale):
                collector.add_problem(("axes", index, "anchors"), message)
        elif isinstance(model, NoteModel):
            notes.append(NoteAxis(name=model.name, title=model.title, question=model.question))
    return tuple(scales), tuple(notes)


def _find_anchor_problems(scale: ScaleAxis) -> Iterator[str]:
    scores = range(scale.lowest, scale.highest + 1)
    missing = [str(score) for score in scores if score not in scale.anchors]
    if missing:
        rule = f"every whole number from {scale.lowest} to {scale.highest} needs an anchor"
        yield f"lacks {', '.join(missing)}; {rule}"


def _read_comparison_rules(
    tree: YamlMapping, collector: ProblemCollector
) -> tuple[VerdictRules | None, DecisionTable | None, DecisionRequirements | None]:
    """Return the verdict rules, decision table and requirements of a rubric, if it has any."""
    if not any(key in tree for key in COMPARISON_KEYS):
        return None, None, None
    # Few rubrics have them; the others start faster without this import.
    from markscheme.read.documents.decisions import read_decisions, read_requirements

    return *read_decisions(tree, collector), read_requirements(tree, collector)


def _check_scales(
    scales: Sequence[ScaleAxis], rules: VerdictRules | None, collector: ProblemCollector
) -> None:
    """Report verdict rules that state another range of scores than the scales have."""
    if not scales or rules is None:
        return
    for key, stated, actual in (
        ("axes", rules.scores.axes, len(scales)),
        ("lowest", rules.scores.lowest, min(scale.lowest for scale in scales)),
        ("highest", rules.scores.highest, max(scale.highest for scale in scales)),
    ):
        if stated != actual:
            message = f"{stated} is not what the axes of kind `scale` give, which is {actual}"
            collector.add_problem(("verdict_rules", "scores", key), message)


# Checks that look at more than one entry.


def _check_unique_names(node: Any, path: FieldPath, collector: ProblemCollector) -> None:
    first: dict[str, int] = {}
    for index, entry in iterate_mappings(node):
        name = entry.get("name")
        if isinstance(name, str) and name in first:
            line = find_line(collector.tree, (*path, first[name], "name"))
            message = f"`{name}` occurs twice, first on line {line}; each name may occur once"
            collector.add_problem((*path, index, "name"), message)
        elif isinstance(name, str):
            first[name] = index


def _assign_weights(
    tree: YamlMapping, axes: list[AxisSpec], collector: ProblemCollector
) -> list[AxisSpec]:
    """Return the axes with their stated weights, or with equal ones if none is stated."""
    entries = list(_iterate_scored_entries(tree))
    unweighted = [index for index, entry in entries if "weight" not in entry]
    if axes and len(unweighted) == len(entries):
        return [structs.replace(spec, weight=Fraction(1, len(axes))) for spec in axes]
    for index in unweighted:
        message = "is missing; give every axis a weight, or none: then all count alike"
        collector.add_problem(("axes", index, "weight"), message)
    _check_weight_sum(tree, collector)
    return axes


def _check_weight_sum(tree: YamlMapping, collector: ProblemCollector) -> None:
    """Report weights that do not sum to 1.

    The problem is placed at the weight with which the sum first exceeds 1, or at the last weight
    if the sum is too small.
    """
    stated = tree.get("axes") or ()
    weights: list[tuple[int, Any]] = [
        (index, entry.get("weight")) for index, entry in _iterate_scored_entries(tree)
    ]
    if not weights or not all(isinstance(entry, dict) for entry in stated):
        return
    if not all(isinstance(w, int | Decimal) and not isinstance(w, bool) for _, w in weights):
        return
    if not all(0 <= weight <= 1 for _, weight in weights):
        # Such a weight was reported already, and a sum that includes it would blame another axis.
        return
    total, blamed = Fraction(0), weights[-1]
    for index, weight in weights:
        total += Fraction(weight)
        if total > 1 and blamed[0] == weights[-1][0]:
            blamed = (index, weight)
    if total != 1:
        index, weight = blamed
        shown = [_format_weight(weight) for _, weight in weights[:_MAX_SHOWN_WEIGHTS]]
        shown += ["…"] * (len(weights) > len(shown))
        message = (
            f"{_format_weight(weight)} makes the weights sum to {_format_weight_sum(total)}"
            f" ({' + '.join(shown)}); they must sum to exactly 1"
        )
        collector.add_problem(("axes", index, "weight"), message)


def _format_weight(weight: Any) -> str:
    return format_value(weight).removeprefix("the number ")


def _format_weight_sum(total: Fraction) -> str:
    """Return the sum with all its digits, or on which side of 1 it is if there are too many."""
    exact = Context(prec=50).divide(Decimal(total.numerator), Decimal(total.denominator))
    if Fraction(exact) == total:
        return format_plain(exact)
    return "a little more than 1" if total > 1 else "a little less than 1"

"""Read rubrics: a YAML document becomes a `Rubric`, or one error with every mistake.

`parse_rubric_tree` is the whole of it, part by part: head, axes, gates, verdict rules and decision
table, weights. Scales, choices and notes are in `rated_axes`, `weight` and `points` in `weights`,
gates in `gates`, the rules of a comparison in `decisions`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from msgspec import structs

from markscheme.read.documents.axis_entries import build_axis
from markscheme.read.documents.fingerprint import compute_rubric_fingerprint
from markscheme.read.documents.gates import read_gates
from markscheme.read.documents.models import (
    COMPARISON_KEYS,
    RATED_MODELS,
    AxisModel,
    RubricModel,
    build_axis_model,
    is_exam_tree,
    is_rated,
)
from markscheme.read.documents.rated_axes import (
    RatedEntries,
    RatedEntry,
    check_scales,
    read_rated_axes,
)
from markscheme.read.documents.sources import locate_document
from markscheme.read.documents.validation import (
    ModelValidationError,
    ProblemCollector,
    describe_unknown_word,
    iterate_mappings,
    validate_model,
)
from markscheme.read.documents.weights import assign_weights, iterate_scored_entries
from markscheme.read.documents.yaml import (
    FieldPath,
    YamlMapping,
    decode_document,
    find_line,
    parse_tree,
    read_document_bytes,
)
from markscheme.vocabulary import (
    AxisKinds,
    AxisSpec,
    ChoiceAxis,
    DecisionRequirements,
    DecisionTable,
    DocumentError,
    FrozenDict,
    Problem,
    Rubric,
    ScaleAxis,
    VerdictRules,
    format_value,
)

_COMMON_KEYS = frozenset(AxisModel.get_keys())
_ITEM_KEYS = {"id", "prompt", "tags"}


def read_rubric(source: str | Path, *, kinds: AxisKinds, steps: Collection[str]) -> Rubric:
    """Read a rubric by path or built-in name.

    `kinds` are the axis kinds and `steps` the normalisation steps that it may name.
    """
    path, file = locate_document(source, "rubrics")
    return parse_rubric(read_document_bytes(path, file), file, kinds=kinds, steps=steps)


def parse_rubric(data: bytes, file: str, *, kinds: AxisKinds, steps: Collection[str]) -> Rubric:
    """Parse a rubric from the bytes of a file, which messages call `file`."""
    rubric = parse_rubric_tree(parse_tree(data, file), file, kinds=kinds, steps=steps)
    return dataclasses.replace(rubric, source=decode_document(data, file))


def parse_rubric_tree(
    tree: YamlMapping, file: str, *, kinds: AxisKinds, steps: Collection[str]
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
    rated = read_rated_axes(tree, collector)
    axes = _read_axes(tree, rated, inherited, kinds, tuple(steps), collector)
    names = [entry.get("name") for _, entry in iterate_scored_entries(tree)]
    gates = read_gates(tree, [name for name in names if isinstance(name, str)], collector)
    rules, table, requirements = _read_comparison_rules(tree, collector)
    check_scales(rated.scales, rules, collector)
    _check_unique_names(tree.get("axes"), ("axes",), collector)
    _check_unique_names(tree.get("gates"), ("gates",), collector)
    decision_table = tree.get("decision_table")
    if isinstance(decision_table, dict):
        rows, further = decision_table.get("rows"), decision_table.get("follow_up")
        _check_unique_names(rows, ("decision_table", "rows"), collector)
        if isinstance(further, dict):
            path = ("decision_table", "follow_up", "rows")
            _check_unique_names(further.get("rows"), path, collector)
    weighed = assign_weights(tree, axes, collector)
    if not {"axes", "verdict_rules", "decision_table"} & tree.keys():
        collector.add_problem(("axes",), "is missing; it is required")
    if collector.problems or head is None:
        raise DocumentError(collector.problems)
    comparison = (rules, table, *rated.iterate_hashed(), requirements)
    return Rubric(
        name=head.rubric,
        version=head.version,
        title=head.title,
        axes=tuple(weighed),
        gates=tuple(gates),
        pass_mark=head.pass_mark,
        verdict_rules=rules,
        decision_table=table,
        requirements=requirements,
        scales=rated.scales,
        choices=rated.choices,
        notes=rated.notes,
        fingerprint=compute_rubric_fingerprint(head.rubric, head.version, weighed, comparison),
    )


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
    rated: RatedEntries,
    inherited: Mapping[str, Any],
    kinds: AxisKinds,
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
        if isinstance(kind, str) and kind in RATED_MODELS and kind in kinds:
            specs += _build_rated_spec(entry, rated.by_index.get(index), kinds)
            continue
        if not isinstance(kind, str) or kind not in kinds:
            _report_unknown_kind(entry, path, kinds, collector)
            continue
        axis_model = build_axis_model(kinds[kind], steps)
        model = collector.validate_node(axis_model, entry, path)
        model = model or _validate_parameters_only(axis_model, entry)
        if model is not None:
            spec = _build_axis_spec(cast("AxisModel", model), kind, kinds, inherited)
            for field, message in (*spec.axis.parameter_problems(), *_find_expects_problems(spec)):
                collector.add_problem((*path, *field.split(".")), message)
            specs.append(spec)
    return specs


def _validate_parameters_only(model: type[AxisModel], entry: Any) -> AxisModel | None:
    """Return the model of an axis whose common keys are wrong, to check its parameters too."""
    if not isinstance(entry, dict):
        return None
    parameters = {key: value for key, value in entry.items() if key not in _COMMON_KEYS}
    try:
        return validate_model(model, {**parameters, "kind": entry["kind"], "name": "unnamed"})
    except ModelValidationError:
        return None


def _report_unknown_kind(
    entry: Any, path: FieldPath, kinds: Iterable[str], collector: ProblemCollector
) -> None:
    """Report an unknown kind of axis, and problems with the keys that every axis has."""
    if not isinstance(entry, dict):
        collector.validate_node(AxisModel, entry, path)
        return
    common = {key: value for key, value in entry.items() if key in AxisModel.get_keys()}
    collector.validate_node(AxisModel, common, path)
    kind = entry.get("kind")
    if isinstance(kind, str):
        message = describe_unknown_word(
            kind, "kind of axis", list(dict.fromkeys([*kinds, *RATED_MODELS]))
        )
        message += "; a kind of a plugin needs its package, or --plugin FILE"
        collector.add_problem((*path, "kind"), message)


def _find_expects_problems(spec: AxisSpec) -> Iterator[tuple[str, str]]:
    """Refuse an axis whose expectation key is one that every item has."""
    expects = getattr(spec.axis, "expects", None)
    if expects is not None and (not expects or expects in _ITEM_KEYS):
        message = f"{format_value(expects)} is no expectation; name a key of the items for it"
        yield "expects", message


def _build_axis_spec(
    model: AxisModel, kind: str, kinds: AxisKinds, inherited: Mapping[str, Any]
) -> AxisSpec:
    """Build the axis of a validated entry. Its weight may still follow from its points."""
    weighted = "weight" in model.stated_keys
    return AxisSpec(
        name=model.name,
        title=model.title,
        weight=model.weight if weighted else Fraction(0),
        points=model.points if "points" in model.stated_keys else None,
        axis=build_axis(model, kinds[kind], inherited),
        distribution=kinds.get_distribution(kind),
    )


def _build_rated_spec(
    entry: Mapping[str, Any], rated: RatedEntry | None, kinds: AxisKinds
) -> Iterator[AxisSpec]:
    """Yield the scored axis of a scale or a choice with a weight, if its entry is valid."""
    if not isinstance(rated, ScaleAxis | ChoiceAxis):
        return
    axis = kinds[entry["kind"]]
    names = {field.name for field in dataclasses.fields(axis)}  # type: ignore[arg-type]
    parameters = {key: value for key, value in structs.asdict(rated).items() if key in names}
    yield AxisSpec(
        name=rated.name,
        title=rated.title,
        weight=Decimal(entry.get("weight", 0)),
        points=Decimal(entry["points"]) if "points" in entry else None,
        axis=axis(**parameters),
    )


# The rules of a comparison.


def _read_comparison_rules(
    tree: YamlMapping, collector: ProblemCollector
) -> tuple[VerdictRules | None, DecisionTable | None, DecisionRequirements | None]:
    """Return the verdict rules, decision table and requirements of a rubric, if it has any."""
    if not any(key in tree for key in COMPARISON_KEYS):
        return None, None, None
    # Few rubrics have them; the others start faster without this import.
    from markscheme.read.documents.decisions import read_decisions, read_requirements

    return *read_decisions(tree, collector), read_requirements(tree, collector)


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

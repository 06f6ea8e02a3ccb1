"""pydantic-evals: the cases of a dataset; each evaluator becomes a criterion of one point."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from markscheme.read.documents import make_name
from markscheme.read.foreign.assertions import (
    ItemIds,
    build_contains,
    build_criterion,
    build_documents,
    build_equals,
)
from markscheme.read.foreign.imported import ImportedDocuments, Row
from markscheme.read.foreign.source import ForeignRecord, parse_json_source, parse_yaml_source

_DATASET_KEYS = {"$schema", "name", "cases", "evaluators"}
_CASE_KEYS = {"name", "inputs", "metadata", "expected_output", "evaluators"}
_MEASUREMENTS = {"MaxDuration"}


def is_pydantic_dataset(root: Any) -> bool:
    """Return whether a document is a dataset of pydantic-evals, not a report of a run."""
    cases = root.get("cases") if isinstance(root, dict) else None
    return isinstance(cases, list) and not {"failures", "analyses"} & root.keys()


def parse_pydantic_evals(data: bytes, file: str) -> ImportedDocuments:
    """Return the documents of a dataset, which messages call `file`.

    Raises:
        InputError: with every mistake of the file.
    """
    is_json = PurePath(file).suffix.lower() == ".json"
    source = parse_json_source(data, file) if is_json else parse_yaml_source(data, file)
    if not is_pydantic_dataset(source.root):
        source.add_problem((), "is no dataset of pydantic-evals: it needs a list of `cases`")
        source.raise_problems()
    dataset = ForeignRecord(source, (), source.root)
    dataset.check_keys(_DATASET_KEYS | {"report_evaluators"})
    if dataset.fields.get("report_evaluators"):
        dataset.add_remark("report_evaluators", "has no place in the documents: left out")
    shared = dataset.get_list("evaluators") if dataset.has("evaluators") else []
    name = make_name(str(dataset.fields.get("name") or PurePath(file).stem), "pydantic-evals")
    ids = ItemIds()
    items = [
        _build_item(case, shared, ids, number)
        for number, case in enumerate(dataset.get_records("cases"), start=1)
    ]
    return build_documents(source, name, items)


def _build_item(case: ForeignRecord, shared: list[Any], ids: ItemIds, number: int) -> Row:
    case.check_keys(_CASE_KEYS)
    inputs = case.fields.get("inputs")
    if inputs is None:
        case.add_problem("inputs", "is missing; it is what is asked")
    own = case.get_list("evaluators") if case.has("evaluators") else []
    criteria = list(_iter_criteria(case, [*shared, *own]))
    if not criteria:
        case.add_problem("evaluators", "no evaluator decides anything; an item needs one")
    metadata = case.fields.get("metadata")
    tags = {
        make_name(str(key), "tag"): str(value)
        for key, value in (metadata if isinstance(metadata, dict) else {}).items()
        if isinstance(value, str | int)
    }
    return {
        "id": ids.choose((case.fields.get("name"),), f"case-{number}"),
        "prompt": inputs if isinstance(inputs, str) else _to_text(inputs),
        "criteria": criteria,
        **({"tags": tags} if tags else {}),
    }


def _iter_criteria(case: ForeignRecord, evaluators: list[Any]) -> Iterator[Row]:
    number = 1
    for evaluator in evaluators:
        is_object = isinstance(evaluator, dict) and len(evaluator) == 1
        name, stated = next(iter(evaluator.items())) if is_object else (evaluator, None)
        if not isinstance(name, str):
            case.add_problem("evaluators", "an evaluator is a name, or a name with its arguments")
            continue
        if name in _MEASUREMENTS:
            message = f"{name} is a measurement: a gate of the rubric can limit it; left out"
            case.add_remark("evaluators", message)
            continue
        expected = case.fields.get("expected_output")
        if name == "EqualsExpected" and expected is None:
            # pydantic-evals decides nothing then either.
            continue
        check = _build_check(name, stated, expected)
        says = _describe(name, stated)
        if check is None and name != "LLMJudge":
            message = f"{name} is decided by no axis: people or a judge mark the criterion"
            case.add_remark("evaluators", message)
        yield build_criterion(number, 1, check, says, {"evaluator": name})
        number += 1


def _build_check(name: str, stated: Any, expected: Any) -> Row | None:
    """Return the check that decides as the evaluator does, or None if no axis can."""
    arguments = stated if isinstance(stated, dict) else {"value": stated}
    match name:
        case "EqualsExpected":
            return build_equals(expected)
        case "Equals":
            return build_equals(arguments.get("value"))
        case "Contains":
            ignores_case = arguments.get("case_sensitive") is False
            value = arguments.get("value")
            return build_contains([value], ignores_case=ignores_case, needs_all=True)
        case _:
            return None


def _describe(name: str, stated: Any) -> str:
    """Return an evaluator in words, for those who mark it."""
    rubric = stated.get("rubric") if isinstance(stated, dict) else stated
    if name == "LLMJudge" and isinstance(rubric, str) and rubric.strip():
        return rubric
    return f"pydantic-evals {name}" + ("" if stated is None else f": {_to_text(stated)}")


def _to_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)

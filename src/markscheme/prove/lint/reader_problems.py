"""Turn the problems of the document readers into lint findings: give each a code and a fix."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from markscheme.mark.axes import PatternAxis
from markscheme.prove.lint.findings import (
    FindingLocation,
    Fix,
    LintFinding,
    make_finding,
    parse_field_path,
)
from markscheme.read.documents import COMPARISON_KEYS, FieldPath, YamlMapping
from markscheme.vocabulary import Axis, Problem

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
_RUBRIC_CODES = {
    ("axes", "weight"): "R003",
    ("axes", "pattern"): "R004",
    ("gates", "metric"): "R005",
    ("gates", "axis"): "R006",
}


def classify_rubric_problem(problem: Problem, tree: YamlMapping | None) -> LintFinding:
    """Return the finding for a problem of a rubric. Without a tree, the file is not YAML."""
    if tree is None:
        return make_finding("R001", _locate_problem(problem), problem.message)
    path = parse_field_path(problem.field)
    code = _RUBRIC_CODES.get((str(path[0]), str(path[2]))) if len(path) == 3 else None  # noqa: PLR2004 - list, index, key
    if path and path[0] in COMPARISON_KEYS:
        code = "D001"
    return make_finding(
        code or "R002",
        _locate_problem(problem),
        problem.message,
        _build_problem_fix(problem, path, tree),
    )


def classify_exam_problem(
    problem: Problem, tree: YamlMapping | None, axes: Sequence[Axis], known: Collection[str]
) -> LintFinding:
    """Return the finding for a problem of an exam that these axes read.

    `known` are the expectation keys. Without a tree, the file is not YAML.
    """
    if tree is None:
        return make_finding("E001", _locate_problem(problem), problem.message)
    path = parse_field_path(problem.field)
    key = str(path[2]) if len(path) > 2 else ""  # noqa: PLR2004 - items, index, key
    code = "E002"
    if key in known:
        patterns = {axis.expectation for axis in axes if isinstance(axis, PatternAxis)}
        code = "E004" if key in patterns and _get_tree_text(tree, path) else "E003"
    return make_finding(
        code, _locate_problem(problem), problem.message, _build_problem_fix(problem, path, tree)
    )


def _locate_problem(problem: Problem) -> FindingLocation:
    return FindingLocation(file=problem.file, line=problem.line, field=problem.field)


def _get_tree_value(tree: YamlMapping, path: FieldPath) -> Any:
    node: Any = tree
    for part in path:
        exists = (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        )
        if not exists:
            return None
        node = node[part]
    return node


def _get_tree_text(tree: YamlMapping, path: FieldPath) -> str | None:
    value = _get_tree_value(tree, path)
    return value if isinstance(value, str) else None


def _build_problem_fix(problem: Problem, path: FieldPath, tree: YamlMapping) -> Fix | None:
    """Return the fix if the reader says that only quotation marks or brackets are missing."""
    text = _get_tree_text(tree, path)
    if "put it in quotation marks" in problem.message and text is None:
        return Fix(path=path, action="quote")
    if "a number, not" in problem.message and text is not None and _NUMBER.fullmatch(text):
        return Fix(path=path, action="unquote", text=text)
    if "must be a list of texts" in problem.message and text is not None:
        return Fix(path=path, action="wrap")
    return None

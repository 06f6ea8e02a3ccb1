"""What the readers refuse, as findings: every problem gets the code of what it is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.mark.axes.pattern import Pattern
from markscheme.prove.findings import Fix, Path, Spot, finding, path_of
from markscheme.read.models import COMPARISON

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from markscheme.errors import Problem
    from markscheme.prove.findings import LintFinding
    from markscheme.read.tree import Map
    from markscheme.vocabulary import Axis

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
_RUBRIC_CODES = {
    ("axes", "weight"): "R003",
    ("axes", "pattern"): "R004",
    ("gates", "metric"): "R005",
    ("gates", "axis"): "R006",
}


def rubric_refusal(problem: Problem, tree: Map | None) -> LintFinding:
    """Return the finding for what keeps a rubric from being read."""
    if tree is None:
        return finding("R001", _spot(problem), problem.message)
    path = path_of(problem.field)
    code = _RUBRIC_CODES.get((str(path[0]), str(path[2]))) if len(path) == 3 else None  # noqa: PLR2004 - list, index, key
    if path and path[0] in COMPARISON:
        code = "D001"
    return finding(code or "R002", _spot(problem), problem.message, _fix(problem, path, tree))


def exam_refusal(
    problem: Problem, tree: Map | None, axes: Sequence[Axis], known: Collection[str]
) -> LintFinding:
    """Return the finding for what keeps an exam from being read by these axes."""
    if tree is None:
        return finding("E001", _spot(problem), problem.message)
    path = path_of(problem.field)
    key = str(path[2]) if len(path) > 2 else ""  # noqa: PLR2004 - items, index, key
    code = "E002"
    if key in known:
        patterns = {axis.expectation for axis in axes if isinstance(axis, Pattern)}
        code = "E004" if key in patterns and _text(tree, path) else "E003"
    return finding(code, _spot(problem), problem.message, _fix(problem, path, tree))


def _spot(problem: Problem) -> Spot:
    return Spot(file=problem.file, line=problem.line, field=problem.field)


def _value(tree: Map, path: Path) -> Any:
    node: Any = tree
    for part in path:
        inside = (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        )
        if not inside:
            return None
        node = node[part]
    return node


def _text(tree: Map, path: Path) -> str | None:
    value = _value(tree, path)
    return value if isinstance(value, str) else None


def _fix(problem: Problem, path: Path, tree: Map) -> Fix | None:
    """Return the repair where the reader says that only quotation marks or brackets are wrong."""
    text = _text(tree, path)
    if "put it in quotation marks" in problem.message and text is None:
        return Fix(path=path, action="quote")
    if "a number, not" in problem.message and text is not None and _NUMBER.fullmatch(text):
        return Fix(path=path, action="unquote", text=text)
    if "must be a list of texts" in problem.message and text is not None:
        return Fix(path=path, action="wrap")
    return None

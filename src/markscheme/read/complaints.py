"""Findings in the words of our users: what is wrong, and what is allowed."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from markscheme.errors import Problem, format_value
from markscheme.read.checks import ModelValidationError, validate_model
from markscheme.read.shapes import Model
from markscheme.read.tree import YamlMapping, find_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from markscheme.read.checks import FieldPath, Violation


class ProblemCollector:
    """Collects every problem of one document, each with the line of its field."""

    def __init__(self, tree: YamlMapping, file: str) -> None:
        self.tree = tree
        self.file = file
        self.problems: list[Problem] = list(tree.problems)
        self._reported_fields = {problem.field for problem in tree.problems}

    def add_problem(self, path: FieldPath, message: str) -> None:
        """Complain about the field at `path`, once."""
        field = ".".join(map(str, path))
        if field not in self._reported_fields:
            self._reported_fields.add(field)
            line = find_line(self.tree, path)
            self.problems.append(Problem(file=self.file, line=line, field=field, message=message))

    def validate_node(self, model: type[Model], node: Any, path: FieldPath = ()) -> Model | None:
        """Check a part of the tree; complain about all of it at once."""
        try:
            return validate_model(model, node)
        except ModelValidationError as error:
            for place, findings in _group_by_field(error.violations, node).items():
                self.add_problem(path + place, _describe_violations(findings, place, model))
        return None


def _group_by_field(findings: list[Violation], node: Any) -> dict[FieldPath, list[Violation]]:
    grouped: dict[FieldPath, list[Violation]] = {}
    for finding in findings:
        missing = finding.kind in {"missing", "extra"}
        grouped.setdefault(_strip_union_arms(node, finding.place, missing=missing), []).append(
            finding
        )
    return grouped


def _strip_union_arms(node: Any, loc: FieldPath, *, missing: bool) -> FieldPath:
    """Drop what is no place in the document: the arms of a union."""
    real: list[str | int] = []
    for part in loc:
        inside = (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        )
        if not inside:
            return (*real, part) if missing else tuple(real)
        real.append(part)
        node = node[part]
    return tuple(real)


def _describe_violations(findings: list[Violation], path: FieldPath, model: type[Model]) -> str:
    kind, _, value, limit = findings[0]
    if kind in _FIXED_MESSAGES:
        return _FIXED_MESSAGES[kind]
    match kind:
        case "extra":
            return describe_unknown_key(str(path[-1]), _find_allowed_keys(model, path))
        case "literal":
            return f"{format_value(value)} is not allowed; allowed: {limit}".replace("'", "`")
        case "not_above":
            return f"{_format_digits(value)} is not above {limit}"
        case "below":
            return f"{_format_digits(value)} is below {limit}; allowed: {limit} or more"
        case "above":
            return f"{_format_digits(value)} is above {limit}; at most {limit}"
        case "pattern":
            return f"{format_value(value)} is no name; {_NAME_RULE}"
        case "too_long":
            return f"is too long; at most {limit} characters"
        case _:
            return f"must be {_describe_expected_types(findings)}, not {format_value(value)}{_suggest_quotes(findings, value)}"


def _format_digits(number: Any) -> str:
    return format_value(number).split()[-1]


_NAME_RULE = "ASCII letters, digits, `.`, `-` and `_`, the first a letter or digit"
_FIXED_MESSAGES = {
    "missing": "is missing; it is required",
    "too_short": "is empty; at least one entry is needed",
    "text_too_short": "is empty; a text is needed",
}
_NUMBER_PATTERN = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
_EXPECTED_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "number_type": "a number",
    "bool_type": "true or false",
    "allowance_type": "a share such as `2%` or points such as 0.02, at most the whole score",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
}


def _describe_expected_types(findings: list[Violation]) -> str:
    kinds = dict.fromkeys(finding.kind for finding in findings)
    return " or ".join(_EXPECTED_TYPES.get(kind, "something else") for kind in kinds)


def _suggest_quotes(findings: list[Violation], value: Any) -> str:
    """Say what to do about a number in quotation marks, or about a text without them."""
    kinds = {finding.kind for finding in findings}
    if isinstance(value, str) and kinds & {"number_type", "int_type"}:
        return " in quotation marks" if re.fullmatch(_NUMBER_PATTERN, value.strip()) else ""
    bare = isinstance(value, int | float | Decimal)
    return "; put it in quotation marks" if bare and "string_type" in kinds else ""


def _find_allowed_keys(model: type[Model], path: FieldPath) -> Collection[str]:
    """Return the keys that the model allows where the unknown key stands."""
    for part in path[:-1]:
        if isinstance(part, str):
            inner = _find_inner_model(model, part)
            if inner is not None:
                model = inner
    return [key.alias for key in model.get_keys().values()]


def _find_inner_model(model: type[Model], name: str) -> type[Model] | None:
    hint = model.get_keys()[name].hint
    held = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return next((a for a in get_args(held) if isinstance(a, type) and issubclass(a, Model)), None)


def describe_unknown_key(key: str, allowed: Collection[str]) -> str:
    """Say that a key is unknown, what is allowed, and what may have been meant."""
    return f"unknown key; allowed: {', '.join(allowed)}{suggest_match(key, allowed)}"


def suggest_match(word: Any, allowed: Collection[str]) -> str:
    """Return the question what may have been meant, if anything is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    close = get_close_matches(str(word).lower(), allowed, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def iterate_mappings(node: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the mappings of a list with their index, whatever else stands in it."""
    if isinstance(node, list):
        for index, entry in enumerate(node):
            if isinstance(entry, dict):
                yield index, entry

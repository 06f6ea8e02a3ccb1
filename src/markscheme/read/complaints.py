"""Findings in the words of our users: what is wrong, and what is allowed."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from markscheme.errors import Problem, shown
from markscheme.read.checks import Refused, checked
from markscheme.read.shapes import Model
from markscheme.read.tree import Map, line_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from markscheme.read.checks import Finding, Path


class Complaints:
    """Collects every problem of one document, each with the line of its field."""

    def __init__(self, tree: Map, file: str) -> None:
        self.tree = tree
        self.file = file
        self.problems: list[Problem] = list(tree.problems)
        self._fields = {problem.field for problem in tree.problems}

    def add(self, path: Path, message: str) -> None:
        """Complain about the field at `path`, once."""
        field = ".".join(map(str, path))
        if field not in self._fields:
            self._fields.add(field)
            line = line_of(self.tree, path)
            self.problems.append(Problem(file=self.file, line=line, field=field, message=message))

    def check(self, model: type[Model], node: Any, path: Path = ()) -> Model | None:
        """Check a part of the tree; complain about all of it at once."""
        try:
            return checked(model, node)
        except Refused as error:
            for place, findings in _by_field(error.findings, node).items():
                self.add(path + place, _message(findings, place, model))
        return None


def _by_field(findings: list[Finding], node: Any) -> dict[Path, list[Finding]]:
    grouped: dict[Path, list[Finding]] = {}
    for finding in findings:
        missing = finding.kind in {"missing", "extra"}
        grouped.setdefault(_real(node, finding.place, missing=missing), []).append(finding)
    return grouped


def _real(node: Any, loc: Path, *, missing: bool) -> Path:
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


def _message(findings: list[Finding], path: Path, model: type[Model]) -> str:
    kind, _, value, limit = findings[0]
    if kind in _TOLD:
        return _TOLD[kind]
    match kind:
        case "extra":
            return unknown_key(str(path[-1]), _keys_beside(model, path))
        case "literal":
            return f"{shown(value)} is not allowed; allowed: {limit}".replace("'", "`")
        case "not_above":
            return f"{_digits(value)} is not above {limit}"
        case "below":
            return f"{_digits(value)} is below {limit}; allowed: {limit} or more"
        case "above":
            return f"{_digits(value)} is above {limit}; at most {limit}"
        case "pattern":
            return f"{shown(value)} is no name; {_NAME_RULE}"
        case "too_long":
            return f"is too long; at most {limit} characters"
        case _:
            return f"must be {_wanted(findings)}, not {shown(value)}{_hint(findings, value)}"


def _digits(number: Any) -> str:
    return shown(number).split()[-1]


_NAME_RULE = "ASCII letters, digits, `.`, `-` and `_`, the first a letter or digit"
_TOLD = {
    "missing": "is missing; it is required",
    "too_short": "is empty; at least one entry is needed",
    "text_too_short": "is empty; a text is needed",
}
_NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "number_type": "a number",
    "bool_type": "true or false",
    "allowance_type": "a share such as `2%` or points such as 0.02, at most the whole score",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
}


def _wanted(findings: list[Finding]) -> str:
    kinds = dict.fromkeys(finding.kind for finding in findings)
    return " or ".join(_WANTED.get(kind, "something else") for kind in kinds)


def _hint(findings: list[Finding], value: Any) -> str:
    """Say what to do about a number in quotation marks, or about a text without them."""
    kinds = {finding.kind for finding in findings}
    if isinstance(value, str) and kinds & {"number_type", "int_type"}:
        return " in quotation marks" if re.fullmatch(_NUMBER, value.strip()) else ""
    bare = isinstance(value, int | float | Decimal)
    return "; put it in quotation marks" if bare and "string_type" in kinds else ""


def _keys_beside(model: type[Model], path: Path) -> Collection[str]:
    """Return the keys that the model allows where the unknown key stands."""
    for part in path[:-1]:
        if isinstance(part, str):
            inner = _inner_model(model, part)
            if inner is not None:
                model = inner
    return [key.alias for key in model.own_keys().values()]


def _inner_model(model: type[Model], name: str) -> type[Model] | None:
    hint = model.own_keys()[name].hint
    held = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return next((a for a in get_args(held) if isinstance(a, type) and issubclass(a, Model)), None)


def unknown_key(key: str, allowed: Collection[str]) -> str:
    """Say that a key is unknown, what is allowed, and what may have been meant."""
    return f"unknown key; allowed: {', '.join(allowed)}{guess(key, allowed)}"


def guess(word: Any, allowed: Collection[str]) -> str:
    """Return the question what may have been meant, if anything is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    close = get_close_matches(str(word).lower(), allowed, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def iterate(node: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the mappings of a list with their index, whatever else stands in it."""
    if isinstance(node, list):
        for index, entry in enumerate(node):
            if isinstance(entry, dict):
                yield index, entry

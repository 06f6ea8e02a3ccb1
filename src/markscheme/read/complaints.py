"""pydantic's findings in the words of our users: what is wrong, and what is allowed."""

from __future__ import annotations

import difflib
from decimal import Decimal
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from markscheme.errors import Problem, shown
from markscheme.read.tree import Map, Seq, line_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pydantic import BaseModel

Path = tuple[str | int, ...]


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

    def check(self, model: type[BaseModel], node: Any, path: Path = ()) -> BaseModel | None:
        """Validate a part of the tree; complain about all of it at once."""
        try:
            return model.model_validate(node)
        except ValidationError as error:
            for found, kinds in _by_field(error, node).items():
                self.add(path + found, _message(kinds, found, model))
        return None


def _by_field(error: ValidationError, node: Any) -> dict[Path, list[Any]]:
    grouped: dict[Path, list[Any]] = {}
    for detail in error.errors(include_url=False):
        missing = detail["type"] in {"missing", "extra_forbidden"}
        grouped.setdefault(_real(node, detail["loc"], missing=missing), []).append(detail)
    return grouped


def _real(node: Any, loc: Path, *, missing: bool) -> Path:
    """Drop what pydantic adds to a location (the branches of a union, `[key]`)."""
    real: list[str | int] = []
    for part in loc:
        inside = (isinstance(node, Map) and part in node) or (
            isinstance(node, Seq) and isinstance(part, int) and part < len(node)
        )
        if not inside:
            return (*real, part) if missing else tuple(real)
        real.append(part)
        node = node[part]
    return tuple(real)


def _message(details: list[Any], path: Path, model: type[BaseModel]) -> str:
    detail = details[0]
    value, context = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "is missing; it is required"
        case "extra_forbidden":
            return unknown_key(str(path[-1]), _keys_beside(model, path))
        case "literal_error":
            return f"{shown(value)} is not allowed; allowed: {context['expected']}".replace(
                "'", "`"
            )
        case "greater_than":
            return f"{shown(value).split()[-1]} is not above {context['gt']}"
        case "greater_than_equal" | "less_than_equal" as kind:
            side = "below" if kind.startswith("greater") else "above"
            limit = context.get("ge", context.get("le"))
            return f"{shown(value).split()[-1]} is {side} {limit}; {_range(context)}"
        case "too_short":
            return "is empty; at least one entry is needed"
        case "string_too_short":
            return "is empty; a text is needed"
        case "string_pattern_mismatch":
            return f"{shown(value)} is no name; {_NAME_RULE}"
        case "string_too_long" | "too_long":
            return f"is too long; at most {context['max_length']} characters"
        case _:
            return f"must be {_wanted(details)}, not {shown(value)}{_hint(details, value)}"


_NAME_RULE = "ASCII letters, digits, `.`, `-` and `_`, the first a letter or digit"
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


def _wanted(details: list[Any]) -> str:
    kinds = dict.fromkeys(detail["type"] for detail in details)
    return " or ".join(_WANTED.get(kind, "something else") for kind in kinds)


def _hint(details: list[Any], value: Any) -> str:
    """Say what to do about a number in quotation marks, or about a text without them."""
    kinds = {detail["type"] for detail in details}
    if isinstance(value, str) and kinds & {"number_type", "int_type"}:
        return " in quotation marks" if value.strip("+-")[:1].isdigit() else ""
    bare = isinstance(value, int | float | Decimal)
    return "; put it in quotation marks" if bare and "string_type" in kinds else ""


def _range(context: dict[str, Any]) -> str:
    return f"allowed: {context['ge']} or more" if "ge" in context else f"at most {context['le']}"


def _keys_beside(model: type[BaseModel], path: Path) -> Collection[str]:
    """Return the keys that the model allows where the unknown key stands."""
    for part in path[:-1]:
        if isinstance(part, str):
            inner = _inner_model(model, part)
            if inner is not None:
                model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _inner_model(model: type[BaseModel], field: str) -> type[BaseModel] | None:
    arguments = get_args(model.model_fields[field].annotation)
    return next((a for a in arguments if hasattr(a, "model_fields")), None)


def unknown_key(key: str, allowed: Collection[str]) -> str:
    """Say that a key is unknown, what is allowed, and what may have been meant."""
    return f"unknown key; allowed: {', '.join(allowed)}{guess(key, allowed)}"


def guess(word: Any, allowed: Collection[str]) -> str:
    """Return the question what may have been meant, if anything is near."""
    close = difflib.get_close_matches(str(word).lower(), allowed, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def iterate(node: Any) -> Iterator[tuple[int, Map]]:
    """Yield the mappings of a list with their index, whatever else stands in it."""
    if isinstance(node, Seq):
        for index, entry in enumerate(node):
            if isinstance(entry, Map):
                yield index, entry

"""Validate documents against models, and report every mistake at once with its line.

A model is a class whose annotations say what each key of a mapping may hold. This module has three
parts: the model classes; `ProblemCollector`, which words violations as messages; and the
validators, which are compiled from the annotations. The models themselves are in `models`, `gates`
and `decisions`; `json_schema` builds the JSON Schemas for editors from the same annotations.

>>> class Weighted(Model):
...     name: str
...     weight: Annotated[int, Constraints(at_least=1)] = 1
>>> validate_model(Weighted, {"name": "a"}).weight
1
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from functools import cache
from inspect import get_annotations
from itertools import takewhile
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from markscheme.read.documents.yaml import FieldPath, YamlMapping, find_line
from markscheme.vocabulary import Problem, UsageError, describe_character, format_value


class Constraints(NamedTuple):
    """Limits on a number, on the length of a text, list or mapping, and on the form of a text."""

    at_least: int | None = None
    above: int | None = None
    at_most: int | None = None
    shortest: int | None = None
    longest: int | None = None
    pattern: str | None = None


class Converter(NamedTuple):
    """How to parse a value that no plain type describes; `convert` returns None to refuse it."""

    convert: Callable[[Any], Any]
    kind: str
    schema: Mapping[str, Any]


class ModelKey(NamedTuple):
    """A key of a model: its name in documents, its type, and its default."""

    alias: str
    hint: Any
    required: bool
    default: Any


class _AliasedDefault(NamedTuple):
    default: Any
    alias: str

    def __get__(self, *_: object) -> Any:
        """Return the default, so that the class attribute of a key reads as its default."""
        return self.default


UNSET: Any = object()
"""The default of a key whose absence has a meaning of its own."""


def alias_key(alias: str, default: Any = ...) -> Any:
    """Give a key another name in documents: one that Python cannot use, such as `in`."""
    return _AliasedDefault(default, alias)


class Model:
    """A mapping with exactly the annotated keys.

    With `allows_extra_keys` it may have others too, which are not validated.
    """

    allows_extra_keys: ClassVar[bool] = False

    def __init__(self, values: dict[str, Any]) -> None:
        # A key that is left out falls back to the class attribute, which is its default.
        self.__dict__ = values

    @property
    def stated_keys(self) -> Collection[str]:
        """The Python names of the keys that the document states."""
        return vars(self).keys()

    @classmethod
    def get_keys(cls) -> Mapping[str, ModelKey]:
        """Return the keys by their Python names, those of base classes first."""
        if cls not in _KEYS_BY_MODEL:
            _KEYS_BY_MODEL[cls] = _collect_keys(cls)
        return _KEYS_BY_MODEL[cls]


_KEYS_BY_MODEL: dict[type[Model], dict[str, ModelKey]] = {}


def _collect_keys(model: type[Model]) -> dict[str, ModelKey]:
    keys = {}
    for base in reversed(model.__mro__):
        for name, hint in _read_annotations(base).items():
            if get_origin(hint) is ClassVar:
                continue
            default, alias = base.__dict__.get(name, ...), name
            if isinstance(default, _AliasedDefault):
                default, alias = default
            keys[name] = ModelKey(alias, hint, default is ..., default)
    return keys


@cache
def _read_annotations(base: type) -> dict[str, Any]:
    return get_annotations(base, eval_str=True)


class ProblemCollector:
    """Collects every problem of one document, each with the line of its field.

    Each field is reported once: its first problem is usually the cause of the others.
    """

    def __init__(self, tree: YamlMapping, file: str) -> None:
        self.tree = tree
        self.file = file
        self.problems: list[Problem] = list(tree.problems)
        self._reported_fields = {problem.field for problem in tree.problems}

    def add_problem(self, path: FieldPath, message: str) -> None:
        """Add a problem with the field at `path`, unless the field has one already."""
        field = ".".join(map(str, path))
        if field not in self._reported_fields:
            self._reported_fields.add(field)
            line = find_line(self.tree, path)
            self.problems.append(Problem(file=self.file, line=line, field=field, message=message))

    def validate_node(self, model: type[Model], node: Any, path: FieldPath = ()) -> Model | None:
        """Validate a part of the tree; return None after adding all its problems."""
        try:
            return validate_model(model, node)
        except ModelValidationError as error:
            for field, message in list_model_problems(error, model, node):
                self.add_problem(path + field, message)
        return None


def list_model_problems(
    error: ModelValidationError, model: type[Model], node: Any
) -> Iterator[tuple[FieldPath, str]]:
    """Yield each field of a refused value with one message on all that is wrong with it."""
    for field, violations in _group_by_field(error.violations, node).items():
        yield field, _describe_violations(violations, field, model)


def _group_by_field(violations: list[Violation], node: Any) -> dict[FieldPath, list[Violation]]:
    grouped: dict[FieldPath, list[Violation]] = {}
    for violation in violations:
        # A missing or unknown key is no part of the tree, but it is the field to report.
        keep_last = violation.kind in {"missing", "extra"}
        field = _strip_union_arms(node, violation.place, keep_last=keep_last)
        grouped.setdefault(field, []).append(violation)
    return grouped


def _strip_union_arms(node: Any, path: FieldPath, *, keep_last: bool) -> FieldPath:
    """Return the part of a violation's path that exists in the document.

    The path of a violation inside a union also names the arm, which is no place in the document.
    """
    real: list[str | int] = []
    for part in path:
        exists = (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        )
        if not exists:
            return (*real, part) if keep_last else tuple(real)
        real.append(part)
        node = node[part]
    return tuple(real)


def _describe_violations(violations: list[Violation], path: FieldPath, model: type[Model]) -> str:
    """Return one message for all violations of a field: what is wrong, and what is allowed.

    There is more than one only if the value fits no arm of a union.
    """
    kind, _, value, limit = violations[0]
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
            return f"{format_value(value)} is no name; {_NAME_RULE}{_name_stray_character(value)}"
        case "too_long":
            return f"is too long; at most {limit} characters"
        case _:
            expected = _describe_expected_types(violations)
            advice = _suggest_quotes(violations, value)
            return f"must be {expected}, not {format_value(value)}{advice}"


def _format_digits(number: Any) -> str:
    return format_value(number).split()[-1]


def _name_stray_character(value: Any) -> str:
    """Return which character is not ASCII, because it may look as if it were or be invisible."""
    stray = next((character for character in str(value) if not character.isascii()), "")
    return f"; this has {describe_character(stray)}" if stray else ""


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
    "points_type": "a number of points with at most 6 decimal places, at most 1000000",
    "bool_type": "true or false",
    "ratio_type": "a number of at most 1, or a ratio such as `2/3`",
    "allowance_type": "a share such as `2%` or points such as 0.02, at most the whole score",
    "count_type": "a number of queries (0 to 10,000) or a share such as `5%`",
    "queries_type": "a number of queries (1 to 1,000) or a range such as {at_least: 1, at_most: 9}",
    "calls_type": "`one`, `each` or a number of calls (1 to 1,000)",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
}


def _describe_expected_types(violations: list[Violation]) -> str:
    kinds = dict.fromkeys(violation.kind for violation in violations)
    return " or ".join(_EXPECTED_TYPES.get(kind, "something else") for kind in kinds)


def _suggest_quotes(violations: list[Violation], value: Any) -> str:
    """Return advice on a number in quotation marks, or on a text without them."""
    kinds = {violation.kind for violation in violations}
    if isinstance(value, str) and kinds & {"number_type", "int_type", "points_type"}:
        return " in quotation marks" if re.fullmatch(_NUMBER_PATTERN, value.strip()) else ""
    bare = isinstance(value, int | float | Decimal)
    return "; put it in quotation marks" if bare and "string_type" in kinds else ""


def _find_allowed_keys(model: type[Model], path: FieldPath) -> Collection[str]:
    """Return the keys that are allowed in the mapping that holds the unknown key."""
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
    """Return the message for an unknown key: what is allowed, and what may have been meant."""
    return f"unknown key; allowed: {', '.join(allowed)}{suggest_match(key, allowed)}"


def describe_unknown_word(word: Any, noun: str, allowed: Collection[str]) -> str:
    """Return the message for a word that is not allowed, and what may have been meant.

    >>> describe_unknown_word("scores", "metric", ["score", "axis"])
    '`scores` is no metric; allowed: score, axis; did you mean `score`?'
    """
    message = f"{format_value(word)} is no {noun}; allowed: {', '.join(allowed)}"
    return message + suggest_match(word, allowed)


def suggest_match(word: Any, allowed: Collection[str]) -> str:
    """Return `; did you mean …?` with the closest allowed word, or an empty text."""
    from difflib import get_close_matches

    close = get_close_matches(str(word).lower(), allowed, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def iterate_mappings(node: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the index and value of every mapping in a list; skip all other entries."""
    if isinstance(node, list):
        for index, entry in enumerate(node):
            if isinstance(entry, dict):
                yield index, entry


_ModelType = TypeVar("_ModelType", bound=Model)


class Violation(NamedTuple):
    """One way in which a value breaks its model: the kind, the path, the value, the limit.

    Inside a union, `place` also names the arm that was tried; see `_strip_union_arms`.
    """

    kind: str
    place: FieldPath
    value: Any
    limit: Any = None


Validator = Callable[[Any, FieldPath, list[Violation]], Any]
"""Takes a value and its path, appends what is wrong to the list, and returns the parsed value."""


class ModelValidationError(Exception):
    """A value does not conform to its model. `violations` holds everything that is wrong."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__(violations)
        self.violations = violations


def validate_model(model: type[_ModelType], value: Any) -> _ModelType:
    """Validate a mapping and return it as an instance of the model.

    Raises:
        ModelValidationError: the mapping does not conform; every violation is in the error.
    """
    violations: list[Violation] = []
    hint: Any = model
    instance: _ModelType = build_validator(hint)(value, (), violations)
    if violations:
        raise ModelValidationError(violations)
    return instance


@cache
def build_validator(hint: Any) -> Validator:
    """Return the validator for values annotated with a type. Each type is compiled once."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _build_constrained_validator(arguments[0], arguments[1:])
    if origin in {Union, UnionType}:
        return _build_union_validator(arguments)
    if origin is Literal:
        return _build_literal_validator(arguments)
    if origin in _CONTAINER_BUILDERS:
        return _CONTAINER_BUILDERS[origin](arguments, Constraints())
    if isinstance(hint, type) and issubclass(hint, Model):
        return _build_model_validator(hint)
    if hint not in _TYPE_VALIDATORS:
        name = getattr(hint, "__name__", hint)
        raise UsageError(f"a parameter of the type `{name}` cannot be stated in a rubric")
    return _TYPE_VALIDATORS[hint]


def _build_constrained_validator(hint: Any, notes: tuple[Any, ...]) -> Validator:
    """Return the validator for `Annotated[hint, *notes]`."""
    limits = _merge_constraints([note for note in notes if isinstance(note, Constraints)])
    converter = next((note for note in notes if isinstance(note, Converter)), None)
    if converter is not None:
        return _build_range_validator(_build_converting_validator(converter), limits)
    if get_origin(hint) in _CONTAINER_BUILDERS:
        return _CONTAINER_BUILDERS[get_origin(hint)](get_args(hint), limits)
    if hint is str:
        return _build_text_validator(limits)
    return _build_range_validator(build_validator(hint), limits)


def _merge_constraints(stated: list[Constraints]) -> Constraints:
    """Merge nested constraints into one; the outermost wins."""
    merged: dict[str, Any] = {}
    for limits in stated:
        merged |= {name: limit for name, limit in limits._asdict().items() if limit is not None}
    return Constraints(**merged)


def _build_model_validator(model: type[Model]) -> Validator:
    keys = model.get_keys()
    known = {key.alias for key in keys.values()}
    # Filled on first use, because a model may contain itself.
    key_validators: list[tuple[str, str, bool, Validator]] = []

    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        if not isinstance(value, dict):
            violations.append(Violation("model_type", path, value))
            return None
        if not key_validators:
            # One slice assignment, so that another thread sees no validators or all of them.
            key_validators[:] = [
                (name, key.alias, key.required, build_validator(key.hint))
                for name, key in keys.items()
            ]
        parsed: dict[str, Any] = {}
        for name, alias, required, validate_key in key_validators:
            if alias in value:
                parsed[name] = validate_key(value[alias], (*path, alias), violations)
            elif required:
                violations.append(Violation("missing", (*path, alias), value))
        if not model.allows_extra_keys:
            unknown = (key for key in value if key not in known)
            violations.extend(Violation("extra", (*path, key), value[key]) for key in unknown)
        return model(parsed)

    return validate


def _build_union_validator(hints: tuple[Any, ...]) -> Validator:
    arms = [(_get_arm_name(hint), build_validator(hint)) for hint in hints if hint is not NoneType]
    optional = NoneType in hints
    # Plain types at the start of the union need no validator: a value of one is valid as it is.
    plain_types = set(takewhile({str, bool, int}.__contains__, hints))

    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        if type(value) in plain_types or (value is None and optional):
            return value
        if len(arms) == 1:
            return arms[0][1](value, path, violations)
        arm_violations: list[Violation] = []
        for name, validate_arm in arms:
            before = len(arm_violations)
            parsed = validate_arm(value, (*path, name), arm_violations)
            if len(arm_violations) == before:
                return parsed
        violations.extend(arm_violations)
        return None

    return validate


def _get_arm_name(hint: Any) -> str:
    """Return the name of a union arm in the paths of violations."""
    return hint.__name__ if isinstance(hint, type) and issubclass(hint, Model) else "[arm]"


def _build_literal_validator(words: tuple[str, ...]) -> Validator:
    *most, last = map(repr, words)
    allowed = f"{', '.join(most)} or {last}" if most else last

    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        if not isinstance(value, str) or value not in words:
            violations.append(Violation("literal", path, value, allowed))
        return value

    return validate


def _build_list_validator(arguments: tuple[Any, ...], limits: Constraints) -> Validator:
    validate_entry = build_validator(arguments[0])

    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        if not isinstance(value, list):
            violations.append(Violation("list_type", path, value))
            return None
        if limits.longest is not None and len(value) > limits.longest:
            violations.append(Violation("too_long", path, value, limits.longest))
            return None
        before = len(violations)
        parsed = [
            validate_entry(entry, (*path, index), violations) for index, entry in enumerate(value)
        ]
        if len(violations) == before and len(parsed) < (limits.shortest or 0):
            violations.append(Violation("too_short", path, value))
        return parsed

    return validate


def _build_mapping_validator(arguments: tuple[Any, ...], limits: Constraints) -> Validator:
    validate_key, validate_entry = map(build_validator, arguments)

    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        if not isinstance(value, dict):
            violations.append(Violation("dict_type", path, value))
            return None
        before = len(violations)
        parsed = {}
        for key, entry in value.items():
            inner = (*path, key)
            parsed[validate_key(key, inner, violations)] = validate_entry(entry, inner, violations)
        if len(violations) == before:
            if len(parsed) < (limits.shortest or 0):
                violations.append(Violation("too_short", path, value))
            if limits.longest is not None and len(parsed) > limits.longest:
                violations.append(Violation("too_long", path, value, limits.longest))
        return parsed

    return validate


_CONTAINER_BUILDERS: dict[Any, Callable[[tuple[Any, ...], Constraints], Validator]] = {
    list: _build_list_validator,
    dict: _build_mapping_validator,
}


def _accept_anything(value: Any, _: FieldPath, __: list[Violation]) -> Any:
    return value


def _build_type_validator(expected: type, kind: str) -> Validator:
    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        # In Python `True` is an `int`; in a document it is not a number.
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            violations.append(Violation(kind, path, value))
        return value

    return validate


_validate_text = _build_type_validator(str, "string_type")
_TYPE_VALIDATORS: dict[Any, Validator] = {
    Any: _accept_anything,
    str: _validate_text,
    bool: _build_type_validator(bool, "bool_type"),
    int: _build_type_validator(int, "int_type"),
    dict: _build_type_validator(dict, "dict_type"),
    list: _build_type_validator(list, "list_type"),
}


def _build_text_validator(limits: Constraints) -> Validator:
    shortest, longest = limits.shortest or 0, limits.longest
    pattern = None if limits.pattern is None else re.compile(limits.pattern)

    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        if not isinstance(value, str):
            return _validate_text(value, path, violations)
        if longest is not None and len(value) > longest:
            violations.append(Violation("too_long", path, value, longest))
        elif len(value) < shortest:
            violations.append(Violation("text_too_short", path, value))
        elif pattern is not None and pattern.fullmatch(value) is None:
            violations.append(Violation("pattern", path, value))
        return value

    return validate


def _build_converting_validator(converter: Converter) -> Validator:
    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        converted = converter.convert(value)
        if converted is None:
            violations.append(Violation(converter.kind, path, value))
        return converted

    return validate


def _build_range_validator(validate_number: Validator, limits: Constraints) -> Validator:
    """Return a validator that checks the bounds of a number after its type."""

    def validate(value: Any, path: FieldPath, violations: list[Violation]) -> Any:
        before = len(violations)
        number = validate_number(value, path, violations)
        if len(violations) > before:
            return number
        if limits.at_most is not None and number > limits.at_most:
            violations.append(Violation("above", path, number, limits.at_most))
        elif limits.at_least is not None and number < limits.at_least:
            violations.append(Violation("below", path, number, limits.at_least))
        elif limits.above is not None and number <= limits.above:
            violations.append(Violation("not_above", path, number, limits.above))
        return number

    return validate

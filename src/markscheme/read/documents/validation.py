"""Models of documents: classes whose annotations say what each key of a mapping may hold.

`checks.py` holds documents to them; the JSON Schemas that editors use are made from them too.

Findings in the words of our users: what is wrong, and what is allowed.

Holds values to models: everything that is wrong at once, and no type taken for another.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from inspect import get_annotations
from itertools import takewhile
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
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

from markscheme.read.documents.yaml import YamlMapping, find_line
from markscheme.vocabulary import Problem, UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


class Constraints(NamedTuple):
    """Bounds of a number, of the length of a text, list or mapping, and the pattern of a text."""

    at_least: int | None = None
    above: int | None = None
    at_most: int | None = None
    shortest: int | None = None
    longest: int | None = None
    pattern: str | None = None


class Converter(NamedTuple):
    """How a value is made that no plain type stands for; the maker returns `None` to refuse it."""

    convert: Callable[[Any], Any]
    kind: str
    schema: Mapping[str, Any]


class ModelKey(NamedTuple):
    """A key of a model: its name in documents, what it may hold, and what it is if left out."""

    alias: str
    hint: Any
    required: bool
    default: Any


class _AliasedDefault(NamedTuple):
    default: Any
    alias: str

    def __get__(self, *_: object) -> Any:
        """Return the default, which a key has where the document has none."""
        return self.default


UNSET: Any = object()
"""The default of a key that says nothing where it is left out."""


def alias_key(alias: str, default: Any = ...) -> Any:
    """Say how a key is called in documents where Python cannot have that name."""
    return _AliasedDefault(default, alias)


class Model:
    """A mapping with the keys that are annotated and no others; an `open` one may have others."""

    allows_extra_keys: ClassVar[bool] = False

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__ = values  # what is not there has its default, in the class

    @property
    def stated_keys(self) -> Collection[str]:
        """The names of the keys that the document had."""
        return vars(self).keys()

    @classmethod
    def get_keys(cls) -> Mapping[str, ModelKey]:
        """Return the keys by their names in Python, those of the bases first."""
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
    from difflib import get_close_matches

    close = get_close_matches(str(word).lower(), allowed, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def iterate_mappings(node: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the mappings of a list with their index, whatever else stands in it."""
    if isinstance(node, list):
        for index, entry in enumerate(node):
            if isinstance(entry, dict):
                yield index, entry


FieldPath = tuple[str | int, ...]
M = TypeVar("M", bound=Model)


class Violation(NamedTuple):
    """One thing that is wrong: of which kind, where, with which value, and what is allowed."""

    kind: str
    place: FieldPath
    given: Any
    allowed: Any = None


Validator = Callable[[Any, FieldPath, list[Violation]], Any]
"""Takes a value and its place, adds what is wrong with it, and returns what it stands for."""


class ModelValidationError(Exception):
    """A value is not what a model allows."""

    def __init__(self, findings: list[Violation]) -> None:
        super().__init__(findings)
        self.violations = findings


def validate_model(model: type[M], given: Any) -> M:
    """Return what a mapping holds by a model.

    Raises:
        Refused: something is wrong with it.
    """
    found: list[Violation] = []
    hint: Any = model
    made: M = build_validator(hint)(given, (), found)
    if found:
        raise ModelValidationError(found)
    return made


@cache
def build_validator(hint: Any) -> Validator:
    """Return what checks values that are annotated with a type."""
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
    limits = _merge_constraints([note for note in notes if isinstance(note, Constraints)])
    made = next((note for note in notes if isinstance(note, Converter)), None)
    if made is not None:
        return _build_range_validator(_build_converting_validator(made), limits)
    if get_origin(hint) in _CONTAINER_BUILDERS:
        return _CONTAINER_BUILDERS[get_origin(hint)](get_args(hint), limits)
    return (
        _build_text_validator(limits)
        if hint is str
        else _build_range_validator(build_validator(hint), limits)
    )


def _merge_constraints(stated: list[Constraints]) -> Constraints:
    """Return limits that were stated one upon the other as one."""
    together: dict[str, Any] = {}
    for limits in stated:
        together |= {name: one for name, one in limits._asdict().items() if one is not None}
    return Constraints(**together)


def _build_model_validator(model: type[Model]) -> Validator:
    keys = model.get_keys()
    known = {key.alias for key in keys.values()}
    checks: list[tuple[str, str, bool, Validator]] = []  # made late: a model may hold itself

    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        if not isinstance(given, dict):
            found.append(Violation("model_type", place, given))
            return None
        if not checks:
            checks[:] = [  # at once: another thread may look
                (name, key.alias, key.required, build_validator(key.hint))
                for name, key in keys.items()
            ]
        values: dict[str, Any] = {}
        for name, alias, required, check_value in checks:
            if alias in given:
                values[name] = check_value(given[alias], (*place, alias), found)
            elif required:
                found.append(Violation("missing", (*place, alias), given))
        if not model.allows_extra_keys:
            unknown = (key for key in given if key not in known)
            found.extend(Violation("extra", (*place, key), given[key]) for key in unknown)
        return model(values)

    return check


def _build_union_validator(hints: tuple[Any, ...]) -> Validator:
    arms = [(_get_arm_name(hint), build_validator(hint)) for hint in hints if hint is not NoneType]
    optional = NoneType in hints
    taken = set(takewhile({str, bool, int}.__contains__, hints))  # as they are, without looking

    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        if type(given) in taken or (given is None and optional):
            return given
        if len(arms) == 1:
            return arms[0][1](given, place, found)
        wrong: list[Violation] = []
        for name, arm in arms:
            before = len(wrong)
            made = arm(given, (*place, name), wrong)
            if len(wrong) == before:
                return made
        found.extend(wrong)
        return None

    return check


def _get_arm_name(hint: Any) -> str:
    """Return how the places of findings call one arm of a union."""
    return hint.__name__ if isinstance(hint, type) and issubclass(hint, Model) else "[arm]"


def _build_literal_validator(words: tuple[str, ...]) -> Validator:
    *most, last = map(repr, words)
    told = f"{', '.join(most)} or {last}" if most else last

    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        if not isinstance(given, str) or given not in words:
            found.append(Violation("literal", place, given, told))
        return given

    return check


def _build_list_validator(arguments: tuple[Any, ...], limits: Constraints) -> Validator:
    inner = build_validator(arguments[0])

    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        if not isinstance(given, list):
            found.append(Violation("list_type", place, given))
            return None
        if limits.longest is not None and len(given) > limits.longest:
            found.append(Violation("too_long", place, given, limits.longest))
            return None
        before = len(found)
        made = [inner(one, (*place, index), found) for index, one in enumerate(given)]
        if len(found) == before and len(made) < (limits.shortest or 0):
            found.append(Violation("too_short", place, given))
        return made

    return check


def _build_mapping_validator(arguments: tuple[Any, ...], limits: Constraints) -> Validator:
    key_check, value_check = map(build_validator, arguments)

    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        if not isinstance(given, dict):
            found.append(Violation("dict_type", place, given))
            return None
        before = len(found)
        made = {}
        for key, one in given.items():
            inside = (*place, key)
            made[key_check(key, inside, found)] = value_check(one, inside, found)
        if len(found) == before:
            if len(made) < (limits.shortest or 0):
                found.append(Violation("too_short", place, given))
            if limits.longest is not None and len(made) > limits.longest:
                found.append(Violation("too_long", place, given, limits.longest))
        return made

    return check


_CONTAINER_BUILDERS: dict[Any, Callable[[tuple[Any, ...], Constraints], Validator]] = {
    list: _build_list_validator,
    dict: _build_mapping_validator,
}


def _accept_anything(given: Any, _: FieldPath, __: list[Violation]) -> Any:
    return given


def _build_type_validator(kind: type, named: str) -> Validator:
    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        if not isinstance(given, kind) or (kind is int and isinstance(given, bool)):
            found.append(Violation(named, place, given))
        return given

    return check


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

    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        if not isinstance(given, str):
            return _validate_text(given, place, found)
        if longest is not None and len(given) > longest:
            found.append(Violation("too_long", place, given, longest))
        elif len(given) < shortest:
            found.append(Violation("text_too_short", place, given))
        elif pattern is not None and pattern.fullmatch(given) is None:
            found.append(Violation("pattern", place, given))
        return given

    return check


def _build_converting_validator(made: Converter) -> Validator:
    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        value = made.convert(given)
        if value is None:
            found.append(Violation(made.kind, place, given))
        return value

    return check


def _build_range_validator(inner: Validator, limits: Constraints) -> Validator:
    """Check a number by another check first, and then by its bounds."""

    def check(given: Any, place: FieldPath, found: list[Violation]) -> Any:
        before = len(found)
        value = inner(given, place, found)
        if len(found) > before:
            return value
        if limits.at_most is not None and value > limits.at_most:
            found.append(Violation("above", place, value, limits.at_most))
        elif limits.at_least is not None and value < limits.at_least:
            found.append(Violation("below", place, value, limits.at_least))
        elif limits.above is not None and value <= limits.above:
            found.append(Violation("not_above", place, value, limits.above))
        return value

    return check

"""Holds values to models: everything that is wrong at once, and no type taken for another."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from markscheme.errors import UsageError
from markscheme.read.shapes import Constraints, Converter, Model

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


class ModelValidationError(Exception):  # noqa: N818 - internal: becomes complaints at the door
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

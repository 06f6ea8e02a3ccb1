"""Holds values to models: everything that is wrong at once, and no type taken for another."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from markscheme.errors import UsageError
from markscheme.read.shapes import Limits, Made, Model

Path = tuple[str | int, ...]
M = TypeVar("M", bound=Model)


class Finding(NamedTuple):
    """One thing that is wrong: of which kind, where, with which value, and what is allowed."""

    kind: str
    place: Path
    given: Any
    allowed: Any = None


Check = Callable[[Any, Path, list[Finding]], Any]
"""Takes a value and its place, adds what is wrong with it, and returns what it stands for."""


class Refused(Exception):  # noqa: N818 - internal: becomes complaints at the door
    """A value is not what a model allows."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(findings)
        self.findings = findings


def checked(model: type[M], given: Any) -> M:
    """Return what a mapping holds by a model.

    Raises:
        Refused: something is wrong with it.
    """
    found: list[Finding] = []
    hint: Any = model
    made: M = check_of(hint)(given, (), found)
    if found:
        raise Refused(found)
    return made


@cache
def check_of(hint: Any) -> Check:
    """Return what checks values that are annotated with a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _limited(arguments[0], arguments[1:])
    if origin in {Union, UnionType}:
        return _either(arguments)
    if origin is Literal:
        return _one_of(arguments)
    if origin in _HOLDERS:
        return _HOLDERS[origin](arguments, Limits())
    if isinstance(hint, type) and issubclass(hint, Model):
        return _keyed(hint)
    if hint not in _PLAIN:
        name = getattr(hint, "__name__", hint)
        raise UsageError(f"a parameter of the type `{name}` cannot be stated in a rubric")
    return _PLAIN[hint]


def _limited(hint: Any, notes: tuple[Any, ...]) -> Check:
    limits = _joined([note for note in notes if isinstance(note, Limits)])
    made = next((note for note in notes if isinstance(note, Made)), None)
    if made is not None:
        return _within(_making(made), limits)
    if get_origin(hint) in _HOLDERS:
        return _HOLDERS[get_origin(hint)](get_args(hint), limits)
    return _text_within(limits) if hint is str else _within(check_of(hint), limits)


def _joined(stated: list[Limits]) -> Limits:
    """Return limits that were stated one upon the other as one."""
    together: dict[str, Any] = {}
    for limits in stated:
        together |= {name: one for name, one in limits._asdict().items() if one is not None}
    return Limits(**together)


def _keyed(model: type[Model]) -> Check:
    keys = model.own_keys()
    known = {key.alias for key in keys.values()}
    checks: list[tuple[str, str, bool, Check]] = []  # made late: a model may hold itself

    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        if not isinstance(given, dict):
            found.append(Finding("model_type", place, given))
            return None
        if not checks:
            checks[:] = [  # at once: another thread may look
                (name, key.alias, key.required, check_of(key.hint)) for name, key in keys.items()
            ]
        values: dict[str, Any] = {}
        for name, alias, required, check_value in checks:
            if alias in given:
                values[name] = check_value(given[alias], (*place, alias), found)
            elif required:
                found.append(Finding("missing", (*place, alias), given))
        if not model.open:
            unknown = (key for key in given if key not in known)
            found.extend(Finding("extra", (*place, key), given[key]) for key in unknown)
        return model(values)

    return check


def _either(hints: tuple[Any, ...]) -> Check:
    arms = [(_arm(hint), check_of(hint)) for hint in hints if hint is not NoneType]
    optional = NoneType in hints
    taken = set(takewhile({str, bool, int}.__contains__, hints))  # as they are, without looking

    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        if type(given) in taken or (given is None and optional):
            return given
        if len(arms) == 1:
            return arms[0][1](given, place, found)
        wrong: list[Finding] = []
        for name, arm in arms:
            before = len(wrong)
            made = arm(given, (*place, name), wrong)
            if len(wrong) == before:
                return made
        found.extend(wrong)
        return None

    return check


def _arm(hint: Any) -> str:
    """Return how the places of findings call one arm of a union."""
    return hint.__name__ if isinstance(hint, type) and issubclass(hint, Model) else "[arm]"


def _one_of(words: tuple[str, ...]) -> Check:
    *most, last = map(repr, words)
    told = f"{', '.join(most)} or {last}" if most else last

    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        if not isinstance(given, str) or given not in words:
            found.append(Finding("literal", place, given, told))
        return given

    return check


def _list_of(arguments: tuple[Any, ...], limits: Limits) -> Check:
    inner = check_of(arguments[0])

    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        if not isinstance(given, list):
            found.append(Finding("list_type", place, given))
            return None
        if limits.longest is not None and len(given) > limits.longest:
            found.append(Finding("too_long", place, given, limits.longest))
            return None
        before = len(found)
        made = [inner(one, (*place, index), found) for index, one in enumerate(given)]
        if len(found) == before and len(made) < (limits.shortest or 0):
            found.append(Finding("too_short", place, given))
        return made

    return check


def _mapping_of(arguments: tuple[Any, ...], limits: Limits) -> Check:
    key_check, value_check = map(check_of, arguments)

    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        if not isinstance(given, dict):
            found.append(Finding("dict_type", place, given))
            return None
        before = len(found)
        made = {}
        for key, one in given.items():
            inside = (*place, key)
            made[key_check(key, inside, found)] = value_check(one, inside, found)
        if len(found) == before:
            if len(made) < (limits.shortest or 0):
                found.append(Finding("too_short", place, given))
            if limits.longest is not None and len(made) > limits.longest:
                found.append(Finding("too_long", place, given, limits.longest))
        return made

    return check


_HOLDERS: dict[Any, Callable[[tuple[Any, ...], Limits], Check]] = {
    list: _list_of,
    dict: _mapping_of,
}


def _anything(given: Any, _: Path, __: list[Finding]) -> Any:
    return given


def _plain(kind: type, named: str) -> Check:
    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        if not isinstance(given, kind) or (kind is int and isinstance(given, bool)):
            found.append(Finding(named, place, given))
        return given

    return check


_text = _plain(str, "string_type")
_PLAIN: dict[Any, Check] = {
    Any: _anything,
    str: _text,
    bool: _plain(bool, "bool_type"),
    int: _plain(int, "int_type"),
    dict: _plain(dict, "dict_type"),
    list: _plain(list, "list_type"),
}


def _text_within(limits: Limits) -> Check:
    shortest, longest = limits.shortest or 0, limits.longest
    pattern = None if limits.pattern is None else re.compile(limits.pattern)

    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        if not isinstance(given, str):
            return _text(given, place, found)
        if longest is not None and len(given) > longest:
            found.append(Finding("too_long", place, given, longest))
        elif len(given) < shortest:
            found.append(Finding("text_too_short", place, given))
        elif pattern is not None and pattern.fullmatch(given) is None:
            found.append(Finding("pattern", place, given))
        return given

    return check


def _making(made: Made) -> Check:
    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        value = made.maker(given)
        if value is None:
            found.append(Finding(made.kind, place, given))
        return value

    return check


def _within(inner: Check, limits: Limits) -> Check:
    """Check a number by another check first, and then by its bounds."""

    def check(given: Any, place: Path, found: list[Finding]) -> Any:
        before = len(found)
        value = inner(given, place, found)
        if len(found) > before:
            return value
        if limits.at_most is not None and value > limits.at_most:
            found.append(Finding("above", place, value, limits.at_most))
        elif limits.at_least is not None and value < limits.at_least:
            found.append(Finding("below", place, value, limits.at_least))
        elif limits.above is not None and value <= limits.above:
            found.append(Finding("not_above", place, value, limits.above))
        return value

    return check

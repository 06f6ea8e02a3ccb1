"""Values: frozen dataclasses that are made quickly, so that commands start sooner.

For each `dataclass(frozen=True, kw_only=True)` the standard library compiles six functions as soon
as its module is loaded; for the classes of a command that is a good part of what it takes to start.
Here they are the same for all, but for `__init__`, which is compiled for those that are made more
than a few times. What is asked for in another way is left to the standard library. It must also
make the base of others' classes, as of axes, or it would not take them for frozen; the children of
such a base may be made here, and others may inherit from them in turn.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import dataclass
else:

    def dataclass(**asked: bool) -> Callable[[type], type]:
        """Return what makes a class a dataclass, as `dataclasses.dataclass` does."""

        def make(cls: type) -> type:
            quick = {**asked, "slots": True} == _QUICK
            return _made(cls, **asked) if quick else dataclasses.dataclass(**asked)(cls)

        return make


__all__ = ["dataclass"]

_FEW = 8
_QUICK = {"frozen": True, "slots": True, "kw_only": True}
_FIELDS_ALONE = {"init": False, "repr": False, "eq": False, "match_args": False}


def _is_frozen(cls: type) -> bool:
    """Whether the standard library made it frozen; its children must then be so too."""
    parameters = cls.__dict__.get("__dataclass_params__")
    return parameters is not None and parameters.frozen


def _made(cls: type, **asked: bool) -> type:
    own = {name for name, value in vars(cls).items() if value is not None}
    asked["frozen"] = any(map(_is_frozen, cls.__mro__))
    made: Any = dataclasses.dataclass(**_FIELDS_ALONE, **asked)(cls)
    held = fields(made)
    methods: dict[str, Any] = {
        "__init__": _Init(made),
        "__repr__": _repr([field.name for field in held if field.repr]),
        **_comparing(held),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _set_state,
    }
    for name, method in methods.items():
        if name not in own:  # what a class says itself holds
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


class _Init:
    """An `__init__` for a few; where there are more, a compiled one takes its place."""

    __slots__ = ("_asked", "_cls")

    def __init__(self, cls: type) -> None:
        self._cls = cls
        self._asked = 0

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._asked += 1
        if instance is not None and self._asked <= _FEW:
            return partial(self._fill, instance)
        made: Any = _compiled(self._cls)
        self._cls.__init__ = made  # type: ignore[misc]
        return made.__get__(instance, owner)

    def _fill(self, instance: Any, /, *unnamed: Any, **given: Any) -> None:
        held = fields(self._cls)
        values = {field.name: _default(field) for field in held} | given
        if unnamed or len(values) > len(held) or any(one is MISSING for one in values.values()):
            _compiled(self._cls)(instance, *unnamed, **given)  # which says what is wrong
        for name, value in values.items():
            object.__setattr__(instance, name, value)
        if hasattr(instance, "__post_init__"):
            instance.__post_init__()


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _compiled(cls: Any) -> Callable[..., None]:
    """Return what sets the fields, one by one, as they are given or by default."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_left_out": object()}
    parameters, lines = [], []
    held = fields(cls)
    for field in held:
        name = field.name
        parameter, value = name, name
        if field.default is not MISSING:
            known[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not MISSING:
            known[f"_make_{name}"] = field.default_factory
            parameter = f"{name}=_left_out"
            value = f"_make_{name}() if {name} is _left_out else {name}"
        parameters.append(parameter)
        lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    told = ", ".join(["self", *(["*", *parameters] if parameters else [])])
    text = f"def made({', '.join(known)}):\n def __init__({told}):\n  "
    text += "\n  ".join([*lines, "return None"]) + "\n return __init__"
    found: dict[str, Any] = {}
    exec(text, vars(sys.modules[cls.__module__]), found)  # noqa: S102 - of names of fields alone
    made: Callable[..., None] = found["made"](**known)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {field.name: field.type for field in held} | {"return": None}
    return made


def _repr(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807 - it will be one
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({told})"

    return __repr__


def _comparing(held: Sequence[Field[Any]]) -> dict[str, Callable[..., Any]]:
    values = _values_of([field.name for field in held if field.compare])
    hashed = _values_of(
        [field.name for field in held if (field.compare if field.hash is None else field.hash)]
    )

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(hashed(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _values_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _refuse_to_set(_: Any, name: str, __: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)

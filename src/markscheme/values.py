"""Values: frozen dataclasses that are made quickly, so that commands start sooner.

For each `dataclass(frozen=True, kw_only=True)` the standard library compiles six functions as soon
as its module is loaded; for the classes of a command that is a good part of what it takes to start.
Here they are the same for all, but for `__init__`, which is compiled for those that are made more
than a few times. What is asked for in another way is left to the standard library, whose classes
may inherit from ours and ours from them.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cache, partial
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Usual:
    """What the standard library notes of its own; noted of ours, it takes them for its own."""

    field: Any


_PARAMETERS = vars(_Usual)["__dataclass_params__"]
_PARAMETERS.frozen = True  # had it made one, it would have compiled what we have
_FIELD = fields(_Usual)[0]._field_type  # type: ignore[attr-defined]  # noqa: SLF001


def _made(cls: Any, *, slots: bool = False, **_: bool) -> type:
    inherited: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__):
        inherited |= vars(base).get("__dataclass_fields__", {})
    own = {
        name: _field(name, hint, vars(cls).get(name, MISSING))
        for name, hint in get_annotations(cls).items()
        if not str(hint).partition("[")[0].endswith("ClassVar")
    }
    said = {name for name, value in vars(cls).items() if value is not None}
    made = _slotted(cls, own, inherited) if slots else cls
    parts = {
        **_METHODS,
        "__init__": _Init(made),
        "__dataclass_fields__": inherited | own,
        "__dataclass_params__": _PARAMETERS,
    }
    for name, part in parts.items():
        if name not in said:  # what a class says itself holds
            setattr(made, name, part)
    return made  # type: ignore[no-any-return]


def _field(name: str, hint: Any, default: Any) -> Field[Any]:
    made: Any = default if isinstance(default, Field) else dataclasses.field(default=default)
    if type(made.default).__hash__ is None:
        raise ValueError(f"mutable default {made.default!r} for field {name}; use a factory")
    made.name, made.type, made.kw_only, made._field_type = name, hint, True, _FIELD  # noqa: SLF001
    return made  # type: ignore[no-any-return]


def _slotted(cls: Any, own: Mapping[str, Any], inherited: Mapping[str, Any]) -> Any:
    """Return a class as it was written, with a slot for each field instead of its default."""
    parts = {name: part for name, part in vars(cls).items() if name not in own}
    for name in ("__dict__", "__weakref__"):
        parts.pop(name, None)
    slots = tuple(name for name in own if name not in inherited)
    parts |= {"__slots__": slots, "__qualname__": cls.__qualname__}
    return type(cls)(cls.__name__, cls.__bases__, parts)


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
        slot = getattr(cls, name, None)
        if isinstance(slot, MemberDescriptorType):  # which sets it without looking for it
            known[f"_set_{name}"] = slot.__set__
            lines.append(f"_set_{name}(self, {value})")
        else:
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


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in shown)})"


def _eq(self: Any, other: object) -> Any:
    kind: Any = type(self)
    values = _compared(kind)
    return values(self) == values(other) if type(other) is kind else NotImplemented


def _hash(self: Any) -> int:
    kind: Any = type(self)
    return hash(_hashed(kind)(self))


@cache
def _compared(cls: type) -> Callable[[Any], tuple[Any, ...]]:
    return _values_of([field.name for field in fields(cls) if field.compare])


@cache
def _hashed(cls: type) -> Callable[[Any], tuple[Any, ...]]:
    asked = [(field.name, field.hash, field.compare) for field in fields(cls)]
    return _values_of([name for name, own, compared in asked if (compared if own is None else own)])


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


_METHODS = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _set_state,
    "__replace__": dataclasses.replace,  # which `copy.replace` of Python 3.13 calls
}

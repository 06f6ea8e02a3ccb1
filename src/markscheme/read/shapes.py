"""Models of documents: classes whose annotations say what each key of a mapping may hold.

`checks.py` holds documents to them; the JSON Schemas that editors use are made from them too.
"""

from __future__ import annotations

from functools import cache
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


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

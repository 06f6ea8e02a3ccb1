"""Mappings that cannot be changed, so that what holds them can be compared, hashed and shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

_LIST_TYPES = (list, tuple)


class FrozenDict(dict[Any, Any]):
    """A mapping that cannot be changed, and that has a hash. `Frozen.of` freezes what is inside."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def _raise_frozen(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is frozen")

    __setitem__ = __delitem__ = __ior__ = _raise_frozen
    update = pop = popitem = clear = setdefault = _raise_frozen

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    @staticmethod
    def freeze(value: Any) -> Any:
        """Return a value with every mapping in it frozen and every list a tuple."""
        if isinstance(value, str):  # most values are
            return value
        if isinstance(value, _LIST_TYPES):
            return tuple([one if type(one) is str else FrozenDict.freeze(one) for one in value])
        if isinstance(value, Mapping):
            return FrozenDict({key: FrozenDict.freeze(inner) for key, inner in value.items()})
        return value

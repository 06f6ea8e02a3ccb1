"""An immutable mapping, so that the values that hold one can be compared, hashed and shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

_LIST_TYPES = (list, tuple)


class FrozenDict(dict[Any, Any]):
    """A hashable dict that cannot be changed.

    >>> FrozenDict.freeze({"tags": ["a", "b"]})
    {'tags': ('a', 'b')}
    >>> hash(FrozenDict(a=1)) == hash(FrozenDict(a=1))
    True
    """

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
        """Return a value with every mapping in it frozen and every list made a tuple."""
        # Most values of a document are text, so text is tested first and lists skip the call.
        if isinstance(value, str):
            return value
        if isinstance(value, _LIST_TYPES):
            return tuple(
                [entry if type(entry) is str else FrozenDict.freeze(entry) for entry in value]
            )
        if isinstance(value, Mapping):
            return FrozenDict({key: FrozenDict.freeze(inner) for key, inner in value.items()})
        return value

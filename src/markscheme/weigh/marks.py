"""Marks: how often each item got each set of axis values. All that is decided follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Values: TypeAlias = tuple[Fraction | None, ...]


class _Known(tuple[Fraction | None, ...]):  # noqa: SLOT001 - a tuple has no room but a __dict__
    """A set of axis values that remembers its hash: fractions are slow to hash, and many look."""

    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = super().__hash__()
            return self._hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What one subject got on one exam: for each item, how many answers got which axis values.

    `items` holds every item of the exam; one that was not answered has no counts. `errors` counts
    the rows that were no answers. They say nothing of weights, so a run can be weighed anew.
    """

    axes: tuple[str, ...]
    items: Mapping[str, Mapping[Values, int]]
    errors: int = 0

    def counts(self, items: Iterable[str] | None = None) -> Iterator[tuple[Values, int]]:
        """Yield the sets of axis values and their counts, of the items named or of all."""
        found = self.items.values() if items is None else (self.items[item] for item in items)
        for counts in found:
            if counts:
                yield from counts.items()

    @property
    def answers(self) -> int:
        """How many answers there are, whether they could be scored or not."""
        return sum(count for _, count in self.counts())

    @property
    def unscored(self) -> int:
        """How many answers have an axis without a value, and therefore no score."""
        return sum(count for values, count in self.counts() if lacks(values))

    @property
    def missing(self) -> tuple[str, ...]:
        """The items that were not answered."""
        return tuple(item for item, counts in self.items.items() if not counts)

    @property
    def complete(self) -> bool:
        """Whether every item was answered and every row and cell could be scored."""
        if self.errors or not self.items or not all(self.items.values()):
            return False
        different: set[Values] = set().union(*self.items.values())
        return not any(map(lacks, different))

    def merged(self, other: Marks) -> Marks:
        """Return the marks of both together, as if they had been counted at once."""
        if self.axes != other.axes:
            raise ValueError(f"marks on {self.axes} and on {other.axes} cannot be merged")
        items = {
            item: dict(Counter(self.items.get(item, {})) + Counter(other.items.get(item, {})))
            for item in {**self.items, **other.items}
        }
        return Marks(axes=self.axes, items=items, errors=self.errors + other.errors)

    def reordered(self, axes: tuple[str, ...]) -> Marks:
        """Return the marks with their axes in another order."""
        if axes == self.axes:
            return self
        order = [self.axes.index(axis) for axis in axes]
        moved: dict[Values, Values] = {v: _Known(v[at] for at in order) for v, _ in self.counts()}
        items = {
            item: {moved[values]: n for values, n in counts.items()}
            for item, counts in self.items.items()
        }
        return Marks(axes=axes, items=items, errors=self.errors)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; equal marks give equal data.

        `values` lists the different sets of axis values, exact ratios as text, and `items` counts
        them by their position in that list.
        """
        table = sorted({values for values, _ in self.counts()}, key=_order)
        position = {values: str(at) for at, values in enumerate(table)}
        return {
            "axes": list(self.axes),
            "values": [[None if v is None else str(v) for v in values] for values in table],
            "items": {
                item: {position[v]: counts[v] for v in sorted(counts, key=_order)}
                for item, counts in self.items.items()
            },
            "errors": self.errors,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Marks:
        """Return the marks that `to_dict` gave as data.

        Raises:
            ValueError: the data are not what `to_dict` gives.
        """
        try:
            axes = tuple(map(str, data["axes"]))
            table = {str(at): _values(v, len(axes)) for at, v in enumerate(data["values"])}
            items = {
                str(item): {table[at]: _count(count, 1) for at, count in counts.items()}
                for item, counts in data["items"].items()
            }
            return cls(axes=axes, items=items, errors=_count(data["errors"], 0))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"no marks: {error}") from error


def lacks(values: Values) -> bool:
    """Return whether an axis has no value, so that there is no score."""
    return any(value is None for value in values)


_fraction = lru_cache(maxsize=4096)(Fraction)  # from text, and the same text again and again


def _order(values: Values) -> tuple[tuple[bool, Fraction], ...]:
    return tuple((value is None, value or Fraction(0)) for value in values)


def _values(entry: Any, axes: int) -> Values:
    values = _Known(None if value is None else _fraction(str(value)) for value in entry)
    if len(values) != axes or not all(value is None or 0 <= value <= 1 for value in values):
        raise ValueError(f"{entry!r} is no value from 0 to 1 for each axis")
    return values


def _count(count: Any, least: int) -> int:
    if type(count) is not int or count < least:
        raise ValueError(f"{count!r} is no count")
    return count

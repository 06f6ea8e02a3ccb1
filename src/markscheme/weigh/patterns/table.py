"""The table that patterns are read from: which items miss which axis."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from markscheme.weigh.marks import Marks, Values

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One thing that items can miss: those looked at, by position, and those that do."""

    seen: frozenset[int]
    missed: frozenset[int]

    def without(self, items: Iterable[int]) -> Column:
        """Return the column with some items set aside."""
        gone = frozenset(items)
        return Column(seen=self.seen - gone, missed=self.missed - gone)


def columns_of(marks: Marks) -> dict[str | None, Column]:
    """Return the column of each axis; under `None`, that of missing every axis at once.

    An item misses an axis when its answers get less than half of the points there, on average.
    """
    seen: list[set[int]] = [set() for _ in marks.axes]
    missed: list[set[int]] = [set() for _ in marks.axes]
    for at, counts in enumerate(marks.items.values()):
        for axis, mean in enumerate(_means(counts, len(marks.axes))):
            if mean is not None:
                seen[axis].add(at)
                if mean < HALF:
                    missed[axis].add(at)
    each: dict[str | None, Column] = {
        axis: Column(seen=frozenset(seen[at]), missed=frozenset(missed[at]))
        for at, axis in enumerate(marks.axes)
    }
    if len(each) < 2:  # noqa: PLR2004 - one axis is every axis
        return each
    every = Column(
        seen=frozenset.intersection(*(column.seen for column in each.values())),
        missed=frozenset.intersection(*(column.missed for column in each.values())),
    )
    return {None: every, **each}


def _means(counts: Mapping[Values, int], axes: int) -> Iterator[Fraction | None]:
    """Yield the mean of each axis over the answers to one item."""
    if len(counts) == 1:
        yield from next(iter(counts))
        return
    for axis in range(axes):
        known = [(values[axis], n) for values, n in counts.items()]
        n = sum(count for value, count in known if value is not None)
        total = sum((value * count for value, count in known if value is not None), Fraction(0))
        yield total / n if n else None


def failing(marks: Marks) -> Column:
    """Return the items that have no answer, or of whose answers half or more have no score."""
    bad = set()
    for at, counts in enumerate(marks.items.values()):
        unscored = sum(n for values, n in counts.items() if None in values)
        if 2 * unscored >= sum(counts.values()):
            bad.add(at)
    return Column(seen=frozenset(range(len(marks.items))), missed=frozenset(bad))

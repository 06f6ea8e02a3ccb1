"""Marks: how often each item got each set of axis values, without the answers themselves.

Scores, gates and comparisons all follow from marks. Items with equal counts share one mapping, so
that large exams stay small and each distinct mapping is processed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from msgspec import Struct

from markscheme.vocabulary import FrozenDict

AxisValues: TypeAlias = tuple[Fraction | None, ...]


class Marks(Struct, frozen=True, kw_only=True):
    """What one subject got on one exam: for each item, how many answers got which axis values.

    `items` holds every item of the exam; an item that was not answered has empty counts. `errors`
    counts the rows that were no answers. Marks hold no weights, so a run can be weighed again under
    another rubric.
    """

    axes: tuple[str, ...]
    items: Mapping[str, Mapping[AxisValues, int]]
    errors: int = 0

    def counts(self, items: Iterable[str] | None = None) -> list[tuple[AxisValues, int]]:
        """Return each set of axis values with its count, over the items named or over all."""
        # Group by identity, not by value: comparing fractions costs more than adding counts. The
        # same values may therefore come more than once.
        chosen = list(self.items.values() if items is None else map(self.items.__getitem__, items))
        mappings_by_id = dict(zip(map(id, chosen), chosen, strict=True))
        totals: dict[int, tuple[AxisValues, int]] = {}
        for mapping_id, times in Counter(map(id, chosen)).items():
            for values, count in mappings_by_id[mapping_id].items():
                _, known = totals.get(id(values), (values, 0))
                totals[id(values)] = (values, known + count * times)
        return list(totals.values())

    def alike(self) -> list[tuple[Mapping[AxisValues, int], list[int]]]:
        """Return each distinct mapping of counts, with the positions of the items that share it."""
        groups: dict[int, tuple[Mapping[AxisValues, int], list[int]]] = {}
        for at, counts in enumerate(self.items.values()):
            groups.setdefault(id(counts), (counts, []))[1].append(at)
        return list(groups.values())

    @property
    def answers(self) -> int:
        """The number of answers, scored or not."""
        return sum(count for _, count in self.counts())

    @property
    def unscored(self) -> int:
        """The number of answers with an axis that has no value, and therefore without a score."""
        return sum(count for values, count in self.counts() if None in values)

    @property
    def missing(self) -> tuple[str, ...]:
        """The items that were not answered."""
        return tuple(item for item, counts in self.items.items() if not counts)

    @property
    def complete(self) -> bool:
        """Whether every item was answered and every row and cell could be scored."""
        return bool(self.items) and not (self.errors or self.missing or self.unscored)

    def merged(self, other: Marks) -> Marks:
        """Return the marks of both together."""
        if self.axes != other.axes:
            raise ValueError(f"marks on {self.axes} and on {other.axes} cannot be merged")
        items = {
            item: dict(Counter(self.items.get(item, {})) + Counter(other.items.get(item, {})))
            for item in {**self.items, **other.items}
        }
        return Marks(axes=self.axes, items=items, errors=self.errors + other.errors)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; equal marks give equal data.

        `values` lists the distinct sets of axis values, as exact ratios, and `items` counts them by
        their position in that list.
        """
        table = sorted({values for values, _ in self.counts()}, key=_get_values_sort_key)
        position = {values: str(at) for at, values in enumerate(table)}
        written = {
            id(counts): {position[v]: counts[v] for v in sorted(counts, key=_get_values_sort_key)}
            for counts, _ in self.alike()
        }
        return {
            "axes": list(self.axes),
            "values": [[None if v is None else str(v) for v in values] for values in table],
            "items": {item: written[id(counts)] for item, counts in self.items.items()},
            "errors": self.errors,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Marks:
        """Return the marks that `to_dict` turned into data; equal counts are shared.

        Raises:
            ValueError: the data are not what `to_dict` gives.
        """
        try:
            axes = tuple(map(str, data["axes"]))
            table = {
                str(at): _parse_axis_values(v, len(axes)) for at, v in enumerate(data["values"])
            }
            shared: dict[str, Mapping[AxisValues, int]] = {}
            items: dict[str, Mapping[AxisValues, int]] = {}
            for item, counts in data["items"].items():
                written = str(counts)
                if written not in shared:
                    shared[written] = _parse_value_counts(counts, table)
                items[str(item)] = shared[written]
            return cls(axes=axes, items=items, errors=_parse_count(data["errors"], 0))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"no marks: {error}") from error


def _get_values_sort_key(values: AxisValues) -> tuple[tuple[bool, Fraction], ...]:
    return tuple((value is None, value or Fraction(0)) for value in values)


def _parse_axis_values(entry: Any, axes: int) -> AxisValues:
    values = tuple(None if value is None else Fraction(str(value)) for value in entry)
    if len(values) != axes or not all(value is None or 0 <= value <= 1 for value in values):
        raise ValueError(f"{entry!r} is no value from 0 to 1 for each axis")
    return values


def _parse_value_counts(
    counts: Mapping[str, Any], table: Mapping[str, AxisValues]
) -> Mapping[AxisValues, int]:
    return FrozenDict({table[at]: _parse_count(count, 1) for at, count in counts.items()})


def _parse_count(count: Any, least: int) -> int:
    if type(count) is not int or count < least:
        raise ValueError(f"{count!r} is no count")
    return count

"""Marks: how often each item got each set of axis values, without the answers themselves.

A value that is not known is held as its bounds, so that nothing unknown is left out of a total.

Scores, gates and comparisons all follow from marks. Items with equal counts share one mapping, so
that large exams stay small and each distinct mapping is processed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from msgspec import Struct, structs

from markscheme.vocabulary import (
    NOT_APPLICABLE,
    UNKNOWN_SCORE,
    AxisValue,
    FrozenDict,
    NotApplicable,
    ScoreBounds,
    Status,
    simplest_fraction,
)

AxisValues: TypeAlias = tuple[AxisValue, ...]
"""What is known of one answer on each axis."""


def recover_axis_value(
    value: float | Decimal | None,
    status: str | None = None,
    low: float | Decimal | None = None,
    high: float | Decimal | None = None,
) -> AxisValue:
    """Return what a stored or published cell says: its value, its bounds, or that it is `n/a`.

    A cell without any of them is one of which nothing is known.
    """
    if value is not None:
        return _recover_number(value)
    if status == Status.NOT_APPLICABLE.value:
        return NOT_APPLICABLE
    if low is None or high is None:
        return UNKNOWN_SCORE
    return ScoreBounds(low=_recover_number(low), high=_recover_number(high))


def read_axis_values(row: Mapping[str, Any], axes: Iterable[str]) -> AxisValues:
    """Return what a published row says of each axis; what is not understood says nothing."""
    statuses, bounds = (_get_mapping(row, name) for name in ("cell_status", "cell_bounds"))
    return tuple(
        recover_axis_value(
            row["breakdown"][axis],
            statuses.get(axis),
            *(bounds[axis] if is_bounds(bounds.get(axis)) else (None, None)),
        )
        for axis in axes
    )


def _get_mapping(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def is_bounds(value: Any) -> bool:
    """Return whether a published value is two numbers in order, and none above 1."""
    numbers = value if isinstance(value, list) else ()
    known = [n for n in numbers if isinstance(n, int | Decimal) and not isinstance(n, bool)]
    return len(known) == len(numbers) == 2 and known[0] <= known[1] <= 1  # noqa: PLR2004


def _recover_number(value: float | Decimal) -> Fraction:
    return simplest_fraction(Decimal(str(value)) if isinstance(value, float) else value)


def is_unscored(values: AxisValues) -> bool:
    """Return whether the value of some axis is not known, so that the score is not known."""
    return any(type(value) is ScoreBounds for value in values)


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
        """The number of answers with an axis of unknown value, and therefore without a score."""
        return sum(count for values, count in self.counts() if is_unscored(values))

    @property
    def missing(self) -> tuple[str, ...]:
        """The items that were not answered."""
        return tuple(item for item, counts in self.items.items() if not counts)

    @property
    def all_answered(self) -> bool:
        """Whether every item was answered and every row was an answer."""
        return bool(self.items) and not (self.errors or self.missing)

    @property
    def complete(self) -> bool:
        """Whether every item was answered and every row and cell could be scored."""
        return self.all_answered and not self.unscored

    def fill_missing(self, unknown: Callable[[str], AxisValues]) -> Marks:
        """Return marks in which each missing item has answers of which nothing is known.

        These are as many as the answers to any other item, and at least one. `unknown` returns
        their values for an item.
        """
        missing = self.missing
        if not missing:
            return self
        attempts = max((sum(counts.values()) for counts, _ in self.alike()), default=0) or 1
        shared: dict[int, FrozenDict] = {}
        filled = dict(self.items)
        for item in missing:
            values = unknown(item)
            filled[item] = shared.setdefault(id(values), FrozenDict({values: attempts}))
        return structs.replace(self, items=filled)

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
            "values": [list(map(_dump_axis_value, values)) for values in table],
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


def _get_values_sort_key(values: AxisValues) -> tuple[tuple[int, Fraction, Fraction], ...]:
    return tuple(map(_get_value_sort_key, values))


def _get_value_sort_key(value: AxisValue) -> tuple[int, Fraction, Fraction]:
    if isinstance(value, Fraction):
        return 0, value, value
    if isinstance(value, NotApplicable):
        return 2, Fraction(0), Fraction(0)
    return 1, value.low, value.high


def _dump_axis_value(value: AxisValue) -> str | list[str] | None:
    """Return a value as data: a ratio, `n/a`, two bounds, or null if nothing is known."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, NotApplicable):
        return Status.NOT_APPLICABLE.value
    return None if value == UNKNOWN_SCORE else [str(value.low), str(value.high)]


def _parse_axis_value(entry: Any) -> AxisValue:
    if entry is None:
        return UNKNOWN_SCORE
    if entry == Status.NOT_APPLICABLE.value:
        return NOT_APPLICABLE
    low, high = (
        map(Fraction, map(str, entry)) if isinstance(entry, list) else [Fraction(str(entry))] * 2
    )
    if not low <= high <= 1:
        raise ValueError(f"{entry!r} is no value of an axis")
    return ScoreBounds(low=low, high=high) if isinstance(entry, list) else low


def _parse_axis_values(entry: Any, axes: int) -> AxisValues:
    values = tuple(map(_parse_axis_value, entry))
    if len(values) != axes:
        raise ValueError(f"{entry!r} is no value for each axis")
    return values


def _parse_value_counts(
    counts: Mapping[str, Any], table: Mapping[str, AxisValues]
) -> Mapping[AxisValues, int]:
    return FrozenDict({table[at]: _parse_count(count, 1) for at, count in counts.items()})


def _parse_count(count: Any, least: int) -> int:
    if type(count) is not int or count < least:
        raise ValueError(f"{count!r} is no count")
    return count

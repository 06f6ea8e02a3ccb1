"""The table that patterns are read from: which items miss which axis.

One run as patterns read it: its table, its groups, and what was observed beside the marks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from markscheme.vocabulary import Exam, Rubric
from markscheme.weigh.patterns.groups import list_item_groups
from markscheme.weigh.patterns.observed import RowObservations, find_leading_axis_name
from markscheme.weigh.stats import sum_counts
from markscheme.weigh.totals import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from markscheme.weigh.patterns.groups import ItemGroup
    from markscheme.weigh.totals import AxisValues, Marks

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissColumn:
    """One thing that items can miss: those looked at, by position, and those that do."""

    seen: frozenset[int]
    missed: frozenset[int]

    def restrict_to(self, items: frozenset[int]) -> MissColumn:
        """Return the column of these items only."""
        return MissColumn(seen=self.seen & items, missed=self.missed & items)

    def exclude_items(self, items: Iterable[int]) -> MissColumn:
        """Return the column with some items set aside."""
        gone = frozenset(items)
        return MissColumn(seen=self.seen - gone, missed=self.missed - gone)


def build_miss_columns(
    marks: Marks, within: Fraction | None = None
) -> dict[str | None, MissColumn]:
    """Return the column of each axis; under `None`, that of missing every axis at once.

    An item misses an axis when its answers get less than half of the points there, on average;
    with `within`, also when they get less than the mean over items by more than that.
    """
    alike = [(tuple(_iter_axis_means(counts, len(marks.axes))), at) for counts, at in marks.alike()]
    each: dict[str | None, MissColumn] = {
        axis: _build_miss_column([(means[number], at) for means, at in alike], within)
        for number, axis in enumerate(marks.axes)
    }
    if len(each) < 2:  # noqa: PLR2004 - one axis is every axis
        return each
    every = MissColumn(
        seen=frozenset.intersection(*(column.seen for column in each.values())),
        missed=frozenset.intersection(*(column.missed for column in each.values())),
    )
    return {None: every, **each}


def _build_miss_column(
    means: Iterable[tuple[Fraction | None, list[int]]], within: Fraction | None
) -> MissColumn:
    """Return the column of means that are given with the positions of their items."""
    known = [(value, at) for value, at in means if value is not None]
    counts = sum_counts((value, len(at)) for value, at in known)
    limit = HALF
    if within is not None and counts:
        total = sum((value * n for value, n in counts.items()), Fraction(0))
        limit = max(HALF, total / counts.total() - within)
    below = {value for value in counts if value < limit}
    missed = frozenset(position for value, at in known if value in below for position in at)
    return MissColumn(seen=frozenset(position for _, at in known for position in at), missed=missed)


def compute_item_axis_means(marks: Marks) -> list[tuple[Fraction | None, ...]]:
    """Return the means of the axes for each item; one that was not answered has none."""
    each = {
        id(counts): tuple(_iter_axis_means(counts, len(marks.axes))) for counts, _ in marks.alike()
    }
    return [each[id(counts)] for counts in marks.items.values()]


def _iter_axis_means(counts: Mapping[AxisValues, int], axes: int) -> Iterator[Fraction | None]:
    """Yield the mean of each axis over the answers to one item."""
    if len(counts) == 1:
        yield from next(iter(counts))
        return
    for axis in range(axes):
        known = [(values[axis], n) for values, n in counts.items()]
        n = sum(count for value, count in known if value is not None)
        total = sum((value * count for value, count in known if value is not None), Fraction(0))
        yield total / n if n else None


def build_failing_column(marks: Marks) -> MissColumn:
    """Return the items that have no answer, or of whose answers half or more have no score."""
    bad: set[int] = set()
    for counts, at in marks.alike():
        unscored = sum(n for values, n in counts.items() if None in values)
        if 2 * unscored >= sum(counts.values()):
            bad.update(at)
    return MissColumn(seen=frozenset(range(len(marks.items))), missed=frozenset(bad))


@dataclass(frozen=True, kw_only=True)
class PatternContext:
    """What there is to read patterns from."""

    rubric: Rubric
    exam: Exam
    run: Run
    observed: RowObservations

    @cached_property
    def item_ids(self) -> tuple[str, ...]:
        """The items in the order of the exam."""
        return tuple(item.id for item in self.exam.items)

    @cached_property
    def groups(self) -> tuple[ItemGroup, ...]:
        """The groups by tag."""
        return list_item_groups(self.exam)

    @cached_property
    def leading_axis_name(self) -> str:
        """The axis that says whether an answer is right: what `got` shows, else the heaviest."""
        heaviest = max(self.rubric, key=lambda spec: spec.weight).name
        return find_leading_axis_name(self.rubric) or heaviest

    def list_item_ids(self, positions: Iterable[int]) -> tuple[str, ...]:
        """Return the names of items in the order of the exam."""
        return tuple(self.item_ids[at] for at in sorted(positions))

    @cached_property
    def _item_axis_means(self) -> list[tuple[Fraction | None, ...]]:
        return compute_item_axis_means(self.run.marks)

    def compute_lost_score(self, axis: str | None, positions: Iterable[int]) -> Fraction:
        """Return what items take from the mean score; `None` is every axis.

        What has no value counts as if it had been missed.
        """
        at = {spec.name: number for number, spec in enumerate(self.rubric)}
        weights = [(at[s.name], Fraction(s.weight)) for s in self.rubric if axis in {None, s.name}]
        counts = Counter(self._item_axis_means[item] for item in positions)
        total = sum(
            (
                weight * (1 - (means[number] or 0)) * count
                for means, count in counts.items()
                for number, weight in weights
            ),
            Fraction(0),
        )
        return total / len(self.item_ids)

"""Groups of items by tag, and the search for groups in which misses are concentrated.

The rule: all groups by one tag value or by two are looked at. The group whose misses on a column
are least likely by luck is reported, if that chance, adjusted for the number of groups, is at most
one in a hundred and at least half of the group misses. Its items are then set aside for that column
and the search goes on with the others, so that nothing is reported twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

from markscheme.vocabulary import Exam, FrozenDict
from markscheme.weigh.patterns.chance import (
    SIGNIFICANCE_LEVEL,
    compute_hypergeometric_tail,
    compute_smallest_tail,
    count_testable_questions,
)

ColumnKey: TypeAlias = str | None
"""The name of an axis; `None` for all axes at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissColumn:
    """Which items miss one thing, by position: those `seen`, and those of them that `missed`."""

    seen: frozenset[int]
    missed: frozenset[int]

    def restrict_to(self, items: frozenset[int]) -> MissColumn:
        """Return the column of these items only."""
        return MissColumn(seen=self.seen & items, missed=self.missed & items)

    def exclude_items(self, items: Iterable[int]) -> MissColumn:
        """Return the column without some items."""
        gone = frozenset(items)
        return MissColumn(seen=self.seen - gone, missed=self.missed - gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemGroup:
    """The positions of the items that share one tag value, or two."""

    tags: FrozenDict
    items: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedGroup:
    """A group in which the misses of a column are concentrated.

    `hits` of the `of` items in the group miss, and `others` of the `rest` outside it. `p` is the
    chance of that by luck, and `groups` is how many groups it is adjusted for.
    """

    column: str | None
    group: ItemGroup
    hits: frozenset[int]
    of: int
    others: int
    rest: int
    p: Fraction
    groups: int


def list_item_groups(exam: Exam) -> tuple[ItemGroup, ...]:
    """Return the groups of two items or more; equal groups once, named by the fewest tags."""
    members: dict[tuple[tuple[str, str], ...], set[int]] = {}
    for at, item in enumerate(exam.items):
        for size in (1, 2):
            for tags in combinations(sorted(item.tags.items()), size):
                members.setdefault(tags, set()).add(at)
    known: dict[frozenset[int], tuple[tuple[str, str], ...]] = {}
    for tags, items in sorted(members.items(), key=lambda pair: (len(pair[0]), pair[0])):
        if 1 < len(items) < len(exam.items):
            known.setdefault(frozenset(items), tags)
    return tuple(ItemGroup(tags=FrozenDict(tags), items=items) for items, tags in known.items())


def find_concentrated_groups(
    columns: Mapping[ColumnKey, MissColumn], groups: tuple[ItemGroup, ...]
) -> Iterator[ConcentratedGroup]:
    """Yield the groups in which misses are concentrated, the least likely by luck first."""
    left = dict(columns)
    count = _count_testable_groups(columns, groups)
    best = {
        key: _find_least_likely_group(key, column, groups, count) for key, column in left.items()
    }
    reported, highest = 0, Fraction(0)
    while any(best.values()):
        least_likely = min(
            (group for group in best.values() if group), key=_get_concentration_sort_key
        )
        highest = max(highest, min(Fraction(1), least_likely.p * max(1, count - reported)))
        if highest > SIGNIFICANCE_LEVEL:
            return
        yield replace(least_likely, p=highest)
        reported += 1
        for key in left if least_likely.column is None else (least_likely.column,):
            left[key] = left[key].exclude_items(least_likely.group.items)
            best[key] = _find_least_likely_group(key, left[key], groups, count)


def _count_testable_groups(
    columns: Mapping[ColumnKey, MissColumn], groups: tuple[ItemGroup, ...]
) -> int:
    """Return how many groups the chances are adjusted for."""
    asked = [column for column in columns.values() if column.missed]
    enough = SIGNIFICANCE_LEVEL / max(1, len(asked) * len(groups))
    counts: Counter[Fraction] = Counter()
    for column in asked:
        sizes = Counter(len(group.items & column.seen) for group in groups)
        for size, many in sizes.items():
            counts[compute_smallest_tail(size, len(column.missed), len(column.seen), enough)] += (
                many
            )
    return count_testable_questions(counts, SIGNIFICANCE_LEVEL)


def _find_least_likely_group(
    key: ColumnKey, column: MissColumn, groups: tuple[ItemGroup, ...], count: int
) -> ConcentratedGroup | None:
    measured = (
        _measure_concentration(key, column, group, count) for group in groups if column.missed
    )
    return min(
        (group for group in measured if group), key=_get_concentration_sort_key, default=None
    )


def _measure_concentration(
    key: ColumnKey, column: MissColumn, group: ItemGroup, count: int
) -> ConcentratedGroup | None:
    hits = group.items & column.missed
    if len(hits) < 2:  # noqa: PLR2004 - one item is no group
        return None
    of, seen, missed = len(group.items & column.seen), len(column.seen), len(column.missed)
    if 2 * len(hits) < of or len(hits) * seen <= missed * of:
        return None
    return ConcentratedGroup(
        column=key,
        group=group,
        hits=hits,
        of=of,
        others=missed - len(hits),
        rest=seen - of,
        p=compute_hypergeometric_tail(len(hits), of, missed, seen),
        groups=count,
    )


def _get_concentration_sort_key(
    concentrated: ConcentratedGroup,
) -> tuple[Fraction, bool, int, int, list[tuple[str, str]]]:
    """Sort by chance; ties: all axes first, then fewer tags, then more items."""
    tags = concentrated.group.tags
    return (
        concentrated.p,
        concentrated.column is not None,
        len(tags),
        -len(concentrated.hits),
        sorted(tags.items()),
    )

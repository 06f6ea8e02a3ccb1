"""Groups of items by tag, and the search for those in which the misses gather.

The rule: of all groups by one tag value or by two, the one that gathers the misses of a column with
the smallest chance is told, if that chance, adjusted for the number of groups, is at most one in a
hundred and at least half of the group misses. Its items are then set aside for that column, and
the search goes on with what is left, so nothing is told twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from markscheme.vocabulary import FrozenDict
from markscheme.weigh.patterns.chance import (
    compute_hypergeometric_tail,
    compute_smallest_tail,
    count_testable_questions,
)
from markscheme.weigh.patterns.pattern import SIGNIFICANCE_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.vocabulary import Exam
    from markscheme.weigh.patterns.table import MissColumn

    ColumnKey = str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemGroup:
    """Items that share one tag value, or two, by position."""

    tags: FrozenDict
    items: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedGroup:
    """A group in which the misses of a column gather, beside what is left outside of it."""

    column: str | None
    group: ItemGroup
    hits: frozenset[int]
    of: int
    others: int
    rest: int
    p: Fraction
    groups: int


def list_item_groups(exam: Exam) -> tuple[ItemGroup, ...]:
    """Return the groups of two items or more, each set of items once, by the fewest tags."""
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
    """Yield the groups in which misses gather, the least likely first."""
    left = dict(columns)
    count = _count_testable_groups(columns, groups)
    best = {
        key: _find_least_likely_group(key, column, groups, count) for key, column in left.items()
    }
    told, highest = 0, Fraction(0)
    while any(best.values()):
        found = min((one for one in best.values() if one), key=_get_concentration_sort_key)
        highest = max(highest, min(Fraction(1), found.p * max(1, count - told)))
        if highest > SIGNIFICANCE_LEVEL:
            return
        yield replace(found, p=highest)
        told += 1
        for key in left if found.column is None else (found.column,):
            left[key] = left[key].exclude_items(found.group.items)
            best[key] = _find_least_likely_group(key, left[key], groups, count)


def _count_testable_groups(
    columns: Mapping[ColumnKey, MissColumn], groups: tuple[ItemGroup, ...]
) -> int:
    """Return how many groups count as looked at."""
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
    found = (_measure_concentration(key, column, group, count) for group in groups if column.missed)
    return min((one for one in found if one), key=_get_concentration_sort_key, default=None)


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
    found: ConcentratedGroup,
) -> tuple[Fraction, bool, int, int, list[tuple[str, str]]]:
    """Return the least likely first; of equals that of every axis, of fewer tags, of more items."""
    tags = found.group.tags
    return found.p, found.column is not None, len(tags), -len(found.hits), sorted(tags.items())

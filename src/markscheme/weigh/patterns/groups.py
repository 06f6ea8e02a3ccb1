"""Groups of items by tag, the search for groups with many misses, and exact chances.

The rule: all groups by one tag value or by two are looked at. The group whose misses on a column
are least likely by luck is reported, if that chance, adjusted for the number of groups, is at most
one in a hundred and at least half of the group misses. Its items are then set aside for that column
and the search goes on with the others, so that nothing is reported twice. A search may then go on
among the groups of three items or more that all miss, up to a weaker level.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, combinations
from math import comb
from typing import TypeAlias

from markscheme.vocabulary import Exam, FrozenDict

# A pattern is reported if its chance by luck is at most this.
SIGNIFICANCE_LEVEL = Fraction(1, 100)
# A group whose items all miss an axis needs less evidence: it is what a reader looks for first.
# `scripts/false_alarms.py` measures what that costs in false alarms.
FULL_GROUP_LEVEL = Fraction(1, 20)
_MIN_FULL_GROUP = 3


def compute_hypergeometric_tail(hits: int, of: int, marked: int, among: int) -> Fraction:
    """Return the chance that a random draw of `of` things holds at least `hits` marked ones.

    The upper tail of the hypergeometric distribution: `marked` of `among` things are marked.
    """
    most = min(of, marked)
    if hits > most:
        return Fraction(0)
    term = comb(marked, most) * comb(among - marked, of - most)
    total = 0
    for count in range(most, hits - 1, -1):
        total += term
        left = among - marked - of + count
        term = term * count * left // ((marked - count + 1) * (of - count + 1))
    return Fraction(total, comb(among, of))


def compute_dice_tail(hits: int, of: int, sides: int = 2) -> Fraction:
    """Return the chance that at least `hits` of `of` fair dice show one side: a binomial tail."""
    if 2 * hits > of:
        return Fraction(_sum_binomial_terms(of - hits, of, 1, sides - 1), sides**of)
    return 1 - Fraction(_sum_binomial_terms(hits - 1, of, sides - 1, 1), sides**of)


def _sum_binomial_terms(most: int, of: int, one: int, other: int) -> int:
    """Return the sum of the first `most + 1` terms of the expansion of (one + other)^of."""
    powers = [other**count for count in range(most + 1)]
    return sum(comb(of, count) * one ** (of - count) * powers[count] for count in range(most + 1))


def compute_smallest_tail(of: int, marked: int, among: int, enough: Fraction) -> Fraction:
    """Return the smallest chance that `compute_hypergeometric_tail` can give for these sizes.

    That is the chance that one of the two sets holds the other. The product stops early once it is
    below `enough`.
    """
    small, large = sorted((of, marked))
    chance = Fraction(1)
    for at in range(small):
        chance *= Fraction(large - at, among - at)
        if chance < enough:
            break
    return chance


def count_testable_questions(least_of: Mapping[Fraction, int], level: Fraction) -> int:
    """Return how many questions to adjust for: those that could be significant at all.

    `least_of` counts the questions by the smallest chance that each could ever give, which follows
    from the sizes of the groups. A question that stays above the adjusted level whatever is seen
    cannot raise a false alarm, so it is not part of the family (Tarone 1990).
    """
    ordered = sorted(least_of)
    ranks = [0, *accumulate(least_of[p] for p in ordered)]
    low, high = 1, max(1, ranks[-1])
    while low < high:
        count = (low + high) // 2
        if ranks[bisect_right(ordered, level / count)] <= count:
            high = count
        else:
            low = count + 1
    return low


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
    columns: Mapping[ColumnKey, MissColumn],
    groups: tuple[ItemGroup, ...],
    *,
    full_level: Fraction = SIGNIFICANCE_LEVEL,
) -> Iterator[ConcentratedGroup]:
    """Yield the groups in which misses are concentrated, the least likely by luck first.

    Groups in which every item misses follow, up to the weaker `full_level`.
    """
    left = dict(columns)
    count = _count_testable_groups(columns, groups)
    reported, highest = 0, Fraction(0)
    for level, is_full in ((SIGNIFICANCE_LEVEL, False), (full_level, True)):
        best = {
            key: _find_least_likely_group(key, column, groups, count, is_full=is_full)
            for key, column in left.items()
        }
        while any(best.values()):
            least_likely = min(
                (group for group in best.values() if group), key=_get_concentration_sort_key
            )
            p = max(highest, min(Fraction(1), least_likely.p * max(1, count - reported)))
            if p > level:
                break
            yield replace(least_likely, p=p)
            reported, highest = reported + 1, p
            for key in left if least_likely.column is None else (least_likely.column,):
                left[key] = left[key].exclude_items(least_likely.group.items)
                best[key] = _find_least_likely_group(key, left[key], groups, count, is_full=is_full)


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
    key: ColumnKey,
    column: MissColumn,
    groups: tuple[ItemGroup, ...],
    count: int,
    *,
    is_full: bool,
) -> ConcentratedGroup | None:
    """Return the least likely group of a column; with `is_full`, of those that miss entirely."""
    measured = (
        _measure_concentration(key, column, group, count) for group in groups if column.missed
    )
    return min(
        (group for group in measured if group and (not is_full or _is_full_group(group))),
        key=_get_concentration_sort_key,
        default=None,
    )


def _is_full_group(concentrated: ConcentratedGroup) -> bool:
    return len(concentrated.hits) == concentrated.of >= _MIN_FULL_GROUP


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

"""Groups of items by tag, and the search for those in which the misses gather.

The rule: of all groups by one tag value or by two, the one that gathers the misses of a column with
the smallest chance is told, if that chance, adjusted for the number of groups, is at most one in a
hundred and at least half of the group misses. Its items are then set aside for that column, and
the search goes on with what is left, so nothing is told twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from markscheme.frozen import Frozen
from markscheme.values import dataclass
from markscheme.weigh.patterns.luck import answerable, drawn, least
from markscheme.weigh.patterns.pattern import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.vocabulary import Exam
    from markscheme.weigh.patterns.table import Column

    Key = str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Items that share one tag value, or two, by position."""

    tags: Frozen
    items: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """A group in which the misses of a column gather, beside what is left outside of it."""

    column: str | None
    group: Group
    hits: frozenset[int]
    of: int
    others: int
    rest: int
    p: Fraction
    groups: int


def groups_by_tags(exam: Exam) -> tuple[Group, ...]:
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
    return tuple(Group(tags=Frozen(tags), items=items) for items, tags in known.items())


def gatherings(columns: Mapping[Key, Column], groups: tuple[Group, ...]) -> Iterator[Gathering]:
    """Yield the groups in which misses gather, the least likely first."""
    left = dict(columns)
    count = _questions(columns, groups)
    best = {key: _best(key, column, groups, count) for key, column in left.items()}
    told, highest = 0, Fraction(0)
    while any(best.values()):
        found = min((one for one in best.values() if one), key=_order)
        highest = max(highest, min(Fraction(1), found.p * max(1, count - told)))
        if highest > LEVEL:
            return
        yield replace(found, p=highest)
        told += 1
        for key in left if found.column is None else (found.column,):
            left[key] = left[key].without(found.group.items)
            best[key] = _best(key, left[key], groups, count)


def _questions(columns: Mapping[Key, Column], groups: tuple[Group, ...]) -> int:
    """Return how many groups count as looked at."""
    asked = [column for column in columns.values() if column.missed]
    enough = LEVEL / max(1, len(asked) * len(groups))
    counts: Counter[Fraction] = Counter()
    for column in asked:
        sizes = Counter(len(group.items & column.seen) for group in groups)
        for size, many in sizes.items():
            counts[least(size, len(column.missed), len(column.seen), enough)] += many
    return answerable(counts, LEVEL)


def _best(key: Key, column: Column, groups: tuple[Group, ...], count: int) -> Gathering | None:
    found = (_gathering(key, column, group, count) for group in groups if column.missed)
    return min((one for one in found if one), key=_order, default=None)


def _gathering(key: Key, column: Column, group: Group, count: int) -> Gathering | None:
    hits = group.items & column.missed
    if len(hits) < 2:  # noqa: PLR2004 - one item is no group
        return None
    of, seen, missed = len(group.items & column.seen), len(column.seen), len(column.missed)
    if 2 * len(hits) < of or len(hits) * seen <= missed * of:
        return None
    return Gathering(
        column=key,
        group=group,
        hits=hits,
        of=of,
        others=missed - len(hits),
        rest=seen - of,
        p=drawn(len(hits), of, missed, seen),
        groups=count,
    )


def _order(found: Gathering) -> tuple[Fraction, bool, int, int, list[tuple[str, str]]]:
    """Return the least likely first; of equals that of every axis, of fewer tags, of more items."""
    tags = found.group.tags
    return found.p, found.column is not None, len(tags), -len(found.hits), sorted(tags.items())

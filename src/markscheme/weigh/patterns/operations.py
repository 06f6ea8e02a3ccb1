"""Patterns of how a subject works: answers that fail or are slow within a group of items."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import format_decimal, sentence
from markscheme.weigh.patterns.groups import find_concentrated_groups
from markscheme.weigh.patterns.pattern import Pattern, describe_chance, format_tags
from markscheme.weigh.patterns.table import MissColumn, build_failing_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.patterns.groups import ConcentratedGroup
    from markscheme.weigh.patterns.table import PatternContext

_MIN_SLOWDOWN = Fraction(3, 2)


def find_operational_patterns(reading: PatternContext) -> Iterator[Pattern]:
    """Yield where answers fail, and where they are slow.

    Both are looked at together, and share their one chance in a hundred.
    """
    latencies = [reading.observed.latency_ms.get(name) for name in reading.item_ids]
    columns: dict[str | None, MissColumn] = {
        "errors": build_failing_column(reading.run.marks),
        "latency": _build_slow_column(latencies),
    }
    for found in find_concentrated_groups(columns, reading.groups):
        if found.column == "errors":
            yield _build_error_pattern(reading, found)
        elif (told := _compare_medians(latencies, found)) is not None:
            yield _build_latency_pattern(reading, found, told)


def _build_slow_column(latencies: list[Fraction | None]) -> MissColumn:
    known = {at: value for at, value in enumerate(latencies) if value is not None}
    ordered = sorted(known.values(), key=_get_fraction_sort_key)
    limit = ordered[(3 * len(ordered) - 1) // 4] if ordered else Fraction(0)
    slow = frozenset(at for at, value in known.items() if value > limit)
    return MissColumn(seen=frozenset(known), missed=slow)


def _get_fraction_sort_key(value: Fraction) -> tuple[float, Fraction]:
    """Return what orders fractions exactly, and quickly: doubles first, which never cross."""
    return float(value), value


def _compare_medians(
    latencies: list[Fraction | None], found: ConcentratedGroup
) -> tuple[Fraction, Fraction] | None:
    """Return the medians inside and outside of a group, if they are far enough apart."""
    inside, outside = (
        _compute_group_median(latencies, found, inside=True),
        _compute_group_median(latencies, found),
    )
    return (inside, outside) if inside >= _MIN_SLOWDOWN * outside else None


def _compute_group_median(
    latencies: Iterable[Fraction | None], found: ConcentratedGroup, *, inside: bool = False
) -> Fraction:
    here = found.group.items
    known = [v for at, v in enumerate(latencies) if v is not None and (at in here) is inside]
    known.sort(key=_get_fraction_sort_key)
    return known[(len(known) - 1) // 2] if known else Fraction(0)


def _build_error_pattern(reading: PatternContext, found: ConcentratedGroup) -> Pattern:
    tags = found.group.tags
    return Pattern(
        kind="errors",
        sentence=sentence(
            "errors are tied to {tags}: {hits:,} of {of:,} items have no answer that could be "
            "scored, and {others:,} of the other {rest:,}",
            tags=format_tags(tags),
            hits=len(found.hits),
            of=found.of,
            others=found.others,
            rest=found.rest,
        ),
        action=sentence(
            "see what the subject was sent on {tags}, and its log", tags=format_tags(tags)
        ),
        items=reading.list_item_ids(found.hits),
        tags=tags,
        hits=len(found.hits),
        of=found.of,
        p=found.p,
        evidence=(describe_chance(found.p, found.groups),),
        lost=reading.compute_lost_score(None, found.hits),
    )


def _build_latency_pattern(
    reading: PatternContext, found: ConcentratedGroup, medians: tuple[Fraction, Fraction]
) -> Pattern:
    tags = found.group.tags
    return Pattern(
        kind="latency",
        sentence=sentence(
            "latency is tied to {tags}: the median is {inside} ms there and {outside} ms elsewhere",
            tags=format_tags(tags),
            inside=format_decimal(medians[0]),
            outside=format_decimal(medians[1]),
        ),
        action=sentence(
            "profile {tags}: longer answers, retries or another route", tags=format_tags(tags)
        ),
        items=reading.list_item_ids(found.hits),
        tags=tags,
        hits=len(found.hits),
        of=found.of,
        p=found.p,
        evidence=(
            sentence(
                "{hits:,} of {of:,} items are among the slowest quarter",
                hits=len(found.hits),
                of=found.of,
            ),
            describe_chance(found.p, found.groups),
        ),
    )

"""Patterns of how a subject works: answers that fail or are slow within a group of items."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import show
from markscheme.sentences import sentence
from markscheme.weigh.patterns.groups import gatherings
from markscheme.weigh.patterns.pattern import Pattern, chance, tagged
from markscheme.weigh.patterns.table import Column, failing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.patterns.groups import Gathering
    from markscheme.weigh.patterns.reading import Reading

_SLOWER = Fraction(3, 2)


def operational(reading: Reading) -> Iterator[Pattern]:
    """Yield where answers fail, and where they are slow.

    Both are looked at together, and share their one chance in a hundred.
    """
    latencies = [reading.observed.latency_ms.get(name) for name in reading.names]
    columns: dict[str | None, Column] = {
        "errors": failing(reading.run.marks),
        "latency": _slow(latencies),
    }
    for found in gatherings(columns, reading.groups):
        if found.column == "errors":
            yield _failing(reading, found)
        elif (told := _medians(latencies, found)) is not None:
            yield _latency(reading, found, told)


def _slow(latencies: list[Fraction | None]) -> Column:
    known = {at: value for at, value in enumerate(latencies) if value is not None}
    ordered = sorted(known.values(), key=_order)
    limit = ordered[(3 * len(ordered) - 1) // 4] if ordered else Fraction(0)
    slow = frozenset(at for at, value in known.items() if value > limit)
    return Column(seen=frozenset(known), missed=slow)


def _order(value: Fraction) -> tuple[float, Fraction]:
    """Return what orders fractions exactly, and quickly: doubles first, which never cross."""
    return float(value), value


def _medians(
    latencies: list[Fraction | None], found: Gathering
) -> tuple[Fraction, Fraction] | None:
    """Return the medians inside and outside of a group, if they are far enough apart."""
    inside, outside = _median(latencies, found, inside=True), _median(latencies, found)
    return (inside, outside) if inside >= _SLOWER * outside else None


def _median(
    latencies: Iterable[Fraction | None], found: Gathering, *, inside: bool = False
) -> Fraction:
    here = found.group.items
    known = [v for at, v in enumerate(latencies) if v is not None and (at in here) is inside]
    known.sort(key=_order)
    return known[(len(known) - 1) // 2] if known else Fraction(0)


def _failing(reading: Reading, found: Gathering) -> Pattern:
    tags = found.group.tags
    return Pattern(
        kind="errors",
        sentence=sentence(
            "errors are tied to {tags}: {hits:,} of {of:,} items have no answer that could be "
            "scored, and {others:,} of the other {rest:,}",
            tags=tagged(tags),
            hits=len(found.hits),
            of=found.of,
            others=found.others,
            rest=found.rest,
        ),
        action=sentence("see what the subject was sent on {tags}, and its log", tags=tagged(tags)),
        items=reading.items(found.hits),
        tags=tags,
        hits=len(found.hits),
        of=found.of,
        p=found.p,
        evidence=(chance(found.p, found.groups),),
        lost=reading.lost(None, found.hits),
    )


def _latency(reading: Reading, found: Gathering, medians: tuple[Fraction, Fraction]) -> Pattern:
    tags = found.group.tags
    return Pattern(
        kind="latency",
        sentence=sentence(
            "latency is tied to {tags}: the median is {inside} ms there and {outside} ms elsewhere",
            tags=tagged(tags),
            inside=show(medians[0]),
            outside=show(medians[1]),
        ),
        action=sentence(
            "profile {tags}: longer answers, retries or another route", tags=tagged(tags)
        ),
        items=reading.items(found.hits),
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
            chance(found.p, found.groups),
        ),
    )

"""Patterns of the table itself: columns that are missing, rows of zeros, misses within a group."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.sentences import sentence
from markscheme.weigh.patterns.groups import gatherings
from markscheme.weigh.patterns.luck import tossed
from markscheme.weigh.patterns.pattern import LEVEL, Pattern, chance, tagged
from markscheme.weigh.patterns.table import columns_of
from markscheme.weigh.patterns.words import (
    column_action,
    row_sentence,
    within_action,
    within_sentence,
)
from markscheme.weigh.statistics import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.patterns.groups import Gathering
    from markscheme.weigh.patterns.reading import Reading
    from markscheme.weigh.patterns.table import Column

    Columns = dict[str | None, Column]

_MOST = Fraction(19, 20)
_TENTH = Fraction(1, 10)


def missing_columns(reading: Reading, columns: Columns) -> Iterator[Pattern]:
    """Yield the axes that nineteen items of twenty miss, and take them out of the columns.

    Luck is a coin for each item: an axis that misses as often as not.
    """
    looked = {key: column for key, column in columns.items() if column.seen}
    adjusted = dict(
        zip(looked, holm([_by_luck(column) for column in looked.values()]), strict=True)
    )
    for key, column in looked.items():
        if adjusted[key] <= LEVEL:
            yield _column(reading, key, column, (adjusted[key], len(looked)))
            for told in tuple(columns) if key is None else (key,):
                columns[told] = columns[told].without(columns[told].seen)
            if key is None:
                return


def _by_luck(column: Column) -> Fraction:
    """Return the chance of a column that is missing; of one that is not, certainty."""
    hits, of = len(column.missed), len(column.seen)
    return tossed(hits, of) if hits >= _MOST * of else Fraction(1)


def _column(
    reading: Reading, axis: str | None, column: Column, luck: tuple[Fraction, int]
) -> Pattern:
    hits, of = len(column.missed), len(column.seen)
    if axis is None:
        told = sentence(
            "every column is missing across items: {hits:,} of {of:,} items miss every axis",
            hits=hits,
            of=of,
        )
    else:
        told = sentence(
            "the column {axis} is missing across items: {hits:,} of {of:,} miss it, a systematic "
            "miss",
            axis=f"`{axis}`",
            hits=hits,
            of=of,
        )
    return Pattern(
        kind="column",
        sentence=told,
        action=column_action(reading.rubric, axis),
        items=reading.items(column.missed),
        axis=axis,
        hits=hits,
        of=of,
        p=luck[0],
        evidence=(chance(*luck),),
        lost=reading.lost(axis, column.missed),
    )


def gathered(reading: Reading, columns: Columns) -> Iterator[Pattern]:
    """Yield the groups in which misses gather, once each, and set their items aside.

    Where items have many answers a fault may show in some of them, so an item counts as soon as it
    is a tenth below the mean.
    """
    short = columns_of(reading.run.marks, _TENTH)
    left = {key: column.among(columns[key].seen) for key, column in short.items()}
    told: dict[tuple[tuple[str, str], ...], Pattern] = {}
    for found in gatherings(left, reading.groups):
        for key in tuple(columns) if found.column is None else (found.column,):
            columns[key] = columns[key].without(found.group.items)
        pattern, tags = _group(reading, found), tuple(found.group.tags.items())
        told[tags] = _merged(told[tags], pattern) if tags in told else pattern
    yield from told.values()


def _group(reading: Reading, found: Gathering) -> Pattern:
    tags = found.group.tags
    row = found.column in {None, reading.leading}
    action = sentence("it is mis-learned: check the corpus for {tags}", tags=tagged(tags))
    return Pattern(
        kind="row" if row else "within",
        sentence=row_sentence(found) if row else within_sentence(found),
        action=action if row else within_action(reading.rubric, found.column, tags),
        items=reading.items(found.hits),
        axis=found.column,
        tags=tags,
        hits=len(found.hits),
        of=found.of,
        p=found.p,
        evidence=(chance(found.p, found.groups),),
        lost=reading.lost(found.column, found.hits),
    )


def _merged(one: Pattern, other: Pattern) -> Pattern:
    """Return one pattern of two on the same group, that of the axis which costs more."""
    first, second = (one, other) if one.lost >= other.lost else (other, one)
    also = sentence(
        "{axis} misses there too, on {hits:,} of {of:,}",
        axis=f"`{second.axis}`",
        hits=second.hits,
        of=second.of,
    )
    return dataclasses.replace(
        first,
        items=tuple(dict.fromkeys((*first.items, *second.items))),
        evidence=(*first.evidence, also),
        lost=first.lost + second.lost,
    )


def explained(patterns: Iterable[Pattern], near: dict[str, dict[str, str]]) -> Iterator[Pattern]:
    """Yield the patterns, with the step of normalisation that most of their misses want."""
    for pattern in patterns:
        steps = [near[item].get(pattern.axis or "") for item in pattern.items if item in near]
        known = [step for step in steps if step]
        if 2 * len(known) < pattern.hits or not known:
            yield pattern
            continue
        step = max(sorted(set(known)), key=known.count)
        wanting = sentence(
            "{n:,} of them would pass with one more step of normalisation, `{step}`",
            n=known.count(step),
            step=step,
        )
        action = sentence("check the normalisation: the step `{step}` is missing", step=step)
        evidence = (*pattern.evidence, wanting)
        yield dataclasses.replace(pattern, action=action, evidence=evidence)

"""Patterns of the table itself: columns that are missing, rows of zeros, misses within a group."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import sentence
from markscheme.weigh.patterns.advice import (
    format_column_action,
    format_row_sentence,
    format_within_action,
    format_within_sentence,
)
from markscheme.weigh.patterns.chance import compute_dice_tail
from markscheme.weigh.patterns.groups import find_concentrated_groups
from markscheme.weigh.patterns.pattern import (
    SIGNIFICANCE_LEVEL,
    Pattern,
    describe_chance,
    format_tags,
)
from markscheme.weigh.patterns.table import build_miss_columns
from markscheme.weigh.stats import adjust_by_holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.patterns.groups import ConcentratedGroup
    from markscheme.weigh.patterns.table import MissColumn, PatternContext

    Columns = dict[str | None, MissColumn]

_MISSING_SHARE = Fraction(19, 20)
_SHORTFALL = Fraction(1, 10)


def find_missing_columns(reading: PatternContext, columns: Columns) -> Iterator[Pattern]:
    """Yield the axes that nineteen items of twenty miss, and take them out of the columns.

    Luck is a coin for each item: an axis that misses as often as not.
    """
    looked = {key: column for key, column in columns.items() if column.seen}
    adjusted = dict(
        zip(
            looked,
            adjust_by_holm([_compute_column_chance(column) for column in looked.values()]),
            strict=True,
        )
    )
    for key, column in looked.items():
        if adjusted[key] <= SIGNIFICANCE_LEVEL:
            yield _build_column_pattern(reading, key, column, (adjusted[key], len(looked)))
            for told in tuple(columns) if key is None else (key,):
                columns[told] = columns[told].exclude_items(columns[told].seen)
            if key is None:
                return


def _compute_column_chance(column: MissColumn) -> Fraction:
    """Return the chance of a column that is missing; of one that is not, certainty."""
    hits, of = len(column.missed), len(column.seen)
    return compute_dice_tail(hits, of) if hits >= _MISSING_SHARE * of else Fraction(1)


def _build_column_pattern(
    reading: PatternContext, axis: str | None, column: MissColumn, luck: tuple[Fraction, int]
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
        action=format_column_action(reading.rubric, axis),
        items=reading.list_item_ids(column.missed),
        axis=axis,
        hits=hits,
        of=of,
        p=luck[0],
        evidence=(describe_chance(*luck),),
        lost=reading.compute_lost_score(axis, column.missed),
    )


def find_group_patterns(reading: PatternContext, columns: Columns) -> Iterator[Pattern]:
    """Yield the groups in which misses gather, once each, and set their items aside.

    Where items have many answers a fault may show in some of them, so an item counts as soon as it
    is a tenth below the mean.
    """
    short = build_miss_columns(reading.run.marks, _SHORTFALL)
    left = {key: column.restrict_to(columns[key].seen) for key, column in short.items()}
    told: dict[tuple[tuple[str, str], ...], Pattern] = {}
    for found in find_concentrated_groups(left, reading.groups):
        for key in tuple(columns) if found.column is None else (found.column,):
            columns[key] = columns[key].exclude_items(found.group.items)
        pattern, tags = _build_group_pattern(reading, found), tuple(found.group.tags.items())
        told[tags] = _merge_group_patterns(told[tags], pattern) if tags in told else pattern
    yield from told.values()


def _build_group_pattern(reading: PatternContext, found: ConcentratedGroup) -> Pattern:
    tags = found.group.tags
    row = found.column in {None, reading.leading_axis_name}
    action = sentence("it is mis-learned: check the corpus for {tags}", tags=format_tags(tags))
    return Pattern(
        kind="row" if row else "within",
        sentence=format_row_sentence(found) if row else format_within_sentence(found),
        action=action if row else format_within_action(reading.rubric, found.column, tags),
        items=reading.list_item_ids(found.hits),
        axis=found.column,
        tags=tags,
        hits=len(found.hits),
        of=found.of,
        p=found.p,
        evidence=(describe_chance(found.p, found.groups),),
        lost=reading.compute_lost_score(found.column, found.hits),
    )


def _merge_group_patterns(one: Pattern, other: Pattern) -> Pattern:
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


def add_missing_steps(
    patterns: Iterable[Pattern], near: dict[str, dict[str, str]]
) -> Iterator[Pattern]:
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

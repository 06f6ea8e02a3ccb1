"""Patterns of criteria: which criterion, or which of their tags, most items lose, and where.

An item loses a criterion if it gets less than half of what the criterion can give: one with points
above 0 that is mostly not met, or a penalty that mostly is. Criteria with the same tag, or with the
same id on several items, are one column. Columns and groups of items are then tested as those of
axes are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from markscheme.mark.axes import CriteriaAxis
from markscheme.vocabulary import ZERO, Criteria, Criterion, CriterionGroup, sentence
from markscheme.weigh.patterns.groups import (
    FULL_GROUP_LEVEL,
    SIGNIFICANCE_LEVEL,
    ConcentratedGroup,
    MissColumn,
    compute_dice_tail,
    find_concentrated_groups,
)
from markscheme.weigh.patterns.pattern import Pattern, describe_chance, format_tags
from markscheme.weigh.patterns.table import HALF, PatternContext
from markscheme.weigh.stats import adjust_by_holm

# A column is missing if at least so many of its items lose it, as those of axes.
_MISSING_SHARE = Fraction(19, 20)
# Fewer items are no pattern: most exams name their criteria anew for each item.
_MIN_ITEMS = 3
ONE = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CriteriaColumn:
    """Criteria that are looked at together: what they are called, and what each item lost."""

    axis: str
    label: str
    lost: Mapping[int, Fraction]
    misses: MissColumn


def find_criteria_patterns(context: PatternContext) -> Iterator[Pattern]:
    """Yield the criteria, or tags of criteria, that nearly all items or those of a group lose."""
    columns = list(_build_columns(context))
    missing = list(_find_missing_columns(columns))
    for column, p in missing:
        yield _build_missing_pattern(context, column, (p, len(columns)))
    gone = {column.label for column, _ in missing}
    by_label = {column.label: column for column in columns if column.label not in gone}
    misses: dict[str | None, MissColumn] = {
        label: column.misses for label, column in by_label.items()
    }
    for found in find_concentrated_groups(misses, context.groups, full_level=FULL_GROUP_LEVEL):
        if found.column is not None:
            yield _build_group_pattern(context, by_label[found.column], found)


def _build_columns(context: PatternContext) -> Iterator[_CriteriaColumn]:
    """Yield a column for each criterion and each tag of criteria that several items have."""
    for spec in context.rubric:
        if not isinstance(spec.axis, CriteriaAxis):
            continue
        found: dict[str, dict[int, list[tuple[Fraction, Fraction]]]] = {}
        for at, item in enumerate(context.exam.items):
            for one, share in _list_shares(spec.axis.get_criteria(item)):
                mean = context.observed.criteria.get((spec.name, one.id), {}).get(item.id)
                if mean is None:
                    continue
                lost = share * (1 - mean) if one.points > 0 else share * mean
                for label in _list_labels(spec.name, one):
                    found.setdefault(label, {}).setdefault(at, []).append((lost, share))
        seen = set[tuple[frozenset[int], frozenset[int]]]()
        for label, items in found.items():
            misses = _build_misses(items)
            # A tag that says the same as a criterion before it is not told again.
            key = (misses.seen, misses.missed)
            if len(items) >= _MIN_ITEMS and key not in seen:
                seen.add(key)
                lost_by_item = {
                    at: sum((lost for lost, _ in parts), ZERO) for at, parts in items.items()
                }
                yield _CriteriaColumn(axis=spec.name, label=label, lost=lost_by_item, misses=misses)


def _list_shares(criteria: Criteria, whole: Fraction = ONE) -> Iterator[tuple[Criterion, Fraction]]:
    """Yield each criterion with the share of the axis that it can give or take."""
    positive = sum((entry.points for entry in criteria if entry.points > 0), ZERO)
    possible = positive or sum((-entry.points for entry in criteria), ZERO)
    for entry in criteria:
        share = whole * abs(entry.points) / possible
        if isinstance(entry, CriterionGroup):
            yield from _list_shares(entry.criteria, share)
        else:
            yield entry, share


def _list_labels(axis: str, criterion: Criterion) -> Iterator[str]:
    yield sentence("the criterion {criterion}", criterion=f"`{axis}.{criterion.id}`")
    for tag, value in criterion.tags.items():
        yield sentence(
            "what {axis} asks with {tag}", axis=f"`{axis}`", tag=format_tags({tag: value})
        )


def _build_misses(items: Mapping[int, list[tuple[Fraction, Fraction]]]) -> MissColumn:
    missed = [
        at
        for at, parts in items.items()
        if sum(lost for lost, _ in parts) > HALF * sum(share for _, share in parts)
    ]
    return MissColumn(seen=frozenset(items), missed=frozenset(missed))


def _find_missing_columns(
    columns: Sequence[_CriteriaColumn],
) -> Iterator[tuple[_CriteriaColumn, Fraction]]:
    """Yield the columns that nearly every item loses, with the chance of a coin for each item."""
    chances = []
    for column in columns:
        hits, of = len(column.misses.missed), len(column.misses.seen)
        is_missing = hits >= _MISSING_SHARE * of
        chances.append(compute_dice_tail(hits, of) if is_missing else Fraction(1))
    for column, p in zip(columns, adjust_by_holm(chances), strict=True):
        if p <= SIGNIFICANCE_LEVEL:
            yield column, p


def _build_missing_pattern(
    context: PatternContext, column: _CriteriaColumn, chance: tuple[Fraction, int]
) -> Pattern:
    hits, of = len(column.misses.missed), len(column.misses.seen)
    return Pattern(
        kind="criterion",
        sentence=sentence(
            "{criteria} is lost across items: on {hits:,} of {of:,}",
            criteria=column.label,
            hits=hits,
            of=of,
        ),
        action=sentence(
            "read some of the answers beside {criteria}: is the subject wrong, or the words?",
            criteria=column.label,
        ),
        items=context.list_item_ids(column.misses.missed),
        axis=column.axis,
        hits=hits,
        of=of,
        p=chance[0],
        evidence=(describe_chance(*chance),),
        lost=_sum_lost(context, column, column.misses.missed),
    )


def _build_group_pattern(
    context: PatternContext, column: _CriteriaColumn, found: ConcentratedGroup
) -> Pattern:
    tags = format_tags(found.group.tags)
    return Pattern(
        kind="criterion",
        sentence=sentence(
            "{criteria} is lost mostly within {tags}: on {hits:,} of {of:,} items, and on "
            "{others:,} of the other {rest:,}",
            criteria=column.label,
            tags=tags,
            hits=len(found.hits),
            of=found.of,
            others=found.others,
            rest=found.rest,
        ),
        action=sentence(
            "read the answers on {tags} beside {criteria}", tags=tags, criteria=column.label
        ),
        items=context.list_item_ids(found.hits),
        axis=column.axis,
        tags=found.group.tags,
        hits=len(found.hits),
        of=found.of,
        p=found.p,
        evidence=(describe_chance(found.p, found.groups),),
        lost=_sum_lost(context, column, found.hits),
    )


def _sum_lost(context: PatternContext, column: _CriteriaColumn, items: Iterable[int]) -> Fraction:
    """Return what the column takes from the mean score on these items."""
    weight = next(Fraction(spec.weight) for spec in context.rubric if spec.name == column.axis)
    lost = sum((column.lost[at] for at in items), ZERO)
    return weight * lost / len(context.item_ids)

"""Patterns of answers: the same wrong one again and again, and the one that stands alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.mark import find_leading_axis, get_expected
from markscheme.mark.axes import quote_excerpt
from markscheme.vocabulary import sentence
from markscheme.weigh.patterns.advice import format_item_names
from markscheme.weigh.patterns.chance import compute_dice_tail
from markscheme.weigh.patterns.pattern import SIGNIFICANCE_LEVEL, Pattern, describe_chance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.patterns.table import MissColumn, PatternContext

    Columns = dict[str | None, MissColumn]

_MIN_CLUSTER_SIZE = 3


def find_answer_clusters(reading: PatternContext) -> Iterator[Pattern]:
    """Yield the wrong answers that many items share.

    Luck is a die for each wrong answer, with a side for every different one, two at least where the
    items expect different things.
    """
    wrong = reading.observed.wrong
    counts = Counter(wrong.values())
    lead = find_leading_axis(reading.rubric)
    expected = {repr(get_expected(lead, item)) for item in reading.exam.items}
    sides = max(len(counts), min(2, len(expected)))
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    highest = Fraction(0)
    for rank, (answer, count) in enumerate(ordered):
        if count < _MIN_CLUSTER_SIZE:
            return
        highest = max(highest, compute_dice_tail(count, len(wrong), sides) * (sides - rank))  # Holm
        if highest > SIGNIFICANCE_LEVEL:
            return
        yield _build_cluster_pattern(reading, answer, (highest, sides))


def _build_cluster_pattern(
    reading: PatternContext, answer: str, luck: tuple[Fraction, int]
) -> Pattern:
    wrong = reading.observed.wrong
    positions = [at for at, item in enumerate(reading.item_ids) if wrong.get(item) == answer]
    items = reading.list_item_ids(positions)
    return Pattern(
        kind="cluster",
        sentence=sentence(
            "a cluster of identical wrong answers: {hits:,} of {of:,} are {answer}",
            hits=len(items),
            of=len(wrong),
            answer=quote_excerpt(answer),
        ),
        action=sentence(
            "see where this answer comes from: a refusal, a fallback, or an error that is handed "
            "on as an answer"
        ),
        items=items,
        axis=reading.leading_axis_name,
        hits=len(items),
        of=len(wrong),
        p=luck[0],
        evidence=(describe_chance(*luck),),
        lost=reading.compute_lost_score(reading.leading_axis_name, positions),
    )


def find_outliers(reading: PatternContext, columns: Columns) -> Iterator[Pattern]:
    """Yield the items that no other pattern explains: proven by a near miss, or by standing alone.

    `columns` are what other patterns have left.
    """
    proven: set[int] = set()
    for axis, column in columns.items():
        if axis is not None:
            for step, items in _group_by_missing_step(reading, axis, column).items():
                proven |= items
                yield _build_near_miss_pattern(reading, axis, step, items)
    yield from _find_lone_outlier(reading, columns, proven)


def _group_by_missing_step(
    reading: PatternContext, axis: str, column: MissColumn
) -> dict[str, set[int]]:
    """Return the items that miss the axis only for want of a step, by step."""
    found: dict[str, set[int]] = {}
    for at in sorted(column.missed):
        step = reading.observed.near_misses.get(reading.item_ids[at], {}).get(axis)
        if step is not None:
            found.setdefault(step, set()).add(at)
    return found


def _build_near_miss_pattern(
    reading: PatternContext, axis: str, step: str, items: set[int]
) -> Pattern:
    names, of = reading.list_item_ids(items), len(reading.item_ids)
    if len(names) == 1:
        told = sentence(
            "one outlier item: {item} misses {axis} only for want of a step of normalisation, "
            "`{step}`",
            item=names[0],
            axis=f"`{axis}`",
            step=step,
        )
    else:
        told = sentence(
            "{hits:,} outlier items miss {axis} only for want of a step of normalisation, "
            "`{step}`: {items}",
            hits=len(names),
            axis=f"`{axis}`",
            step=step,
            items=format_item_names(names),
        )
    return Pattern(
        kind="outlier",
        sentence=told,
        action=sentence("check the normalisation: the step `{step}` is missing", step=step),
        items=names,
        axis=axis,
        hits=len(names),
        of=of,
        evidence=(sentence("the near miss proves it: with `{step}` it would pass", step=step),),
        lost=reading.compute_lost_score(axis, items),
    )


def _find_lone_outlier(
    reading: PatternContext, columns: Columns, proven: set[int]
) -> Iterator[Pattern]:
    """Yield the one item that misses several axes where no other item misses any of them.

    Luck hands out the one miss of each axis by itself: that all fall on one item is rare.
    """
    axes = [axis for axis, column in columns.items() if axis is not None and column.missed]
    items = frozenset().union(*(columns[axis].missed for axis in axes))
    of = min((len(columns[axis].seen) for axis in axes), default=0)
    if len(items) != 1 or items <= proven or not of:
        return
    p = Fraction(1, of) ** (len(axes) - 1)
    if p > SIGNIFICANCE_LEVEL:
        return
    name = reading.list_item_ids(items)[0]
    yield Pattern(
        kind="outlier",
        sentence=sentence(
            "one outlier item: {item} misses {axes}, and no other item does",
            item=name,
            axes=", ".join(f"`{axis}`" for axis in axes),
        ),
        action=sentence("check the normalisation, and what the item expects"),
        items=(name,),
        axis=axes[0] if len(axes) == 1 else None,
        hits=1,
        of=of,
        p=p,
        evidence=(describe_chance(p, 1),),
        lost=sum((reading.compute_lost_score(axis, items) for axis in axes), Fraction(0)),
    )

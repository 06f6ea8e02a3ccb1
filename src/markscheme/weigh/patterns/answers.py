"""Patterns of answers: the same wrong one again and again, and the one that stands alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.mark.axes.base import quoted
from markscheme.mark.scoring import expected_of, leading_axis
from markscheme.sentences import sentence
from markscheme.weigh.patterns.luck import tossed
from markscheme.weigh.patterns.pattern import LEVEL, Pattern, chance
from markscheme.weigh.patterns.words import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.weigh.patterns.reading import Reading
    from markscheme.weigh.patterns.table import Column

    Columns = dict[str | None, Column]

_FEWEST = 3


def clusters(reading: Reading) -> Iterator[Pattern]:
    """Yield the wrong answers that many items share.

    Luck is a die for each wrong answer, with a side for every different one, two at least where the
    items expect different things.
    """
    wrong = reading.observed.wrong
    counts = Counter(wrong.values())
    lead = leading_axis(reading.rubric)
    expected = {repr(expected_of(lead, item)) for item in reading.exam.items}
    sides = max(len(counts), min(2, len(expected)))
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    highest = Fraction(0)
    for rank, (answer, count) in enumerate(ordered):
        if count < _FEWEST:
            return
        highest = max(highest, tossed(count, len(wrong), sides) * (sides - rank))  # Holm
        if highest > LEVEL:
            return
        yield _cluster(reading, answer, (highest, sides))


def _cluster(reading: Reading, answer: str, luck: tuple[Fraction, int]) -> Pattern:
    wrong = reading.observed.wrong
    positions = [at for at, item in enumerate(reading.names) if wrong.get(item) == answer]
    items = reading.items(positions)
    return Pattern(
        kind="cluster",
        sentence=sentence(
            "a cluster of identical wrong answers: {hits:,} of {of:,} are {answer}",
            hits=len(items),
            of=len(wrong),
            answer=quoted(answer),
        ),
        action=sentence(
            "see where this answer comes from: a refusal, a fallback, or an error that is handed "
            "on as an answer"
        ),
        items=items,
        axis=reading.leading,
        hits=len(items),
        of=len(wrong),
        p=luck[0],
        evidence=(chance(*luck),),
        lost=reading.lost(reading.leading, positions),
    )


def outliers(reading: Reading, columns: Columns) -> Iterator[Pattern]:
    """Yield the items that no other pattern explains: proven by a near miss, or by standing alone.

    `columns` are what other patterns have left.
    """
    proven: set[int] = set()
    for axis, column in columns.items():
        if axis is not None:
            for step, items in _wanting(reading, axis, column).items():
                proven |= items
                yield _near(reading, axis, step, items)
    yield from _alone(reading, columns, proven)


def _wanting(reading: Reading, axis: str, column: Column) -> dict[str, set[int]]:
    """Return the items that miss the axis only for want of a step, by step."""
    found: dict[str, set[int]] = {}
    for at in sorted(column.missed):
        step = reading.observed.near_misses.get(reading.names[at], {}).get(axis)
        if step is not None:
            found.setdefault(step, set()).add(at)
    return found


def _near(reading: Reading, axis: str, step: str, items: set[int]) -> Pattern:
    names, of = reading.items(items), len(reading.names)
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
            items=named(names),
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
        lost=reading.lost(axis, items),
    )


def _alone(reading: Reading, columns: Columns, proven: set[int]) -> Iterator[Pattern]:
    """Yield the one item that misses several axes where no other item misses any of them.

    Luck hands out the one miss of each axis by itself: that all fall on one item is rare.
    """
    axes = [axis for axis, column in columns.items() if axis is not None and column.missed]
    items = frozenset().union(*(columns[axis].missed for axis in axes))
    of = min((len(columns[axis].seen) for axis in axes), default=0)
    if len(items) != 1 or items <= proven or not of:
        return
    p = Fraction(1, of) ** (len(axes) - 1)
    if p > LEVEL:
        return
    name = reading.items(items)[0]
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
        evidence=(chance(p, 1),),
        lost=sum((reading.lost(axis, items) for axis in axes), Fraction(0)),
    )

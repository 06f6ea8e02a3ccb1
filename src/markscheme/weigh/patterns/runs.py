"""Patterns over several runs: an axis that falls from run to run, a jump too good to be true."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import format_decimal, sentence
from markscheme.weigh.patterns.advice import format_item_names, format_trend_action
from markscheme.weigh.patterns.chance import compute_dice_tail
from markscheme.weigh.patterns.pattern import Pattern, describe_chance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.distribution import Drift
    from markscheme.weigh.gates import BaselineReport
    from markscheme.weigh.patterns.table import PatternContext


def find_trends(reading: PatternContext, drifts: Iterable[Drift], runs: int) -> Iterator[Pattern]:
    """Yield the axes that drift down; `weigh.trends` has the rule and the exact chance."""
    weights = {spec.name: Fraction(spec.weight) for spec in reading.rubric}
    for drift in drifts:
        what = {
            "axis": f"`{drift.axis}`",
            "runs": runs,
            "first": format_decimal(drift.first),
            "last": format_decimal(drift.last),
        }
        if drift.alone:
            told = sentence(
                "{axis} alone is trending down over {runs} runs: from {first} to {last}", **what
            )
        else:
            told = sentence(
                "{axis} is trending down over {runs} runs: from {first} to {last}", **what
            )
        yield Pattern(
            kind="trend",
            sentence=told,
            action=format_trend_action(reading.rubric, drift.axis),
            axis=drift.axis,
            hits=runs,
            of=runs,
            p=drift.p,
            evidence=(describe_chance(drift.p, len(weights)),),
            lost=weights[drift.axis] * (drift.first - drift.last),
        )


def find_jump(found: BaselineReport | None) -> Iterator[Pattern]:
    """Yield the jump that the rubric calls too good, with the chance that so many items rose."""
    if found is None or not found.warning:
        return
    risen = tuple(change.item for change in found.moved if change.change > 0)
    p = compute_dice_tail(len(risen), len(found.moved)) if found.moved else None
    yield Pattern(
        kind="jump",
        sentence=sentence(
            "a jump too good to be true: from {before} in the baseline `{baseline}` to {after}",
            before=format_decimal(found.before),
            baseline=found.baseline,
            after=format_decimal(found.after),
        ),
        action=sentence(
            "audit the rubric first (`markscheme audit`), then look at the items that moved"
        ),
        items=risen,
        hits=len(risen),
        of=len(found.moved) + found.unmoved,
        p=p,
        evidence=(sentence("these items rose: {items}", items=format_item_names(risen)),),
    )

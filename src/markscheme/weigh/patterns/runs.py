"""Patterns over several runs: an axis that falls from run to run, a jump too good to be true."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import show
from markscheme.sentences import sentence
from markscheme.weigh.patterns.luck import tossed
from markscheme.weigh.patterns.pattern import Pattern, chance
from markscheme.weigh.patterns.words import named, trend_action

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.weigh.outcomes import BaselineReport
    from markscheme.weigh.patterns.reading import Reading
    from markscheme.weigh.trends import Drift


def trending(reading: Reading, drifts: Iterable[Drift], runs: int) -> Iterator[Pattern]:
    """Yield the axes that drift down; `weigh.trends` has the rule and the exact chance."""
    weights = {spec.name: Fraction(spec.weight) for spec in reading.rubric}
    for drift in drifts:
        what = {
            "axis": f"`{drift.axis}`",
            "runs": runs,
            "first": show(drift.first),
            "last": show(drift.last),
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
            action=trend_action(reading.rubric, drift.axis),
            axis=drift.axis,
            hits=runs,
            of=runs,
            p=drift.p,
            evidence=(chance(drift.p, len(weights)),),
            lost=weights[drift.axis] * (drift.first - drift.last),
        )


def jump(found: BaselineReport | None) -> Iterator[Pattern]:
    """Yield the jump that the rubric calls too good, with the chance that so many items rose."""
    if found is None or not found.warning:
        return
    risen = tuple(change.item for change in found.moved if change.change > 0)
    p = tossed(len(risen), len(found.moved)) if found.moved else None
    yield Pattern(
        kind="jump",
        sentence=sentence(
            "a jump too good to be true: from {before} in the baseline `{baseline}` to {after}",
            before=show(found.before),
            baseline=found.baseline,
            after=show(found.after),
        ),
        action=sentence(
            "audit the rubric first (`markscheme audit`), then look at the items that moved"
        ),
        items=risen,
        hits=len(risen),
        of=len(found.moved) + found.unmoved,
        p=p,
        evidence=(sentence("these items rose: {items}", items=named(risen)),),
    )

"""Trends: does an axis fall from run to run more steadily than chance explains?

The rule: over the last runs in order of time, the exact chance (Mann-Kendall, all orders counted,
ties as ties) that an axis falls as steadily as it did. The axes are looked at together, so their
chances are adjusted by Holm, and an axis drifts when its own is at most one in a hundred. It drifts
alone when no other axis, taken by itself, falls that steadily.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.weigh.statistics import adjust_by_holm, compute_falling_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DRIFT_LEVEL = Fraction(1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """An axis that falls from run to run: from what to what, and how likely by chance."""

    axis: str
    first: Fraction
    last: Fraction
    p: Fraction
    alone: bool


def find_drifts(axes: Mapping[str, Sequence[Fraction]]) -> tuple[Drift, ...]:
    """Return the axes that drift down; each is given by its means in order of time."""
    raw = {axis: compute_falling_p(values) for axis, values in axes.items() if values}
    adjusted = dict(zip(raw, adjust_by_holm(list(raw.values())), strict=True))
    falling = [axis for axis, p in raw.items() if p <= DRIFT_LEVEL]
    return tuple(
        Drift(
            axis=axis,
            first=axes[axis][0],
            last=axes[axis][-1],
            p=p,
            alone=falling == [axis],
        )
        for axis, p in adjusted.items()
        if p <= DRIFT_LEVEL
    )


def count_runs_needed(axes: int) -> int:
    """Return how many runs it takes before any drift among so many axes could be told."""
    n = 2
    while Fraction(axes, math.factorial(n)) > DRIFT_LEVEL:
        n += 1
    return n

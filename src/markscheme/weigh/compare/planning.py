"""Planning a comparison before any money is spent: how many queries and repeats a margin needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markscheme.vocabulary import sentence
from markscheme.weigh.stats import (
    ALPHA,
    POWER,
    compute_power,
    count_pairs_needed,
    find_detectable_effect,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

REPEAT_COUNTS = (1, 2, 3, 5)
QUERY_COUNTS = (5, 6, 8, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPlan:
    """So many runs of each query, and what they need: `noise` is that of a mean over them."""

    repeats: int
    noise: float
    queries: int | None

    @property
    def answers(self) -> int | None:
        """How many answers of both variants together that takes."""
        return None if self.queries is None else 2 * self.repeats * self.queries


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRung:
    """What so many queries can do: the chance to show it, and the smallest loss they rule out."""

    queries: int
    power: float
    detectable: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """What it takes to show, with this power, that a candidate is no worse than the margin.

    `noise` is the standard deviation of the difference on one query with one run of each variant;
    `within` the part of it that comes anew with every run. The candidate is taken to be as good.
    """

    margin: float
    noise: float
    within: float
    source: str
    power: float
    by_repeats: tuple[RepeatPlan, ...]
    ladder: tuple[PowerRung, ...]
    plain: tuple[str, ...]


def plan_comparison(
    margin: float, noise: float, *, within: float | None = None, source: str, chance: float = POWER
) -> ComparisonPlan:
    """Return how many queries and repeats are needed.

    Repeats take the noise of single runs away and leave that between queries: without `within`,
    half of the variance is taken to be that of single runs.
    """
    inner = noise / math.sqrt(2) if within is None else min(within, noise)
    by_repeats = []
    for repeats in REPEAT_COUNTS:
        left = math.sqrt(noise**2 - inner**2 + inner**2 / repeats)
        queries = count_pairs_needed(margin / left, sides=1, chance=chance)
        by_repeats.append(RepeatPlan(repeats=repeats, noise=left, queries=queries))
    ladder = tuple(
        PowerRung(
            queries=n,
            power=compute_power(n, margin / noise, sides=1),
            detectable=find_detectable_effect(n, sides=1) * noise,
        )
        for n in QUERY_COUNTS
    )
    return ComparisonPlan(
        margin=margin,
        noise=noise,
        within=inner,
        source=source,
        power=chance,
        by_repeats=tuple(by_repeats),
        ladder=ladder,
        plain=tuple(_describe_plan(margin, by_repeats[0], chance)),
    )


def _describe_plan(margin: float, once: RepeatPlan, chance: float) -> Iterator[str]:
    if once.queries is None:
        yield sentence("No number of queries that anybody would run is enough for this margin.")
        return
    yield sentence(
        "To show with a chance of {chance} that a candidate which is just as good is no more than "
        "{margin} worse, run {queries} queries once with each variant ({answers} answers).",
        chance=f"{chance:.0%}",
        margin=f"{margin:g}",
        queries=once.queries,
        answers=once.answers,
    )
    yield sentence(
        "One-sided, at {alpha} %, by Student's t; a two-sided exact p of 0.05 needs 6 queries at "
        "the least, whatever the noise.",
        alpha=f"{100 * ALPHA:g}",
    )

"""Planning a comparison before money is spent: how many queries and repeats a margin needs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from markscheme.vocabulary import sentence
from markscheme.weigh.stats import (
    ALPHA,
    POWER,
    compute_power,
    count_pairs_needed,
    find_detectable_effect,
)

REPEAT_COUNTS = (1, 2, 3, 5)
QUERY_COUNTS = (5, 6, 8, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPlan:
    """How many queries are needed with `repeats` runs of each; `noise` is that of their mean."""

    repeats: int
    noise: float
    queries: int | None

    @property
    def answers(self) -> int | None:
        """The number of answers that takes, of both variants together."""
        return None if self.queries is None else 2 * self.repeats * self.queries


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRung:
    """What `queries` can show: the chance to show the margin, and the smallest loss ruled out."""

    queries: int
    power: float
    detectable: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """What it takes to show, with this power, that a candidate is no worse than the margin.

    `noise` is the standard deviation of the difference on one query with one run of each variant;
    `within` is the part of it that varies between runs of the same query. The plan assumes that the
    candidate is as good as the baseline.
    """

    margin: float
    noise: float
    within: float
    source: str
    power: float
    by_repeats: tuple[RepeatPlan, ...]
    ladder: tuple[PowerRung, ...]
    plain: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare --plan --format json` prints."""
        by_repeats = [{**asdict(row), "answers": row.answers} for row in self.by_repeats]
        return {"plan": {**asdict(self), "by_repeats": by_repeats}}


def plan_comparison(
    margin: float, noise: float, *, within: float | None = None, source: str, chance: float = POWER
) -> ComparisonPlan:
    """Return how many queries and repeats are needed.

    Repeats average out the noise between runs of a query, not the noise between queries. Without
    `within`, half of the variance is taken to be that between runs.
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

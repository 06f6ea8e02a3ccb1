"""Planning a comparison before any money is spent: how many queries and repeats a margin needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markscheme.sentences import sentence
from markscheme.values import dataclass
from markscheme.weigh.power import ALPHA, POWER, detectable, pairs_needed, power

if TYPE_CHECKING:
    from collections.abc import Iterator

REPEATS = (1, 2, 3, 5)
LADDER = (5, 6, 8, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """So many runs of each query, and what they need: `noise` is that of a mean over them."""

    repeats: int
    noise: float
    queries: int | None

    @property
    def answers(self) -> int | None:
        """How many answers of both variants together that takes."""
        return None if self.queries is None else 2 * self.repeats * self.queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """What so many queries can do: the chance to show it, and the smallest loss they rule out."""

    queries: int
    power: float
    detectable: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What it takes to show, with this power, that a candidate is no worse than the margin.

    `noise` is the standard deviation of the difference on one query with one run of each variant;
    `within` the part of it that comes anew with every run. The candidate is taken to be as good.
    """

    margin: float
    noise: float
    within: float
    source: str
    power: float
    by_repeats: tuple[Repeats, ...]
    ladder: tuple[Rung, ...]
    plain: tuple[str, ...]


def plan(
    margin: float, noise: float, *, within: float | None = None, source: str, chance: float = POWER
) -> Plan:
    """Return how many queries and repeats are needed.

    Repeats take the noise of single runs away and leave that between queries: without `within`,
    half of the variance is taken to be that of single runs.
    """
    inner = noise / math.sqrt(2) if within is None else min(within, noise)
    by_repeats = []
    for repeats in REPEATS:
        left = math.sqrt(noise**2 - inner**2 + inner**2 / repeats)
        queries = pairs_needed(margin / left, sides=1, chance=chance)
        by_repeats.append(Repeats(repeats=repeats, noise=left, queries=queries))
    ladder = tuple(
        Rung(
            queries=n,
            power=power(n, margin / noise, sides=1),
            detectable=detectable(n, sides=1) * noise,
        )
        for n in LADDER
    )
    return Plan(
        margin=margin,
        noise=noise,
        within=inner,
        source=source,
        power=chance,
        by_repeats=tuple(by_repeats),
        ladder=ladder,
        plain=tuple(_plain(margin, by_repeats[0], chance)),
    )


def _plain(margin: float, once: Repeats, chance: float) -> Iterator[str]:
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

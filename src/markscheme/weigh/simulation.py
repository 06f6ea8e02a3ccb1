"""A decision table under noise, simulated: averages are drawn, and decided like observed ones."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from random import Random
from typing import TYPE_CHECKING

from markscheme.frozen import FrozenDict
from markscheme.verdicts import DecisionOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.verdicts import DecisionTable, VerdictRules

DecisionChances = Mapping[DecisionOutcome | None, Fraction]
"""The chance of each decision; `None` stands for none at all."""
QueryAverages = tuple[str, Fraction, Fraction]
"""The mode of a query, and the averages of both variants."""
_MIN_DRAWS, _MAX_DRAWS, _DRAWN_QUERIES = 1_000, 10_000, 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """What two identical variants got in so many simulated comparisons."""

    seed: int
    draws: int
    identical: DecisionChances


def choose_draws(queries: Sequence[object]) -> int:
    """Return how many comparisons are simulated: fewer where each of them has many queries."""
    return max(_MIN_DRAWS, min(_MAX_DRAWS, _DRAWN_QUERIES // max(1, len(queries))))


def compute_shares(found: Counter[DecisionOutcome | None], total: int) -> DecisionChances:
    """Return counts as chances, of every decision there is, and of none where that occurs."""
    order = [*DecisionOutcome, None]
    return FrozenDict({o: Fraction(found[o], total) for o in order if o in found or o is not None})


class Simulation:
    """Draws averages around their centres, `noise` being the spread of their difference."""

    def __init__(
        self, rules: VerdictRules, table: DecisionTable, noise: float, seed: int = 0
    ) -> None:
        averages = rules.scores.averages
        self._edges = [float(a + b) / 2 for a, b in pairwise(averages)]
        self._verdicts = [[rules.verdict(b, c) for c in averages] for b in averages]
        self._table = table
        self._sd = noise / sqrt(2)
        self._seed = seed

    def compute_chances(self, queries: Sequence[QueryAverages]) -> DecisionChances:
        """Return how often each decision came out."""
        draws, random = choose_draws(queries), Random(self._seed)  # noqa: S311 - a simulation
        columns = [self._draw_verdicts(query, draws, random) for query in queries]
        vectors = Counter(zip(*columns, strict=True))
        found: Counter[DecisionOutcome | None] = Counter()
        for vector, count in vectors.items():
            found[self._decide_draw([mode for mode, _, _ in queries], vector)] += count
        return compute_shares(found, draws)

    def _draw_verdicts(self, query: QueryAverages, draws: int, random: Random) -> list[str | None]:
        """Return the verdicts on one query in all comparisons."""
        centres = float(query[1]), float(query[2])
        edges, sd, gauss = self._edges, self._sd, random.gauss
        return [
            self._verdicts[bisect(edges, gauss(centres[0], sd))][
                bisect(edges, gauss(centres[1], sd))
            ]
            for _ in range(draws)
        ]

    def _decide_draw(
        self, modes: Sequence[str], verdicts: Sequence[str | None]
    ) -> DecisionOutcome | None:
        if None in verdicts:
            return self._table.missing
        return self._table.decide(Counter(zip(modes, map(str, verdicts), strict=True)))

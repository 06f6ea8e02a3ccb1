"""A decision table under noise, simulated: averages are drawn, and decided like observed ones."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from random import Random
from typing import TYPE_CHECKING

from markscheme.frozen import Frozen
from markscheme.values import dataclass
from markscheme.verdicts import Decided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.verdicts import DecisionTable, VerdictRules

Chances = Mapping[Decided | None, Fraction]
"""The chance of each decision; `None` stands for none at all."""
Averages = tuple[str, Fraction, Fraction]
"""The mode of a query, and the averages of both variants."""
_FEWEST, _MOST, _QUERIES = 1_000, 10_000, 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What two identical variants got in so many simulated comparisons."""

    seed: int
    draws: int
    identical: Chances


def draws_for(queries: Sequence[object]) -> int:
    """Return how many comparisons are simulated: fewer where each of them has many queries."""
    return max(_FEWEST, min(_MOST, _QUERIES // max(1, len(queries))))


def shares(found: Counter[Decided | None], total: int) -> Chances:
    """Return counts as chances, of every decision there is, and of none where that occurs."""
    order = [*Decided, None]
    return Frozen({o: Fraction(found[o], total) for o in order if o in found or o is not None})


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

    def chances(self, queries: Sequence[Averages]) -> Chances:
        """Return how often each decision came out."""
        draws, random = draws_for(queries), Random(self._seed)  # noqa: S311 - a simulation
        columns = [self._column(query, draws, random) for query in queries]
        vectors = Counter(zip(*columns, strict=True))
        found: Counter[Decided | None] = Counter()
        for vector, count in vectors.items():
            found[self._decided([mode for mode, _, _ in queries], vector)] += count
        return shares(found, draws)

    def _column(self, query: Averages, draws: int, random: Random) -> list[str | None]:
        """Return the verdicts on one query in all comparisons."""
        centres = float(query[1]), float(query[2])
        edges, sd, gauss = self._edges, self._sd, random.gauss
        return [
            self._verdicts[bisect(edges, gauss(centres[0], sd))][
                bisect(edges, gauss(centres[1], sd))
            ]
            for _ in range(draws)
        ]

    def _decided(self, modes: Sequence[str], verdicts: Sequence[str | None]) -> Decided | None:
        if None in verdicts:
            return self._table.missing
        return self._table.decide(Counter(zip(modes, map(str, verdicts), strict=True)))

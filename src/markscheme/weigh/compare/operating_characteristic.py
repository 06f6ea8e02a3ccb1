"""The operating characteristic of a decision table: what it decides for identical variants.

The chances of averages, then of verdicts, then of decisions are computed in whole numbers, so the
result has no rounding error. A seeded simulation draws averages and applies the same rules and
table; it checks the exact chances, and replaces them where a table distinguishes too many counts.
Noise is the spread of the observed differences between queries; each variant has half its variance.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from statistics import NormalDist

from markscheme.vocabulary import (
    CountCondition,
    DecisionOutcome,
    DecisionTable,
    FrozenDict,
    VerdictRules,
    resolve_matches,
)

DecisionChances = Mapping[DecisionOutcome | None, Fraction]
"""The chance of each decision; `None` stands for no decision."""
QueryAverages = tuple[str, Fraction, Fraction]
"""The mode of a query, and the averages of both variants."""
_MIN_DRAWS, _MAX_DRAWS, _DRAWN_QUERIES = 1_000, 10_000, 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """How often each decision came out for two identical variants in `draws` comparisons."""

    seed: int
    draws: int
    identical: DecisionChances


def choose_draws(queries: Sequence[object]) -> int:
    """Return how many comparisons to simulate; fewer if each of them has many queries."""
    return max(_MIN_DRAWS, min(_MAX_DRAWS, _DRAWN_QUERIES // max(1, len(queries))))


def compute_shares(counts: Counter[DecisionOutcome | None], total: int) -> DecisionChances:
    """Return counts as chances: of every decision, and of no decision where that occurred."""
    outcomes = [*DecisionOutcome, *([None] if None in counts else [])]
    return FrozenDict({outcome: Fraction(counts[outcome], total) for outcome in outcomes})


class Simulation:
    """Draws averages around their centres; `noise` is the standard deviation of a difference."""

    def __init__(
        self, rules: VerdictRules, table: DecisionTable, noise: float, seed: int = 0
    ) -> None:
        averages = rules.scores.averages
        self._edges = [float(a + b) / 2 for a, b in pairwise(averages)]
        self._verdicts = [[rules.verdict(b, c) for c in averages] for b in averages]
        self._table = table
        self._sd = noise / math.sqrt(2)
        self._seed = seed

    def compute_chances(self, queries: Sequence[QueryAverages]) -> DecisionChances:
        """Return how often each decision came out."""
        draws, random = choose_draws(queries), Random(self._seed)  # noqa: S311 - a simulation
        columns = [self._draw_verdicts(query, draws, random) for query in queries]
        modes, table = [mode for mode, _, _ in queries], self._table
        decisions: Counter[DecisionOutcome | None] = Counter()
        for verdicts, count in Counter(zip(*columns, strict=True)).items():
            reached = Counter(zip(modes, map(str, verdicts), strict=True))
            decisions[table.missing if None in verdicts else table.decide(reached)] += count
        return compute_shares(decisions, draws)

    def _draw_verdicts(self, query: QueryAverages, draws: int, random: Random) -> list[str | None]:
        """Return the verdict on one query in each simulated comparison."""
        centres = float(query[1]), float(query[2])
        edges, sd, gauss = self._edges, self._sd, random.gauss
        return [
            self._verdicts[bisect(edges, gauss(centres[0], sd))][
                bisect(edges, gauss(centres[1], sd))
            ]
            for _ in range(draws)
        ]


# Combinations of counts that a table distinguishes; beyond that, exact chances take too long.
_MAX_STATES = 1000
# A chance is a whole number of these parts.
_CHANCE_PARTS = 10**6
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingCharacteristic:
    """The chances of each decision: for two identical variants, and for variants as observed.

    `noise` is the standard deviation of a difference between the averages on one query. Chances
    are `exact`, or else those of the simulation, which is always made.
    """

    noise: float
    identical: DecisionChances
    as_observed: DecisionChances
    exact: bool
    simulated: SimulationResult

    @property
    def apart(self) -> Fraction:
        """The largest difference between a reported chance and its simulated one."""
        reported, simulated, zero = self.identical, self.simulated.identical, Fraction(0)
        return max(
            abs(reported.get(outcome, zero) - simulated.get(outcome, zero))
            for outcome in {*reported, *simulated}
        )

    @property
    def repeats_disagree(self) -> Fraction:
        """The chance that two comparisons of identical variants are decided differently."""
        return 1 - sum((chance**2 for chance in self.identical.values()), Fraction(0))

    @property
    def observed_repeats_disagree(self) -> Fraction:
        """The chance that two comparisons of variants as observed are decided differently."""
        return 1 - sum((chance**2 for chance in self.as_observed.values()), Fraction(0))


def compute_operating_characteristic(
    rules: VerdictRules,
    table: DecisionTable,
    queries: Sequence[QueryAverages],
    noise: float,
    seed: int = 0,
) -> OperatingCharacteristic:
    """Return what the rules and the table decide for `queries` under `noise`."""
    verdicts = _VerdictChances(rules, noise / math.sqrt(2))

    table = table.resolve_shares(Counter(mode for mode, *_ in queries))

    def chances(averages: Iterable[QueryAverages]) -> DecisionChances | None:
        return _compute_decision_chances(
            table, [(mode, verdicts.get_chances(b, c)) for mode, b, c in averages]
        )

    middles = [(mode, (b + c) / 2) for mode, b, c in queries]
    alike = [(mode, middle, middle) for mode, middle in middles]
    identical, observed = chances(alike), chances(queries)
    simulation = Simulation(rules, table, noise, seed)
    simulated = SimulationResult(
        seed=seed, draws=choose_draws(queries), identical=simulation.compute_chances(alike)
    )
    return OperatingCharacteristic(
        noise=noise,
        identical=identical or simulated.identical,
        as_observed=observed or simulation.compute_chances(queries),
        exact=identical is not None and observed is not None,
        simulated=simulated,
    )


class _VerdictChances:
    """The chance of each verdict for two centres; weights of a centre are cached."""

    def __init__(self, rules: VerdictRules, sd: float) -> None:
        self._averages = rules.scores.averages
        self._sd = sd
        self._verdicts = {
            (b, c): rules.verdict(b, c) for b in self._averages for c in self._averages
        }
        self._weights_cache: dict[Fraction, list[int]] = {}

    def get_chances(self, baseline: Fraction, candidate: Fraction) -> Counter[str | None]:
        chances: Counter[str | None] = Counter()
        ours = list(zip(self._averages, self._get_weights(candidate), strict=True))
        for b, weight in zip(self._averages, self._get_weights(baseline), strict=True):
            for c, other in ours if weight else ():
                chances[self._verdicts[b, c]] += weight * other
        return chances

    def _get_weights(self, centre: Fraction) -> list[int]:
        """Return the chance of each average around a centre, in parts of a million."""
        if centre not in self._weights_cache:
            half = (self._averages[1] - self._averages[0]) / 2
            edges = [average + half for average in self._averages[:-1]]
            below = [0, *(self._count_below(edge - centre) for edge in edges), _CHANCE_PARTS]
            self._weights_cache[centre] = [b - a for a, b in pairwise(below)]
        return self._weights_cache[centre]

    def _count_below(self, distance: Fraction) -> int:
        if not self._sd:
            return _CHANCE_PARTS if distance > 0 else 0
        return round(_CHANCE_PARTS * _NORMAL.cdf(float(distance) / self._sd))


def _compute_decision_chances(
    table: DecisionTable, queries: Sequence[tuple[str, Counter[str | None]]]
) -> DecisionChances | None:
    """Return the chance of each decision; `None` if that takes too many states.

    A state is how many queries each condition of the table counts so far. Counts are capped where
    the condition no longer distinguishes them, which keeps the number of states small.
    """
    conditions = tuple(dict.fromkeys(table.list_conditions()))
    states: Counter[tuple[int, ...] | None] = Counter({(0,) * len(conditions): 1})
    for mode, verdicts in queries:
        then: Counter[tuple[int, ...] | None] = Counter()
        for state, weight in states.items():
            for verdict, other in verdicts.items():
                then[_advance_state(state, conditions, mode, verdict)] += weight * other
        states = then
        if len(states) > _MAX_STATES:
            return None
    decisions: Counter[DecisionOutcome | None] = Counter()
    for state, weight in states.items():
        decisions[_decide_state(table, conditions, state)] += weight
    return compute_shares(decisions, states.total())


def _advance_state(
    state: tuple[int, ...] | None,
    conditions: tuple[CountCondition, ...],
    mode: str,
    verdict: str | None,
) -> tuple[int, ...] | None:
    if state is None or verdict is None:
        return None
    return tuple(
        min(count + condition.counts(mode, verdict), _get_count_cap(condition))
        for count, condition in zip(state, conditions, strict=True)
    )


def _get_count_cap(condition: CountCondition) -> int:
    """Return the count from which on a condition gives the same answer for any larger one."""
    least, most = condition.limits
    return max(least, 0 if most is None else most + 1)


def _decide_state(
    table: DecisionTable, conditions: tuple[CountCondition, ...], state: tuple[int, ...] | None
) -> DecisionOutcome | None:
    if state is None:
        return table.missing
    counts = dict(zip(conditions, state, strict=True))
    rows = [row for row in table.rows if all(c.admits(counts[c]) for c in row.when)]
    return resolve_matches([row.decided for row in rows], table.policy)

"""Decision tables, proved by going through every vector of verdicts, however many there are.

A row looks only at counts, and a count above the largest bound changes nothing any more. So
vectors are gathered by what the table can see of them: the counters of its conditions, each capped.
A gathered state knows exactly how many vectors it stands for, and the plainest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from markscheme.errors import MarkschemeError
from markscheme.verdicts import CountCondition, Decided, DecisionRow, Policy, decided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.verdicts import DecisionTable

MOST_STEPS = 3_000_000

State = tuple[int, ...]
Vector = tuple[int, ...]
"""The rank of the verdict (0 is the best) on each query, mode by mode."""


class TooLarge(MarkschemeError):  # noqa: N818 - a refusal to go on, told as a finding
    """The table sees too much to be gone through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """How many vectors look the same to the table, and the plainest: fewest, least bad verdicts."""

    vectors: int
    key: tuple[int, int, Vector] = (0, 0, ())

    @property
    def plainest(self) -> Vector:
        """The vector itself; before it in the key stands what makes it plain."""
        return self.key[2]

    def with_one_more(self, ranks: list[int]) -> Gathered:
        """Return the same with one more query that has one of these verdicts."""
        bad, total, vector = self.key
        best = ranks[0]
        key = (bad + bool(best), total + best, (*vector, best))
        return Gathered(vectors=self.vectors * len(ranks), key=key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A vector for which rows hold that disagree."""

    vector: Vector
    rows: tuple[DecisionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """A query whose verdict improves while the decision falls."""

    vector: Vector
    query: int
    better: int
    before: Decided
    after: Decided


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProof:
    """What was found in going through every vector: counts, and the plainest witness of each flaw.

    `falls` counts the ways to improve one verdict of one vector that make the decision worse.
    """

    vectors: int
    uncovered: int
    conflicting: int
    falls: int
    gap: Vector | None
    conflict: Conflict | None
    fall: Fall | None
    dead: tuple[str, ...]
    unreachable: tuple[Decided, ...]
    too_good: Vector | None

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with the table."""
        found = self.gap or self.conflict or self.fall or self.dead or self.unreachable
        return not (found or self.too_good)


def prove_table(table: DecisionTable, queries: Mapping[str, int] | None = None) -> TableProof:
    """Go through every vector of verdicts on the given number of queries by mode."""
    return _Proof(table, dict(queries or table.queries)).result()


class _Proof:
    def __init__(self, table: DecisionTable, queries: dict[str, int]) -> None:
        self.table = table
        self.queries = queries
        self.steps = 0
        conditions = [condition for row in table.rows for condition in row.when]
        self.counters = list(dict.fromkeys(map(_counter, conditions)))
        caps = [
            (self.counters.index(_counter(condition)), _cap(condition)) for condition in conditions
        ]
        self.caps = tuple(
            max(cap for at, cap in caps if at == counter) for counter in range(len(self.counters))
        )

    def result(self) -> TableProof:
        reached = self.gathered(self.queries)
        uncovered = {s: g for s, g in reached.items() if not self.matching(s)}
        conflicting = {s: g for s, g in reached.items() if self.disagrees(s)}
        falls = list(self.falls())
        return TableProof(
            vectors=sum(g.vectors for g in reached.values()),
            uncovered=sum(g.vectors for g in uncovered.values()),
            conflicting=sum(g.vectors for g in conflicting.values()),
            falls=sum(count for count, _ in falls),
            gap=_plainest(uncovered),
            conflict=self.conflict(conflicting),
            fall=min((fall for _, fall in falls), key=_fall_key, default=None),
            dead=self.dead(reached),
            unreachable=self.unreachable(reached),
            too_good=self.too_good(reached),
        )

    def gathered(self, queries: Mapping[str, int]) -> dict[State, Gathered]:
        """Return what the table can see of every vector on these queries."""
        reached = {(0,) * len(self.counters): Gathered(vectors=1)}
        for mode, count in queries.items():
            for _ in range(count):
                reached = self.one_more(mode, reached)
        return reached

    def one_more(self, mode: str, reached: dict[State, Gathered]) -> dict[State, Gathered]:
        grown: dict[State, Gathered] = {}
        for state, before in reached.items():
            self.steps += len(self.kinds[mode])
            if self.steps > MOST_STEPS:
                raise TooLarge("too many different counts to go through")
            for ranks in self.kinds[mode]:
                after = self.counted(state, mode, ranks[0])
                found = before.with_one_more(ranks)
                grown[after] = _together(grown[after], found) if after in grown else found
        return grown

    @cached_property
    def kinds(self) -> dict[str, list[list[int]]]:
        """Return for each mode the verdicts, put together where the table does not tell them."""
        return {mode: self._kinds(mode) for mode in self.queries}

    def _kinds(self, mode: str) -> list[list[int]]:
        alike: dict[tuple[bool, ...], list[int]] = {}
        for rank in range(len(self.table.verdicts)):
            alike.setdefault(self.seen(mode, rank), []).append(rank)
        return list(alike.values())

    def seen(self, mode: str, rank: int) -> tuple[bool, ...]:
        """Return which counters a query of the mode with this verdict raises."""
        key = mode, rank
        if key not in self._seen:
            verdict = self.table.verdicts[rank]
            self._seen[key] = tuple(
                verdict in verdicts and (not modes or mode in modes)
                for verdicts, modes in self.counters
            )
        return self._seen[key]

    @cached_property
    def _seen(self) -> dict[tuple[str, int], tuple[bool, ...]]:
        return {}

    def counted(self, state: State, mode: str, rank: int) -> State:
        """Return the counters after one more query."""
        seen = self.seen(mode, rank)
        return tuple(
            min(count + more, cap) for count, more, cap in zip(state, seen, self.caps, strict=True)
        )

    def matching(self, state: State) -> tuple[DecisionRow, ...]:
        if state not in self._matching:
            self._matching[state] = tuple(
                row
                for row in self.table.rows
                if all(c.admits(state[self.counters.index(_counter(c))]) for c in row.when)
            )
        return self._matching[state]

    @cached_property
    def _matching(self) -> dict[State, tuple[DecisionRow, ...]]:
        return {}

    def decide(self, state: State) -> Decided | None:
        return decided([row.decided for row in self.matching(state)], self.table.policy)

    def disagrees(self, state: State) -> bool:
        return bool(self.matching(state)) and self.decide(state) is None

    def conflict(self, conflicting: dict[State, Gathered]) -> Conflict | None:
        if not conflicting:
            return None
        state = min(conflicting, key=lambda s: conflicting[s].key)
        return Conflict(vector=conflicting[state].plainest, rows=self.matching(state))

    def falls(self) -> Iterator[tuple[int, Fall]]:
        """Yield every kind of improvement of one query after which the decision is worse."""
        before = 0
        for mode, count in self.queries.items():
            others = self.gathered({**self.queries, mode: count - 1})
            for state, found in others.items():
                for worse, better, ways in self.improvements(mode):
                    was = self.decide(self.counted(state, mode, worse))
                    now = self.decide(self.counted(state, mode, better))
                    if was is not None and now is not None and now.rank > was.rank:
                        vector = (*found.plainest[:before], worse, *found.plainest[before:])
                        fall = Fall(
                            vector=vector, query=before, better=better, before=was, after=now
                        )
                        yield count * ways * found.vectors, fall
            before += count

    def improvements(self, mode: str) -> Iterator[tuple[int, int, int]]:
        """Yield for two kinds of verdicts the nearest worse and better one, and how many such."""
        for one in self.kinds[mode]:
            for other in self.kinds[mode]:
                pairs = [(a - b, a, b) for a in one for b in other if b < a]
                if one is not other and pairs:
                    _, worse, better = min(pairs)
                    yield worse, better, len(pairs)

    def dead(self, reached: dict[State, Gathered]) -> tuple[str, ...]:
        """Return the rows that never hold, or that another always goes before."""
        first = self.table.policy is Policy.FIRST
        alive = {
            row.name for state in reached for row in self.matching(state)[: 1 if first else None]
        }
        return tuple(row.name for row in self.table.rows if row.name not in alive)

    def unreachable(self, reached: dict[State, Gathered]) -> tuple[Decided, ...]:
        given = {self.decide(state) for state in reached}
        return tuple(outcome for outcome in self.table.outcomes if outcome not in given)

    def too_good(self, reached: dict[State, Gathered]) -> Vector | None:
        """Return a vector with a worse decision than a missing verdict gets."""
        missing = self.table.missing
        if missing is None:
            return None
        decisions = {state: self.decide(state) for state in reached}
        return _plainest(
            {
                state: reached[state]
                for state, found in decisions.items()
                if found is not None and found.rank > missing.rank
            }
        )


def _counter(condition: CountCondition) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(condition.verdicts), frozenset(condition.modes)


def _cap(condition: CountCondition) -> int:
    """Return the smallest count from which on the condition says the same."""
    beyond = 0 if condition.at_most is None else condition.at_most + 1
    return max(condition.at_least, beyond)


def _together(one: Gathered, other: Gathered) -> Gathered:
    return Gathered(vectors=one.vectors + other.vectors, key=min(one.key, other.key))


def _plainest(found: Mapping[State, Gathered]) -> Vector | None:
    return min(found.values(), key=lambda gathered: gathered.key).plainest if found else None


def _fall_key(fall: Fall) -> tuple[int, int, int, Vector]:
    vector = fall.vector
    step = vector[fall.query] - fall.better
    return sum(map(bool, vector)), step, sum(vector), vector

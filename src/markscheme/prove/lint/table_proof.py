"""Prove decision tables for every vector of verdicts, by enumerating the states of the table.

A vector is the verdict on each query. A row looks only at counts, and a count above the largest
bound of its conditions changes nothing any more. So all vectors with the same capped counts form
one state, which keeps how many they are and the simplest of them. This is exact, and few states
stand for any number of vectors: fifty queries have 1.3e30 vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from markscheme.vocabulary import (
    CountCondition,
    DecisionOutcome,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    MarkschemeError,
    resolve_matches,
)

MAX_STEPS = 300_000
# A rank fits in five bits, because a document has at most 20 verdicts.
_DIGIT_BITS = 5
_DIGIT_MASK = (1 << _DIGIT_BITS) - 1

CounterState = tuple[int, ...]
"""The value of each counter, up to its cap."""
VerdictVector = tuple[int, ...]
"""The rank of the verdict (0 is the best) on each query, mode by mode."""

SimplicityKey = tuple[int, int, int]
"""Sort key of vectors, simplest first: the number of ranks above 0, their sum, and the ranks
packed as the digits of one number."""

StateSummary = tuple[int, SimplicityKey]
"""The number of vectors in a state, and the simplest of them."""


class TableTooLarge(MarkschemeError):  # noqa: N818 - not an error: reported as a finding
    """The table has too many states to enumerate."""


class TableStates:
    """The states of one table, and the rows that match in each."""

    def __init__(self, table: DecisionTable) -> None:
        self.table = table
        self.steps = 0
        conditions = [condition for row in table.rows for condition in row.when]
        counters = list(dict.fromkeys(map(_get_counter, conditions)))
        self._counters = {counter: place for place, counter in enumerate(counters)}
        self._caps = [
            max(_compute_cap(c) for c in conditions if _get_counter(c) == counter)
            for counter in counters
        ]
        self.group_ranks = cache(self._group_ranks)
        self.advance = cache(self._advance)
        self.find_matching_rows = cache(self._find_matching_rows)
        self.decide = cache(self._decide)

    def gather_states(self, queries: Mapping[str, int]) -> dict[CounterState, StateSummary]:
        """Return every state that some vector on these queries reaches."""
        reached: dict[CounterState, StateSummary] = {(0,) * len(self._caps): (1, (0, 0, 0))}
        for mode, count in queries.items():
            for _ in range(count):
                reached = self._add_query(mode, reached)
        return reached

    def _add_query(
        self, mode: str, reached: dict[CounterState, StateSummary]
    ) -> dict[CounterState, StateSummary]:
        groups = self.group_ranks(mode)
        self.steps += len(groups) * len(reached)
        if self.steps > MAX_STEPS:
            raise TableTooLarge("the table tells too many counts apart to go through them")
        grown: dict[CounterState, StateSummary] = {}
        for state, (vectors, (bad, total, digits)) in reached.items():
            for ranks in groups:
                best = ranks[0]
                after = self.advance(state, mode, best)
                key = (bad + bool(best), total + best, digits << _DIGIT_BITS | best)
                others, simplest = grown.get(after, (0, key))
                grown[after] = (others + vectors * len(ranks), min(simplest, key))
        return grown

    def _group_ranks(self, mode: str) -> list[list[int]]:
        """Return the ranks of the verdicts, grouped if the table does not tell them apart."""
        groups: dict[tuple[bool, ...], list[int]] = {}
        for rank in range(len(self.table.verdicts)):
            groups.setdefault(self._find_raised_counters(mode, rank), []).append(rank)
        return list(groups.values())

    def _find_raised_counters(self, mode: str, rank: int) -> tuple[bool, ...]:
        """Return which counters a query of the mode with this verdict raises."""
        verdict = self.table.verdicts[rank]
        return tuple(
            verdict in verdicts and (not modes or mode in modes)
            for verdicts, modes in self._counters
        )

    def _advance(self, state: CounterState, mode: str, rank: int) -> CounterState:
        """Return the state after one more query."""
        raised = zip(state, self._find_raised_counters(mode, rank), self._caps, strict=True)
        return tuple(min(count + more, cap) for count, more, cap in raised)

    def _find_matching_rows(self, state: CounterState) -> tuple[DecisionRow, ...]:
        """Return the rows that match in a state."""
        return tuple(
            row
            for row in self.table.rows
            if all(c.admits(state[self._counters[_get_counter(c)]]) for c in row.when)
        )

    def _decide(self, state: CounterState) -> DecisionOutcome | None:
        return resolve_matches(
            [row.decided for row in self.find_matching_rows(state)], self.table.policy
        )


def unpack_vector(key: SimplicityKey, queries: int) -> VerdictVector:
    """Return the ranks that are packed in a key."""
    return tuple(key[2] >> _DIGIT_BITS * place & _DIGIT_MASK for place in reversed(range(queries)))


def _get_counter(condition: CountCondition) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(condition.verdicts), frozenset(condition.modes)


def _compute_cap(condition: CountCondition) -> int:
    """Return the smallest count from which on the condition does not change any more."""
    above_most = 0 if condition.at_most is None else condition.at_most + 1
    return max(condition.at_least, above_most)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowConflict:
    """A vector for which rows match that decide differently."""

    vector: VerdictVector
    rows: tuple[DecisionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDrop:
    """A query whose verdict improves while the decision gets worse."""

    vector: VerdictVector
    query: int
    better: int
    before: DecisionOutcome
    after: DecisionOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProof:
    """The result of the proof: counts over all vectors, and the simplest example of each flaw.

    `falls` counts the ways to improve one verdict of one vector that make the decision worse.
    `too_good` is a vector whose decision is worse than the decision for a missing verdict.
    """

    vectors: int
    uncovered: int
    conflicting: int
    falls: int
    gap: VerdictVector | None
    conflict: RowConflict | None
    fall: DecisionDrop | None
    dead: tuple[str, ...]
    unreachable: tuple[DecisionOutcome, ...]
    too_good: VerdictVector | None

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with the table."""
        examples = (self.gap, self.conflict, self.fall, self.too_good)
        flawless = all(example is None for example in examples)
        return flawless and not self.dead and not self.unreachable


def prove_table(table: DecisionTable, queries: Mapping[str, int] | None = None) -> TableProof:
    """Prove a table for a number of queries of each mode, by default the number that it states.

    Raises:
        TableTooLarge: the table has too many states to enumerate.
    """
    return _TableProver(table, dict(queries or table.queries)).prove()


class _TableProver:
    def __init__(self, table: DecisionTable, queries: dict[str, int]) -> None:
        self.table = table
        self.queries = queries
        self.count = sum(queries.values())
        self.states = TableStates(table)
        self.reached = self.states.gather_states(queries)

    def prove(self) -> TableProof:
        states, reached = self.states, self.reached
        gaps = [s for s in reached if not states.find_matching_rows(s)]
        conflicts = [s for s in reached if states.find_matching_rows(s) and not states.decide(s)]
        falls = list(self.find_drops())
        decided, missing = {s: states.decide(s) for s in reached}, self.table.missing
        too_good = [s for s, d in decided.items() if missing and d and d.rank > missing.rank]
        return TableProof(
            vectors=self.count_vectors(reached),
            uncovered=self.count_vectors(gaps),
            conflicting=self.count_vectors(conflicts),
            falls=sum(count for count, _ in falls),
            gap=self.find_example(gaps),
            conflict=self.find_conflict(conflicts),
            fall=min((fall for _, fall in falls), key=_rank_drop, default=None),
            dead=self.find_dead_rows(),
            unreachable=tuple(o for o in self.table.outcomes if o not in decided.values()),
            too_good=self.find_example(too_good),
        )

    def count_vectors(self, states: Collection[CounterState]) -> int:
        return sum(self.reached[state][0] for state in states)

    def find_simplest_state(self, states: Collection[CounterState]) -> CounterState | None:
        return min(states, key=lambda state: self.reached[state][1], default=None)

    def get_vector(self, state: CounterState) -> VerdictVector:
        return unpack_vector(self.reached[state][1], self.count)

    def find_example(self, states: Collection[CounterState]) -> VerdictVector | None:
        state = self.find_simplest_state(states)
        return None if state is None else self.get_vector(state)

    def find_conflict(self, states: Collection[CounterState]) -> RowConflict | None:
        state = self.find_simplest_state(states)
        if state is None:
            return None
        return RowConflict(
            vector=self.get_vector(state), rows=self.states.find_matching_rows(state)
        )

    def find_drops(self) -> Iterator[tuple[int, DecisionDrop]]:
        """Yield every improvement of a query that makes the decision worse, with its count."""
        query = 0
        for mode, count in self.queries.items():
            others = self.states.gather_states({**self.queries, mode: count - 1})
            for state, summary in others.items():
                yield from self.find_query_drops(mode, query, state, summary)
            query += count

    def find_query_drops(
        self, mode: str, query: int, state: CounterState, summary: StateSummary
    ) -> Iterator[tuple[int, DecisionDrop]]:
        """Yield the drops if one query of the mode improves and all others stay in `state`."""
        vectors, simplest = summary
        for worse, better, ways in self.list_improvements(mode):
            before = self.states.decide(self.states.advance(state, mode, worse))
            after = self.states.decide(self.states.advance(state, mode, better))
            if before is not None and after is not None and after.rank > before.rank:
                rest = unpack_vector(simplest, self.count - 1)
                vector = (*rest[:query], worse, *rest[query:])
                drop = DecisionDrop(
                    vector=vector, query=query, better=better, before=before, after=after
                )
                yield self.queries[mode] * ways * vectors, drop

    def list_improvements(self, mode: str) -> Iterator[tuple[int, int, int]]:
        """Yield (worse rank, better rank, number of such pairs) for every two groups of verdicts.

        The two ranks are the nearest ones of the groups, to make a small example.
        """
        for group in self.states.group_ranks(mode):
            for other in self.states.group_ranks(mode):
                pairs = [(a - b, a, b) for a in group for b in other if b < a]
                if group is not other and pairs:
                    _, worse, better = min(pairs)
                    yield worse, better, len(pairs)

    def find_dead_rows(self) -> tuple[str, ...]:
        """Return the names of rows that never match, or only behind another that decides."""
        deciding = 1 if self.table.policy is HitPolicy.FIRST else None
        alive = {
            row.name for s in self.reached for row in self.states.find_matching_rows(s)[:deciding]
        }
        return tuple(row.name for row in self.table.rows if row.name not in alive)


def _rank_drop(drop: DecisionDrop) -> tuple[int, int, int, VerdictVector]:
    """Sort key of drops, simplest first: few bad verdicts, then a small improvement."""
    step = drop.vector[drop.query] - drop.better
    return sum(map(bool, drop.vector)), step, sum(drop.vector), drop.vector

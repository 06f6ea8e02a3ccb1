"""Decision tables, proved by going through every vector of verdicts, however many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markscheme.prove.lint.table_states import TableStates, VerdictVector, unpack_vector
from markscheme.vocabulary import DecisionOutcome, DecisionRow, HitPolicy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from markscheme.prove.lint.table_states import CounterState, StateSummary
    from markscheme.vocabulary import DecisionTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RowConflict:
    """A vector for which rows hold that disagree."""

    vector: VerdictVector
    rows: tuple[DecisionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDrop:
    """A query whose verdict improves while the decision falls."""

    vector: VerdictVector
    query: int
    better: int
    before: DecisionOutcome
    after: DecisionOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProof:
    """What was found in going through every vector: counts, and the plainest witness of each flaw.

    `falls` counts the ways to improve one verdict of one vector that make the decision worse;
    `too_good` is a vector with a worse decision than a missing verdict gets.
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
        found = (self.gap, self.conflict, self.fall, self.too_good)
        return found == (None,) * len(found) and not self.dead and not self.unreachable


def prove_table(table: DecisionTable, queries: Mapping[str, int] | None = None) -> TableProof:
    """Go through every vector of verdicts on so many queries of each mode.

    Raises:
        TooLarge: the table tells too much apart to be gone through.
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
        sight, reached = self.states, self.reached
        gaps = [state for state in reached if not sight.find_matching_rows(state)]
        torn = [s for s in reached if sight.find_matching_rows(s) and sight.decide(s) is None]
        falls = list(self.find_drops())
        return TableProof(
            vectors=self.count_vectors(reached),
            uncovered=self.count_vectors(gaps),
            conflicting=self.count_vectors(torn),
            falls=sum(count for count, _ in falls),
            gap=self.find_witness(gaps),
            conflict=self.find_conflict(torn),
            fall=min((fall for _, fall in falls), key=_rank_drop, default=None),
            dead=self.find_dead_rows(),
            unreachable=self.find_unreachable(),
            too_good=self.find_too_good(),
        )

    def count_vectors(self, states: Collection[CounterState]) -> int:
        return sum(self.reached[state][0] for state in states)

    def find_plainest_state(self, states: Collection[CounterState]) -> CounterState | None:
        return min(states, key=lambda state: self.reached[state][1], default=None)

    def get_vector(self, state: CounterState) -> VerdictVector:
        return unpack_vector(self.reached[state][1], self.count)

    def find_witness(self, states: Collection[CounterState]) -> VerdictVector | None:
        state = self.find_plainest_state(states)
        return None if state is None else self.get_vector(state)

    def find_conflict(self, states: Collection[CounterState]) -> RowConflict | None:
        state = self.find_plainest_state(states)
        if state is None:
            return None
        return RowConflict(
            vector=self.get_vector(state), rows=self.states.find_matching_rows(state)
        )

    def find_drops(self) -> Iterator[tuple[int, DecisionDrop]]:
        """Yield every kind of improvement of one query after which the decision is worse."""
        place = 0
        for mode, count in self.queries.items():
            others = self.states.gather_states({**self.queries, mode: count - 1})
            for state, gathered in others.items():
                yield from self.find_query_drops(mode, place, state, gathered)
            place += count

    def find_query_drops(
        self, mode: str, place: int, state: CounterState, gathered: StateSummary
    ) -> Iterator[tuple[int, DecisionDrop]]:
        """Yield the falls of one query of the mode, the others being as gathered."""
        vectors, plain = gathered
        for worse, better, ways in self.list_improvements(mode):
            was = self.states.decide(self.states.advance(state, mode, worse))
            now = self.states.decide(self.states.advance(state, mode, better))
            if was is not None and now is not None and now.rank > was.rank:
                rest = unpack_vector(plain, self.count - 1)
                vector = (*rest[:place], worse, *rest[place:])
                fall = DecisionDrop(
                    vector=vector, query=place, better=better, before=was, after=now
                )
                yield self.queries[mode] * ways * vectors, fall

    def list_improvements(self, mode: str) -> Iterator[tuple[int, int, int]]:
        """Yield for two kinds of verdicts the nearest worse and better one, and how many such."""
        for one in self.states.group_ranks(mode):
            for other in self.states.group_ranks(mode):
                pairs = [(a - b, a, b) for a in one for b in other if b < a]
                if one is not other and pairs:
                    _, worse, better = min(pairs)
                    yield worse, better, len(pairs)

    def find_dead_rows(self) -> tuple[str, ...]:
        """Return the rows that never hold, or that another always goes before."""
        first = 1 if self.table.policy is HitPolicy.FIRST else None
        alive = {
            row.name for s in self.reached for row in self.states.find_matching_rows(s)[:first]
        }
        return tuple(row.name for row in self.table.rows if row.name not in alive)

    def find_unreachable(self) -> tuple[DecisionOutcome, ...]:
        given = set(map(self.states.decide, self.reached))
        return tuple(outcome for outcome in self.table.outcomes if outcome not in given)

    def find_too_good(self) -> VerdictVector | None:
        missing = self.table.missing
        if missing is None:
            return None
        decisions = [(state, self.states.decide(state)) for state in self.reached]
        return self.find_witness(
            [s for s, found in decisions if found and found.rank > missing.rank]
        )


def _rank_drop(fall: DecisionDrop) -> tuple[int, int, int, VerdictVector]:
    """Prefer few bad verdicts, then a small improvement."""
    step = fall.vector[fall.query] - fall.better
    return sum(map(bool, fall.vector)), step, sum(fall.vector), fall.vector

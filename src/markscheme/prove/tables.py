"""Decision tables, proved by going through every vector of verdicts, however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.prove.sight import Sight, Vector, vector_of
from markscheme.values import dataclass
from markscheme.verdicts import Decided, DecisionRow, Policy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from markscheme.prove.sight import Gathered, State
    from markscheme.verdicts import DecisionTable


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

    `falls` counts the ways to improve one verdict of one vector that make the decision worse;
    `too_good` is a vector with a worse decision than a missing verdict gets.
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
        found = (self.gap, self.conflict, self.fall, self.too_good)
        return found == (None,) * len(found) and not self.dead and not self.unreachable


def prove_table(table: DecisionTable, queries: Mapping[str, int] | None = None) -> TableProof:
    """Go through every vector of verdicts on so many queries of each mode.

    Raises:
        TooLarge: the table tells too much apart to be gone through.
    """
    return _Proof(table, dict(queries or table.queries)).result()


class _Proof:
    def __init__(self, table: DecisionTable, queries: dict[str, int]) -> None:
        self.table = table
        self.queries = queries
        self.count = sum(queries.values())
        self.sight = Sight(table)
        self.reached = self.sight.gather(queries)

    def result(self) -> TableProof:
        sight, reached = self.sight, self.reached
        gaps = [state for state in reached if not sight.matching(state)]
        torn = [s for s in reached if sight.matching(s) and sight.decide(s) is None]
        falls = list(self.falls())
        return TableProof(
            vectors=self.vectors(reached),
            uncovered=self.vectors(gaps),
            conflicting=self.vectors(torn),
            falls=sum(count for count, _ in falls),
            gap=self.witness(gaps),
            conflict=self.conflict(torn),
            fall=min((fall for _, fall in falls), key=_fall_key, default=None),
            dead=self.dead(),
            unreachable=self.unreachable(),
            too_good=self.too_good(),
        )

    def vectors(self, states: Collection[State]) -> int:
        return sum(self.reached[state][0] for state in states)

    def plainest(self, states: Collection[State]) -> State | None:
        return min(states, key=lambda state: self.reached[state][1], default=None)

    def vector(self, state: State) -> Vector:
        return vector_of(self.reached[state][1], self.count)

    def witness(self, states: Collection[State]) -> Vector | None:
        state = self.plainest(states)
        return None if state is None else self.vector(state)

    def conflict(self, states: Collection[State]) -> Conflict | None:
        state = self.plainest(states)
        if state is None:
            return None
        return Conflict(vector=self.vector(state), rows=self.sight.matching(state))

    def falls(self) -> Iterator[tuple[int, Fall]]:
        """Yield every kind of improvement of one query after which the decision is worse."""
        place = 0
        for mode, count in self.queries.items():
            others = self.sight.gather({**self.queries, mode: count - 1})
            for state, gathered in others.items():
                yield from self.falls_of(mode, place, state, gathered)
            place += count

    def falls_of(
        self, mode: str, place: int, state: State, gathered: Gathered
    ) -> Iterator[tuple[int, Fall]]:
        """Yield the falls of one query of the mode, the others being as gathered."""
        vectors, plain = gathered
        for worse, better, ways in self.improvements(mode):
            was = self.sight.decide(self.sight.after(state, mode, worse))
            now = self.sight.decide(self.sight.after(state, mode, better))
            if was is not None and now is not None and now.rank > was.rank:
                rest = vector_of(plain, self.count - 1)
                vector = (*rest[:place], worse, *rest[place:])
                fall = Fall(vector=vector, query=place, better=better, before=was, after=now)
                yield self.queries[mode] * ways * vectors, fall

    def improvements(self, mode: str) -> Iterator[tuple[int, int, int]]:
        """Yield for two kinds of verdicts the nearest worse and better one, and how many such."""
        for one in self.sight.kinds(mode):
            for other in self.sight.kinds(mode):
                pairs = [(a - b, a, b) for a in one for b in other if b < a]
                if one is not other and pairs:
                    _, worse, better = min(pairs)
                    yield worse, better, len(pairs)

    def dead(self) -> tuple[str, ...]:
        """Return the rows that never hold, or that another always goes before."""
        first = 1 if self.table.policy is Policy.FIRST else None
        alive = {row.name for s in self.reached for row in self.sight.matching(s)[:first]}
        return tuple(row.name for row in self.table.rows if row.name not in alive)

    def unreachable(self) -> tuple[Decided, ...]:
        given = set(map(self.sight.decide, self.reached))
        return tuple(outcome for outcome in self.table.outcomes if outcome not in given)

    def too_good(self) -> Vector | None:
        missing = self.table.missing
        if missing is None:
            return None
        decisions = [(state, self.sight.decide(state)) for state in self.reached]
        return self.witness([s for s, found in decisions if found and found.rank > missing.rank])


def _fall_key(fall: Fall) -> tuple[int, int, int, Vector]:
    """Prefer few bad verdicts, then a small improvement."""
    step = fall.vector[fall.query] - fall.better
    return sum(map(bool, fall.vector)), step, sum(fall.vector), fall.vector

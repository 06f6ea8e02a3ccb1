"""Prove decision tables for every vector of verdicts, by enumerating the states of the table.

A vector is the verdict on each query. A row looks only at counts, and a count above the largest
bound of its conditions changes nothing any more. So all vectors with the same capped counts form
one state, which keeps how many they are and the simplest of them. This is exact, and few states
stand for any number of vectors: fifty queries have 1.3e30 vectors.

A share becomes a count as soon as the number of queries is known. So a table that is meant for a
range of numbers is proved for each of them in turn (`prove_all_sizes`). Without shares, a number of
queries from which on no further state is reached stands for all larger ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod

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
_MAX_SIZES, _MAX_STEPS_OF_SIZES = 10_000, 3_000_000
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
        self.followed = _list_followed(table)
        conditions = [*table.list_conditions(), *self.followed]
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

    def is_followed_up(self, state: CounterState) -> bool:
        """Return whether there is a mode to follow up, or no follow-up that needs one."""
        return all(c.admits(state[self._counters[_get_counter(c)]]) for c in self.followed)

    def compute_saturation(self, mode: str) -> int:
        """Return a number of queries of a mode from which on more of them change nothing.

        Beyond it, some group of verdicts occurs so often that every counter it raises is at its
        cap, so one query of this group more or less leads to the same state. The table must have no
        shares.
        """
        return len(self.group_ranks(mode)) * max(self._caps, default=0) + 2

    def _decide(self, state: CounterState) -> DecisionOutcome | None:
        return resolve_matches(
            [row.decided for row in self.find_matching_rows(state)], self.table.policy
        )


def unpack_vector(key: SimplicityKey, queries: int) -> VerdictVector:
    """Return the ranks that are packed in a key."""
    return tuple(key[2] >> _DIGIT_BITS * place & _DIGIT_MASK for place in reversed(range(queries)))


def _list_followed(table: DecisionTable) -> list[CountCondition]:
    """Return the condition that some mode is to be followed up, if the table has a follow-up."""
    follow_up = table.follow_up
    return [CountCondition(verdicts=follow_up.in_modes_of, at_least=1)] if follow_up else []


def _get_counter(condition: CountCondition) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(condition.verdicts), frozenset(condition.modes)


def _compute_cap(condition: CountCondition) -> int:
    """Return the smallest count from which on the condition does not change any more."""
    least, most = condition.limits
    return max(least, 0 if most is None else most + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowConflict:
    """A vector for which rows match that decide differently."""

    vector: VerdictVector
    rows: tuple[DecisionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionChange:
    """A query whose verdict improves while the decision changes: a flaw where it gets worse."""

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
    `not_followed` is a conditional vector without a mode to follow up; `overtaken` is one whose
    follow-up can lead to a better decision than a better first round. `queries` are those of the
    examples.
    """

    queries: Mapping[str, int]
    conditional: bool
    not_followed: VerdictVector | None
    overtaken: DecisionChange | None

    vectors: int
    uncovered: int
    conflicting: int
    falls: int
    gap: VerdictVector | None
    conflict: RowConflict | None
    fall: DecisionChange | None
    dead: tuple[str, ...]
    unreachable: tuple[DecisionOutcome, ...]
    too_good: VerdictVector | None

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with the table."""
        return not self.has_example and not self.dead and not self.unreachable

    @property
    def has_example(self) -> bool:
        """Whether some vector is decided wrongly, or not at all."""
        examples = (self.gap, self.conflict, self.fall, self.too_good)
        further = (self.not_followed, self.overtaken)
        return any(example is not None for example in (*examples, *further))


def prove_table(table: DecisionTable, queries: Mapping[str, int] | None = None) -> TableProof:
    """Prove a table for a number of queries of each mode, by default the number that it states.

    Raises:
        TableTooLarge: the table has too many states to enumerate.
    """
    return _TableProver(table, dict(queries or table.queries)).prove()


def prove_all_sizes(table: DecisionTable) -> TableProof:
    """Prove a table for every number of queries that it is meant for.

    The examples are those of the smallest number that has any. A row is dead, and an outcome
    unreachable, if it is that for every number.

    Raises:
        TableTooLarge: there are too many numbers or states to go through.
    """
    if not table.most_queries:
        return prove_table(table)
    return _prove_sizes(table, list_sizes(table))


def prove_follow_up(table: DecisionTable) -> TableProof | None:
    """Prove the rows of the follow-up for every number of further queries that is enough.

    Raises:
        TableTooLarge: there are too many numbers or states to go through.
    """
    rows, follow_up = table.follow_up_table, table.follow_up
    if rows is None or follow_up is None:
        return None
    states = TableStates(rows)
    enough = [
        size
        for size in list_sizes(rows)
        # A number at which a mode is saturated stands for any larger one.
        if sum(size.values()) >= follow_up.at_least
        or any(n >= states.compute_saturation(mode) for mode, n in size.items())
    ]
    return _prove_sizes(rows, enough)


def list_sizes(table: DecisionTable) -> list[Mapping[str, int]]:
    """Return the numbers of queries by mode to go through, the smallest first."""
    ranges = [_list_numbers(table, mode) for mode in table.queries]
    if prod(map(len, ranges)) > _MAX_SIZES:
        raise TableTooLarge("the table is meant for too many different numbers of queries")
    sizes = sorted(filter(any, product(*ranges)), key=lambda size: (sum(size), size))
    return [dict(zip(table.queries, size, strict=True)) for size in sizes]


def _list_numbers(table: DecisionTable, mode: str) -> range:
    least, most = table.queries[mode], table.get_most(mode)
    if table.has_share:
        if most is None:
            raise TableTooLarge(
                f"the table counts shares, and states no largest number of {mode} queries"
            )
        return range(least, most + 1)
    enough = max(least, TableStates(table).compute_saturation(mode))
    return range(least, (enough if most is None else min(most, enough)) + 1)


def _prove_sizes(table: DecisionTable, sizes: Sequence[Mapping[str, int]]) -> TableProof:
    dead = {row.name for row in table.rows}
    unreachable = set(table.outcomes)
    found: TableProof | None = None
    conditional, steps = False, 0
    seen = set()
    for size in sizes:
        resolved = table.resolve_shares(size)
        states = TableStates(resolved)
        # Sizes that are alike up to saturation, with the same counts in the rows, are proved once.
        alike = tuple(min(n, states.compute_saturation(mode)) for mode, n in size.items())
        if (resolved.rows, alike) in seen:
            continue
        seen.add((resolved.rows, alike))
        prover = _TableProver(table, dict(size))
        proof = prover.prove()
        steps += prover.states.steps
        if steps > _MAX_STEPS_OF_SIZES:
            raise TableTooLarge("the table tells too many counts apart to go through all its sizes")
        dead &= set(proof.dead)
        unreachable &= set(proof.unreachable)
        conditional |= proof.conditional
        if found is None or (proof.has_example and not found.has_example):
            found = proof
    if found is None:
        raise TableTooLarge("the table is meant for no number of queries at all")
    return replace(
        found,
        dead=tuple(row.name for row in table.rows if row.name in dead),
        unreachable=tuple(outcome for outcome in table.outcomes if outcome in unreachable),
        conditional=conditional,
    )


class _TableProver:
    def __init__(self, table: DecisionTable, queries: dict[str, int]) -> None:
        self.table = table.resolve_shares(queries)
        self.queries = queries
        self.count = sum(queries.values())
        self.states = TableStates(self.table)
        self.reached = self.states.gather_states(queries)

    def prove(self) -> TableProof:
        states, reached = self.states, self.reached
        gaps = [s for s in reached if not states.find_matching_rows(s)]
        conflicts = [s for s in reached if states.find_matching_rows(s) and not states.decide(s)]
        changes = list(self.find_changes())
        falls = [change for change in changes if change[1].after.rank > change[1].before.rank]
        decided, missing = {s: states.decide(s) for s in reached}, self.table.missing
        too_good = [s for s, d in decided.items() if missing and d and d.rank > missing.rank]
        return TableProof(
            vectors=self.count_vectors(reached),
            uncovered=self.count_vectors(gaps),
            conflicting=self.count_vectors(conflicts),
            falls=sum(count for count, _ in falls),
            gap=self.find_example(gaps),
            conflict=self.find_conflict(conflicts),
            fall=min((fall for _, fall in falls), key=_rank_change, default=None),
            dead=self.find_dead_rows(),
            unreachable=tuple(o for o in self.table.outcomes if o not in self.list_given(decided)),
            too_good=self.find_example(too_good),
            queries=self.queries,
            conditional=DecisionOutcome.CONDITIONAL in decided.values(),
            not_followed=self.find_example(
                [
                    state
                    for state, outcome in decided.items()
                    if outcome is DecisionOutcome.CONDITIONAL and not states.is_followed_up(state)
                ]
            ),
            overtaken=self.find_overtaken(change for _, change in changes),
        )

    def list_given(self, decided: Mapping[CounterState, DecisionOutcome | None]) -> set[object]:
        """Return the outcomes that the table can give, those of its follow-up among them."""
        follow_up = self.table.follow_up
        further = [row.decided for row in follow_up.rows] if follow_up else []
        return {*decided.values(), *further}

    def find_overtaken(self, changes: Iterable[DecisionChange]) -> DecisionChange | None:
        """Return an improvement of a conditional round that costs what its follow-up could give."""
        if self.table.follow_up is None:
            return None
        best = min(row.decided.rank for row in self.table.follow_up.rows)
        conditional = DecisionOutcome.CONDITIONAL
        overtaken = [
            change
            for change in changes
            if change.before is conditional and best < change.after.rank < conditional.rank
        ]
        return min(overtaken, key=_rank_change, default=None)

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

    def find_changes(self) -> Iterator[tuple[int, DecisionChange]]:
        """Yield every improvement of a query that changes the decision, with its count."""
        query = 0
        for mode, count in self.queries.items():
            others = self.states.gather_states({**self.queries, mode: count - 1}) if count else {}
            for state, summary in others.items():
                yield from self.find_query_changes(mode, query, state, summary)
            query += count

    def find_query_changes(
        self, mode: str, query: int, state: CounterState, summary: StateSummary
    ) -> Iterator[tuple[int, DecisionChange]]:
        """Yield the changes if one query of the mode improves and all others stay in `state`."""
        vectors, simplest = summary
        for worse, better, ways in self.list_improvements(mode):
            before = self.states.decide(self.states.advance(state, mode, worse))
            after = self.states.decide(self.states.advance(state, mode, better))
            if before is not None and after is not None and after is not before:
                rest = unpack_vector(simplest, self.count - 1)
                vector = (*rest[:query], worse, *rest[query:])
                drop = DecisionChange(
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


def _rank_change(drop: DecisionChange) -> tuple[int, int, int, VerdictVector]:
    """Sort key of drops, simplest first: few bad verdicts, then a small improvement."""
    step = drop.vector[drop.query] - drop.better
    return sum(map(bool, drop.vector)), step, sum(drop.vector), drop.vector

"""State compression for decision tables: group verdict vectors that the table cannot tell apart.

A row looks only at counts, and a count above the largest bound of its conditions changes nothing
any more. So all vectors with the same capped counts form one state, which keeps how many they are
and the simplest of them. This is exact, and few states stand for any number of vectors: fifty
queries have 1.3e30 vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from markscheme.vocabulary import (
    CountCondition,
    DecisionOutcome,
    DecisionRow,
    DecisionTable,
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

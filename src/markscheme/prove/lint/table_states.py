"""What a decision table can see of a vector of verdicts: its counters, each up to a cap.

A row looks only at counts, and a count above the largest bound changes nothing any more. So vectors
that look the same are gathered into one state, which knows how many they are and the plainest of
them. That is exact, and few states stand for any number of vectors.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from markscheme.vocabulary import MarkschemeError, resolve_matches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.vocabulary import CountCondition, DecisionOutcome, DecisionRow, DecisionTable

MAX_STEPS = 300_000
_DIGIT_BITS = 5  # bits of a rank: a document has at most 20 verdicts
_DIGIT_MASK = (1 << _DIGIT_BITS) - 1

CounterState = tuple[int, ...]
VerdictVector = tuple[int, ...]
"""The rank of the verdict (0 is the best) on each query, mode by mode."""

SimplicityKey = tuple[int, int, int]
"""What makes a vector plainer than another: how many ranks are not 0, their sum, and the ranks
themselves as the digits of one number, which is quick to compare."""

StateSummary = tuple[int, SimplicityKey]
"""How many vectors look the same, and the plainest of them."""


class TableTooLarge(MarkschemeError):  # noqa: N818 - a refusal to go on, told as a finding
    """The table sees too much to be gone through."""


class TableStates:
    """How one table looks at queries of each mode."""

    def __init__(self, table: DecisionTable) -> None:
        self.table = table
        self.steps = 0
        conditions = [condition for row in table.rows for condition in row.when]
        counters = list(dict.fromkeys(map(_get_counter, conditions)))
        self._counters = {counter: place for place, counter in enumerate(counters)}
        self._caps = [
            max(_compute_cap(c) for c in conditions if _get_counter(c) == it) for it in counters
        ]
        self.group_ranks = cache(self._group_ranks)
        self.advance = cache(self._advance)
        self.find_matching_rows = cache(self._find_matching_rows)
        self.decide = cache(self._decide)

    def gather_states(self, queries: Mapping[str, int]) -> dict[CounterState, StateSummary]:
        """Return what the table can see of every vector on these queries."""
        reached: dict[CounterState, StateSummary] = {(0,) * len(self._caps): (1, (0, 0, 0))}
        for mode, count in queries.items():
            for _ in range(count):
                reached = self._add_query(mode, reached)
        return reached

    def _add_query(
        self, mode: str, reached: dict[CounterState, StateSummary]
    ) -> dict[CounterState, StateSummary]:
        kinds = self.group_ranks(mode)
        self.steps += len(kinds) * len(reached)
        if self.steps > MAX_STEPS:
            raise TableTooLarge("the table tells too many counts apart to go through them")
        grown: dict[CounterState, StateSummary] = {}
        for state, (vectors, (bad, total, digits)) in reached.items():
            for ranks in kinds:
                best = ranks[0]
                after = self.advance(state, mode, best)
                plain = (bad + bool(best), total + best, digits << _DIGIT_BITS | best)
                others, plainest = grown.get(after, (0, plain))
                grown[after] = (others + vectors * len(ranks), min(plainest, plain))
        return grown

    def _group_ranks(self, mode: str) -> list[list[int]]:
        """Return the ranks of the verdicts, together where the table does not tell them apart."""
        alike: dict[tuple[bool, ...], list[int]] = {}
        for rank in range(len(self.table.verdicts)):
            alike.setdefault(self._find_raised_counters(mode, rank), []).append(rank)
        return list(alike.values())

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
        """Return the rows that hold."""
        return tuple(
            row
            for row in self.table.rows
            if all(c.admits(state[self._counters[_get_counter(c)]]) for c in row.when)
        )

    def _decide(self, state: CounterState) -> DecisionOutcome | None:
        return resolve_matches(
            [row.decided for row in self.find_matching_rows(state)], self.table.policy
        )


def unpack_vector(plain: SimplicityKey, queries: int) -> VerdictVector:
    """Return the ranks that were gathered."""
    return tuple(
        plain[2] >> _DIGIT_BITS * place & _DIGIT_MASK for place in reversed(range(queries))
    )


def _get_counter(condition: CountCondition) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(condition.verdicts), frozenset(condition.modes)


def _compute_cap(condition: CountCondition) -> int:
    """Return the smallest count from which on the condition says the same."""
    beyond = 0 if condition.at_most is None else condition.at_most + 1
    return max(condition.at_least, beyond)

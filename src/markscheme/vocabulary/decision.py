"""Verdict rules and decision tables: how a comparison turns scores into a decision.

Verdict rules turn two average scores into a verdict on one query; a decision table turns the
verdicts on all queries into a decision. Both are structured conditions that can be enumerated,
never expressions, so lint can prove them for every case. Bounds are exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from msgspec import Struct

_Word = TypeVar("_Word", bound=str)


class HitPolicy(StrEnum):
    """Which rule decides if several match: the first; or any of them, if they all agree."""

    FIRST = "first"
    ANY = "any"


class DecisionOutcome(StrEnum):
    """What a decision table can decide, best first."""

    GO = "go"
    GO_WITH_MONITORING = "go-with-monitoring"
    CONDITIONAL = "conditional"
    NO_GO = "no-go"

    @property
    def rank(self) -> int:
        """The place in the order, 0 for the best."""
        return list(DecisionOutcome).index(self)


class Bounds(Struct, frozen=True, kw_only=True):
    """Limits on one number. A limit that is `None` does not apply."""

    at_least: Fraction | None = None
    above: Fraction | None = None
    at_most: Fraction | None = None
    below: Fraction | None = None

    @property
    def limits(self) -> tuple[Fraction, ...]:
        """The limits that are set."""
        stated = (self.at_least, self.above, self.at_most, self.below)
        return tuple(limit for limit in stated if limit is not None)

    def admit(self, value: Fraction) -> bool:
        """Return whether the value is within every limit."""
        return (
            (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )


_UNBOUNDED = Bounds()


class VerdictRule(Struct, frozen=True, kw_only=True):
    """A verdict, and the bounds on the averages for which it is given. Without bounds: always."""

    verdict: str
    reason: str = ""
    baseline: Bounds = _UNBOUNDED
    candidate: Bounds = _UNBOUNDED
    difference: Bounds = _UNBOUNDED

    def matches(self, baseline: Fraction, candidate: Fraction) -> bool:
        """Return whether the rule holds for two averages; the difference is candidate - baseline.

        >>> floor = VerdictRule(verdict="degraded", candidate=Bounds(below=Fraction(3)))
        >>> floor.matches(Fraction(5), Fraction(3))
        False
        """
        return (
            self.candidate.admit(candidate)
            and self.difference.admit(candidate - baseline)
            and self.baseline.admit(baseline)
        )


class RatingScale(Struct, frozen=True, kw_only=True):
    """The scores that an average is made of: whole numbers from lowest to highest, on n axes."""

    lowest: int
    highest: int
    axes: int

    @property
    def averages(self) -> tuple[Fraction, ...]:
        """Every average that one rater can give, in ascending order."""
        sums = range(self.lowest * self.axes, self.highest * self.axes + 1)
        return tuple(Fraction(total, self.axes) for total in sums)


class VerdictRules(Struct, frozen=True, kw_only=True):
    """The verdict on one query, from the averages of a baseline and a candidate.

    `verdicts` are in order, best first.
    """

    verdicts: tuple[str, ...]
    scores: RatingScale
    rules: tuple[VerdictRule, ...]
    policy: HitPolicy = HitPolicy.ANY

    def matching(self, baseline: Fraction, candidate: Fraction) -> tuple[VerdictRule, ...]:
        """Return every rule that matches, in order."""
        return tuple(rule for rule in self.rules if rule.matches(baseline, candidate))

    def verdict(self, baseline: Fraction, candidate: Fraction) -> str | None:
        """Return the verdict, or None if no rule matches or the rules that match disagree."""
        return self.verdict_of(self.matching(baseline, candidate))

    def verdict_of(self, matching: tuple[VerdictRule, ...]) -> str | None:
        """Return the verdict of the rules that match."""
        return resolve_matches([rule.verdict for rule in matching], self.policy)


class CountCondition(Struct, frozen=True, kw_only=True):
    """A bound on the number of queries that have one of the verdicts.

    Only queries of the given modes count; without modes, all queries do.
    """

    verdicts: tuple[str, ...]
    modes: tuple[str, ...] = ()
    at_least: int = 0
    at_most: int | None = None

    def counts(self, mode: str, verdict: str) -> bool:
        """Return whether a query with this mode and verdict is counted."""
        return verdict in self.verdicts and (not self.modes or mode in self.modes)

    def admits(self, count: int) -> bool:
        """Return whether the number of counted queries is within the bounds."""
        return self.at_least <= count and (self.at_most is None or count <= self.at_most)


class DecisionRow(Struct, frozen=True, kw_only=True):
    """A decision, the conditions that must all hold for it, and what to do next.

    Without conditions the row always matches.
    """

    name: str
    decided: DecisionOutcome
    when: tuple[CountCondition, ...] = ()
    next: str = ""

    def matches(self, counts: Mapping[tuple[str, str], int]) -> bool:
        """Return whether the row matches, given the number of queries by mode and verdict."""
        return all(
            condition.admits(sum(n for key, n in counts.items() if condition.counts(*key)))
            for condition in self.when
        )


class DecisionTable(Struct, frozen=True, kw_only=True):
    """The decision from the verdicts on all queries, counted by mode.

    `queries` says how many queries of each mode the table is meant for. `missing` is the decision
    if a verdict is missing; `None` means that nothing is decided then.
    """

    verdicts: tuple[str, ...]
    queries: Mapping[str, int]
    rows: tuple[DecisionRow, ...]
    policy: HitPolicy = HitPolicy.ANY
    outcomes: tuple[DecisionOutcome, ...] = tuple(DecisionOutcome)
    missing: DecisionOutcome | None = None

    def matching(self, counts: Mapping[tuple[str, str], int]) -> tuple[DecisionRow, ...]:
        """Return every row that matches, in order."""
        return tuple(row for row in self.rows if row.matches(counts))

    def decide(self, counts: Mapping[tuple[str, str], int]) -> DecisionOutcome | None:
        """Return the decision, or None if no row matches or the rows that match disagree.

        A missing verdict is not in the counts, so the caller must look at `missing` first.
        """
        return resolve_matches([row.decided for row in self.matching(counts)], self.policy)


def resolve_matches(words: Sequence[_Word], policy: HitPolicy) -> _Word | None:
    """Return the one verdict or decision of the rules that match, or None.

    >>> resolve_matches(["go", "no-go"], HitPolicy.FIRST)
    'go'
    >>> resolve_matches(["go", "no-go"], HitPolicy.ANY) is None
    True
    """
    if not words or (policy is HitPolicy.ANY and any(word != words[0] for word in words)):
        return None
    return words[0]

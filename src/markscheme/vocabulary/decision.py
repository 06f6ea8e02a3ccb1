"""The words of a comparison: verdict rules over scores, and a decision table over verdicts.

Both are structured conditions that can be enumerated, never expressions, so what they say can be
proved for every case. Bounds are exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

_Said = TypeVar("_Said", bound=str)


class HitPolicy(StrEnum):
    """What decides where several rules match: the first; or any, and then they must agree."""

    FIRST = "first"
    ANY = "any"


class DecisionOutcome(StrEnum):
    """What a decision table can say, best first."""

    GO = "go"
    GO_WITH_MONITORING = "go-with-monitoring"
    CONDITIONAL = "conditional"
    NO_GO = "no-go"

    @property
    def rank(self) -> int:
        """0 for the best."""
        return list(DecisionOutcome).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits on one number; those that are `None` do not limit."""

    at_least: Fraction | None = None
    above: Fraction | None = None
    at_most: Fraction | None = None
    below: Fraction | None = None

    @property
    def limits(self) -> tuple[Fraction, ...]:
        """The numbers at which something changes."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRule:
    """A verdict, and the bounds on the averages under which it is given; none: always."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScale:
    """The scores that averages are made of: whole numbers from lowest to highest, on some axes."""

    lowest: int
    highest: int
    axes: int

    @property
    def averages(self) -> tuple[Fraction, ...]:
        """Every average that one rater can give, in order."""
        sums = range(self.lowest * self.axes, self.highest * self.axes + 1)
        return tuple(Fraction(total, self.axes) for total in sums)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRules:
    """What verdict follows from the averages of a baseline and a candidate on one query.

    `verdicts` are in order, best first.
    """

    verdicts: tuple[str, ...]
    scores: RatingScale
    rules: tuple[VerdictRule, ...]
    policy: HitPolicy = HitPolicy.ANY

    def matching(self, baseline: Fraction, candidate: Fraction) -> tuple[VerdictRule, ...]:
        """Return every rule that holds, in order."""
        return tuple(rule for rule in self.rules if rule.matches(baseline, candidate))

    def verdict(self, baseline: Fraction, candidate: Fraction) -> str | None:
        """Return the verdict; none where no rule holds, or where rules that hold disagree."""
        return self.verdict_of(self.matching(baseline, candidate))

    def verdict_of(self, matching: tuple[VerdictRule, ...]) -> str | None:
        """Return the verdict that follows from the rules that hold."""
        return resolve_matches([rule.verdict for rule in matching], self.policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountCondition:
    """So many queries, of the modes, have one of the verdicts; without modes: of every mode."""

    verdicts: tuple[str, ...]
    modes: tuple[str, ...] = ()
    at_least: int = 0
    at_most: int | None = None

    def counts(self, mode: str, verdict: str) -> bool:
        """Return whether a query of this mode and verdict is one that is counted."""
        return verdict in self.verdicts and (not self.modes or mode in self.modes)

    def admits(self, count: int) -> bool:
        """Return whether so many are as many as there should be."""
        return self.at_least <= count and (self.at_most is None or count <= self.at_most)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """A decision, the conditions that must all hold for it (none: always), and what to do next."""

    name: str
    decided: DecisionOutcome
    when: tuple[CountCondition, ...] = ()
    next: str = ""

    def matches(self, counts: Mapping[tuple[str, str], int]) -> bool:
        """Return whether the row holds for numbers of queries by mode and verdict."""
        return all(
            condition.admits(sum(n for key, n in counts.items() if condition.counts(*key)))
            for condition in self.when
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTable:
    """What is decided from the verdicts on all queries, counted by mode.

    `queries` says for how many queries of each mode the table is meant; `missing` is what is
    decided where a verdict is missing: nothing, unless it says otherwise.
    """

    verdicts: tuple[str, ...]
    queries: Mapping[str, int]
    rows: tuple[DecisionRow, ...]
    policy: HitPolicy = HitPolicy.ANY
    outcomes: tuple[DecisionOutcome, ...] = tuple(DecisionOutcome)
    missing: DecisionOutcome | None = None

    def matching(self, counts: Mapping[tuple[str, str], int]) -> tuple[DecisionRow, ...]:
        """Return every row that holds, in order."""
        return tuple(row for row in self.rows if row.matches(counts))

    def decide(self, counts: Mapping[tuple[str, str], int]) -> DecisionOutcome | None:
        """Return the decision; none where no row holds, or where rows that hold disagree.

        A missing verdict is not in the counts: who asks must look at `missing` first.
        """
        return resolve_matches([row.decided for row in self.matching(counts)], self.policy)


def resolve_matches(said: Sequence[_Said], policy: HitPolicy) -> _Said | None:
    """Return what rules that hold say together."""
    if not said or (policy is HitPolicy.ANY and any(other != said[0] for other in said)):
        return None
    return said[0]

"""Verdict rules and decision tables: how a comparison turns scores into a decision.

Verdict rules turn two average scores into a verdict on one query; a decision table turns the
verdicts on all queries into a decision. Both are structured conditions that can be enumerated,
never expressions, so lint can prove them for every case. Bounds are exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar, TypeVar

from msgspec import Struct, structs

from markscheme.vocabulary.frozen import FrozenDict

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


class QueryShare(Struct, frozen=True, kw_only=True):
    """A bound on a number of queries that is a share of all the queries that could be counted.

    `strict` excludes the share itself.

    >>> share = QueryShare(fraction=Fraction(1, 20))
    >>> share.get_most(60), share.get_most(59)
    (3, 2)
    >>> QueryShare(fraction=Fraction(1, 20), strict=True).get_least(60)
    4
    """

    fraction: Fraction
    strict: bool = False

    def get_least(self, queries: int) -> int:
        """Return the smallest number that is at least (if strict: above) this share."""
        exact = self.fraction * queries
        return floor(exact) + 1 if self.strict else ceil(exact)

    def get_most(self, queries: int) -> int:
        """Return the largest number that is at most (if strict: below) this share."""
        exact = self.fraction * queries
        return ceil(exact) - 1 if self.strict else floor(exact)


class CountCondition(Struct, frozen=True, kw_only=True):
    """A bound on the number of queries that have one of the verdicts.

    Only queries of the given modes count; without modes, all queries do. A bound that is a share
    refers to all queries of these modes, whatever their verdict.
    """

    verdicts: tuple[str, ...]
    modes: tuple[str, ...] = ()
    at_least: int | QueryShare = 0
    at_most: int | QueryShare | None = None

    @property
    def has_share(self) -> bool:
        """Whether a bound is a share."""
        return isinstance(self.at_least, QueryShare) or isinstance(self.at_most, QueryShare)

    @property
    def limits(self) -> tuple[int, int | None]:
        """The smallest and the largest number of queries; the bounds must not be shares."""
        if isinstance(self.at_least, QueryShare) or isinstance(self.at_most, QueryShare):
            raise TypeError("a share has no limits before the number of queries is known")
        return self.at_least, self.at_most

    def covers(self, mode: str) -> bool:
        """Return whether queries of this mode can be counted."""
        return not self.modes or mode in self.modes

    def counts(self, mode: str, verdict: str) -> bool:
        """Return whether a query with this mode and verdict is counted."""
        return verdict in self.verdicts and self.covers(mode)

    def admits(self, count: int, queries: int = 0) -> bool:
        """Return whether so many counted queries, of so many that could be, are within bounds."""
        least, most = self.resolve_shares(queries).limits
        return least <= count and (most is None or count <= most)

    def resolve_shares(self, queries: int) -> CountCondition:
        """Return the condition with counts in place of shares of so many queries."""
        if not self.has_share:
            return self
        least, most = self.at_least, self.at_most
        return structs.replace(
            self,
            at_least=least.get_least(queries) if isinstance(least, QueryShare) else least,
            at_most=most.get_most(queries) if isinstance(most, QueryShare) else most,
        )


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
            condition.admits(
                sum(n for key, n in counts.items() if condition.counts(*key)),
                sum(n for (mode, _), n in counts.items() if condition.covers(mode))
                if condition.has_share
                else 0,
            )
            for condition in self.when
        )

    def resolve_shares(self, queries: Mapping[str, int]) -> DecisionRow:
        """Return the row with counts in place of shares of so many queries of each mode."""
        return structs.replace(
            self,
            when=tuple(
                condition.resolve_shares(
                    sum(n for mode, n in queries.items() if condition.covers(mode))
                )
                for condition in self.when
            ),
        )


class FollowUp(Struct, frozen=True, kw_only=True):
    """What decides after `conditional`: further queries, and rows that count their verdicts.

    At least `at_least` further queries are needed in the modes in which a query of the main round
    has a verdict of `in_modes_of`. The rows count the further queries of every mode, and no others.
    """

    at_least: int
    in_modes_of: tuple[str, ...]
    rows: tuple[DecisionRow, ...]

    def select_modes(self, counts: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
        """Return the modes to follow up; `counts` are main-round queries by mode and verdict."""
        found = (mode for (mode, verdict), n in counts.items() if n and verdict in self.in_modes_of)
        return tuple(dict.fromkeys(found))


class DecisionTable(Struct, frozen=True, kw_only=True):
    """The decision from the verdicts on all queries, counted by mode.

    `queries` says how many queries of each mode the table is meant for; where `most_queries` has
    the mode, from so many up to that number (`None`: any number). `missing` is the decision if a
    verdict is missing; `None` means that nothing is decided then.
    """

    # A document that does not use these keys keeps the fingerprint that it had before they existed.
    left_out_if_unset: ClassVar[tuple[str, ...]] = ("most_queries", "follow_up")

    verdicts: tuple[str, ...]
    queries: Mapping[str, int]
    rows: tuple[DecisionRow, ...]
    policy: HitPolicy = HitPolicy.ANY
    outcomes: tuple[DecisionOutcome, ...] = tuple(DecisionOutcome)
    missing: DecisionOutcome | None = None
    most_queries: Mapping[str, int | None] = FrozenDict()
    follow_up: FollowUp | None = None

    @property
    def has_share(self) -> bool:
        """Whether a row counts a share of the queries."""
        return any(condition.has_share for row in self.rows for condition in row.when)

    @property
    def follow_up_table(self) -> DecisionTable | None:
        """The rows of the follow-up as a table, for any number of queries of each mode."""
        if self.follow_up is None:
            return None
        return DecisionTable(
            verdicts=self.verdicts,
            queries=FrozenDict(dict.fromkeys(self.queries, 0)),
            most_queries=FrozenDict(dict.fromkeys(self.queries)),
            rows=self.follow_up.rows,
            policy=self.policy,
            outcomes=self.outcomes,
        )

    def get_most(self, mode: str) -> int | None:
        """Return the largest number of queries of a mode; `None` if there is no limit."""
        return self.most_queries.get(mode, self.queries[mode])

    def find_lacking(self, queries: Mapping[str, int]) -> Mapping[str, int]:
        """Return how many queries of each mode are lacking for the table to decide."""
        lacking = {mode: least - queries.get(mode, 0) for mode, least in self.queries.items()}
        return {mode: n for mode, n in lacking.items() if n > 0}

    def is_meant_for(self, queries: Mapping[str, int]) -> bool:
        """Return whether the table is meant for so many queries of each mode."""
        return not self.find_lacking(queries) and all(
            (most := self.get_most(mode)) is None or n <= most for mode, n in queries.items()
        )

    def resolve_shares(self, queries: Mapping[str, int]) -> DecisionTable:
        """Return the table with counts in place of shares of so many queries of each mode."""
        if not self.has_share:
            return self
        rows = tuple(row.resolve_shares(queries) for row in self.rows)
        return structs.replace(self, rows=rows)

    def list_conditions(self) -> Iterator[CountCondition]:
        """Yield the conditions of all rows."""
        return (condition for row in self.rows for condition in row.when)

    def matching(self, counts: Mapping[tuple[str, str], int]) -> tuple[DecisionRow, ...]:
        """Return every row that matches, in order."""
        return tuple(row for row in self.rows if row.matches(counts))

    def decide(self, counts: Mapping[tuple[str, str], int]) -> DecisionOutcome | None:
        """Return the decision, or None if no row matches or the rows that match disagree.

        A missing verdict is not in the counts, so the caller must look at `missing` first.
        """
        return resolve_matches([row.decided for row in self.matching(counts)], self.policy)


class DecisionRequirements(Struct, frozen=True, kw_only=True):
    """What must be met beside the decision table: structural checks, and the agreement of raters.

    `alpha` is the least ordinal alpha of Krippendorff; `None` requires none.
    """

    checks: tuple[str, ...] = ()
    alpha: Fraction | None = None


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

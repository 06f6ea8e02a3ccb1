"""A comparison as plain values: what every output of it draws. Numbers are exact fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from markscheme.vocabulary import Cell, DecisionOutcome, Exam, FrozenDict, Rating, Rubric
from markscheme.weigh.compare.order_effects import AskedFirstCounts, count_first
from markscheme.weigh.compare.records import build_comparison_record
from markscheme.weigh.compare.statistics import Statistics

MEANINGFUL_POINTS = 2
"""From so many points on, a difference on one axis means something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A number of the baseline beside that of the candidate; `None` where it is not known."""

    baseline: Fraction | None
    candidate: Fraction | None

    @property
    def difference(self) -> Fraction | None:
        """The candidate's less the baseline's."""
        if self.baseline is None or self.candidate is None:
            return None
        return self.candidate - self.baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What was marked and measured of one answer, beside what people rated.

    `structural` holds the cells of the marked axes by name, `metrics` the measured numbers; one
    that is not known is `None`, never 0.
    """

    item: str
    variant: str
    structural: Mapping[str, Cell] = field(default_factory=FrozenDict)
    metrics: Mapping[str, Fraction | None] = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query: the averages of both variants, the verdict on it, and why.

    `axes` holds the mean over raters on each scale. Without a verdict, `missing` says what lacks.
    `order` is which variant is to go first when the query is run: it alternates. `first` is the
    one that was asked first, where that is recorded.
    """

    item: str
    mode: str
    mean: Sides
    axes: Mapping[str, Sides]
    verdict: str | None
    reasons: tuple[str, ...]
    because: str
    order: tuple[str, str]
    baseline_below_floor: bool = False
    first: str | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[Rating, ...] = ()

    @property
    def meaningful_axes(self) -> tuple[str, ...]:
        """The scales on which the variants are apart by 2 points or more."""
        apart = {axis: sides.difference for axis, sides in self.axes.items()}
        return tuple(
            a for a, by in apart.items() if by is not None and abs(by) >= MEANINGFUL_POINTS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The decision over all queries: the row of the table that decided, why, and what to do next.

    `outcome` is `None` where nothing can be decided. `monitoring` says what to watch.
    """

    outcome: DecisionOutcome | None
    rule: str | None
    because: str
    next: str
    rules: tuple[str, ...] = ()
    monitoring: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """Several queries together; means are over those that have averages of both variants."""

    queries: int
    n: int
    mean: Sides
    axes: Mapping[str, Sides]
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSummary:
    """One marked axis over all answers: how many of those that were judged do not have full marks.

    `pairs` lists by query what each variant got; `None` where it was not judged.
    """

    axis: str
    pairs: Mapping[str, Sides]
    judged: tuple[int, int]
    failed: tuple[int, int]
    reasons: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """One measured number over all answers: the mean of each variant, and both by query.

    The means are over the queries in which both are known, `n` of them.
    """

    metric: str
    pairs: Mapping[str, Sides]
    n: int
    mean: Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A candidate beside a baseline: verdicts, decision, evidence. Every output is made from it."""

    rubric: Rubric
    exam: Exam
    baseline: str
    candidate: str
    raters: tuple[str, ...]
    ratings: tuple[Rating, ...]
    queries: tuple[Query, ...]
    decision: Ruling
    overall: Aggregate
    by_mode: Mapping[str, Aggregate]
    structural: tuple[CheckSummary, ...]
    operational: tuple[MetricSummary, ...]
    statistics: Statistics

    @property
    def first(self) -> AskedFirstCounts:
        """How often each variant was asked first."""
        return count_first(
            None if query.first is None else query.first == self.baseline for query in self.queries
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare --format json` prints."""
        return build_comparison_record(self)

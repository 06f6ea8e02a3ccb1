"""The results of comparisons as plain values, with exact fractions: what every output draws.

`PairComparison` is what all of them share: two sides, their paired observations and statistics.
`Comparison` adds verdicts and a decision (by ratings), `RunPair` adds items and tags (by runs).
`VariantsComparison` and `RunsComparison` hold every two of several variants or runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from markscheme.vocabulary import (
    Allowance,
    Cell,
    DecisionOutcome,
    Exam,
    FrozenDict,
    Rating,
    Rubric,
)
from markscheme.weigh.compare.order_effects import AskedFirstCounts
from markscheme.weigh.compare.pairs import (
    AttemptPairs,
    PairedObservations,
    PairedSummary,
    Sides,
    SingleRunNoise,
)
from markscheme.weigh.compare.records import (
    build_comparison_record,
    build_runs_record,
    build_variants_record,
)
from markscheme.weigh.compare.statistics import Statistics, adjust_summaries
from markscheme.weigh.gates import Evidence
from markscheme.weigh.stats import McNemar
from markscheme.weigh.totals import Measures

MEANINGFUL_POINTS = 2
"""A difference on one axis counts as meaningful from this many points on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairComparison:
    """A candidate beside a baseline: the part that comparisons by ratings and by runs share.

    `first` counts which side was asked first. `p_holm` is the two-sided p of the score, adjusted
    for the number of pairs; only one of several pairs has it.
    """

    baseline: str
    candidate: str
    observations: PairedObservations
    statistics: Statistics
    first: AskedFirstCounts
    p_holm: Fraction | None = None


_Pair = TypeVar("_Pair", bound=PairComparison)


def adjust_pairs(pairs: Sequence[_Pair]) -> tuple[_Pair, ...]:
    """Return pairs of several variants or runs with p-values that are adjusted for their number."""
    adjusted = adjust_summaries(pair.statistics.paired for pair in pairs)
    return tuple(
        dataclasses.replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What was marked and measured of one answer, shown beside what people rated.

    `structural` holds the cells of the marked axes by name, `metrics` the measured numbers; an
    unknown number is `None`, never 0.
    """

    item: str
    variant: str
    structural: Mapping[str, Cell] = field(default_factory=FrozenDict)
    metrics: Mapping[str, Fraction | None] = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query: the averages of both variants, the verdict, and why.

    `axes` holds the mean over raters on each scale. A query without a verdict lists in `missing`
    what was not rated. `order` is the order in which to ask the variants; it alternates between
    queries. `first` is the variant that was asked first, where that is recorded.
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
        return tuple(
            axis
            for axis, sides in self.axes.items()
            if sides.difference is not None and abs(sides.difference) >= MEANINGFUL_POINTS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The decision over all queries: the table row that decided, why, and what to do next.

    `outcome` is `None` where nothing can be decided. `monitoring` lists what to watch.
    """

    outcome: DecisionOutcome | None
    rule: str | None
    because: str
    next: str
    rules: tuple[str, ...] = ()
    monitoring: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """Several queries together; means are over the queries with averages of both variants."""

    queries: int
    n: int
    mean: Sides
    axes: Mapping[str, Sides]
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSummary:
    """One marked axis over all answers: how many were judged, and how many lack full marks.

    `pairs` holds by query what each variant got; `None` where it was not judged.
    """

    axis: str
    pairs: Mapping[str, Sides]
    judged: tuple[int, int]
    failed: tuple[int, int]
    reasons: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """One measured number over all answers: the mean of each variant, and both by query.

    Means are over the `n` queries for which both variants have the number.
    """

    metric: str
    pairs: Mapping[str, Sides]
    n: int
    mean: Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(PairComparison):
    """Two variants compared by ratings: verdicts on queries, the decision, and the evidence."""

    rubric: Rubric
    exam: Exam
    raters: tuple[str, ...]
    ratings: tuple[Rating, ...]
    queries: tuple[Query, ...]
    decision: Ruling
    overall: Aggregate
    by_mode: Mapping[str, Aggregate]
    structural: tuple[CheckSummary, ...]
    operational: tuple[MetricSummary, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare --format json` prints."""
        return build_comparison_record(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantsComparison:
    """Every two of several variants compared by ratings; the first variant is the baseline."""

    variants: tuple[str, ...]
    pairs: tuple[Comparison, ...]

    @property
    def beside_first(self) -> tuple[Comparison, ...]:
        """The baseline with each candidate: the comparisons that decide."""
        return self.pairs[: len(self.variants) - 1]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare --format json` prints."""
        return build_variants_record(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTag:
    """The items that share a value of a tag; `p_holm` is adjusted for all groups of the exam."""

    tag: str
    value: str
    paired: PairedSummary
    p_holm: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair(PairComparison):
    """Two runs compared by item and attempt.

    Means are over the attempts that are paired. `passed` counts the pairs that only one run passes.
    `regressed` are the items whose mean went from pass to fail, the largest loss first, and
    `recovered` those that went the other way. `single` is the noise of one attempt on each side,
    where several attempts show it.
    """

    score: Sides
    axes: Mapping[str, Sides]
    attempts: AttemptPairs
    single: SingleRunNoise | None
    tags: tuple[PairedTag, ...]
    passed: McNemar
    regressed: tuple[str, ...]
    recovered: tuple[str, ...]

    @property
    def items(self) -> Mapping[str, Sides]:
        """The mean score of each item in both runs."""
        return self.observations.score.items

    @property
    def moved(self) -> list[str]:
        """The items whose mean changed, the largest loss first."""
        changes = {item: sides.difference for item, sides in self.items.items() if sides.difference}
        return sorted(changes, key=lambda item: (changes[item], item))

    @property
    def lost(self) -> list[str]:
        """The items whose mean fell, the largest loss first."""
        return [item for item in self.moved if (self.items[item].difference or 0) < 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsComparison:
    """Every two of several runs, and the outcome: is one of them worse than the first?

    Runs that cannot be compared have no pairs, and `because` says why.
    """

    rubric: Rubric
    exam: Exam
    runs: tuple[str, ...]
    subjects: tuple[str | None, ...]
    measures: tuple[Measures, ...]
    margin: Allowance
    pairs: tuple[RunPair, ...]
    outcome: Evidence
    because: str

    @property
    def beside_first(self) -> tuple[RunPair, ...]:
        """The pairs of the first run with each of the others."""
        return self.pairs[: len(self.runs) - 1]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare RUN RUN --format json` prints."""
        return build_runs_record(self)

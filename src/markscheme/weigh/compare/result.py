"""The results of comparisons as plain values with exact fractions, and their JSON documents.

`PairComparison` is what all of them share: two sides, their paired observations and statistics.
`Comparison` adds verdicts and a decision (by ratings), `RunPair` adds items and tags (by runs).
`VariantsComparison` and `RunsComparison` hold every two of several variants or runs.

Every output format follows the documents, and the order of their keys is part of the output.
Numbers in them are the doubles nearest to exact fractions; unknown values are null.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypeVar

from markscheme.vocabulary import (
    Allowance,
    Cell,
    Exam,
    FrozenDict,
    MarkSource,
    Rating,
    Rubric,
    to_float,
    to_number,
)
from markscheme.weigh.compare.operating_characteristic import (
    DecisionChances,
    OperatingCharacteristic,
)
from markscheme.weigh.compare.pairs import (
    CONFIDENCE,
    AskedFirstCounts,
    AttemptPairs,
    PairedObservations,
    PairedSummary,
    Sides,
    SingleRunNoise,
)
from markscheme.weigh.compare.plain import copy_fields, to_plain
from markscheme.weigh.compare.rating_order import RatedFirst
from markscheme.weigh.compare.ruling import Ruling, build_decision_record, name_decision
from markscheme.weigh.compare.statistics import RatingFlip, Statistics, adjust_summaries
from markscheme.weigh.gates import Evidence
from markscheme.weigh.result import build_exam_record, build_rubric_record
from markscheme.weigh.stats import Agreement, ClusteredMean, McNemar
from markscheme.weigh.totals import Measures

RatedBy: TypeAlias = Literal["people", "judges"]
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
    unknown number is `None`, never 0. `texts` are what was said, one for each attempt.
    """

    item: str
    variant: str
    structural: Mapping[str, Cell] = field(default_factory=FrozenDict)
    metrics: Mapping[str, Fraction | None] = field(default_factory=FrozenDict)
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedLog:
    """A session log that is no answer of this comparison, and why; it is shown, never dropped."""

    file: str
    reason: str
    item: str | None = None
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query: the averages of both variants, the verdict, and why.

    `axes` holds the mean over raters on each scale. A query without a verdict lists in `missing`
    what was not rated. `order` is the order in which to ask the variants; it alternates between
    queries. `first` is the variant that was asked first, where that is recorded. A query of the
    `follow_up` does not belong to the main round.
    """

    item: str
    mode: str
    mean: Sides
    axes: Mapping[str, Sides]
    verdict: str | None
    reasons: tuple[str, ...]
    because: str
    order: tuple[str, str]
    follow_up: bool = False
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
class Aggregate:
    """Several queries together; means are over the queries with averages of both variants."""

    items: tuple[str, ...]
    n: int
    mean: Sides
    axes: Mapping[str, Sides]
    verdicts: Mapping[str, int]

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSummary:
    """One marked axis over all answers: how many were judged, and how many lack full marks.

    `pairs` holds by query what each variant got; `None` where it was not judged. `mean` is over
    the answers that were judged; `abstained` counts those that were there and could not be.
    """

    axis: str
    pairs: Mapping[str, Sides]
    judged: tuple[int, int]
    failed: tuple[int, int]
    abstained: tuple[int, int]
    mean: Sides
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
    """Two variants compared by ratings: verdicts on queries, the decision, and the evidence.

    `overall` and `by_mode` are about the main round, as the statistics are; `further` is about the
    queries of the follow-up, if the exam has any. `rated_first` says who saw which variant first.
    `answers` are the texts by item and variant, for pages that show them; the document has none.
    `unused_logs` are the session logs that could not be read or placed. `allowed_gaps` say which
    ratings are missing and what that means, where missing ratings were allowed.
    """

    rubric: Rubric
    exam: Exam
    raters: tuple[str, ...]
    ratings: tuple[Rating, ...]
    queries: tuple[Query, ...]
    decision: Ruling
    overall: Aggregate
    by_mode: Mapping[str, Aggregate]
    further: Aggregate | None
    rated_first: tuple[RatedFirst, ...]
    structural: tuple[CheckSummary, ...]
    operational: tuple[MetricSummary, ...]
    answers: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=FrozenDict)
    unused_logs: tuple[UnusedLog, ...] = ()
    allowed_gaps: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        names = f"{self.candidate} instead of {self.baseline}"
        return f"Comparison({names}: {self.decision.outcome})"

    @property
    def rated_by(self) -> RatedBy:
        """Whether people rated or judge models: they are never mixed."""
        by_judges = any(rating.source is MarkSource.JUDGE for rating in self.ratings)
        return "judges" if by_judges else "people"

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare --format json` prints."""
        return {
            "queries": [_build_query_record(query) for query in self.queries],
            "decision": build_decision_record(self.decision),
            "aggregate": {
                "overall": _build_aggregate_record(self.overall),
                "by_mode": {
                    mode: _build_aggregate_record(part) for mode, part in self.by_mode.items()
                },
                "follow_up": self.further and _build_aggregate_record(self.further),
            },
            "operational": {
                metric.metric: {
                    "n": metric.n,
                    **to_plain(metric.mean),
                    "items": to_plain(metric.pairs),
                }
                for metric in self.operational
            },
            "structural": {check.axis: _build_check_record(check) for check in self.structural},
            "statistics": {
                "items": list(self.observations.score.items),
                **_build_statistics_record(self.statistics),
            },
            "rubric": build_rubric_record(self.rubric),
            "exam": build_exam_record(self.exam),
            **copy_fields(self, "baseline", "candidate", "raters", "rated_by"),
            "order": [
                {"item": query.item, "variants": list(query.order), "asked_first": query.first}
                for query in self.queries
            ],
            "asked_first": _build_first_record(self.first),
            "rated_first": [
                {
                    "rater": rated.rater,
                    "round": 2 if rated.follow_up else 1,
                    **_build_first_record(rated.counts),
                }
                for rated in self.rated_first
            ],
            "bad_rows": [
                copy_fields(log, "file", "item", "variant", "reason") for log in self.unused_logs
            ],
            **copy_fields(self, "allowed_gaps"),
        }


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
        return {
            "variants": list(self.variants),
            "pairs": [{"p_holm": to_float(pair.p_holm), **pair.to_dict()} for pair in self.pairs],
        }


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

    def __repr__(self) -> str:
        return f"RunsComparison({', '.join(self.runs)}: {self.outcome})"

    @property
    def beside_first(self) -> tuple[RunPair, ...]:
        """The pairs of the first run with each of the others."""
        return self.pairs[: len(self.runs) - 1]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare RUN RUN --format json` prints."""
        return {
            **copy_fields(self, "runs", "subjects"),
            "decision": {
                "outcome": _OUTCOME_NAMES[self.outcome],
                "margin": str(self.margin),
                "because": self.because,
            },
            "pairs": [_build_run_pair_record(pair) for pair in self.pairs],
            "measured": [_build_measures_record(measures) for measures in self.measures],
            "rubric": build_rubric_record(self.rubric),
            "exam": build_exam_record(self.exam),
        }


_OUTCOME_NAMES = {
    Evidence.PASS: "not-worse",
    Evidence.FAIL: "worse",
    Evidence.INCONCLUSIVE: "inconclusive",
}


def _build_query_record(query: Query) -> dict[str, Any]:
    return {
        **copy_fields(query, "item", "mode"),
        "baseline": {"mean": to_float(query.mean.baseline)},
        "candidate": {"mean": to_float(query.mean.candidate)},
        "difference": to_float(query.mean.difference),
        **copy_fields(query, "verdict", "reasons", "meaningful_axes", "because"),
        **copy_fields(query, "baseline_below_floor", "axes", "missing"),
        "round": 2 if query.follow_up else 1,
        "notes": [copy_fields(note, "variant", "rater", "axis", "note") for note in query.notes],
        "order": list(query.order),
        "asked_first": query.first,
    }


def _build_aggregate_record(part: Aggregate) -> dict[str, Any]:
    return {
        **copy_fields(part, "queries", "n", "items"),
        **to_plain(part.mean),
        **copy_fields(part, "axes", "verdicts"),
    }


def _build_check_record(check: CheckSummary) -> dict[str, Any]:
    return {
        **{
            side: {
                "judged": check.judged[at],
                "failed": check.failed[at],
                "abstained": check.abstained[at],
                "mean": to_float(getattr(check.mean, side)),
            }
            for at, side in enumerate(("baseline", "candidate"))
        },
        "items": {
            item: copy_fields(sides, "baseline", "candidate") for item, sides in check.pairs.items()
        },
        "reasons": [
            {"item": item, "variant": variant, "reason": reason}
            for (item, variant), reason in check.reasons.items()
        ],
    }


def _build_run_pair_record(pair: RunPair) -> dict[str, Any]:
    passed = pair.passed
    return {
        **copy_fields(pair, "baseline", "candidate", "score", "axes"),
        "tags": [
            {
                **copy_fields(tag, "tag", "value"),
                **_build_paired_record(tag.paired),
                "p_holm": to_float(tag.p_holm),
            }
            for tag in pair.tags
        ],
        "passed": {
            **copy_fields(passed, "baseline_only", "candidate_only"),
            "p_two_sided": to_float(passed.two_sided),
            "p_worse": to_float(passed.worse),
            "interval": passed.interval
            and dict(zip(("lower", "upper"), passed.interval, strict=True)),
        },
        "attempts": {
            "pairs": pair.attempts.count,
            **copy_fields(pair.attempts, "baseline_only", "candidate_only"),
        },
        "asked_first": _build_first_record(pair.first),
        "moved": {item: to_plain(pair.items[item]) for item in pair.moved},
        **copy_fields(pair, "regressed", "recovered", "p_holm"),
        "statistics": _build_statistics_record(pair.statistics),
    }


def _build_measures_record(measures: Measures) -> dict[str, Any]:
    """Return what a run took; each figure says for how many answers it is known."""
    median, slow = (measures.latency_percentile(Fraction(at)) for at in (50, 95))
    totals = {name: getattr(measures, name) for name in ("tokens_in", "tokens_out", "cost")}
    return {
        "answers": measures.answers,
        "latency_ms": {"n": measures.latencies, "p50": to_float(median), "p95": to_float(slow)},
        **{
            name: {"n": total.n, "sum": to_float(total.sum) if total.n else None}
            for name, total in totals.items()
        },
    }


def _build_first_record(first: AskedFirstCounts) -> dict[str, Any]:
    return copy_fields(first, "baseline", "candidate", "unknown", "balanced")


def _build_statistics_record(statistics: Statistics) -> dict[str, Any]:
    two_sided, one_sided = statistics.smallest_p
    alone, over_axes = statistics.pairs_for_p
    evidence, detectable = statistics.non_inferiority, statistics.detectable
    agreement, operating = statistics.agreement, statistics.operating
    clustered, guarantee = statistics.clustered, statistics.guarantee
    return {
        "n": statistics.paired.n,
        "descriptive_only": statistics.descriptive_only,
        "smallest_p": {"two_sided": to_float(two_sided), "one_sided": to_float(one_sided)},
        "pairs_for_p_0.05": {"alone": alone, "over_axes": over_axes},
        "difference": _build_paired_record(statistics.paired),
        "axes": {
            axis.axis: {**_build_paired_record(axis.paired), **copy_fields(axis, "p", "p_holm")}
            for axis in statistics.axes
        },
        "non_inferiority": {
            "margin": to_float(statistics.margin),
            "outcome": evidence.outcome.value,
            "lower": evidence.lower,
            "upper": evidence.upper,
            "p_t": evidence.p,
            "p_sign_flip": to_float(statistics.non_inferiority_p),
            "pairs_needed": evidence.items_needed,
            "because": evidence.because,
        },
        "detectable": {
            "power": detectable.power,
            "two_sided_sd": detectable.two_sided,
            "one_sided_sd": detectable.one_sided,
            "two_sided": detectable.two_sided_points,
            "one_sided": detectable.one_sided_points,
            "pairs_needed": detectable.pairs_needed,
        },
        "agreement": None if agreement is None else _build_agreement_record(agreement),
        "operating": None if operating is None else _build_operating_record(operating),
        "sensitivity": [_build_flip_record(flip) for flip in statistics.sensitivity],
        "guarantee": guarantee and dict(zip(("worst", "lower", "upper"), guarantee, strict=True)),
        "clustered": None
        if clustered is None
        else {
            **copy_fields(clustered, "clusters", "mean", "standard_error"),
            "interval": _build_interval_record(clustered),
        },
        "plain": list(statistics.plain),
    }


def _build_interval_record(source: PairedSummary | ClusteredMean) -> dict[str, Any]:
    return {"confidence": CONFIDENCE, "lower": source.lower, "upper": source.upper}


def _build_paired_record(summary: PairedSummary) -> dict[str, Any]:
    flips = summary.flips
    return {
        **copy_fields(summary, "n", "mean", "sd", "standard_error"),
        "interval": _build_interval_record(summary),
        **copy_fields(summary, "t", "p_t"),
        "sign_flip": None
        if flips is None
        else {
            "two_sided": to_float(flips.two_sided),
            "worse": to_float(flips.lower),
            "better": to_float(flips.upper),
            "exact": flips.exact,
        },
        **copy_fields(summary, "wins", "losses", "ties"),
    }


def _build_agreement_record(agreement: Agreement) -> dict[str, Any]:
    return {
        **copy_fields(agreement, "raters", "units", "percent"),
        "alpha_ordinal": to_float(agreement.alpha),
        "ac2_quadratic": to_float(agreement.ac2),
        "kappa_quadratic": [
            {"raters": list(pair), "kappa": to_float(kappa)}
            for pair, kappa in agreement.kappa.items()
        ],
    }


def _build_operating_record(operating: OperatingCharacteristic) -> dict[str, Any]:
    return {
        "noise": operating.noise,
        "identical": _build_chances_record(operating.identical),
        "as_observed": _build_chances_record(operating.as_observed),
        **copy_fields(operating, "repeats_disagree", "observed_repeats_disagree", "exact"),
        "simulated": {
            **copy_fields(operating.simulated, "draws", "seed"),
            "identical": _build_chances_record(operating.simulated.identical),
        },
    }


def _build_chances_record(chances: DecisionChances) -> dict[str, float]:
    return {name_decision(outcome): round(float(p), 9) for outcome, p in chances.items()}


def _build_flip_record(flip: RatingFlip) -> dict[str, Any]:
    return {
        **copy_fields(flip.rating, "item", "variant", "rater", "axis"),
        "score": to_number(flip.given),
        "instead": to_number(flip.score),
        "verdict": {"before": flip.verdict_before, "after": flip.verdict_after},
        "decision": {
            "before": name_decision(flip.decision_before),
            "after": name_decision(flip.decision_after),
        },
        "decides": flip.decides,
    }

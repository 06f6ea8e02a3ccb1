"""A whole comparison from ratings and observations: verdicts, decision, statistics, advice."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import Allowance, FrozenDict
from markscheme.weigh.compare.advice import (
    describe_comparison,
    describe_next_step,
    find_monitoring_points,
)
from markscheme.weigh.compare.observations import merge_observations
from markscheme.weigh.compare.operating_characteristic import compute_operating_characteristic
from markscheme.weigh.compare.result import CheckSummary, Comparison, MetricSummary, Query, Sides
from markscheme.weigh.compare.rules import (
    ComparisonRules,
    aggregate_queries,
    average_sides,
    index_scores,
)
from markscheme.weigh.compare.sensitivity import find_flips
from markscheme.weigh.compare.statistics import (
    Statistics,
    build_detectable,
    compute_non_inferiority_p,
    compute_reach,
    summarise_axes,
    summarise_pairs,
)
from markscheme.weigh.gates import evaluate_non_inferiority
from markscheme.weigh.stats import compute_clopper_pearson_interval, measure_agreement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markscheme.vocabulary import Rating, VerdictRules
    from markscheme.weigh.compare.result import Observed
    from markscheme.weigh.stats import Agreement


def compare_ratings(
    contest: ComparisonRules,
    ratings: Sequence[Rating],
    observed: Iterable[Observed] = (),
    margin: Decimal | None = None,
    first: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Comparison:
    """Return everything that follows from ratings, and from what was observed beside them.

    `margin` is how far a candidate may be down and still count as no worse; without one it is the
    largest loss for which the rules do not yet give a worse verdict. `first` is the variant that
    was asked first, by item, where that is recorded; `seed` is that of the simulation.
    """
    asked = first or {}
    queries = tuple(
        dataclasses.replace(query, first=asked.get(query.item))
        for query in contest.judge_queries(ratings)
    )
    verdicts = {query.item: query.verdict for query in queries}
    ruling = contest.decide(verdicts)
    given = contest.rules.verdicts
    modes = dict.fromkeys(query.mode for query in queries)
    seen = merge_observations(observed)
    found = Comparison(
        rubric=contest.rubric,
        exam=contest.exam,
        baseline=contest.baseline,
        candidate=contest.candidate,
        raters=tuple(sorted({rating.rater for rating in ratings})),
        ratings=tuple(ratings),
        queries=queries,
        decision=dataclasses.replace(ruling, next=describe_next_step(contest, ruling, queries)),
        overall=aggregate_queries(queries, given),
        by_mode=FrozenDict(
            {
                mode: aggregate_queries([q for q in queries if q.mode == mode], given)
                for mode in modes
            }
        ),
        structural=tuple(_summarise_checks(contest, seen)),
        operational=tuple(_summarise_metrics(contest, seen)),
        statistics=_compute_statistics(
            contest, ratings, queries, _resolve_margin(contest.rules, margin), seed
        ),
    )
    return _add_advice(found)


def _add_advice(found: Comparison) -> Comparison:
    """Add the words that follow from the numbers."""
    statistics = dataclasses.replace(found.statistics, plain=tuple(describe_comparison(found)))
    decision = dataclasses.replace(found.decision, monitoring=tuple(find_monitoring_points(found)))
    return dataclasses.replace(found, statistics=statistics, decision=decision)


def _resolve_margin(rules: VerdictRules, stated: Decimal | None) -> Fraction:
    """Return the margin: stated, or the loss nearest to 0 at which a verdict changes."""
    if stated is not None:
        return Fraction(stated)
    limits = [limit for rule in rules.rules for limit in rule.difference.limits]
    return min((-limit for limit in limits if limit < 0), default=Fraction(1, 2))


def _compute_statistics(
    contest: ComparisonRules,
    ratings: Sequence[Rating],
    queries: Sequence[Query],
    margin: Fraction,
    seed: int,
) -> Statistics:
    whole = [q for q in queries if q.mean.baseline is not None and q.mean.candidate is not None]
    pairs = [(Fraction(q.mean.baseline or 0), Fraction(q.mean.candidate or 0)) for q in whole]
    differences = [candidate - baseline for baseline, candidate in pairs]
    overall = summarise_pairs(differences)
    scores = contest.rules.scores
    smallest, needed = compute_reach(len(whole), len(contest.scales))
    axes = {
        axis: summarise_pairs([by for q in whole if (by := q.axes[axis].difference) is not None])
        for axis in contest.scales
    }
    limit = Allowance(amount=_to_decimal(margin), relative=False)
    ends = Fraction(scores.lowest), Fraction(scores.highest)
    noisy = [(q.mode, *pair) for q, pair in zip(whole, pairs, strict=True)]
    worst = sum(query.verdict == contest.rules.verdicts[-1] for query in whole)
    return Statistics(
        paired=overall,
        axes=summarise_axes(axes),
        margin=margin,
        non_inferiority=evaluate_non_inferiority(pairs, limit, ends),
        non_inferiority_p=compute_non_inferiority_p(differences, margin),
        smallest_p=smallest,
        pairs_for_p=needed,
        detectable=build_detectable(len(whole), overall.sd, margin),
        agreement=_compute_agreement(contest, ratings),
        operating=compute_operating_characteristic(
            contest.rules, contest.table, noisy, overall.sd, seed
        )
        if overall.sd and len(whole) == len(queries)
        else None,
        sensitivity=find_flips(contest, ratings, queries),
        guarantee=(worst, *compute_clopper_pearson_interval(worst, len(whole))) if whole else None,
    )


def _to_decimal(margin: Fraction) -> Decimal:
    return Decimal(margin.numerator) / Decimal(margin.denominator)


def _compute_agreement(contest: ComparisonRules, ratings: Sequence[Rating]) -> Agreement | None:
    scores = contest.rules.scores
    units = list(index_scores(ratings).values())
    return measure_agreement(units, range(scores.lowest, scores.highest + 1))


def _summarise_checks(
    contest: ComparisonRules, seen: dict[tuple[str, str], Observed]
) -> Iterable[CheckSummary]:
    """Yield the marked axes side by side, where an answer was marked."""
    items = [item.id for item in contest.exam.items]
    for axis in dict.fromkeys(axis for one in seen.values() for axis in one.structural):
        cells = {
            (item, variant): seen[item, variant].structural.get(axis)
            for item in items
            for variant in contest.variants
            if (item, variant) in seen
        }
        pairs = _pair_values(
            contest, {key: cell.value if cell else None for key, cell in cells.items()}
        )
        yield CheckSummary(
            axis=axis,
            pairs=FrozenDict(pairs),
            judged=(
                sum(sides.baseline is not None for sides in pairs.values()),
                sum(sides.candidate is not None for sides in pairs.values()),
            ),
            failed=(
                sum(sides.baseline is not None and sides.baseline < 1 for sides in pairs.values()),
                sum(
                    sides.candidate is not None and sides.candidate < 1 for sides in pairs.values()
                ),
            ),
            reasons=FrozenDict({key: cell.reason for key, cell in cells.items() if cell}),
        )


def _summarise_metrics(
    contest: ComparisonRules, seen: dict[tuple[str, str], Observed]
) -> Iterable[MetricSummary]:
    """Yield the measured numbers side by side."""
    for metric in dict.fromkeys(metric for one in seen.values() for metric in one.metrics):
        pairs = _pair_values(contest, {key: one.metrics.get(metric) for key, one in seen.items()})
        both = [sides for sides in pairs.values() if sides.difference is not None]
        yield MetricSummary(
            metric=metric, pairs=FrozenDict(pairs), n=len(both), mean=average_sides(both)
        )


def _pair_values(
    contest: ComparisonRules, values: Mapping[tuple[str, str], Fraction | None]
) -> dict[str, Sides]:
    """Return the values of both variants for every item."""
    return {
        item.id: Sides(
            baseline=values.get((item.id, contest.baseline)),
            candidate=values.get((item.id, contest.candidate)),
        )
        for item in contest.exam.items
    }

"""Comparing variants by ratings: verdicts, decision, statistics and advice, from what was rated.

What was marked and measured of the same answers is shown beside the ratings, and decides nothing.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from markscheme.vocabulary import (
    Allowance,
    Cell,
    FrozenDict,
    Rating,
    Status,
    VerdictRules,
    compute_mean,
    simplest_fraction,
)
from markscheme.weigh.compare.advice import describe_comparison, find_monitoring_points
from markscheme.weigh.compare.operating_characteristic import compute_operating_characteristic
from markscheme.weigh.compare.pairs import (
    PairedObservations,
    PairedValues,
    Sides,
    average_sides,
    count_first,
)
from markscheme.weigh.compare.rating_order import count_rated_first
from markscheme.weigh.compare.requirements import (
    apply_requirements,
    judge_requirements,
    limit_outcome,
)
from markscheme.weigh.compare.result import CheckSummary, Comparison, MetricSummary, Observed, Query
from markscheme.weigh.compare.rules import (
    ComparisonRules,
    aggregate_by_mode,
    aggregate_queries,
    find_flips,
    index_scores,
)
from markscheme.weigh.compare.ruling import Ruling
from markscheme.weigh.compare.statistics import Statistics, compute_statistics
from markscheme.weigh.compare.warnings import find_warnings
from markscheme.weigh.stats import (
    Agreement,
    compute_clopper_pearson_interval,
    find_common_unit,
    measure_agreement,
)

MEASURED_METRICS = (
    "latency_ms",
    "tool_calls",
    "dispatches",
    "tokens",
    "tokens_in",
    "tokens_out",
    "cost",
)
"""OP-01 to OP-04 where there are session logs, and what answers report about themselves."""


def compare_ratings(
    rules: ComparisonRules,
    ratings: Sequence[Rating],
    observed: Iterable[Observed] = (),
    margin: Decimal | None = None,
    first: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare two variants by their ratings, and by what was observed of their answers.

    `margin` is how far the candidate may be below the baseline and still count as no worse; without
    one it is the largest loss for which the rules do not yet give a worse verdict. `first` names by
    item the variant that was asked first, where that is recorded. `seed` is that of the simulation
    of the decision table.
    """
    queries = tuple(
        dataclasses.replace(query, first=(first or {}).get(query.item))
        for query in rules.judge_queries(ratings)
    )
    main_round = [query for query in queries if not query.follow_up]
    further = [query for query in queries if query.follow_up]
    verdicts = rules.verdict_rules.verdicts
    seen = _merge_observations(observed)
    structural = tuple(_summarise_checks(rules, seen))
    agreement = _measure_rating_agreement(rules, ratings)
    ruling = rules.decide({query.item: query.verdict for query in queries})
    requirements = judge_requirements(
        rules.rubric.requirements,
        rules.candidate,
        _list_deciding_items(queries, ruling),
        structural,
        agreement,
    )
    observations = _pair_queries(rules, main_round)
    margin = _find_margin(rules.verdict_rules) if margin is None else margin
    statistics = _compute_rating_statistics(rules, main_round, observations, margin, seed)
    comparison = Comparison(
        rubric=rules.rubric,
        exam=rules.exam,
        baseline=rules.baseline,
        candidate=rules.candidate,
        raters=tuple(sorted({rating.rater for rating in ratings})),
        ratings=tuple(ratings),
        queries=queries,
        decision=apply_requirements(ruling, requirements),
        overall=aggregate_queries(main_round, verdicts),
        by_mode=aggregate_by_mode(main_round, verdicts),
        further=aggregate_queries(further, verdicts) if further else None,
        rated_first=count_rated_first(ratings, rules.variants, rules.follow_ups),
        structural=structural,
        operational=tuple(_summarise_metrics(rules, seen)),
        answers=FrozenDict({key: answer.texts for key, answer in seen.items() if answer.texts}),
        observations=observations,
        statistics=dataclasses.replace(
            statistics,
            agreement=agreement,
            sensitivity=find_flips(
                rules, ratings, queries, partial(limit_outcome, requirements=requirements)
            ),
        ),
        first=count_first(
            None if query.first is None else query.first == rules.baseline for query in main_round
        ),
    )
    # The sentences need the numbers, so they are added last.
    return dataclasses.replace(
        comparison,
        statistics=dataclasses.replace(
            comparison.statistics, plain=tuple(describe_comparison(comparison))
        ),
        decision=dataclasses.replace(
            comparison.decision,
            monitoring=tuple(find_monitoring_points(comparison)),
            warnings=(*comparison.decision.warnings, *find_warnings(comparison)),
        ),
    )


def _list_deciding_items(queries: Sequence[Query], ruling: Ruling) -> list[str]:
    """Return the queries that decide: no further ones that nobody asked for, or that were not run.

    On the same queries, blocking checks must hold.
    """
    asked = ruling.follow_up is not None and ruling.follow_up.asked
    return [query.item for query in queries if not query.follow_up or (asked and query.verdict)]


def _find_margin(rules: VerdictRules) -> Decimal:
    """Return the loss nearest to 0 at which the verdict changes."""
    limits = [limit for rule in rules.rules for limit in rule.difference.limits]
    margin = min((-limit for limit in limits if limit < 0), default=Fraction(1, 2))
    return Decimal(margin.numerator) / Decimal(margin.denominator)


def _pair_queries(rules: ComparisonRules, queries: Sequence[Query]) -> PairedObservations:
    """Pair the averages of both variants on each query that is rated completely."""
    rated = [query for query in queries if query.mean.difference is not None]
    return PairedObservations(
        score=PairedValues.from_sides({query.item: query.mean for query in rated}),
        axes=FrozenDict(
            {
                axis: PairedValues.from_sides({query.item: query.axes[axis] for query in rated})
                for axis in rules.scales
            }
        ),
    )


def _measure_rating_agreement(
    rules: ComparisonRules, ratings: Sequence[Rating]
) -> Agreement | None:
    """Measure how far raters agree, over the queries of both rounds."""
    allowed = rules.verdict_rules.scores
    # Scores in steps of a half are counted in halves, so that all are whole numbers.
    unit = find_common_unit(scale.step for scale in rules.rubric.scales)
    units = [
        {rater: int(score * unit) for rater, score in scores.items()}
        for scores in index_scores(ratings).values()
    ]
    return measure_agreement(units, range(allowed.lowest * unit, allowed.highest * unit + 1))


def _compute_rating_statistics(
    rules: ComparisonRules,
    queries: Sequence[Query],
    observations: PairedObservations,
    margin: Decimal,
    seed: int,
) -> Statistics:
    """Add to the shared statistics how sure the table is, on the queries of the main round."""
    scores = rules.verdict_rules.scores
    statistics = compute_statistics(
        observations,
        Allowance(amount=margin, relative=False),
        score_range=(Fraction(scores.lowest), Fraction(scores.highest)),
    )
    averages = dict(zip(observations.score.items, observations.score.list_values(), strict=True))
    worst = sum(query.verdict == rules.verdict_rules.verdicts[-1] for query in queries)
    noise = statistics.paired.sd
    counts = Counter(query.mode for query in queries)
    complete = len(averages) == len(queries) and not rules.table.find_lacking(counts)
    return dataclasses.replace(
        statistics,
        operating=compute_operating_characteristic(
            rules.verdict_rules,
            rules.table,
            [(query.mode, *averages[query.item]) for query in queries],
            noise,
            seed,
        )
        if noise and complete
        else None,
        guarantee=(worst, *compute_clopper_pearson_interval(worst, len(averages)))
        if averages
        else None,
    )


def _summarise_checks(
    rules: ComparisonRules, seen: Mapping[tuple[str, str], Observed]
) -> Iterator[CheckSummary]:
    """Yield the marked axes with both variants side by side."""
    for axis in dict.fromkeys(axis for answer in seen.values() for axis in answer.structural):
        cells = {
            (item.id, variant): seen[item.id, variant].structural.get(axis)
            for item in rules.exam.items
            for variant in rules.variants
            if (item.id, variant) in seen
        }
        pairs = _pair_values(
            rules, {key: cell.value if cell else None for key, cell in cells.items()}
        )
        judged = [
            [value for sides in pairs.values() if (value := getattr(sides, side)) is not None]
            for side in ("baseline", "candidate")
        ]
        failed = [sum(value < 1 for value in values) for values in judged]
        abstained = [
            sum(
                cell is not None and cell.value is None and who == variant
                for (_, who), cell in cells.items()
            )
            for variant in rules.variants
        ]
        means = [compute_mean(sum(values, Fraction(0)), len(values)) for values in judged]
        yield CheckSummary(
            axis=axis,
            pairs=FrozenDict(pairs),
            judged=(len(judged[0]), len(judged[1])),
            failed=(failed[0], failed[1]),
            abstained=(abstained[0], abstained[1]),
            mean=Sides(baseline=means[0], candidate=means[1]),
            reasons=FrozenDict({key: cell.reason for key, cell in cells.items() if cell}),
        )


def _summarise_metrics(
    rules: ComparisonRules, seen: Mapping[tuple[str, str], Observed]
) -> Iterator[MetricSummary]:
    """Yield the measured numbers with both variants side by side."""
    for metric in dict.fromkeys(metric for answer in seen.values() for metric in answer.metrics):
        pairs = _pair_values(
            rules, {key: answer.metrics.get(metric) for key, answer in seen.items()}
        )
        both = [sides for sides in pairs.values() if sides.difference is not None]
        yield MetricSummary(
            metric=metric, pairs=FrozenDict(pairs), n=len(both), mean=average_sides(both)
        )


def _pair_values(
    rules: ComparisonRules, values: Mapping[tuple[str, str], Fraction | None]
) -> dict[str, Sides]:
    """Return the values of both variants for every item."""
    return {
        item.id: Sides(
            baseline=values.get((item.id, rules.baseline)),
            candidate=values.get((item.id, rules.candidate)),
        )
        for item in rules.exam.items
    }


def collect_observations(
    rows: Iterable[Mapping[str, Any]], variants: Collection[str]
) -> tuple[Observed, ...]:
    """Collect what result rows say about the variants; several attempts count by their mean.

    A variant is the subject of an answer. A metric that any attempt lacks is not known.
    """
    answers: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["subject"] in variants and row["status"] not in {"missing", "error"}:
            answers[row["item"], row["subject"]].append(row)
    return tuple(
        Observed(
            item=item,
            variant=variant,
            structural=FrozenDict(
                {axis: _merge_cells(attempts, axis) for axis in attempts[0]["breakdown"]}
            ),
            metrics=FrozenDict(
                {
                    metric: _average_known([row[metric] for row in attempts])
                    for metric in MEASURED_METRICS
                    if metric in attempts[0]
                }
            ),
            texts=tuple(row["got"] or "" for row in attempts),
        )
        for (item, variant), attempts in answers.items()
    )


def _merge_observations(observed: Iterable[Observed]) -> dict[tuple[str, str], Observed]:
    """Merge what several sources observed of the same answer; later sources win."""
    merged: dict[tuple[str, str], Observed] = {}
    for observation in observed:
        key = observation.item, observation.variant
        before = merged.get(key, observation)
        merged[key] = dataclasses.replace(
            observation,
            structural=FrozenDict({**before.structural, **observation.structural}),
            metrics=FrozenDict({**before.metrics, **observation.metrics}),
            texts=observation.texts or before.texts,
        )
    return merged


def _merge_cells(rows: Sequence[Mapping[str, Any]], axis: str) -> Cell:
    """Return the mean cell of several attempts, with the reason of the worst one."""
    value = _average_known([row["breakdown"][axis] for row in rows])
    reasons = [row["reason"][axis] for row in rows]
    if value is None:
        return Cell.abstained(reasons[0])
    worst = min(range(len(rows)), key=lambda at: rows[at]["breakdown"][axis])
    return Cell(status=Status.SCORED, value=value, reason=reasons[worst])


def _average_known(values: Sequence[float | None]) -> Fraction | None:
    known = [simplest_fraction(Decimal(repr(value))) for value in values if value is not None]
    return compute_mean(sum(known, Fraction(0)), len(known)) if len(known) == len(values) else None

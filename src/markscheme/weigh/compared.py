"""A whole comparison from ratings and observations: verdicts, decision, statistics, advice."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.frozen import Frozen
from markscheme.vocabulary import Allowance
from markscheme.weigh.advice import monitoring, plain_words, what_next
from markscheme.weigh.agreement import agreement
from markscheme.weigh.comparing import Contest, aggregate, mean_of
from markscheme.weigh.comparison import CheckSummary, Comparison, MetricSummary, Query, Sides
from markscheme.weigh.evidence import non_inferiority
from markscheme.weigh.figures import (
    Statistics,
    detectable_by,
    non_inferiority_p,
    paired,
    paired_axes,
    reach,
)
from markscheme.weigh.observing import together
from markscheme.weigh.operating import operating
from markscheme.weigh.proportions import clopper_pearson
from markscheme.weigh.scores import scores_of
from markscheme.weigh.sensitivity import flips

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markscheme.verdicts import VerdictRules
    from markscheme.vocabulary import Rating
    from markscheme.weigh.agreement import Agreement
    from markscheme.weigh.comparison import Observed


def compare_ratings(
    contest: Contest,
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
        for query in contest.queries(ratings)
    )
    verdicts = {query.item: query.verdict for query in queries}
    ruling = contest.decide(verdicts)
    given = contest.rules.verdicts
    modes = dict.fromkeys(query.mode for query in queries)
    seen = together(observed)
    found = Comparison(
        rubric=contest.rubric,
        exam=contest.exam,
        baseline=contest.baseline,
        candidate=contest.candidate,
        raters=tuple(sorted({rating.rater for rating in ratings})),
        ratings=tuple(ratings),
        queries=queries,
        decision=dataclasses.replace(ruling, next=what_next(contest, ruling, queries)),
        overall=aggregate(queries, given),
        by_mode=Frozen(
            {mode: aggregate([q for q in queries if q.mode == mode], given) for mode in modes}
        ),
        structural=tuple(_checks(contest, seen)),
        operational=tuple(_metrics(contest, seen)),
        statistics=_statistics(contest, ratings, queries, _margin(contest.rules, margin), seed),
    )
    return _advised(found)


def _advised(found: Comparison) -> Comparison:
    """Add the words that follow from the numbers."""
    statistics = dataclasses.replace(found.statistics, plain=tuple(plain_words(found)))
    decision = dataclasses.replace(found.decision, monitoring=tuple(monitoring(found)))
    return dataclasses.replace(found, statistics=statistics, decision=decision)


def _margin(rules: VerdictRules, stated: Decimal | None) -> Fraction:
    """Return the margin: stated, or the loss nearest to 0 at which a verdict changes."""
    if stated is not None:
        return Fraction(stated)
    limits = [limit for rule in rules.rules for limit in rule.difference.limits]
    return min((-limit for limit in limits if limit < 0), default=Fraction(1, 2))


def _statistics(
    contest: Contest,
    ratings: Sequence[Rating],
    queries: Sequence[Query],
    margin: Fraction,
    seed: int,
) -> Statistics:
    whole = [q for q in queries if q.mean.baseline is not None and q.mean.candidate is not None]
    pairs = [(Fraction(q.mean.baseline or 0), Fraction(q.mean.candidate or 0)) for q in whole]
    differences = [candidate - baseline for baseline, candidate in pairs]
    overall = paired(differences)
    scores = contest.rules.scores
    smallest, needed = reach(len(whole), len(contest.scales))
    axes = {
        axis: paired([by for q in whole if (by := q.axes[axis].difference) is not None])
        for axis in contest.scales
    }
    limit = Allowance(amount=_decimal(margin), relative=False)
    ends = Fraction(scores.lowest), Fraction(scores.highest)
    noisy = [(q.mode, *pair) for q, pair in zip(whole, pairs, strict=True)]
    worst = sum(query.verdict == contest.rules.verdicts[-1] for query in whole)
    return Statistics(
        paired=overall,
        axes=paired_axes(axes),
        margin=margin,
        non_inferiority=non_inferiority(pairs, limit, ends),
        non_inferiority_p=non_inferiority_p(differences, margin),
        smallest_p=smallest,
        pairs_for_p=needed,
        detectable=detectable_by(len(whole), overall.sd, margin),
        agreement=_agreement(contest, ratings),
        operating=operating(contest.rules, contest.table, noisy, overall.sd, seed)
        if overall.sd and len(whole) == len(queries)
        else None,
        sensitivity=flips(contest, ratings, queries),
        guarantee=(worst, *clopper_pearson(worst, len(whole))) if whole else None,
    )


def _decimal(margin: Fraction) -> Decimal:
    return Decimal(margin.numerator) / Decimal(margin.denominator)


def _agreement(contest: Contest, ratings: Sequence[Rating]) -> Agreement | None:
    scores = contest.rules.scores
    units = list(scores_of(ratings).values())
    return agreement(units, range(scores.lowest, scores.highest + 1))


def _checks(contest: Contest, seen: dict[tuple[str, str], Observed]) -> Iterable[CheckSummary]:
    """Yield the marked axes side by side, where an answer was marked."""
    items = [item.id for item in contest.exam.items]
    for axis in dict.fromkeys(axis for one in seen.values() for axis in one.structural):
        cells = {
            (item, variant): seen[item, variant].structural.get(axis)
            for item in items
            for variant in contest.variants
            if (item, variant) in seen
        }
        pairs = _pairs(contest, {key: cell.value if cell else None for key, cell in cells.items()})
        yield CheckSummary(
            axis=axis,
            pairs=Frozen(pairs),
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
            reasons=Frozen({key: cell.reason for key, cell in cells.items() if cell}),
        )


def _metrics(contest: Contest, seen: dict[tuple[str, str], Observed]) -> Iterable[MetricSummary]:
    """Yield the measured numbers side by side."""
    for metric in dict.fromkeys(metric for one in seen.values() for metric in one.metrics):
        pairs = _pairs(contest, {key: one.metrics.get(metric) for key, one in seen.items()})
        both = [sides for sides in pairs.values() if sides.difference is not None]
        yield MetricSummary(metric=metric, pairs=Frozen(pairs), n=len(both), mean=mean_of(both))


def _pairs(contest: Contest, values: Mapping[tuple[str, str], Fraction | None]) -> dict[str, Sides]:
    """Return the values of both variants for every item."""
    return {
        item.id: Sides(
            baseline=values.get((item.id, contest.baseline)),
            candidate=values.get((item.id, contest.candidate)),
        )
        for item in contest.exam.items
    }

"""Sensitivity: which single rating, changed by one point, would flip a verdict or the decision."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.vocabulary import DecisionOutcome, Rating
from markscheme.weigh.compare.rules import index_scores
from markscheme.weigh.compare.statistics import RatingFlip

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markscheme.weigh.compare.result import Query, Sides
    from markscheme.weigh.compare.rules import ComparisonRules


def find_flips(
    contest: ComparisonRules, ratings: Sequence[Rating], queries: Sequence[Query]
) -> tuple[RatingFlip, ...]:
    """Return every flip, those that would change the decision first.

    One point on one rating moves the average of its variant by one part in raters times scales.
    """
    scores = index_scores(ratings)
    known = {query.item: query for query in queries}
    verdicts = {query.item: query.verdict for query in queries}
    before = contest.decide(verdicts).outcome
    found = []
    for rating, score in _list_changes(contest, ratings):
        query = known[rating.item]
        parts = len(scores[rating.item, rating.variant, rating.axis]) * len(contest.scales)
        moved = _shift_mean(
            query.mean, Fraction(score - (rating.score or 0), parts), rating, contest
        )
        verdict, _ = contest.judge_averages(moved)
        if verdict != query.verdict:
            after = contest.decide({**verdicts, rating.item: verdict}).outcome
            found.append(_build_flip(rating, score, (query.verdict, verdict), (before, after)))
    return tuple(sorted(found, key=lambda flip: not flip.decides))


def _shift_mean(mean: Sides, by: Fraction, rating: Rating, contest: ComparisonRules) -> Sides:
    """Return the averages after a change on one side; without averages there is none."""
    baseline, candidate = mean.baseline, mean.candidate
    if rating.variant == contest.baseline and baseline is not None:
        return replace(mean, baseline=baseline + by)
    return replace(mean, candidate=None if candidate is None else candidate + by)


def _list_changes(
    contest: ComparisonRules, ratings: Sequence[Rating]
) -> Iterator[tuple[Rating, int]]:
    scales = {scale.name: scale for scale in contest.rubric.scales}
    for rating in ratings:
        if rating.score is not None:
            scale = scales[rating.axis]
            for score in (rating.score - 1, rating.score + 1):
                if scale.lowest <= score <= scale.highest:
                    yield rating, score


def _build_flip(
    rating: Rating,
    score: int,
    verdicts: tuple[str | None, str | None],
    decisions: tuple[DecisionOutcome | None, DecisionOutcome | None],
) -> RatingFlip:
    return RatingFlip(
        rating=rating,
        score=score,
        verdict_before=verdicts[0],
        verdict_after=verdicts[1],
        decision_before=decisions[0],
        decision_after=decisions[1],
    )

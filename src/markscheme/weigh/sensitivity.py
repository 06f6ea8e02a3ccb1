"""Sensitivity: which single rating, changed by one point, would flip a verdict or the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markscheme.verdicts import Decided
from markscheme.vocabulary import Rating
from markscheme.weigh.scores import scores_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markscheme.weigh.comparing import Contest


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A rating that, changed to another score, would change the verdict on its query.

    `decision_after` differs from `decision_before` where the decision would change too.
    """

    rating: Rating
    score: int
    verdict_before: str | None
    verdict_after: str | None
    decision_before: Decided | None
    decision_after: Decided | None

    @property
    def decides(self) -> bool:
        """Whether the decision over all queries would change."""
        return self.decision_before != self.decision_after


def flips(
    contest: Contest, ratings: Sequence[Rating], verdicts: Mapping[str, str | None]
) -> tuple[Flip, ...]:
    """Return every flip, those that would change the decision first."""
    scores = scores_of(ratings)
    items = {item.id: item for item in contest.exam.items}
    before = contest.decide(verdicts).outcome
    found = []
    for rating, score in _changes(contest, ratings):
        cell = scores[rating.item, rating.variant, rating.axis]
        cell[rating.rater] = score
        verdict = contest.query(items[rating.item], scores).verdict
        cell[rating.rater] = rating.score or 0
        if verdict != verdicts[rating.item]:
            after = contest.decide({**verdicts, rating.item: verdict}).outcome
            found.append(_flip(rating, score, (verdicts[rating.item], verdict), (before, after)))
    return tuple(sorted(found, key=lambda flip: not flip.decides))


def _changes(contest: Contest, ratings: Sequence[Rating]) -> Iterator[tuple[Rating, int]]:
    scales = {scale.name: scale for scale in contest.rubric.scales}
    for rating in ratings:
        if rating.score is not None:
            scale = scales[rating.axis]
            for score in (rating.score - 1, rating.score + 1):
                if scale.lowest <= score <= scale.highest:
                    yield rating, score


def _flip(
    rating: Rating,
    score: int,
    verdicts: tuple[str | None, str | None],
    decisions: tuple[Decided | None, Decided | None],
) -> Flip:
    return Flip(
        rating=rating,
        score=score,
        verdict_before=verdicts[0],
        verdict_after=verdicts[1],
        decision_before=decisions[0],
        decision_after=decisions[1],
    )

"""Practice: load a learner's deck, grade an answer, and see what it did to its card.

All functions take an open store, so that the web app can run them on its writer. What an answer is
worth is computed from the rubric at the moment of the answer and stored with it; when the card
comes again is folded from the stored reviews each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from markscheme.keep import LearnerReview, Store
from markscheme.learn import (
    DEFAULT_LIMITS,
    NEW_CARD,
    RECALL_RULE,
    CardReview,
    CardState,
    DailyLimits,
    DeckState,
    GradedAnswer,
    GradedReview,
    ReviewKind,
    SchedulerName,
    Support,
    build_answer,
    build_deck_state,
    classify_review,
    find_study_day,
    grade_answer,
    review_card,
)
from markscheme.vocabulary import Item, Rubric, UsageError, format_ratio, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.vocabulary import Breakdown


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeSettings:
    """How a learner practises. `zone` is where days turn; None is the zone of this machine."""

    rubric: Rubric
    items: Sequence[Item]
    scheduler: SchedulerName = SchedulerName.SM2
    limits: DailyLimits = DEFAULT_LIMITS
    hesitation: bool = True
    zone: tzinfo | None = None

    def find_item(self, id_: str) -> Item:
        """Return an item of the deck."""
        for item in self.items:
            if item.id == id_:
                return item
        raise UsageError(f"there is no card {format_value(id_)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CardAnswer:
    """An answer as the client sends it; its id is made by the client."""

    id: str
    item: str
    fields: Mapping[str, str]
    first_key_ms: int | None = None
    hint: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedCard:
    """A graded answer to a card, and the review that records it."""

    item: Item
    graded: GradedAnswer
    review: LearnerReview


@dataclass(frozen=True, slots=True, kw_only=True)
class CardProgress:
    """A card before and after one of its reviews, and what the review counted as."""

    kind: ReviewKind
    before: CardState
    after: CardState


def load_deck_state(
    store: Store, settings: PracticeSettings, learner: str, now: datetime
) -> DeckState:
    """Return the state of a learner's cards as of now."""
    today = find_study_day(now, settings.zone)
    return build_deck_state(
        [
            CardReview(item=item, day=day, grade=quality)
            for _, item, day, quality in store.learning.list_grades([learner])
        ],
        today,
        settings.scheduler,
    )


def grade_card(
    settings: PracticeSettings, learner: str, answer: CardAnswer, now: datetime
) -> GradedCard:
    """Grade an answer; nothing is stored yet.

    The moment of an answer that was typed offline is that of the client, but never in the future.
    """
    item = settings.find_item(answer.item)
    at = min(answer.at or now, now).astimezone(UTC)
    output = build_answer(settings.rubric, answer.fields)
    graded = grade_answer(
        settings.rubric,
        item,
        output,
        first_key_ms=answer.first_key_ms,
        hint=answer.hint,
        hesitation=settings.hesitation,
    )
    review = LearnerReview(
        id=answer.id,
        learner=learner,
        item=item.id,
        at=at,
        day=find_study_day(at, settings.zone),
        quality=graded.quality,
        rule=RECALL_RULE,
        facts=build_facts_record(graded, answer.first_key_ms),
        cells=build_cells_record(graded.breakdown),
        rubric=settings.rubric.fingerprint,
        output=output,
    )
    return GradedCard(item=item, graded=graded, review=review)


def load_progress(
    store: Store, settings: PracticeSettings, review: LearnerReview
) -> CardProgress | None:
    """Return what one review did to its card; None if it was taken back."""
    state = NEW_CARD
    for id_, day, quality in store.learning.list_card_grades(review.learner, review.item):
        kind = classify_review(state, day)
        after = review_card(state, GradedReview(day=day, grade=quality), settings.scheduler)
        if id_ == review.id:
            return CardProgress(kind=kind, before=state, after=after)
        state = after
    return None


def build_facts_record(graded: GradedAnswer, first_key_ms: int | None) -> dict[str, Any]:
    """Return what the rule looked at, as plain data."""
    facts = graded.facts
    return {
        "lead": facts.lead,
        "lead_near": facts.lead_near,
        "support": Support(facts.support).name.lower(),
        "other_form": facts.other_form,
        "hint": facts.hint,
        "padded": facts.padded,
        "slow": facts.slow,
        "first_key_ms": first_key_ms,
    }


def build_cells_record(breakdown: Breakdown) -> dict[str, Any]:
    """Return the exact value and the near miss of each axis, without any typed text."""
    return {
        name: {"value": format_ratio(cell.value), "near_miss": cell.near_miss}
        for name, cell in breakdown.cells.items()
    }


def export_reviews(reviews: Iterable[LearnerReview]) -> list[dict[str, Any]]:
    """Return reviews as rows of JSON lines, which `import_reviews` reads again."""
    return [
        {
            "id": review.id,
            "learner": review.learner,
            "item": review.item,
            "at": review.at.isoformat(),
            "day": review.day.isoformat(),
            "quality": review.quality,
            "rule": review.rule,
            "facts": dict(review.facts),
            "cells": dict(review.cells),
            "rubric": review.rubric,
            "output": review.output,
        }
        for review in reviews
    ]

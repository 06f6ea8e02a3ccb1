"""Practice: load a learner's deck, store and grade an answer, take it back.

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
    RECALL_RULE,
    CardReview,
    CardState,
    DailyLimits,
    DeckState,
    GradedAnswer,
    SchedulerName,
    Support,
    build_answer,
    build_deck_state,
    find_study_day,
    grade_answer,
)
from markscheme.vocabulary import Item, Rubric, UsageError, format_ratio, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.vocabulary import Breakdown

DEFAULT_RUBRIC = "tutor-capstone"
PRACTICE_EXAM = "practice"
EXAMS = ("capstone", "capstone-extra")


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
class StoredAnswer:
    """An answer that is on disk: how it was graded, and the card before and after it."""

    review: LearnerReview
    graded: GradedAnswer
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


def store_answer(
    store: Store, settings: PracticeSettings, learner: str, answer: CardAnswer, now: datetime
) -> StoredAnswer:
    """Grade an answer and store its review; an answer that is stored already is graded again.

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
    before = load_deck_state(store, settings, learner, now)
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
    store.learning.add_review(review)
    after = load_deck_state(store, settings, learner, now)
    return StoredAnswer(
        review=review,
        graded=graded,
        before=before.get_card(item.id),
        after=after.get_card(item.id),
    )


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

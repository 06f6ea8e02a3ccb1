"""When a card comes again: SM-2 by its text, its Delphi variant, and FSRS, as a fold over reviews.

A card's schedule is never stored. It is computed from the list of its reviews, so that a review can
be taken back, and a scheduler can be changed or compared later. SM-2 is computed in integers: the
ease factor (EF) is in hundredths.

>>> [(step.interval_days, step.ease) for step in plan_reviews([5, 5, 5])]
[(1, 260), (6, 270), (17, 280)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs

from markscheme.vocabulary import UsageError

START_EASE = 250
MINIMUM_EASE = 130
EASE_CHANGES = (-80, -54, -32, -14, 0, 10)
"""The change of the ease, in hundredths, for the grades 0 to 5."""
PASS_GRADE = 3
"""From this grade on, an answer counts as recalled."""
RELEASE_GRADE = 4
"""A card with a lower grade comes again on the same day until it reaches this one."""
LEECH_LAPSES = 8
DAY_TURNS_AT = time(4)
"""A day of study turns at four in the morning, local time."""


class SchedulerName(StrEnum):
    """The schedulers: SM-2 by its text, as SuperMemo's Delphi source has it, and FSRS."""

    SM2 = "sm2"
    SM2_DELPHI = "sm2-delphi"
    FSRS = "fsrs"


class ReviewKind(StrEnum):
    """What a review counts as.

    Only a scheduled one moves the schedule: a repeat is on the same day as a review that was graded
    below 4, and practice is before the day when the card is due.
    """

    SCHEDULED = "scheduled"
    REPEAT = "repeat"
    PRACTICE = "practice"


class GradedReview(Struct, frozen=True, kw_only=True):
    """One answer to a card: the day of study, and the quality from 0 to 5."""

    day: date
    grade: int


class CardState(Struct, frozen=True, kw_only=True):
    """What the reviews of a card add up to.

    `passes` is the number of scheduled reviews in a row that were recalled, `due` the day when the
    card comes again, and `ease` is in hundredths (None with FSRS, whose memory is in `memory`).
    `repeat_on` is the day on which the card still has to be repeated.
    """

    passes: int = 0
    interval_days: int = 0
    ease: int | None = START_EASE
    due: date | None = None
    lapses: int = 0
    reviews: int = 0
    last_day: date | None = None
    last_grade: int | None = None
    repeat_on: date | None = None
    memory: tuple[float, float] | None = None

    @property
    def is_new(self) -> bool:
        """Whether the card was never reviewed."""
        return self.reviews == 0

    @property
    def is_leech(self) -> bool:
        """Whether the card was forgotten so often that it needs another way of learning."""
        return self.lapses >= LEECH_LAPSES

    def needs_repeat(self, today: date) -> bool:
        """Whether the card has to be repeated on this day."""
        return self.repeat_on == today

    def is_due(self, today: date) -> bool:
        """Whether the card is due on this day or was before."""
        return self.due is not None and self.due <= today


class PlannedReview(Struct, frozen=True, kw_only=True):
    """One grade of a sequence, and the interval and the ease after it."""

    grade: int
    interval_days: int
    ease: int | None


NEW_CARD = CardState()
Advance = Callable[[CardState, int, date], CardState]
"""Computes passes, interval and ease after a scheduled review."""


def _advance_sm2(state: CardState, grade: int, day: date) -> CardState:
    """SM-2 by its text of 1990: EF changes on a pass, before it is used; intervals round up."""
    del day
    if grade < PASS_GRADE:
        return structs.replace(state, passes=0, interval_days=1)
    ease = _change_ease(state, grade)
    interval = _first_intervals(state.passes) or -(-state.interval_days * ease // 100)
    return structs.replace(state, passes=state.passes + 1, interval_days=interval, ease=ease)


def _advance_sm2_delphi(state: CardState, grade: int, day: date) -> CardState:
    """SM-2 by SuperMemo's Delphi source: EF changes on every grade, after it is used.

    Intervals are rounded to the nearest day, halves to the even one, as Delphi's `Round` does.
    """
    del day
    ease = _change_ease(state, grade)
    if grade < PASS_GRADE:
        return structs.replace(state, passes=0, interval_days=1, ease=ease)
    interval = _first_intervals(state.passes)
    if interval is None:
        whole, rest = divmod(state.interval_days * (state.ease or START_EASE), 100)
        interval = whole + (rest > 50 or (rest == 50 and whole % 2 == 1))  # noqa: PLR2004 - a half
    return structs.replace(state, passes=state.passes + 1, interval_days=interval, ease=ease)


def _change_ease(state: CardState, grade: int) -> int:
    return max(MINIMUM_EASE, (state.ease or START_EASE) + EASE_CHANGES[grade])


def _first_intervals(passes: int) -> int | None:
    """Return the first two intervals, which do not depend on the ease."""
    return (1, 6)[passes] if passes < 2 else None  # noqa: PLR2004 - I(1) and I(2)


def _advance_fsrs(state: CardState, grade: int, day: date) -> CardState:
    """FSRS with its default parameters, without steps within a day and without random changes."""
    fsrs = _import_fsrs()
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    card = fsrs.Card(card_id=0, due=_to_noon(day))
    if state.memory is not None and state.last_day is not None:
        stability, difficulty = state.memory
        card.state = fsrs.State.Review
        card.step = None
        card.stability, card.difficulty = stability, difficulty
        card.last_review = _to_noon(state.last_day)
    rating = (fsrs.Rating.Again,) * PASS_GRADE + (
        fsrs.Rating.Hard,
        fsrs.Rating.Good,
        fsrs.Rating.Easy,
    )
    after, _ = scheduler.review_card(card, rating[grade], _to_noon(day))
    return structs.replace(
        state,
        passes=state.passes + 1 if grade >= PASS_GRADE else 0,
        interval_days=max(1, (after.due - _to_noon(day)).days),
        ease=None,
        memory=(after.stability, after.difficulty),
    )


def _import_fsrs() -> Any:
    try:
        import fsrs  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "the scheduler `fsrs` needs the package fsrs"
        hint = 'install it with `pip install "markscheme[fsrs]"`, or take sm2 or sm2-delphi'
        raise UsageError(f"{message}; {hint}") from error
    return fsrs


def _to_noon(day: date) -> datetime:
    return datetime.combine(day, time(12), tzinfo=UTC)


_ADVANCES: Mapping[SchedulerName, Advance] = {
    SchedulerName.SM2: _advance_sm2,
    SchedulerName.SM2_DELPHI: _advance_sm2_delphi,
    SchedulerName.FSRS: _advance_fsrs,
}


def classify_review(state: CardState, day: date) -> ReviewKind:
    """Return what a review of a card on this day counts as."""
    if state.needs_repeat(day):
        return ReviewKind.REPEAT
    if state.due is not None and day < state.due:
        return ReviewKind.PRACTICE
    return ReviewKind.SCHEDULED


def review_card(
    state: CardState, review: GradedReview, scheduler: SchedulerName = SchedulerName.SM2
) -> CardState:
    """Return the state of a card after one more review.

    A late review grows from the planned interval. A repeat and practice move neither the interval
    nor the ease; a repeat only ends the repeats of the day once its grade is high enough.
    """
    _check_grade(review.grade)
    kind = classify_review(state, review.day)
    repeat_on = review.day if review.grade < RELEASE_GRADE else None
    if kind is ReviewKind.PRACTICE:
        return structs.replace(state, reviews=state.reviews + 1)
    if kind is ReviewKind.REPEAT:
        return structs.replace(state, reviews=state.reviews + 1, repeat_on=repeat_on)
    after = _ADVANCES[scheduler](state, review.grade, review.day)
    forgotten = state.passes > 0 and review.grade < PASS_GRADE
    return structs.replace(
        after,
        due=_add_days(review.day, after.interval_days),
        lapses=state.lapses + forgotten,
        reviews=state.reviews + 1,
        last_day=review.day,
        last_grade=review.grade,
        repeat_on=repeat_on,
    )


def fold_reviews(
    reviews: Iterable[GradedReview], scheduler: SchedulerName = SchedulerName.SM2
) -> CardState:
    """Return the state of a card after all its reviews, in order."""
    state = NEW_CARD
    for review in reviews:
        state = review_card(state, review, scheduler)
    return state


def plan_reviews(
    grades: Sequence[int], scheduler: SchedulerName = SchedulerName.SM2
) -> tuple[PlannedReview, ...]:
    """Return the interval and the ease after each grade, each review on the day it is due."""
    state = NEW_CARD
    # Only the days between two reviews matter, so each interval may start on the same day.
    start = date(2000, 1, 1)
    planned = []
    for grade in grades:
        _check_grade(grade)
        day = _add_days(start, state.interval_days)
        state = structs.replace(_ADVANCES[scheduler](state, grade, day), last_day=start)
        planned.append(
            PlannedReview(grade=grade, interval_days=state.interval_days, ease=state.ease)
        )
    return tuple(planned)


def _add_days(day: date, days: int) -> date:
    """Return a later day; the last day of the calendar if it would be beyond that."""
    return day + timedelta(days=min(days, (date.max - day).days))


def _check_grade(grade: int) -> None:
    if not 0 <= grade < len(EASE_CHANGES):
        raise UsageError(f"a grade is a whole number from 0 to 5, not {grade}")


def find_study_day(at: datetime, zone: tzinfo | None = None) -> date:
    """Return the day of study of a moment: days turn at 4:00 local time, not at midnight.

    `zone` is the time zone of the learner; without one, that of this machine.

    >>> find_study_day(datetime(2026, 3, 2, 3, 59, tzinfo=UTC), UTC)
    datetime.date(2026, 3, 1)
    """
    local = at.astimezone(zone)
    return local.date() if local.time() >= DAY_TURNS_AT else local.date() - timedelta(days=1)

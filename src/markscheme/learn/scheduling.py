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

from msgspec import Struct

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
_LAST_DAY = date.max.toordinal()
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


class _CardFold:
    """A card while its reviews are folded: the fields of `CardState`, with days as ordinals.

    It is changed in place: a class of 200 learners has 80,000 reviews to fold at once.
    """

    __slots__ = (
        "due",
        "ease",
        "interval_days",
        "lapses",
        "last_day",
        "last_grade",
        "memory",
        "passes",
        "repeat_on",
        "reviews",
    )

    def __init__(self, state: CardState = NEW_CARD) -> None:
        self.passes = state.passes
        self.interval_days = state.interval_days
        self.ease = state.ease or START_EASE
        self.due = state.due.toordinal() if state.due else 0
        self.lapses = state.lapses
        self.reviews = state.reviews
        self.last_day = state.last_day.toordinal() if state.last_day else 0
        self.last_grade = state.last_grade
        self.repeat_on = state.repeat_on.toordinal() if state.repeat_on else 0
        self.memory = state.memory

    def classify(self, day: int) -> ReviewKind:
        """Return what a review on this day counts as."""
        if day == self.repeat_on:
            return ReviewKind.REPEAT
        return ReviewKind.PRACTICE if day < self.due else ReviewKind.SCHEDULED

    def add_review(self, day: int, grade: int, advance: Advance) -> ReviewKind:
        """Fold one more review; return what it counted as."""
        kind = self.classify(day)
        self.reviews += 1
        if kind is ReviewKind.PRACTICE:
            return kind
        self.repeat_on = day if grade < RELEASE_GRADE else 0
        if kind is ReviewKind.REPEAT:
            return kind
        self.lapses += self.passes > 0 and grade < PASS_GRADE
        advance(self, grade, day)
        self.due = min(day + self.interval_days, _LAST_DAY)
        self.last_day, self.last_grade = day, grade
        return kind

    def to_state(self, scheduler: SchedulerName) -> CardState:
        """Return what the reviews add up to."""
        return CardState(
            passes=self.passes,
            interval_days=self.interval_days,
            ease=None if scheduler is SchedulerName.FSRS else self.ease,
            due=date.fromordinal(self.due) if self.due else None,
            lapses=self.lapses,
            reviews=self.reviews,
            last_day=date.fromordinal(self.last_day) if self.last_day else None,
            last_grade=self.last_grade,
            repeat_on=date.fromordinal(self.repeat_on) if self.repeat_on else None,
            memory=self.memory,
        )


Advance = Callable[[_CardFold, int, int], None]
"""Changes passes, interval and ease for a scheduled review: the card, the grade and the day."""


def _advance_sm2(card: _CardFold, grade: int, day: int) -> None:
    """SM-2 by its text of 1990: EF changes on a pass, before it is used; intervals round up."""
    del day
    if grade < PASS_GRADE:
        card.passes, card.interval_days = 0, 1
        return
    card.ease = _change_ease(card.ease, grade)
    first = _find_first_interval(card.passes)
    card.interval_days = first or -(-card.interval_days * card.ease // 100)
    card.passes += 1


def _advance_sm2_delphi(card: _CardFold, grade: int, day: int) -> None:
    """SM-2 by SuperMemo's Delphi source: EF changes on every grade, after it is used.

    Intervals are rounded to the nearest day, halves to the even one, as Delphi's `Round` does.
    """
    del day
    former, card.ease = card.ease, _change_ease(card.ease, grade)
    if grade < PASS_GRADE:
        card.passes, card.interval_days = 0, 1
        return
    first = _find_first_interval(card.passes)
    if first is None:
        whole, rest = divmod(card.interval_days * former, 100)
        first = whole + (rest > 50 or (rest == 50 and whole % 2 == 1))  # noqa: PLR2004 - a half
    card.interval_days = first
    card.passes += 1


def _change_ease(ease: int, grade: int) -> int:
    return max(MINIMUM_EASE, ease + EASE_CHANGES[grade])


def _find_first_interval(passes: int) -> int | None:
    """Return one of the first two intervals, which do not depend on the ease."""
    return (1, 6)[passes] if passes < 2 else None  # noqa: PLR2004 - I(1) and I(2)


def _advance_fsrs(card: _CardFold, grade: int, day: int) -> None:
    """FSRS with its default parameters, without steps within a day and without random changes."""
    fsrs = _import_fsrs()
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    now = _to_noon(day)
    known = fsrs.Card(card_id=0, due=now)
    if card.memory is not None:
        known.state = fsrs.State.Review
        known.step = None
        known.stability, known.difficulty = card.memory
        known.last_review = _to_noon(card.last_day)
    rating = (
        fsrs.Rating.Again
        if grade < PASS_GRADE
        else (fsrs.Rating.Hard, fsrs.Rating.Good, fsrs.Rating.Easy)[grade - PASS_GRADE]
    )
    after, _ = scheduler.review_card(known, rating, now)
    card.passes = card.passes + 1 if grade >= PASS_GRADE else 0
    card.interval_days = max(1, (after.due - now).days)
    card.memory = (after.stability, after.difficulty)


def _import_fsrs() -> Any:
    try:
        import fsrs  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "the scheduler `fsrs` needs the package fsrs"
        hint = 'install it with `pip install "markscheme[fsrs]"`, or take sm2 or sm2-delphi'
        raise UsageError(f"{message}; {hint}") from error
    return fsrs


def _to_noon(day: int) -> datetime:
    return datetime.combine(date.fromordinal(day), time(12), tzinfo=UTC)


_ADVANCES: Mapping[SchedulerName, Advance] = {
    SchedulerName.SM2: _advance_sm2,
    SchedulerName.SM2_DELPHI: _advance_sm2_delphi,
    SchedulerName.FSRS: _advance_fsrs,
}


def classify_review(state: CardState, day: date) -> ReviewKind:
    """Return what a review of a card on this day counts as."""
    return _CardFold(state).classify(day.toordinal())


def review_card(
    state: CardState, review: GradedReview, scheduler: SchedulerName = SchedulerName.SM2
) -> CardState:
    """Return the state of a card after one more review.

    A late review grows from the planned interval. A repeat and practice move neither the interval
    nor the ease; a repeat only ends the repeats of the day once its grade is high enough.
    """
    _check_grade(review.grade)
    card = _CardFold(state)
    card.add_review(review.day.toordinal(), review.grade, _ADVANCES[scheduler])
    return card.to_state(scheduler)


def fold_reviews(
    reviews: Iterable[GradedReview], scheduler: SchedulerName = SchedulerName.SM2
) -> CardState:
    """Return the state of a card after all its reviews, in order."""
    cards, _ = fold_cards((("", review.day, review.grade) for review in reviews), scheduler)
    return cards.get("", NEW_CARD)


def fold_cards(
    reviews: Iterable[tuple[str, date, int]], scheduler: SchedulerName = SchedulerName.SM2
) -> tuple[dict[str, CardState], list[ReviewKind]]:
    """Fold reviews of many cards, as (card, day, grade) in order.

    Return the state of each card, and what each review counted as.
    """
    advance = _ADVANCES[scheduler]
    cards: dict[str, _CardFold] = {}
    kinds = []
    for name, day, grade in reviews:
        _check_grade(grade)
        card = cards.get(name)
        if card is None:
            card = cards[name] = _CardFold()
        kinds.append(card.add_review(day.toordinal(), grade, advance))
    return {name: card.to_state(scheduler) for name, card in cards.items()}, kinds


def plan_reviews(
    grades: Sequence[int], scheduler: SchedulerName = SchedulerName.SM2
) -> tuple[PlannedReview, ...]:
    """Return the interval and the ease after each grade, each review on the day it is due."""
    card, planned = _CardFold(), []
    # Only the days between two reviews matter, so each interval may start on the same day.
    start = date(2000, 1, 1).toordinal()
    for grade in grades:
        _check_grade(grade)
        card.last_day = start
        _ADVANCES[scheduler](card, grade, min(start + card.interval_days, _LAST_DAY))
        ease = None if scheduler is SchedulerName.FSRS else card.ease
        planned.append(PlannedReview(grade=grade, interval_days=card.interval_days, ease=ease))
    return tuple(planned)


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

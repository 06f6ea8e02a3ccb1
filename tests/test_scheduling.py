"""When a card comes again: both originals of SM-2, FSRS, and the fold over reviews."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from itertools import product

import pytest

from markscheme import UsageError
from markscheme.learn import (
    CardState,
    GradedReview,
    ReviewKind,
    SchedulerName,
    classify_review,
    find_study_day,
    fold_reviews,
    plan_reviews,
    review_card,
)

START = date(2026, 3, 2)


def enumerate_text(grades: tuple[int, ...]) -> list[tuple[int, Decimal]]:
    """Return intervals and EF by the formulas of the text of 1990, in decimal arithmetic."""
    ease, interval, step, rows = Decimal("2.5"), 0, 0, []
    for q in grades:
        if q < 3:
            step, interval = 0, 1
        else:
            miss = Decimal(5 - q)
            ease += Decimal("0.1") - miss * (Decimal("0.08") + miss * Decimal("0.02"))
            ease = max(ease, Decimal("1.3"))
            step += 1
            grown = (interval * ease).to_integral_value(ROUND_CEILING)
            interval = 1 if step == 1 else 6 if step == 2 else int(grown)
        rows.append((interval, ease))
    return rows


def enumerate_delphi(grades: tuple[int, ...]) -> list[tuple[int, Decimal]]:
    """Return intervals and EF as SuperMemo's Delphi source computes them."""
    ease, interval, step, rows = Decimal("2.5"), 0, 0, []
    for q in grades:
        if q < 3:
            step, interval = 0, 1
        else:
            step += 1
            grown = (interval * ease).to_integral_value(ROUND_HALF_EVEN)
            interval = 1 if step == 1 else 6 if step == 2 else int(grown)
        miss = Decimal(5 - q)
        ease += Decimal("0.1") - miss * (Decimal("0.08") + miss * Decimal("0.02"))
        ease = max(ease, Decimal("1.3"))
        rows.append((interval, ease))
    return rows


def planned(grades: tuple[int, ...], scheduler: SchedulerName) -> list[tuple[int, Decimal]]:
    steps = plan_reviews(grades, scheduler)
    return [(step.interval_days, Decimal(step.ease or 0) / 100) for step in steps]


def test_all_46656_sequences_of_six_grades_equal_an_independent_enumerator() -> None:
    sequences = list(product(range(6), repeat=6))
    assert len(sequences) == 46_656
    for grades in sequences:
        assert planned(grades, SchedulerName.SM2) == enumerate_text(grades)
        assert planned(grades, SchedulerName.SM2_DELPHI) == enumerate_delphi(grades)


@pytest.mark.parametrize(
    ("grades", "text", "delphi"),
    [
        ("55555555", "1 6 17 50 150 465 1488 4911", "1 6 16 45 130 390 1209 3869"),
        ("44444444", "1 6 15 38 95 238 595 1488", "1 6 15 38 95 238 595 1488"),
        ("5552555", "1 6 17 1 1 6 19", "1 6 16 1 1 6 16"),
        ("435345", "1 6 15 35 82 199", "1 6 14 34 79 183"),
        ("000444", "1 1 1 1 6 15", "1 1 1 1 6 8"),
    ],
)
def test_the_published_sequences(grades: str, text: str, delphi: str) -> None:
    numbers = tuple(map(int, grades))
    for scheduler, expected in ((SchedulerName.SM2, text), (SchedulerName.SM2_DELPHI, delphi)):
        intervals = [step.interval_days for step in plan_reviews(numbers, scheduler)]
        assert " ".join(map(str, intervals)) == expected


def test_ease_keeps_on_a_lapse_in_the_text_and_falls_in_the_delphi_source() -> None:
    grades = (5, 5, 5, 2, 5, 5, 5)
    text = [step.ease for step in plan_reviews(grades)]
    assert text == [260, 270, 280, 280, 290, 300, 310]
    delphi = [step.ease for step in plan_reviews(grades, SchedulerName.SM2_DELPHI)]
    assert delphi == [260, 270, 280, 248, 258, 268, 278]


def test_a_grade_outside_0_to_5_is_refused() -> None:
    with pytest.raises(UsageError, match="from 0 to 5, not 6"):
        plan_reviews([6])


def fold(*reviews: tuple[int, int]) -> CardState:
    """Return the state after reviews of (days after the start, grade)."""
    return fold_reviews(
        GradedReview(day=START + timedelta(days=days), grade=grade) for days, grade in reviews
    )


def test_a_grade_below_4_comes_again_the_same_day_and_moves_nothing_more() -> None:
    once = fold((0, 2))
    assert once.needs_repeat(START)
    again = fold((0, 2), (0, 3), (0, 3))
    assert again.needs_repeat(START)
    released = fold((0, 2), (0, 3), (0, 3), (0, 4))
    assert not released.needs_repeat(START)
    assert (released.interval_days, released.ease, released.due) == (1, 250, once.due)
    assert released.reviews == 4


def test_repeats_that_were_not_done_end_with_the_day() -> None:
    state = fold((0, 2))
    assert not state.needs_repeat(START + timedelta(days=1))
    assert classify_review(state, START + timedelta(days=1)) is ReviewKind.SCHEDULED


def test_an_answer_before_the_due_day_is_practice() -> None:
    before = fold((0, 5), (1, 5))
    practised = review_card(before, GradedReview(day=START + timedelta(days=3), grade=0))
    assert classify_review(before, START + timedelta(days=3)) is ReviewKind.PRACTICE
    assert (practised.due, practised.ease, practised.lapses) == (before.due, before.ease, 0)


def test_a_late_review_grows_from_the_planned_interval() -> None:
    late, on_time = fold((0, 5), (1, 5), (60, 5)), fold((0, 5), (1, 5), (7, 5))
    assert late.interval_days == on_time.interval_days == 17
    assert late.due == START + timedelta(days=77)


def test_eight_lapses_make_a_leech() -> None:
    lapses = [pair for days in range(0, 16, 2) for pair in ((days, 4), (days + 1, 1))]
    assert not fold(*lapses[:-1]).is_leech
    assert fold(*lapses).lapses == 8
    assert fold(*lapses).is_leech


def test_due_days_stop_at_the_end_of_the_calendar() -> None:
    assert plan_reviews([5] * 40)[-1].interval_days > 10**9
    state = CardState()
    for _ in range(40):
        state = review_card(state, GradedReview(day=state.due or START, grade=5))
    assert state.due == date.max


@pytest.mark.parametrize(("hour", "minute", "day"), [(3, 59, 1), (4, 0, 2), (23, 59, 2), (0, 0, 1)])
def test_a_day_turns_at_four_in_the_morning_local_time(hour: int, minute: int, day: int) -> None:
    madrid = timezone(timedelta(hours=1))
    at = datetime(2026, 3, 2, hour, minute, tzinfo=madrid)
    assert find_study_day(at.astimezone(UTC), madrid) == date(2026, 3, day)


def test_fsrs_grows_with_the_time_that_passed() -> None:
    pytest.importorskip("fsrs")
    planned = plan_reviews([4, 4, 4, 1, 4], SchedulerName.FSRS)
    intervals = [step.interval_days for step in planned]
    assert intervals[0] < intervals[1] < intervals[2]
    assert intervals[3] < intervals[2]
    assert all(step.ease is None for step in planned)


def test_fsrs_equals_the_package_itself() -> None:
    fsrs = pytest.importorskip("fsrs")
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    card, day = fsrs.Card(card_id=1), datetime(2026, 3, 2, 12, tzinfo=UTC)
    expected = []
    for rating in (fsrs.Rating.Good, fsrs.Rating.Easy, fsrs.Rating.Again, fsrs.Rating.Hard):
        card, _ = scheduler.review_card(card, rating, day)
        expected.append((card.due - day).days)
        day = card.due
    steps = plan_reviews([4, 5, 0, 3], SchedulerName.FSRS)
    assert [step.interval_days for step in steps] == expected


def test_without_its_package_fsrs_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsrs", None)
    with pytest.raises(UsageError, match=r"pip install \"markscheme\[fsrs\]\""):
        plan_reviews([4], SchedulerName.FSRS)

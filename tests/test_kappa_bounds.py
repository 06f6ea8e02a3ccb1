"""Kappa with its interval, and the bound that decides whether a judge passes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from markscheme.vocabulary import ScaleLevel
from markscheme.weigh.stats import (
    ScoredAnswer,
    compute_clopper_pearson_interval,
    compute_kappa,
    compute_kappa_bounds,
)


def answers_of(**counts: int) -> list[ScoredAnswer]:
    """Return answers by the two scores of each: `yn=3` is three times yes and no."""
    scores = {"y": 1, "n": 0}
    return [
        ScoredAnswer(pairs=((scores[both[0]], scores[both[1]]),))
        for both, count in counts.items()
        for _ in range(count)
    ]


def balanced(size: int, wrong: int) -> list[ScoredAnswer]:
    right = size - wrong
    return answers_of(yn=wrong // 2, ny=wrong - wrong // 2, yy=right // 2, nn=right - right // 2)


@pytest.mark.parametrize(("size", "usual"), [(50, 0.66), (100, 0.70), (200, 0.73)])
def test_the_usual_bound_of_kappa_point_8_is_the_published_one(size: int, usual: float) -> None:
    bounds = compute_kappa_bounds(balanced(size, size // 10), span=None, seed=0)
    assert bounds.kappa == Fraction(4, 5)
    assert bounds.usual_lower == pytest.approx(usual, abs=0.006)
    assert float(bounds.lower or 1) < (bounds.usual_lower or 0)


@pytest.mark.parametrize(("size", "wrong"), [(20, 0), (40, 2), (100, 10), (200, 20)])
def test_for_yes_and_no_in_equal_parts_the_bound_is_that_of_clopper_and_pearson(
    size: int, wrong: int
) -> None:
    share, _ = compute_clopper_pearson_interval(size - wrong, size, 0.9)
    bounds = compute_kappa_bounds(balanced(size, wrong), span=None, seed=0)
    assert bounds.lower is not None
    # Agreement of p is a kappa of 2p - 1; the marginals are drawn too, so a little apart.
    assert float(bounds.lower) == pytest.approx(2 * share - 1, abs=0.025)


@pytest.mark.parametrize("span", [None, 4])
def test_kappa_is_that_of_the_pairs(span: int | None) -> None:
    pairs = [(1, 1), (2, 3), (5, 4), (3, 3), (4, 4), (2, 2), (1, 3)]
    level = ScaleLevel.NOMINAL if span is None else ScaleLevel.INTERVAL
    one = [ScoredAnswer(pairs=(pair,)) for pair in pairs]
    together = [ScoredAnswer(pairs=tuple(pairs[:3])), ScoredAnswer(pairs=tuple(pairs[3:]))]
    for answers in (one, together):
        found = compute_kappa_bounds(answers, span=span, seed=0, draws=50)
        assert found.kappa == compute_kappa(pairs, level)


def test_full_agreement_is_no_certainty() -> None:
    few, many = (compute_kappa_bounds(balanced(size, 0), span=None, seed=0) for size in (20, 200))
    assert few.lower is not None
    assert many.lower is not None
    assert Fraction(1, 2) < few.lower < many.lower < 1


def test_criteria_of_one_answer_tell_less_than_criteria_of_many() -> None:
    pairs = [answer.pairs[0] for answer in balanced(120, 24)]
    apart = [ScoredAnswer(pairs=(pair,)) for pair in pairs]
    clustered = [ScoredAnswer(pairs=tuple(pairs[at : at + 2])) for at in range(0, 120, 2)]
    lows = [compute_kappa_bounds(answers, span=None, seed=0).low for answers in (clustered, apart)]
    assert lows[0] is not None
    assert lows[1] is not None
    assert lows[0] < lows[1]


def test_unread_and_inapplicable_marks_lower_what_they_should() -> None:
    plain = balanced(60, 6)
    with_unread = [*plain, *[ScoredAnswer(pairs=(), unread=1)] * 6]
    with_wrong = [*plain, *[ScoredAnswer(pairs=(), wrong=1)] * 6]
    base, unread, wrong = (
        compute_kappa_bounds(answers, span=None, seed=0)
        for answers in (plain, with_unread, with_wrong)
    )
    assert base.kappa == unread.kappa == Fraction(4, 5)
    assert wrong.kappa == Fraction(7, 11)  # 12 of 66 differ, and by chance half would
    assert base.lower is not None
    assert unread.lower is not None
    assert unread.lower < base.lower


@pytest.mark.parametrize(
    "answers",
    [[], [ScoredAnswer(pairs=())], answers_of(yy=60), [ScoredAnswer(pairs=(), unread=1)] * 60],
)
@pytest.mark.parametrize("span", [None, 1])
def test_where_nothing_can_differ_there_is_no_kappa(
    answers: list[ScoredAnswer], span: int | None
) -> None:
    bounds = compute_kappa_bounds(answers, span=span, seed=0)
    assert bounds.kappa is None
    assert bounds.lower is None


def test_the_seed_alone_decides_the_draws() -> None:
    answers = balanced(60, 10)
    first, again, other = (
        compute_kappa_bounds(answers, span=None, seed=seed, draws=200) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_yes_and_no_are_the_same_as_names_and_as_numbers() -> None:
    answers = balanced(80, 9)
    numbers = compute_kappa_bounds(answers, span=1, seed=0)
    named = compute_kappa_bounds(
        [
            ScoredAnswer(
                pairs=tuple(("met" if a else "not", "met" if b else "not") for a, b in one.pairs)
            )
            for one in answers
        ],
        span=None,
        seed=0,
    )
    assert numbers.kappa == named.kappa
    assert (numbers.low, numbers.high) == (named.low, named.high)

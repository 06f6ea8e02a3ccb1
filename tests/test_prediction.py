"""PPI++: few ratings of people correct the mean of many judged answers."""

from __future__ import annotations

import random
from fractions import Fraction
from math import sqrt
from statistics import correlation

import pytest

from markscheme.weigh.calibration import LEAST_FOR_PREDICTION, predict_mean


def draw_answers(
    seed: int, *, trust: float, size: int = 300, bias: int = 0
) -> list[tuple[Fraction, Fraction]]:
    """Return the marks of people and of a judge, in fifths; a part of the judge's are guessed."""
    drawn = random.Random(f"answers {seed}")  # noqa: S311 - no secret
    pairs = []
    for _ in range(size):
        own = drawn.randint(1, 4)
        told = own if drawn.random() < trust else drawn.randint(1, 4)
        pairs.append((Fraction(own, 5), Fraction(told + bias, 5)))
    return pairs


@pytest.mark.parametrize(("trust", "saved"), [(0.4, 0.08), (0.18, 0.02)])
def test_a_middling_judge_saves_few_labels(trust: float, saved: float) -> None:
    found = []
    for seed in range(40):
        pairs = draw_answers(seed, trust=trust)
        prediction = predict_mean(pairs[:60], [judge for _, judge in pairs[60:]])
        assert prediction is not None
        found.append(prediction.saved)
    assert sum(found) / len(found) == pytest.approx(saved, abs=0.03)


def test_the_saving_is_what_the_correlation_allows() -> None:
    pairs = draw_answers(1, trust=0.8, size=2_000)
    rated = pairs[:100]
    prediction = predict_mean(rated, [judge for _, judge in pairs[100:]])
    assert prediction is not None
    r = correlation([float(one) for one, _ in rated], [float(two) for _, two in rated])
    assert prediction.saved == pytest.approx(1 - sqrt(1 - r * r * 1_900 / 2_000), abs=0.02)


def test_the_bias_of_a_judge_is_gone() -> None:
    errors = []
    for seed in range(60):
        pairs = draw_answers(seed, trust=0.9, bias=1)
        truth = sum((people for people, _ in pairs), Fraction(0)) / len(pairs)
        prediction = predict_mean(pairs[:60], [judge for _, judge in pairs[60:]])
        assert prediction is not None
        assert prediction.judge - truth > Fraction(1, 10)
        errors.append(prediction.corrected - truth)
    assert abs(sum(errors, Fraction(0)) / len(errors)) < Fraction(1, 100)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    hits = 0
    for seed in range(100):
        pairs = draw_answers(seed, trust=0.6, bias=1)
        truth = 0.5  # of marks from 1 to 4 of 5
        prediction = predict_mean(pairs[:50], [judge for _, judge in pairs[50:]])
        assert prediction is not None
        low, high = prediction.interval
        hits += low <= truth <= high
    assert 89 <= hits <= 99


def test_a_judge_that_tells_nothing_costs_nothing() -> None:
    pairs = [(people, Fraction(1, 2)) for people, _ in draw_answers(1, trust=0.5)]
    prediction = predict_mean(pairs[:60], [judge for _, judge in pairs[60:]])
    assert prediction is not None
    assert prediction.corrected == prediction.people
    assert prediction.interval == prediction.people_interval


def test_few_ratings_correct_nothing() -> None:
    pairs = draw_answers(1, trust=0.5)
    others = [judge for _, judge in pairs[LEAST_FOR_PREDICTION:]]
    assert predict_mean(pairs[: LEAST_FOR_PREDICTION - 1], others) is None
    assert predict_mean(pairs[:LEAST_FOR_PREDICTION], others) is not None
    assert predict_mean(pairs[:LEAST_FOR_PREDICTION], others[:1]) is None

"""Prediction-powered inference (PPI++): correct the mean of judged answers with a few rated ones.

People rated n answers, drawn at random; the judge marked these and N others. The estimate is

    people's mean + weight · (judge's mean of the others - judge's mean of the rated ones)

with the weight that makes the variance smallest: cov / ((1 + n/N) · var). A judge that tells
nothing gets the weight 0, and then the estimate is the people's own mean. So a bad judge costs
nothing, and a good one saves labels; what is always gone is the judge's bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from markscheme.weigh.stats import t_quantile

LEAST_FOR_PREDICTION = 30
"""With fewer rated answers the interval would be too narrow."""
_LEAST_OTHERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The corrected mean of an axis, beside the judge's mean and the people's.

    `saved` is the share by which the interval is narrower than that of the people's ratings alone.
    """

    rated: int
    answers: int
    judge: Fraction
    people: Fraction
    people_interval: tuple[float, float]
    corrected: Fraction
    interval: tuple[float, float]
    weight: Fraction
    saved: float


def predict_mean(
    rated: Sequence[tuple[Fraction, Fraction]], others: Sequence[Fraction]
) -> Prediction | None:
    """Return the corrected mean from pairs of (people, judge) and the judge's other values.

    None with fewer than `LEAST_FOR_PREDICTION` pairs, or fewer than two others.
    """
    n = len(rated)
    if n < LEAST_FOR_PREDICTION or len(others) < _LEAST_OTHERS:
        return None
    people, judge = [one for one, _ in rated], [other for _, other in rated]
    judged = [*judge, *others]
    mean_people = _mean(people)
    spread = _covariance(judged, judged)
    share = Fraction(n, len(others))
    weight = Fraction(0)
    if spread:
        weight = _covariance(people, judge) / ((1 + share) * spread)
        weight = min(Fraction(1), max(Fraction(0), weight))
    corrected = mean_people + weight * (_mean(others) - _mean(judge))
    left = [one - weight * other for one, other in rated]
    variance = _covariance(left, left) / n + weight**2 * spread / len(others)
    plain = _covariance(people, people) / n
    quantile = t_quantile(0.975, n - 1)
    half, usual = quantile * math.sqrt(variance), quantile * math.sqrt(plain)
    return Prediction(
        rated=n,
        answers=len(judged),
        judge=_mean(judged),
        people=mean_people,
        people_interval=(float(mean_people) - usual, float(mean_people) + usual),
        corrected=corrected,
        interval=(float(corrected) - half, float(corrected) + half),
        weight=weight,
        saved=1 - half / usual if usual else 0.0,
    )


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _covariance(ones: Sequence[Fraction], others: Sequence[Fraction]) -> Fraction:
    mean_one, mean_other = _mean(ones), _mean(others)
    products = (
        (one - mean_one) * (other - mean_other) for one, other in zip(ones, others, strict=True)
    )
    return sum(products, Fraction(0)) / (len(ones) - 1)

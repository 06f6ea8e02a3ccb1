"""Item analysis of a class: difficulty, discrimination, reliability and flags, from first attempts.

Counts, shares and alpha are exact fractions. A correlation needs a root, so it is a float; whether
it is flagged is decided on its exact square. A statistic of too few learners is absent, not shown
as a number that means nothing.

>>> analysis = analyse_items(["a", "b"], [{"a": True, "b": True}, {"a": False, "b": False}])
>>> analysis.n
2
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from markscheme.vocabulary import sentence
from markscheme.weigh.stats import ALPHA, f_quantile

_FEWEST_FOR_DIFFICULTY = 5
_FEWEST_FOR_CORRELATION = 20
_FEWEST_FOR_GROUPS = 30
_TOO_HARD, _TOO_EASY = Fraction(1, 5), Fraction(19, 20)
_WEAK_CORRELATION = Fraction(1, 10)


class MinimumSizes(Struct, frozen=True, kw_only=True):
    """How many learners each statistic needs."""

    difficulty: int = _FEWEST_FOR_DIFFICULTY
    correlation: int = _FEWEST_FOR_CORRELATION
    groups: int = _FEWEST_FOR_GROUPS


DEFAULT_SIZES = MinimumSizes()


class ItemRestCorrelation(Struct, frozen=True, kw_only=True):
    """The correlation of an item with the sum of the others: its sign and its exact square."""

    sign: int
    square: Fraction

    @property
    def value(self) -> float:
        """The correlation itself."""
        return self.sign * math.sqrt(self.square)

    def is_below(self, limit: Fraction) -> bool:
        """Whether the correlation is below a limit of at least 0, decided exactly."""
        return self.sign <= 0 or self.square < limit * limit


class ItemStatistics(Struct, frozen=True, kw_only=True):
    """The statistics of one item; what too few learners answered is None."""

    item: str
    n: int
    right: int
    difficulty: Fraction | None
    item_rest: ItemRestCorrelation | None
    discrimination: Fraction | None
    flags: tuple[str, ...]


class Reliability(Struct, frozen=True, kw_only=True):
    """Cronbach's alpha (KR-20, as items are right or wrong), its interval and the SEM in points."""

    alpha: Fraction
    low: float
    high: float
    standard_error: float


class ItemAnalysis(Struct, frozen=True, kw_only=True):
    """The statistics of all items over the learners who answered every one of them."""

    n: int
    items: tuple[ItemStatistics, ...]
    reliability: Reliability | None


def analyse_items(
    items: Sequence[str],
    learners: Sequence[Mapping[str, bool]],
    near_misses: Mapping[str, Sequence[str]] | None = None,
    sizes: MinimumSizes = DEFAULT_SIZES,
) -> ItemAnalysis:
    """Analyse items over the first attempts of learners: for each, item to right or wrong.

    Difficulty counts everybody who answered the item. The statistics across items count those who
    answered all of them. `near_misses` are, by item, the near misses of the wrong answers.
    """
    complete = [answers for answers in learners if all(item in answers for item in items)]
    totals = [sum(answers[item] for item in items) for answers in complete]
    statistics = []
    for item in items:
        answered = [answers[item] for answers in learners if item in answers]
        column = [answers[item] for answers in complete]
        rests = [total - right for total, right in zip(totals, column, strict=True)]
        enough = len(complete) >= sizes.correlation
        correlation = compute_item_rest(column, rests) if enough else None
        groups = len(complete) >= sizes.groups
        difficulty = (
            Fraction(sum(answered), len(answered)) if len(answered) >= sizes.difficulty else None
        )
        wrong = len(answered) - sum(answered)
        statistics.append(
            ItemStatistics(
                item=item,
                n=len(answered),
                right=sum(answered),
                difficulty=difficulty,
                item_rest=correlation,
                discrimination=compute_d27(column, totals) if groups else None,
                flags=tuple(
                    _list_flags(difficulty, correlation, (near_misses or {}).get(item, ()), wrong)
                ),
            )
        )
    enough = len(complete) >= sizes.correlation
    rows = [[answers[item] for item in items] for answers in complete]
    return ItemAnalysis(
        n=len(learners),
        items=tuple(statistics),
        reliability=compute_reliability(rows) if enough else None,
    )


def _list_flags(
    difficulty: Fraction | None,
    correlation: ItemRestCorrelation | None,
    near_misses: Sequence[str],
    wrong: int,
) -> Iterator[str]:
    if difficulty is not None and difficulty < _TOO_HARD:
        yield sentence("hardly anybody gets it right")
    if difficulty is not None and difficulty > _TOO_EASY:
        yield sentence("nearly everybody gets it right")
    if correlation is not None and correlation.sign < 0:
        yield sentence("those who know more get it wrong more often; check the key")
    elif correlation is not None and correlation.is_below(_WEAK_CORRELATION):
        yield sentence("it hardly separates those who know from those who do not")
    if (
        difficulty is not None
        and wrong > 1
        and len(near_misses) == wrong
        and len(set(near_misses)) == 1
    ):
        yield sentence("everybody who misses it misses it by the same slip")


def compute_item_rest(column: Sequence[bool], rests: Sequence[int]) -> ItemRestCorrelation | None:
    """Return the correlation of an item with the rest, or None if one of them does not vary."""
    n = len(column)
    covariance = n * sum(r for c, r in zip(column, rests, strict=True) if c) - sum(column) * sum(
        rests
    )
    of_item = n * sum(column) - sum(column) ** 2
    of_rest = n * sum(rest * rest for rest in rests) - sum(rests) ** 2
    if not of_item or not of_rest:
        return None
    sign = (covariance > 0) - (covariance < 0)
    return ItemRestCorrelation(sign=sign, square=Fraction(covariance**2, of_item * of_rest))


def compute_d27(column: Sequence[bool], totals: Sequence[int]) -> Fraction:
    """Return the share right in the best 27 % minus that in the worst 27 % of the learners.

    Learners with equal totals stay in their order; 27 % is rounded to whole learners, at least one.
    """
    size = max(1, (27 * len(column) + 50) // 100)
    order = sorted(range(len(column)), key=lambda learner: totals[learner])
    low, high = order[:size], order[-size:]
    return Fraction(sum(column[at] for at in high) - sum(column[at] for at in low), size)


def compute_reliability(rows: Sequence[Sequence[bool]]) -> Reliability | None:
    """Return alpha with Feldt's interval, or None if the totals of the learners do not vary."""
    n, k = len(rows), len(rows[0]) if rows else 0
    totals = [sum(row) for row in rows]
    spread = n * sum(total * total for total in totals) - sum(totals) ** 2
    if k < 2 or n < 2 or not spread:  # noqa: PLR2004 - one item or one learner has no alpha
        return None
    columns = [sum(row[at] for row in rows) for at in range(k)]
    within = sum(n * right - right * right for right in columns)
    alpha = Fraction(k, k - 1) * (1 - Fraction(within, spread))
    variance = Fraction(spread, n * (n - 1))
    degrees = (n - 1, (n - 1) * (k - 1))
    lost = float(1 - alpha)
    return Reliability(
        alpha=alpha,
        low=1 - lost * f_quantile(1 - ALPHA / 2, *degrees),
        high=1 - lost * f_quantile(ALPHA / 2, *degrees),
        standard_error=math.sqrt(variance * (1 - alpha)),
    )

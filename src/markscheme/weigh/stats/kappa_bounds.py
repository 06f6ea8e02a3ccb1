"""Kappa of two raters with its uncertainty: an interval, and a bound that a decision can rest on.

Scores come in clusters: what belongs to one answer is drawn together, because the criteria of an
answer, or the scores of several people for it, are not independent.

Two ways to draw answers:

- The interval draws answers with replacement, and takes percentiles. That is the usual bootstrap.
  It needs many answers; below `LEAST_FOR_BOOTSTRAP` the interval is that of the second way.
- The bound that decides weighs the answers at random (Rubin's Bayesian bootstrap) together with one
  more answer, on which the raters differ three times as much as by chance, at most as much as
  scores can. For yes and no in equal parts that is the exact bound of Clopper and Pearson. The
  usual bound accepts too many bad judges; this one does not (`scripts/false_licences.py`).

Weights and sums are integers, and kappa is a fraction; only `usual_lower`, which decides nothing,
is a float.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from statistics import NormalDist, pstdev
from typing import Any, TypeAlias

LEAST_FOR_BOOTSTRAP = 50
"""Fewer answers do not show the tails of a distribution, so percentiles of draws mean little."""
DRAWS = 2_000
_TAIL = Fraction(1, 40)  # each side of a 95 % interval
_WORST_BY_CHANCE = 3  # how often the distance by chance one more answer has
_LOWER_TAIL = Fraction(1, 20)  # the one-sided 95 % bound
_Z = NormalDist().inv_cdf(0.95)
_BYTES = 4  # of each random whole number between two weights

Pair: TypeAlias = tuple[Any, Any]
"""The scores of a person and a judge: whole numbers, or names where the scale is nominal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """The pairs of scores that belong to one answer.

    `wrong` counts the pairs that differ as much as can be and have no scores to compare: one of
    the two said that the question does not apply. `unread` counts those that the judge did not
    score; they count as wrong in a decision and in nothing else.
    """

    pairs: tuple[Pair, ...]
    wrong: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaBounds:
    """Kappa and its 95 % interval; None where it is not defined.

    `lower` is the one-sided 95 % bound that decides. `usual_lower`, from 50 answers on, is kappa
    minus 1.645 standard errors of the bootstrap: what other tools would print.
    """

    kappa: Fraction | None
    low: Fraction | None = None
    high: Fraction | None = None
    lower: Fraction | None = None
    usual_lower: float | None = None


def compute_kappa_bounds(
    answers: Sequence[ScoredAnswer], *, span: int | None, seed: int, draws: int = DRAWS
) -> KappaBounds:
    """Return kappa over clustered pairs, with its interval and bounds.

    `span` is the difference of the highest and the lowest score for quadratic weights; None means
    that scores are names, which are equal or not.

    >>> same = [ScoredAnswer(pairs=((at % 2, at % 2),)) for at in range(60)]
    >>> bounds = compute_kappa_bounds(same, span=1, seed=0)
    >>> bounds.kappa, bounds.low, bounds.lower < 1
    (Fraction(1, 1), Fraction(1, 1), True)
    """
    sums = _list_sums(answers, span)
    kappa = _compute_kappa(_add_up((row, 1) for row in sums.plain), has_names=sums.has_names)
    if kappa is None:
        return KappaBounds(kappa=None)
    random = Random(f"kappa {seed}")  # noqa: S311 - a simulation, no secret
    decisive = sorted(_draw_weighted(sums, sums.strict, sums.worst, random, draws))
    lower = _get_percentile(decisive, _LOWER_TAIL)
    if len(answers) >= LEAST_FOR_BOOTSTRAP:
        drawn = sorted(_draw_resampled(sums, random, draws))
        usual = float(kappa) - _Z * pstdev(map(float, drawn))
        low, high = _get_percentile(drawn, _TAIL), _get_percentile(drawn, 1 - _TAIL)
    else:
        usual = None
        low = _get_percentile(
            sorted(_draw_weighted(sums, sums.plain, sums.worst, random, draws)), _TAIL
        )
        high = _get_percentile(
            sorted(_draw_weighted(sums, sums.plain, sums.best, random, draws)), 1 - _TAIL
        )
    return KappaBounds(kappa=kappa, low=low, high=high, lower=lower, usual_lower=usual)


def _get_percentile(ordered: Sequence[Fraction], share: Fraction) -> Fraction:
    """Return the draw below which less than this share of the draws lies."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# One answer as sums: how many pairs, how far they are apart in all, how many there are to compare,
# and what the distance of two independent raters follows from: the counts of names of each rater,
# or the sums of scores and of squares.
_Row: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    plain: list[_Row]
    strict: list[_Row]
    worst: _Row
    best: _Row
    has_names: bool


def _list_sums(answers: Sequence[ScoredAnswer], span: int | None) -> _Sums:
    """Return each answer as sums; `strict` counts what was not read as wrong.

    `worst` and `best` are one more answer of mean size: one on which the raters differ three times
    as much as by chance, at most as much as scores can, and one on which they agree. All sums have
    a common factor, so that those of one more answer are whole numbers.
    """
    furthest = 1 if span is None else span * span
    names = sorted({name for answer in answers for pair in answer.pairs for name in pair}, key=str)
    places = {name: at for at, name in enumerate(names)} if span is None else None
    plain = [_sum_answer(answer, furthest, places, answer.wrong) for answer in answers]
    strict = [
        _sum_answer(answer, furthest, places, answer.wrong + answer.unread) for answer in answers
    ]
    total = _add_up((row, 1) for row in plain) or [0, 0, 0]
    chance, compared = _compute_chance(total, has_names=span is None), max(1, total[2])
    scale = len(answers) * compared**2
    size = sum(row[0] for row in strict)
    padding = (0,) * (len(strict[0]) - 2) if strict else ()
    return _Sums(
        plain=[tuple(scale * value for value in row) for row in plain],
        strict=[tuple(scale * value for value in row) for row in strict],
        worst=(
            size * compared**2,
            size * min(furthest * compared**2, _WORST_BY_CHANCE * chance),
            *padding,
        ),
        best=(size * compared**2, 0, *padding),
        has_names=span is None,
    )


def _sum_answer(
    answer: ScoredAnswer, furthest: int, places: Mapping[Hashable, int] | None, wrong: int
) -> _Row:
    pairs = answer.pairs
    size = len(pairs) + wrong
    if places is None:
        apart = sum((one - other) ** 2 for one, other in pairs)
        ones, others = sum(one for one, _ in pairs), sum(other for _, other in pairs)
        squares = sum(one * one + other * other for one, other in pairs)
        return (size, apart + wrong * furthest, len(pairs), ones, others, squares)
    apart = sum(one != other for one, other in pairs)
    counts = [0] * (2 * len(places))
    for one, other in pairs:
        counts[places[one]] += 1
        counts[len(places) + places[other]] += 1
    return (size, apart + wrong, len(pairs), *counts)


def _add_up(rows: Iterable[tuple[_Row, int]]) -> list[int]:
    weighted = ([weight * value for value in row] for row, weight in rows)
    return [sum(column) for column in zip(*weighted, strict=True)]


def _compute_kappa(total: Sequence[int], *, has_names: bool) -> Fraction | None:
    """Return 1 - observed distance / distance by chance; None if nothing can differ by chance."""
    if not total:
        return None
    size, apart, compared, *_ = total
    chance = _compute_chance(total, has_names=has_names)
    return 1 - Fraction(apart * compared**2, size * chance) if chance and size else None


def _compute_chance(total: Sequence[int], *, has_names: bool) -> int:
    """Return the distance of two independent raters, times the square of the compared pairs."""
    compared, *rest = total[2:]
    if has_names:
        half = len(rest) // 2
        return compared**2 - sum(a * b for a, b in zip(rest[:half], rest[half:], strict=True))
    if not rest:
        return 0
    ones, others, squares = rest
    return compared * squares - 2 * ones * others


_UNDEFINED = Fraction(-1)  # a draw in which nothing can differ by chance speaks for nobody


def _draw_resampled(sums: _Sums, random: Random, draws: int) -> Iterator[Fraction]:
    """Yield kappa of answers drawn with replacement."""
    rows = sums.plain
    groups = Counter(rows)
    kinds, counts = list(groups), list(groups.values())
    for _ in range(draws):
        drawn = Counter(random.choices(range(len(kinds)), weights=counts, k=len(rows)))
        total = _add_up((kinds[at], times) for at, times in drawn.items())
        kappa = _compute_kappa(total, has_names=sums.has_names)
        yield _UNDEFINED if kappa is None else kappa


def _draw_weighted(
    sums: _Sums, rows: Sequence[_Row], extra: _Row, random: Random, draws: int
) -> Iterator[Fraction]:
    """Yield kappa of answers with random weights, and of one more answer with such a weight.

    Weights that are uniform over all ways to share 1 are the gaps between sorted random numbers.
    Equal answers stand together, so that the weight of all of them is one difference.
    """
    groups = Counter(rows)
    kinds = [*groups, extra]
    ends = [0]
    for count in groups.values():
        ends.append(ends[-1] + count)
    size = len(rows)
    for _ in range(draws):
        points = array("I", random.randbytes(_BYTES * size))
        marks = [0, *sorted(points), 1 << (8 * _BYTES)]
        weights = [marks[end] - marks[start] for start, end in pairwise([*ends, size + 1])]
        total = _add_up(zip(kinds, weights, strict=True))
        kappa = _compute_kappa(total, has_names=sums.has_names)
        yield _UNDEFINED if kappa is None else kappa

"""Agreement of raters on every axis of a file of ratings: of all people, of pairs, with judges.

Judge models are kept apart: the coefficients of an axis are those of the people. `with_judges` adds
the judges, and `judges` compares each judge with all people together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from markscheme.vocabulary import (
    FrozenDict,
    RatedAxis,
    RecordFields,
    ScaleLevel,
    sentence,
    to_record,
)
from markscheme.weigh.rater_pairs import (
    PairAgreement,
    PairSummary,
    RaterStanding,
    compare_judges,
    measure_pairs,
    rank_raters,
    summarise_pairs,
)
from markscheme.weigh.stats import (
    RESAMPLES,
    ScoresByRater,
    compute_ac2,
    compute_alpha,
    compute_alpha_interval,
    compute_percent_agreement,
    find_common_unit,
)

LEAST_FOR_INTERVAL = 50
"""An interval of alpha is drawn from this many shared answers on; fewer do not show its tails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """How far a group of raters agrees over the `n` answers that at least two of them rated.

    `reasons` says for each coefficient that is `None` why it is not defined.
    """

    n: int
    raters: tuple[str, ...]
    alpha: Fraction | None
    ac2: Fraction | None
    percent: Fraction | None
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaInterval:
    """The 95 % interval of alpha, from answers drawn with replacement."""

    low: Fraction
    high: Fraction
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisAgreement:
    """The agreement on one axis. `pairs` holds each pair of raters with an answer in common."""

    level: ScaleLevel
    people: GroupAgreement
    alpha_interval: AlphaInterval | None
    pairs: tuple[PairAgreement, ...]
    pair_summaries: tuple[PairSummary, ...]
    by_rater: tuple[RaterStanding, ...]
    judges: tuple[PairAgreement, ...]
    with_judges: GroupAgreement | None
    ratings: int
    empty: int
    repeats: int
    reasons: Mapping[str, str]

    record_fields: ClassVar[RecordFields] = (
        ("n", "people.n"),
        ("raters", "people.raters"),
        "level",
        ("alpha", "people.alpha"),
        ("ac2", "people.ac2"),
        ("percent", "people.percent"),
        "pairs",
        "pair_summaries",
        "by_rater",
        "alpha_interval",
        "judges",
        "with_judges",
        "ratings",
        "empty",
        "repeats",
        "reasons",
    )

    @property
    def is_computed(self) -> bool:
        """Whether any coefficient could be computed."""
        groups = [self.people, *filter(None, [self.with_judges])]
        measured = [(group.alpha, group.ac2, group.percent) for group in groups]
        return any(value is not None for row in measured for value in row)


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """The agreement of raters on each axis, by its name."""

    axes: Mapping[str, AxisAgreement]

    @property
    def is_computed(self) -> bool:
        """Whether any coefficient of any axis could be computed."""
        return any(axis.is_computed for axis in self.axes.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as plain data, as `--format json` prints it."""
        return to_record(self)


def measure_rater_agreement(rated: Iterable[RatedAxis], seed: int = 0) -> RaterAgreement:
    """Return the agreement of raters on each axis; `seed` is that of the intervals of alpha."""
    return RaterAgreement(axes=FrozenDict({axis.name: _measure_axis(axis, seed) for axis in rated}))


def _measure_axis(axis: RatedAxis, seed: int) -> AxisAgreement:
    unit, units = _index_axis_scores(axis)
    categories = _list_categories(axis, unit)
    by_people = [
        {rater: score for rater, score in scores.items() if rater not in axis.judges}
        for scores in units
    ]
    people = _measure_group(by_people, categories, axis.level)
    interval, reason = _compute_interval(by_people, people, axis.level, seed)
    pairs = measure_pairs(units, axis, unit)
    return AxisAgreement(
        level=axis.level,
        people=people,
        alpha_interval=interval,
        pairs=pairs,
        pair_summaries=summarise_pairs(pairs),
        by_rater=rank_raters(pairs),
        judges=compare_judges(units, axis, unit),
        with_judges=_measure_group(units, categories, axis.level) if axis.judges else None,
        ratings=len(axis.ratings),
        empty=axis.empty,
        repeats=axis.repeats,
        reasons=FrozenDict({**people.reasons, **reason}),
    )


def _index_axis_scores(axis: RatedAxis) -> tuple[int, list[ScoresByRater]]:
    """Return the scores of each answer by rater; numbers as multiples of 1 / the first value."""
    scores = (*(rating.score for rating in axis.ratings), *axis.scale)
    unit = find_common_unit(score for score in scores if isinstance(score, Fraction))
    units: dict[tuple[str, ...], dict[str, Any]] = defaultdict(dict)
    for rating in axis.ratings:
        score = rating.score
        units[rating.unit][rating.rater] = score if isinstance(score, str) else int(score * unit)
    return unit, list(units.values())


def _list_categories(axis: RatedAxis, unit: int) -> list[Any]:
    """Return the scores that could be given, as far as known: those of the scale and those given.

    They are shown as `_index_axis_scores` shows scores.
    """
    given = {rating.score for rating in axis.ratings}
    if axis.level is ScaleLevel.NOMINAL:
        return sorted({*map(str, given), *map(str, axis.scale)})
    return sorted(int(Fraction(score) * unit) for score in {*given, *axis.scale})


def _measure_group(
    units: Sequence[ScoresByRater], categories: Sequence[Any], level: ScaleLevel
) -> GroupAgreement:
    raters = sorted({rater for unit in units for rater in unit})
    shared = [unit for unit in units if len(unit) > 1]
    values = {
        "alpha": compute_alpha(shared, level),
        "ac2": compute_ac2(units, categories, level),
        "percent": compute_percent_agreement(shared),
    }
    if len(raters) < 2:  # noqa: PLR2004 - agreement takes two
        why = sentence("only one rater gave scores") if raters else sentence("no person rated")
    elif not shared:
        why = sentence("no answer was rated by two raters")
    else:
        why = sentence("all scores are equal, so chance agreement cannot be told from more")
    reasons = {name: why for name, value in values.items() if value is None}
    return GroupAgreement(
        n=len(shared), raters=tuple(raters), reasons=FrozenDict(reasons), **values
    )


def _compute_interval(
    units: Sequence[ScoresByRater], people: GroupAgreement, level: ScaleLevel, seed: int
) -> tuple[AlphaInterval | None, dict[str, str]]:
    """Return the interval of alpha, or why there is none."""
    if people.alpha is None:
        return None, {"alpha_interval": people.reasons["alpha"]}
    if people.n < LEAST_FOR_INTERVAL:
        why = sentence(
            "{n} answers were rated by two people; an interval takes {least}",
            n=people.n,
            least=LEAST_FOR_INTERVAL,
        )
        return None, {"alpha_interval": why}
    bounds = compute_alpha_interval(units, level, seed)
    if bounds is None:
        why = sentence("so few scores differ that some draws hold none, and have no alpha")
        return None, {"alpha_interval": why}
    low, high = bounds
    return AlphaInterval(low=low, high=high, resamples=RESAMPLES, seed=seed), {}

"""Agreement of two raters: kappa, correlations and RMSE of each pair, and what many pairs show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from statistics import median
from typing import Any, ClassVar

from markscheme.vocabulary import RatedAxis, RecordFields, ScaleLevel, sentence
from markscheme.weigh.stats import (
    ScoresByRater,
    compute_kappa,
    compute_kendall,
    compute_pearson,
    compute_rmse,
    compute_spearman,
)

PEOPLE = "people"
"""Stands for all people together, where one judge is compared with them."""
LEAST_SHARED = 10
"""Pairs with fewer answers in common are left out of a summary: what they show is chance."""


class PairKind(StrEnum):
    """Who is in a pair of raters."""

    PEOPLE = "people"
    PERSON_AND_JUDGE = "person and judge"
    JUDGES = "judges"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """How far two raters agree over the `n` answers that both rated.

    A coefficient that is not defined is `None`; `reason` then says why.
    """

    raters: tuple[str, str]
    kind: PairKind
    n: int
    kappa: Fraction | None
    pearson: float | None
    spearman: float | None
    kendall: float | None
    rmse: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSummary:
    """What many pairs of one kind show: medians, and the pairs with the lowest and highest kappa.

    Of `pairs` with an answer in common, `few` have less than `LEAST_SHARED` and are left out,
    unless all of them have.
    """

    kind: PairKind
    pairs: int
    few: int
    kappa: Fraction | None
    pearson: float | None
    spearman: float | None
    kendall: float | None
    rmse: float | None
    worst: tuple[str, str] | None
    best: tuple[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterStanding:
    """How one rater agrees with the people: the median kappa over `pairs` pairs with them.

    Pairs with less than `LEAST_SHARED` answers in common count only if there is no other.
    """

    rater: str
    is_judge: bool
    pairs: int
    kappa: Fraction | None

    record_fields: ClassVar[RecordFields] = ("rater", ("judge", "is_judge"), "pairs", "kappa")


def measure_pairs(
    units: Iterable[ScoresByRater], axis: RatedAxis, unit: int
) -> tuple[PairAgreement, ...]:
    """Measure each pair of raters with an answer in common; people come before judges."""
    shared: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for scores in units:
        raters = sorted(scores, key=lambda rater: (rater in axis.judges, rater))
        for one, other in combinations(raters, 2):
            shared[one, other].append((scores[one], scores[other]))
    kinds = (PairKind.PEOPLE, PairKind.PERSON_AND_JUDGE, PairKind.JUDGES)
    found = [
        _measure_pair(pair, kinds[len(axis.judges.intersection(pair))], scores, (axis.level, unit))
        for pair, scores in shared.items()
    ]
    return tuple(sorted(found, key=lambda pair: (kinds.index(pair.kind), pair.raters)))


def compare_judges(
    units: Iterable[ScoresByRater], axis: RatedAxis, unit: int
) -> tuple[PairAgreement, ...]:
    """Compare each judge with every score of a person on the same answer."""
    shared: dict[str, list[tuple[Any, Any]]] = {judge: [] for judge in sorted(axis.judges)}
    for scores in units:
        people = [score for rater, score in sorted(scores.items()) if rater not in axis.judges]
        for judge in axis.judges & scores.keys():
            shared[judge] += [(score, scores[judge]) for score in people]
    kind = PairKind.PERSON_AND_JUDGE
    return tuple(
        _measure_pair((PEOPLE, judge), kind, scores, (axis.level, unit))
        for judge, scores in shared.items()
        if scores
    )


def _measure_pair(
    raters: tuple[str, str],
    kind: PairKind,
    scores: Sequence[tuple[Any, Any]],
    scale: tuple[ScaleLevel, int],
) -> PairAgreement:
    level, unit = scale
    has_order = level is not ScaleLevel.NOMINAL
    kappa = compute_kappa(scores, level)
    pearson = compute_pearson(scores) if has_order else None
    reason = None
    if kappa is None:
        reason = sentence("both raters gave one and the same score throughout")
    elif not has_order:
        reason = sentence("names have no order: only kappa is defined")
    elif pearson is None:
        reason = sentence("a rater gave the same score throughout")
    return PairAgreement(
        raters=raters,
        kind=kind,
        n=len(scores),
        kappa=kappa,
        pearson=pearson,
        spearman=compute_spearman(scores) if has_order else None,
        kendall=compute_kendall(scores) if has_order else None,
        rmse=compute_rmse(scores, unit) if has_order else None,
        reason=reason,
    )


def summarise_pairs(pairs: Sequence[PairAgreement]) -> tuple[PairSummary, ...]:
    """Summarise the pairs of each kind."""
    kinds = dict.fromkeys(pair.kind for pair in pairs)
    return tuple(
        _summarise_kind(kind, [pair for pair in pairs if pair.kind is kind]) for kind in kinds
    )


def _summarise_kind(kind: PairKind, pairs: Sequence[PairAgreement]) -> PairSummary:
    counted = _select_telling_pairs(pairs)
    kappas = [(pair.kappa, pair.raters) for pair in counted if pair.kappa is not None]

    def compute_median(name: str) -> Any:
        values = [getattr(pair, name) for pair in counted]
        known = [value for value in values if value is not None]
        return median(known) if known else None

    return PairSummary(
        kind=kind,
        pairs=len(pairs),
        few=sum(pair.n < LEAST_SHARED for pair in pairs),
        kappa=compute_median("kappa"),
        pearson=compute_median("pearson"),
        spearman=compute_median("spearman"),
        kendall=compute_median("kendall"),
        rmse=compute_median("rmse"),
        worst=min(kappas)[1] if kappas else None,
        best=max(kappas)[1] if kappas else None,
    )


def _select_telling_pairs(pairs: Sequence[PairAgreement]) -> Sequence[PairAgreement]:
    """Return the pairs with enough answers in common; all of them if none has."""
    return [pair for pair in pairs if pair.n >= LEAST_SHARED] or pairs


def rank_raters(pairs: Iterable[PairAgreement]) -> tuple[RaterStanding, ...]:
    """Return how each rater agrees with the people, the lowest first, the unknown last."""
    pairs_by_rater: dict[tuple[bool, str], list[PairAgreement]] = defaultdict(list)
    for pair in pairs:
        one, other = pair.raters
        if pair.kind is PairKind.PEOPLE:
            pairs_by_rater[False, one].append(pair)
        if pair.kind is not PairKind.JUDGES:
            pairs_by_rater[pair.kind is PairKind.PERSON_AND_JUDGE, other].append(pair)
    found = []
    for (is_judge, rater), shared in pairs_by_rater.items():
        telling = _select_telling_pairs(shared)
        kappas = [pair.kappa for pair in telling if pair.kappa is not None]
        kappa = Fraction(median(kappas)) if kappas else None
        found.append(RaterStanding(rater=rater, is_judge=is_judge, pairs=len(telling), kappa=kappa))
    return tuple(
        sorted(found, key=lambda one: (one.kappa is None, one.kappa or 0, one.is_judge, one.rater))
    )

"""Measure a judge on one axis: agreement with people, bias, steadiness, the effect of length."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

from markscheme.ask.judging import format_score
from markscheme.read.marks import AnswerKey
from markscheme.read.rating_scores import NOT_APPLICABLE, list_allowed_scores
from markscheme.vocabulary import ChoiceAxis, FrozenDict, ScaleLevel
from markscheme.weigh.calibration.decide import JudgeEvidence, decide_axis
from markscheme.weigh.calibration.pairs import AxisPairs, RatedQuestion
from markscheme.weigh.calibration.result import (
    AxisCalibration,
    Bias,
    ConfusionCell,
    ConstantJudge,
    LengthEffect,
    PeopleAgreement,
    Steadiness,
    TagAgreement,
)
from markscheme.weigh.stats import (
    ScoredAnswer,
    compute_alpha,
    compute_clustered_mean,
    compute_kappa,
    compute_kappa_bounds,
    compute_spearman,
    find_common_unit,
)

_MAX_TAGS = 5
_LEAST_OF_TAG = 10

Score = Fraction | str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFacts:
    """What is known of an answer besides its scores: its length in words, the tags of its item."""

    words: int = 0
    tags: Mapping[str, str] = FrozenDict()


_NO_FACTS = AnswerFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question that was asked four times: twice in each order; None is unread."""

    axis: str
    answer: Hashable
    scores: tuple[tuple[Score | None, Score | None], tuple[Score | None, Score | None]]


def measure_axis(
    pairs: AxisPairs,
    *,
    needed: Fraction,
    seed: int,
    facts: Mapping[AnswerKey, AnswerFacts] = FrozenDict(),
    probes: Sequence[Probe] = (),
) -> AxisCalibration:
    """Return what the pairs of one axis show, and the outcome."""
    table = _ScoreTable(pairs)
    bounds = compute_kappa_bounds(table.list_answers(), span=table.span, seed=seed)
    constant, distance = table.find_best_constant(), table.compute_distance()
    steadiness = _measure_steadiness(pairs, probes)
    n = len({rated.answer for rated in pairs.rated if rated.judge is not None})
    unread = sum(rated.judge is None for rated in pairs.rated)
    outcome, reasons = decide_axis(
        JudgeEvidence(
            n=n,
            unread=unread,
            people=Counter(score for rated in pairs.rated for score in rated.people.values()),
            judge=Counter(rated.judge for rated in pairs.rated if rated.judge is not None),
            extremes=table.extremes,
            bounds=bounds,
            needed=needed,
            distance=distance,
            constant=constant,
            steadiness=steadiness,
        )
    )
    return AxisCalibration(
        level=ScaleLevel.INTERVAL.value if pairs.is_scale else ScaleLevel.NOMINAL.value,
        n=n,
        ratings=sum(len(rated.people) for rated in pairs.rated),
        unread=unread,
        kappa=bounds.kappa,
        interval=None if bounds.low is None or bounds.high is None else (bounds.low, bounds.high),
        lower=bounds.lower,
        usual_lower=bounds.usual_lower,
        alpha=table.compute_alpha(),
        percent=table.compute_percent(),
        distance=distance,
        constant=constant,
        bias=_measure_bias(table),
        people=table.measure_people(bounds.kappa),
        confusion=tuple(table.count_confusion()),
        worst_tags=tuple(_find_worst_tags(table, facts)),
        length=_measure_length(table, facts),
        steadiness=steadiness,
        outcome=outcome,
        reasons=reasons,
    )


class _ScoreTable:
    """The scores of an axis as whole numbers or names, with what follows from them.

    `n/a` is a name among names. On a scale, two `n/a` agree and are left out of kappa, and `n/a`
    beside a number is as wrong as can be.
    """

    def __init__(self, pairs: AxisPairs) -> None:
        self.pairs = pairs
        self.read = [rated for rated in pairs.rated if rated.judge is not None]
        self.allowed = list_allowed_scores(pairs.question)
        scores = (*self._iterate_scores(), *self.allowed)
        self._unit = find_common_unit(score for score in scores if isinstance(score, Fraction))
        self._low, self._high = (0, 1)
        if pairs.is_scale:
            self._low, self._high = (
                int(Fraction(score) * self._unit) for score in (self.allowed[0], self.allowed[-1])
            )

    def _iterate_scores(self) -> Iterator[Score]:
        for rated in self.pairs.rated:
            yield from rated.people.values()
            if rated.judge is not None:
                yield rated.judge

    @property
    def span(self) -> int | None:
        """The distance of the lowest and the highest score; None if scores are names."""
        return self._high - self._low if self.pairs.is_scale else None

    @property
    def extremes(self) -> tuple[Score, Score] | None:
        """The lowest and the highest mark, if each is one."""
        question = self.pairs.question
        if isinstance(question, ChoiceAxis):
            ordered = sorted(question.options, key=lambda name: question.options[name])
            return ordered[0], ordered[-1]
        return self.allowed[0], self.allowed[-1]

    def list_answers(self) -> list[ScoredAnswer]:
        """Return the pairs of people and judge, answer by answer."""
        by_answer: dict[Hashable, list[RatedQuestion]] = defaultdict(list)
        for rated in self.pairs.rated:
            by_answer[rated.answer].append(rated)
        return [self._build_answer(rated) for rated in by_answer.values()]

    def _build_answer(self, rated: Sequence[RatedQuestion]) -> ScoredAnswer:
        scored: list[tuple[Any, Any]] = []
        wrong = unread = 0
        for one in rated:
            for person in one.people.values():
                if one.judge is None:
                    unread += 1
                elif not self.pairs.is_scale:
                    scored.append((str(person), str(one.judge)))
                elif NOT_APPLICABLE in {person, one.judge}:
                    wrong += person != one.judge
                else:
                    scored.append((self._count_units(person), self._count_units(one.judge)))
        return ScoredAnswer(pairs=tuple(scored), wrong=wrong, unread=unread)

    def _count_units(self, score: Score) -> int:
        return int(Fraction(score) * self._unit)

    def iterate_pairs(self) -> Iterator[tuple[RatedQuestion, Score, Score]]:
        """Yield every question with the score of one person and of the judge."""
        for rated in self.read:
            for person in rated.people.values():
                if rated.judge is not None:
                    yield rated, person, rated.judge

    def measure_distance(self, person: Score, judge: Score) -> Fraction:
        """Return how far two scores are apart: squared on a scale, else 0 or 1."""
        if not self.pairs.is_scale:
            return Fraction(person != judge)
        if NOT_APPLICABLE in {person, judge}:
            span = Fraction(self._high - self._low, self._unit)
            return Fraction(0) if person == judge else span**2
        return (Fraction(judge) - Fraction(person)) ** 2

    def compute_distance(self) -> Fraction | None:
        """Return the mean distance of the judge from people."""
        return _mean([self.measure_distance(one, two) for _, one, two in self.iterate_pairs()])

    def compute_percent(self) -> Fraction | None:
        """Return how often the judge says exactly what a person says."""
        return _mean([Fraction(one == two) for _, one, two in self.iterate_pairs()])

    def find_best_constant(self) -> ConstantJudge | None:
        """Return the mark that would be nearest to people if it were given to every answer."""
        people = Counter(person for _, person, _ in self.iterate_pairs())
        if not people:
            return None
        total = people.total()
        candidates = [
            ConstantJudge(
                score=score,
                percent=Fraction(people[score], total),
                distance=sum(
                    (n * self.measure_distance(person, score) for person, n in people.items()),
                    Fraction(0),
                )
                / total,
            )
            for score in self.allowed
        ]
        return min(candidates, key=lambda one: (one.distance, -one.percent))

    def compute_alpha(self) -> Fraction | None:
        """Return Krippendorff's alpha of people and judge together."""
        level = ScaleLevel.ORDINAL if self.pairs.is_scale else ScaleLevel.NOMINAL
        units: list[dict[str, Any]] = []
        for rated in self.read:
            scores = {f"person {name}": score for name, score in rated.people.items()}
            if rated.judge is not None:
                scores["judge"] = rated.judge
            if self.pairs.is_scale:
                counted = {
                    name: self._count_units(score)
                    for name, score in scores.items()
                    if score != NOT_APPLICABLE
                }
                units.append(counted)
            else:
                units.append({name: str(score) for name, score in scores.items()})
        return compute_alpha(units, level)

    def measure_people(self, kappa: Fraction | None) -> PeopleAgreement:
        """Return how people agree with each other: each two of them count in both directions."""
        level = ScaleLevel.INTERVAL if self.pairs.is_scale else ScaleLevel.NOMINAL
        shared: list[tuple[Any, Any]] = []
        several = 0
        for rated in self.pairs.rated:
            scores: list[Any] = [
                self._count_units(score) if self.pairs.is_scale else str(score)
                for score in rated.people.values()
                if not self.pairs.is_scale or score != NOT_APPLICABLE
            ]
            several += len(scores) > 1
            shared += permutations(scores, 2)
        own = compute_kappa(shared, level) if shared else None
        difference = None if own is None or kappa is None else kappa - own
        return PeopleAgreement(n=several, kappa=own, difference=difference)

    def count_confusion(self) -> Iterator[ConfusionCell]:
        """Yield how often each score of people met each score of the judge."""
        counts = Counter((person, judge) for _, person, judge in self.iterate_pairs())
        for person, judge in sorted(counts, key=lambda pair: tuple(map(_get_sort_key, pair))):
            yield ConfusionCell(
                person=format_score(person), judge=format_score(judge), n=counts[person, judge]
            )

    def get_value(self, score: Score) -> Fraction | None:
        """Return a score as a number in which bias is measured; None for `n/a`."""
        if score == NOT_APPLICABLE:
            return None
        question = self.pairs.question
        return question.options[str(score)] if isinstance(question, ChoiceAxis) else Fraction(score)

    def list_differences(self) -> list[tuple[RatedQuestion, Fraction]]:
        """Return by how much the judge gives more than each person."""
        found = []
        for rated, person, judge in self.iterate_pairs():
            theirs, own = self.get_value(person), self.get_value(judge)
            if theirs is not None and own is not None:
                found.append((rated, own - theirs))
        return found


def _get_sort_key(score: Score) -> tuple[bool, Fraction, str]:
    number = score if isinstance(score, Fraction) else Fraction(0)
    return isinstance(score, str), number, str(score)


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def _measure_bias(table: _ScoreTable) -> Bias | None:
    differences = table.list_differences()
    mean = _mean([difference for _, difference in differences])
    if mean is None:
        return None
    clustered = compute_clustered_mean(
        [difference for _, difference in differences], [rated.answer for rated, _ in differences]
    )
    if clustered is None:
        return Bias(mean=mean, low=None, high=None)
    return Bias(mean=mean, low=clustered.lower, high=clustered.upper)


def _find_worst_tags(
    table: _ScoreTable, facts: Mapping[AnswerKey, AnswerFacts]
) -> list[TagAgreement]:
    """Return the tags on whose items the judge agrees least with people, the worst first."""
    agreed: dict[str, list[Fraction]] = defaultdict(list)
    for rated, person, judge in table.iterate_pairs():
        for name, value in facts.get(rated.key.answer, _NO_FACTS).tags.items():
            agreed[f"{name}: {value}"].append(Fraction(person == judge))
    found = [
        TagAgreement(tag=tag, n=len(shares), percent=sum(shares, Fraction(0)) / len(shares))
        for tag, shares in agreed.items()
        if len(shares) >= _LEAST_OF_TAG
    ]
    return sorted(found, key=lambda one: (one.percent, one.tag))[:_MAX_TAGS]


def _measure_length(table: _ScoreTable, facts: Mapping[AnswerKey, AnswerFacts]) -> LengthEffect:
    """Return whether the judge's surplus over people grows with the words of the answer."""
    pairs = [
        (facts[rated.key.answer].words, difference)
        for rated, difference in table.list_differences()
        if rated.key.answer in facts
    ]
    unit = find_common_unit(difference for _, difference in pairs) if pairs else 1
    whole = [(words, int(difference * unit)) for words, difference in pairs]
    return LengthEffect(n=len(whole), spearman=compute_spearman(whole) if whole else None)


def _measure_steadiness(pairs: AxisPairs, probes: Sequence[Probe]) -> Steadiness | None:
    """Count the verdicts that changed with the order, and when the same was asked again."""
    own = [probe for probe in probes if probe.axis == pairs.axis]
    if not own:
        return None
    half = Fraction(0)
    if pairs.is_scale:
        allowed = list_allowed_scores(pairs.question)
        half = (Fraction(allowed[-1]) - Fraction(allowed[0])) / 2
    read = [probe.scores for probe in own if None not in (*probe.scores[0], *probe.scores[1])]
    return Steadiness(
        answers=len({probe.answer for probe in own}),
        verdicts=len(read),
        changed_by_order=sum(_is_change(forth[0], back[0], half) for forth, back in read),
        changed_by_repeat=sum(_is_change(*forth, half) for forth, _ in read),
    )


def _is_change(one: Score | None, other: Score | None, half: Fraction) -> bool:
    if isinstance(one, Fraction) and isinstance(other, Fraction) and half:
        return abs(one - other) >= half
    return one != other

"""Put the scores of people and of a judge side by side: one pair for each person and question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from markscheme.read.marks import AnswerKey
from markscheme.read.rating_scores import NOT_APPLICABLE, MetOrNot, ScoredQuestion
from markscheme.vocabulary import ChoiceAxis, Rating

Score: TypeAlias = Fraction | str | None


class QuestionKey(NamedTuple):
    """One question about one answer: an axis has one, an axis of criteria one for each."""

    item: str
    variant: str
    attempt: int
    criterion: str

    @property
    def answer(self) -> AnswerKey:
        """Which answer it is about."""
        return AnswerKey(self.item, self.variant, self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedQuestion:
    """A question about an answer with the scores of people, and the judge's, None if unread.

    `answer` is the same for answers that cannot be told apart: the same text for the same item.
    """

    key: QuestionKey
    answer: Hashable
    people: Mapping[str, Fraction | str]
    judge: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisPairs:
    """Everything on one axis that people rated and that the judge was asked."""

    axis: str
    question: ScoredQuestion
    rated: tuple[RatedQuestion, ...]

    @property
    def is_scale(self) -> bool:
        """Whether scores are numbers, and not names or met and not met."""
        return not isinstance(self.question, ChoiceAxis | MetOrNot)


def pair_ratings(
    people: Iterable[Rating],
    judged: Iterable[Rating],
    questions: Mapping[str, ScoredQuestion],
    answers: Mapping[AnswerKey, Hashable],
) -> dict[str, AxisPairs]:
    """Return the pairs of each axis that people rated; repeats of a person count once.

    `answers` names the answers that cannot be told apart, by item, variant and attempt.
    """
    by_people: dict[str, dict[QuestionKey, dict[str, Fraction | str]]] = defaultdict(dict)
    by_judge: dict[tuple[str, QuestionKey], list[Score]] = defaultdict(list)
    for rating in people:
        if rating.score is not None and rating.axis in questions:
            scores = by_people[rating.axis].setdefault(_get_key(rating), {})
            scores.setdefault(rating.rater, rating.score)
    for rating in judged:
        by_judge[rating.axis, _get_key(rating)].append(rating.score)
    return {
        axis: AxisPairs(
            axis=axis,
            question=questions[axis],
            rated=tuple(
                RatedQuestion(
                    key=key,
                    answer=answers.get(key.answer, key.answer),
                    people=scores,
                    judge=settle_scores(
                        by_judge.get((axis, key), []),
                        has_names=isinstance(questions[axis], ChoiceAxis | MetOrNot),
                    ),
                )
                for key, scores in sorted(by_people[axis].items())
            ),
        )
        for axis in questions
        if axis in by_people
    }


def _get_key(rating: Rating) -> QuestionKey:
    return QuestionKey(rating.item, rating.variant, rating.attempt, rating.criterion)


def settle_scores(scores: Sequence[Score], *, has_names: bool) -> Score:
    """Return the one score that a judge's repeats and orders come to, as runs count them.

    Numbers of a scale have a mean. A name needs more than half; without, nothing was said.
    """
    told = [score for score in scores if score is not None]
    if not told or len(told) < len(scores):
        return None
    if has_names:
        (first, count), *_ = Counter(told).most_common(1)
        return first if 2 * count > len(told) else None
    numbers = [score for score in told if score != NOT_APPLICABLE and not isinstance(score, str)]
    if 2 * len(numbers) < len(told):
        return NOT_APPLICABLE
    return sum(numbers, Fraction(0)) / len(numbers)

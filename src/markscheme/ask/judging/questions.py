"""What a judge is asked about one answer: its scales, choices and criteria as questions with ids.

>>> from markscheme.vocabulary import Criterion
>>> asked = ask_criterion("facts", Criterion(id="c1", points=Fraction(2), says="Names the dose."))
>>> asked.id, asked.kind.value, asked.says
('c1', 'criterion', 'Names the dose.')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct, structs

from markscheme.read.documents import hash_parts, to_canonical_json
from markscheme.vocabulary import ChoiceAxis, Criterion, FrozenDict, ScaleAxis


class QuestionKind(StrEnum):
    """What a verdict is: a number of a scale, the name of an option, or true or false."""

    SCALE = "scale"
    CHOICE = "choice"
    CRITERION = "criterion"


class JudgeQuestion(Struct, frozen=True, kw_only=True):
    """One question about an answer; a judge's verdict names it by its `id`.

    `anchors` are the numbers of a scale in words, `options` the names of a choice with their
    values. The points of a criterion are not told to a judge; `costs` says that meeting it costs
    points, so that the lower of two verdicts is known.
    """

    id: str
    kind: QuestionKind
    axis: str
    says: str
    criterion: str = ""
    anchors: Mapping[int, str] = FrozenDict()
    step: Fraction = Fraction(1)
    options: Mapping[str, Fraction] = FrozenDict()
    may_not_apply: bool = False
    costs: bool = False


def ask_scale(axis: ScaleAxis) -> JudgeQuestion:
    """Return the question of a scale."""
    return JudgeQuestion(
        id=axis.name,
        kind=QuestionKind.SCALE,
        axis=axis.name,
        says=_join_title(axis.title, axis.question),
        anchors=axis.anchors,
        step=axis.step,
        may_not_apply=axis.may_not_apply,
    )


def ask_choice(axis: ChoiceAxis) -> JudgeQuestion:
    """Return the question of a choice."""
    return JudgeQuestion(
        id=axis.name,
        kind=QuestionKind.CHOICE,
        axis=axis.name,
        says=_join_title(axis.title, axis.question),
        options=axis.options,
        may_not_apply=axis.may_not_apply,
    )


def ask_criterion(axis: str, criterion: Criterion, *, costs: bool | None = None) -> JudgeQuestion:
    """Return the question of a criterion that no check decides.

    Whether meeting it `costs` points follows from its own points if its groups do not change that.
    """
    return JudgeQuestion(
        id=criterion.id,
        kind=QuestionKind.CRITERION,
        axis=axis,
        criterion=criterion.id,
        says=criterion.says,
        costs=criterion.points < 0 if costs is None else costs,
    )


def _join_title(title: str, question: str) -> str:
    return f"{title}: {question}" if title else question


def name_questions(questions: Sequence[JudgeQuestion]) -> tuple[JudgeQuestion, ...]:
    """Return questions with ids that are all different: those that are not get their axis before.

    The criteria of two axes may have the same ids, and a criterion may be called like an axis.
    """
    counts = Counter(question.id for question in questions)
    return tuple(
        structs.replace(question, id=f"{question.axis}:{question.criterion}")
        if counts[question.id] > 1 and question.criterion
        else question
        for question in questions
    )


def fingerprint_axes(questions: Iterable[JudgeQuestion]) -> dict[str, str]:
    """Return a hash of what each axis asks over all items: question, anchors, options, criteria.

    The words count, and neither names and ids, nor line breaks, nor the order in which things are
    written. Points are not told to a judge, so they do not count either.
    """
    asked: dict[str, set[str]] = {}
    for question in questions:
        meaning = {
            "kind": question.kind.value,
            "says": " ".join(question.says.split()),
            "anchors": {
                str(number): " ".join(text.split()) for number, text in question.anchors.items()
            },
            "step": question.step,
            "options": question.options,
            "may_not_apply": question.may_not_apply,
        }
        asked.setdefault(question.axis, set()).add(to_canonical_json(meaning))
    return {axis: hash_parts("axis/1", sorted(meanings)) for axis, meanings in asked.items()}


def split_questions(
    questions: Sequence[JudgeQuestion], calls: int | None
) -> list[tuple[JudgeQuestion, ...]]:
    """Split the questions about one answer into calls, as evenly as can be and in their order.

    `None` gives each question a call of its own.
    """
    parts = len(questions) if calls is None else min(calls, len(questions))
    bounds = [len(questions) * part // parts for part in range(parts + 1)] if parts else []
    return [tuple(questions[start:end]) for start, end in pairwise(bounds)]

"""The scores that raters may give: the numbers of a scale, the options of a choice, criteria.

>>> tone = ScaleAxis(name="tone", question="?", anchors={1: "rude", 3: "kind"}, step=Fraction(1, 2))
>>> parse_rated_score("2.5", tone), parse_rated_score("2.2", tone)
(Fraction(5, 2), None)
>>> describe_allowed_scores(tone)
'numbers from 1 to 3 in steps of 0.5'
"""

from __future__ import annotations

import math
import re
from enum import Enum, auto
from fractions import Fraction
from typing import Any, Final, TypeAlias

from markscheme.read.documents import suggest_match
from markscheme.read.rating_cells import clean_cell_text, parse_whole_number
from markscheme.read.rating_tables import RatedQuestion
from markscheme.vocabulary import (
    ChoiceAxis,
    Rubric,
    ScaleAxis,
    Status,
    format_short,
    format_value,
    to_fraction,
)

CRITERIA_KIND = "criteria"
NOT_APPLICABLE: Final[str] = Status.NOT_APPLICABLE.value
_DECIMAL = re.compile(r"[+-]?[0-9]{1,9}(?:[.,][0-9]{1,9})?")
_CRITERION_WORDS = {"true": Fraction(1), "false": Fraction(0)}


class MetOrNot(Enum):
    """Stands for a criterion where scores are read: it is met, not met, or does not apply."""

    CRITERION = auto()


ScoredQuestion: TypeAlias = ScaleAxis | ChoiceAxis | MetOrNot
"""What a rater gives a score to."""


def parse_rated_score(value: Any, question: ScoredQuestion) -> Fraction | str | None:
    """Return the score that a cell holds; `None` if the question does not allow it."""
    text = str(value).lower() if isinstance(value, bool) else clean_cell_text(value)
    if text.casefold() == NOT_APPLICABLE:
        return NOT_APPLICABLE if allows_not_applicable(question) else None
    if isinstance(question, ChoiceAxis):
        name = str(value) if type(value) is int else text
        return name if name in question.options else None
    if isinstance(question, MetOrNot):
        number = _CRITERION_WORDS.get(text.casefold(), _parse_number(value, whole=True))
        return number if number in {0, 1} else None
    number = _parse_number(value, whole=question.step.denominator == 1)
    if number is None or not question.lowest <= number <= question.highest:
        return None
    return number if (number - question.lowest) % question.step == 0 else None


def _parse_number(value: Any, *, whole: bool) -> Fraction | None:
    """Return a number as it is written; decimals of programs only where halves are allowed."""
    if isinstance(value, Fraction):
        return value
    number = parse_whole_number(value)
    if number is not None or whole:
        return None if number is None else Fraction(number)
    if isinstance(value, float):
        return to_fraction(value) if math.isfinite(value) else None
    text = clean_cell_text(value)
    return Fraction(text.replace(",", ".")) if _DECIMAL.fullmatch(text) else None


def allows_not_applicable(question: ScoredQuestion) -> bool:
    """Whether `n/a` can be given: a criterion may always turn out not to apply."""
    return isinstance(question, MetOrNot) or question.may_not_apply


def describe_allowed_scores(question: ScoredQuestion) -> str:
    """Return the scores that can be given, as messages list them."""
    if isinstance(question, MetOrNot):
        return f"1, 0, {NOT_APPLICABLE}, true, false"
    if isinstance(question, ChoiceAxis):
        allowed = ", ".join(question.options)
    else:
        allowed = f"numbers from {question.lowest} to {question.highest}"
        if question.step == 1:
            allowed = f"whole {allowed}"
        else:
            allowed += f" in steps of {format_short(question.step)}"
    return f"{allowed}, {NOT_APPLICABLE}" if question.may_not_apply else allowed


def describe_wrong_score(value: Any, question: ScoredQuestion) -> str:
    """Return the message for a score that the question does not allow."""
    options = question.options if isinstance(question, ChoiceAxis) else ()
    allowed = f"allowed: {describe_allowed_scores(question)}"
    return f"{format_value(value)} is no score; {allowed}{suggest_match(str(value), options)}"


def list_allowed_scores(question: ScoredQuestion) -> tuple[Fraction | str, ...]:
    """Return the scores that can be given, without `n/a`, in their order."""
    if isinstance(question, MetOrNot):
        return Fraction(0), Fraction(1)
    if isinstance(question, ChoiceAxis):
        return tuple(question.options)
    steps = (question.highest - question.lowest) / question.step
    return tuple(question.lowest + at * question.step for at in range(int(steps) + 1))


def find_questions(rubric: Rubric) -> dict[str, ScoredQuestion]:
    """Return what raters give scores to, by axis: scales, choices, then axes of criteria."""
    criteria = (spec.name for spec in rubric if spec.axis.kind == CRITERIA_KIND)
    return {
        **{scale.name: scale for scale in rubric.scales},
        **{choice.name: choice for choice in rubric.choices},
        **dict.fromkeys(criteria, MetOrNot.CRITERION),
    }


def list_column_axes(rubric: Rubric) -> tuple[RatedQuestion, ...]:
    """Return the axes that can have a column of their own: each answer has one score of them."""
    return (*rubric.scales, *rubric.choices, *rubric.notes)


def describe_wrong_criterion(criterion: str, axis: str, question: ScoredQuestion) -> str:
    """Return the message if a rating lacks a criterion, or names one where there is none."""
    if isinstance(question, MetOrNot):
        return "" if criterion else f"is empty; {format_value(axis)} is rated by criterion"
    kind = "choice" if isinstance(question, ChoiceAxis) else "scale"
    message = f"{format_value(criterion)} stands where none belongs; {format_value(axis)} is a"
    return f"{message} {kind} and has no criteria" if criterion else ""

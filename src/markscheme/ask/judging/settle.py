"""What counts where a judge differs with itself, or the judges of a panel differ.

Every mark that comes out was given by some judge: settling chooses, and never makes up a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from markscheme.ask.judging.questions import JudgeQuestion, QuestionKind
from markscheme.read.rating_scores import NOT_APPLICABLE
from markscheme.vocabulary import SettleRule, format_short

Score: TypeAlias = Fraction | str | None


def settle_orders(
    question: JudgeQuestion, scores: Sequence[Score], rule: SettleRule | None
) -> tuple[tuple[Score, ...], str]:
    """Return the scores of the two orders as they count, and a reason where that is not plain.

    Two numbers of a scale both count, so that their mean does. A criterion or an option that
    depends on the order counts in neither, unless the rule is `lower`. Where one order was not
    read, neither counts.
    """
    told = [score for score in scores if score is not None]
    if len(told) < len(scores):
        return (None,) * len(scores), ""
    if len(set(told)) == 1:
        return tuple(scores), ""
    shown = " and ".join(map(format_score, told))
    if rule is SettleRule.LOWER:
        lower = _find_lowest(question, told)
        return (lower,) * len(scores), f"the lower of {shown}, by order of the list"
    if question.kind is QuestionKind.SCALE and NOT_APPLICABLE not in told:
        return tuple(scores), f"{shown}, by order of the list"
    return (None,) * len(scores), f"depends on the order of the list: {shown}"


def settle_panel(
    question: JudgeQuestion, scores: Sequence[Score], quorum: int, rule: SettleRule
) -> tuple[Score, str]:
    """Return the mark of a panel and how it came about; None with too few marks or no majority."""
    told = [score for score in scores if score is not None]
    if len(told) < quorum:
        return None, f"{len(told)} of {len(scores)} judges, and the quorum is {quorum}"
    shown = ", ".join("unread" if score is None else format_score(score) for score in scores)
    return _choose(question, told, rule), f"{rule.value} of {shown}"


def settle_repeats(question: JudgeQuestion, scores: Sequence[Score], rule: SettleRule) -> Score:
    """Return the one mark of a judge that was asked several times; None if any was not read."""
    told = [score for score in scores if score is not None]
    return _choose(question, told, rule) if told and len(told) == len(scores) else None


def _choose(question: JudgeQuestion, told: Sequence[Fraction | str], rule: SettleRule) -> Score:
    if rule is SettleRule.LOWER:
        return _find_lowest(question, told)
    applying = [score for score in told if score != NOT_APPLICABLE]
    if rule is SettleRule.MEDIAN and question.kind is QuestionKind.SCALE:
        # As for people's marks: `n/a` counts if more say so than give a number.
        if len(applying) * 2 < len(told):
            return NOT_APPLICABLE
        # Of two middle marks the lower: a mean of them may be no number of the scale.
        return sorted(applying, key=lambda score: rank_score(question, score))[
            (len(applying) - 1) // 2
        ]
    (first, count), *_ = Counter(told).most_common(1)
    return first if count * 2 > len(told) else None


def _find_lowest(question: JudgeQuestion, told: Sequence[Fraction | str]) -> Score:
    """Return the mark that gives an answer least; `n/a` only where all say so."""
    applying = [score for score in told if score != NOT_APPLICABLE]
    return min(applying, key=lambda score: rank_score(question, score), default=NOT_APPLICABLE)


def rank_score(question: JudgeQuestion, score: Fraction | str) -> Fraction:
    """Return how much a mark gives an answer, compared with other marks of the same question."""
    if isinstance(score, str):
        return question.options[score]
    return -score if question.costs else score


def format_score(score: Fraction | str | None) -> str:
    """Return a score as a file of ratings has it: `4`, `3.5`, an option, `n/a`, or nothing."""
    return format_short(score) if isinstance(score, Fraction) else score or ""

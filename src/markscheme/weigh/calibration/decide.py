"""Decide whether gates may rest on a judge: pass, fail or undecided, with every reason.

A judge passes if the lower 95 % bound of its kappa with people reaches what is needed, it is nearer
to people than the best judge that always says the same, and it is steady. It fails if that is shown
not to be so, and it is undecided if there are too few answers to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from markscheme.ask.judging import format_score
from markscheme.vocabulary import Outcome, format_decimal, sentence
from markscheme.weigh.calibration.result import (
    CalibrationReason,
    ConstantJudge,
    ReasonCode,
    Steadiness,
)
from markscheme.weigh.stats import KappaBounds

_MAX_CHANGED = Fraction(1, 5)
_LEAST_VERDICTS = 10
_MAX_ANSWERS_NEEDED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEvidence:
    """What the decision on one axis is taken from.

    `people` and `judge` count the scores that each gave; `extremes` are the lowest and the highest
    mark there is, if marks have an order.
    """

    n: int
    unread: int
    people: Mapping[Fraction | str, int]
    judge: Mapping[Fraction | str, int]
    extremes: tuple[Fraction | str, Fraction | str] | None
    bounds: KappaBounds
    needed: Fraction
    distance: Fraction | None
    constant: ConstantJudge | None
    steadiness: Steadiness | None


def decide_axis(evidence: JudgeEvidence) -> tuple[Outcome, tuple[CalibrationReason, ...]]:
    """Return the outcome of an axis, and its reasons, the main one first."""
    missing = _find_missing_evidence(evidence)
    if missing:
        return Outcome.UNDECIDED, (missing,)
    failures = tuple(_find_failures(evidence))
    if failures:
        return Outcome.FAIL, failures
    bounds, needed = evidence.bounds, evidence.needed
    shown = {
        "kappa": format_decimal(bounds.kappa),
        "lower": format_decimal(bounds.lower),
        "needed": format_decimal(needed),
    }
    if bounds.lower is not None and bounds.lower >= needed:
        because = sentence(
            "kappa is {kappa}, at least {lower} with 95 % certainty, and {needed} is needed",
            **shown,
        )
        return Outcome.PASS, (CalibrationReason(code=ReasonCode.AGREES, because=because),)
    return Outcome.UNDECIDED, (_explain_uncertainty(evidence, shown),)


def _find_missing_evidence(evidence: JudgeEvidence) -> CalibrationReason | None:
    if not evidence.judge:
        because = sentence("no mark of the judge could be compared with people's")
        return CalibrationReason(code=ReasonCode.NOTHING_READ, because=because)
    if len(evidence.people) == 1:
        (score,) = evidence.people
        because = sentence(
            "people gave every answer the same mark, {score}: agreement by chance cannot be told"
            " from more",
            score=format_score(score),
        )
        return CalibrationReason(code=ReasonCode.PEOPLE_CONSTANT, because=because)
    return None


def _find_failures(evidence: JudgeEvidence) -> Iterator[CalibrationReason]:
    constant = _find_constant_judge(evidence)
    unsteadiness = list(_find_unsteadiness(evidence.steadiness))
    # What depends on the order explains low agreement; that it is not steady does not.
    yield from (reason for reason in unsteadiness if reason.code is ReasonCode.ORDER)
    if constant:
        yield constant
    else:
        yield from _find_disagreement(evidence.bounds, evidence.needed)
    yield from (reason for reason in unsteadiness if reason.code is not ReasonCode.ORDER)
    best, distance = evidence.constant, evidence.distance
    if constant is None and best is not None and distance is not None and distance >= best.distance:
        because = sentence(
            "it is no nearer to people than a judge that always says {score}",
            score=format_score(best.score),
        )
        yield CalibrationReason(code=ReasonCode.NO_BETTER_THAN_CONSTANT, because=because)


def _find_disagreement(bounds: KappaBounds, needed: Fraction) -> Iterator[CalibrationReason]:
    """Yield why kappa is shown to be too low: its upper bound does not reach what is needed."""
    if bounds.kappa is None or bounds.low is None or bounds.high is None:
        return
    shown = {
        "kappa": format_decimal(bounds.kappa),
        "low": format_decimal(bounds.low),
        "high": format_decimal(bounds.high),
        "needed": format_decimal(needed),
    }
    if bounds.high < 0:
        because = sentence(
            "it marks against people: kappa is {kappa}, at most {high}, below chance", **shown
        )
        yield CalibrationReason(code=ReasonCode.INVERTED, because=because)
    elif bounds.high < needed and bounds.low <= 0:
        because = sentence(
            "it agrees with people no more than chance does: kappa is {kappa}, from {low} to"
            " {high}, and {needed} is needed",
            **shown,
        )
        yield CalibrationReason(code=ReasonCode.CHANCE, because=because)
    elif bounds.high < needed:
        because = sentence(
            "it agrees too little: kappa is {kappa}, at most {high}, and {needed} is needed",
            **shown,
        )
        yield CalibrationReason(code=ReasonCode.LOW_AGREEMENT, because=because)


def _find_constant_judge(evidence: JudgeEvidence) -> CalibrationReason | None:
    if len(evidence.judge) > 1:
        return None
    (score,) = evidence.judge
    templates = {
        ReasonCode.ALWAYS_LOWEST: sentence("it gives every answer the lowest mark, {score}"),
        ReasonCode.ALWAYS_HIGHEST: sentence("it gives every answer the highest mark, {score}"),
        ReasonCode.CONSTANT: sentence("it gives every answer the same mark, {score}"),
    }
    code = ReasonCode.CONSTANT
    if evidence.extremes is not None and score in evidence.extremes:
        ends = (ReasonCode.ALWAYS_LOWEST, ReasonCode.ALWAYS_HIGHEST)
        code = ends[evidence.extremes.index(score)]
    return CalibrationReason(code=code, because=templates[code].format(score=format_score(score)))


def _find_unsteadiness(steadiness: Steadiness | None) -> Iterator[CalibrationReason]:
    if steadiness is None or steadiness.verdicts < _LEAST_VERDICTS:
        return
    order, repeat = steadiness.changed_by_order, steadiness.changed_by_repeat
    limit = _MAX_CHANGED * steadiness.verdicts
    if order >= limit and order > 2 * repeat:
        because = sentence(
            "its marks depend on the order of the list: {n} of {of} changed when it was reversed",
            n=order,
            of=steadiness.verdicts,
        )
        yield CalibrationReason(code=ReasonCode.ORDER, because=because)
    elif max(order, repeat) >= limit:
        because = sentence(
            "it is not steady: {n} of {of} marks changed when it was asked again",
            n=max(order, repeat),
            of=steadiness.verdicts,
        )
        yield CalibrationReason(code=ReasonCode.UNSTEADY, because=because)


def _explain_uncertainty(evidence: JudgeEvidence, shown: Mapping[str, str]) -> CalibrationReason:
    """Say that the bound is too low, and how many answers would raise it enough."""
    bounds = evidence.bounds
    if bounds.kappa is None or bounds.lower is None:
        because = sentence("kappa is not defined: nothing can differ by chance")
        return CalibrationReason(code=ReasonCode.UNDEFINED, because=because)
    if evidence.unread:
        because = sentence(
            "kappa is {kappa}, but with {unread} unread marks counted as wrong it may be as low as"
            " {lower}, and {needed} is needed",
            unread=evidence.unread,
            **shown,
        )
        return CalibrationReason(code=ReasonCode.UNREAD, because=because)
    if bounds.kappa > evidence.needed:
        # The distance to the bound shrinks with the root of the number of answers.
        ratio = (bounds.kappa - bounds.lower) / (bounds.kappa - evidence.needed)
        answers = ceil(evidence.n * ratio**2)
        if answers <= _MAX_ANSWERS_NEEDED:
            because = sentence(
                "too few answers to tell: kappa is {kappa}, at least {lower} with 95 % certainty,"
                " and {needed} is needed; about {answers:,} answers would tell if it stays",
                answers=answers,
                **shown,
            )
            return CalibrationReason(code=ReasonCode.TOO_FEW, because=because)
    because = sentence(
        "cannot tell: kappa is {kappa}, at least {lower} with 95 % certainty, and {needed} is"
        " needed",
        **shown,
    )
    return CalibrationReason(code=ReasonCode.TOO_FEW, because=because)

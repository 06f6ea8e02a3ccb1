"""Axes that are made of marks: what people or judge models say about an answer.

An axis without its marks is not scored: no mark is ever assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from markscheme.mark.axes.base import BaseAxis, quote_excerpt
from markscheme.vocabulary import (
    NOT_APPLICABLE,
    UNKNOWN_SCORE,
    Cell,
    FrozenDict,
    Item,
    Mark,
    MarkSource,
    NotApplicable,
    Response,
    ScoreBounds,
    Status,
    format_short,
    join_messages,
    sentence,
)

NOT_APPLICABLE_MARK = "n/a"
"""The mark that says that an axis or a criterion asks for nothing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAxis(BaseAxis):
    """An axis whose cells are combined from marks."""

    def mark(self, response: Response, item: Item) -> Cell:
        """Return the cell of an answer to which no marks were given."""
        return self.combine(response, item, ())

    def combine(self, response: Response, item: Item, marks: Sequence[Mark]) -> Cell:
        """Return the cell that follows from the marks of one answer."""
        raise NotImplementedError

    def get_bounds(self, item: Item) -> ScoreBounds:  # noqa: ARG002 - some axes need the item
        """Return the lowest and the highest value that an answer to the item can get."""
        return UNKNOWN_SCORE


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAxis(MarkedAxis):
    """An axis of one question, which every rater answers with one mark."""

    question: str
    may_not_apply: bool = False

    def combine(self, response: Response, item: Item, marks: Sequence[Mark]) -> Cell:  # noqa: ARG002
        """Return the mean of the marks; without any that could be read, the axis abstains."""
        refusal = find_mixed_sources(marks) or self._find_foreign_mark(marks)
        if refusal:
            return Cell(status=Status.FAILED, value=None, reason=refusal, marks=tuple(marks))
        value = average_marks((mark, self._get_value(mark)) for mark in marks)
        if isinstance(value, Fraction):
            status, reason = Status.SCORED, self._explain_value(value, marks)
        elif isinstance(value, NotApplicable):
            status = Status.NOT_APPLICABLE
            reason = sentence("does not apply ({marks})", marks=format_marks(marks))
        else:
            status, reason = Status.ABSTAINED, explain_unread(marks)
        scored = value if isinstance(value, Fraction) else None
        return Cell(status=status, value=scored, reason=reason, marks=tuple(marks))

    def _find_foreign_mark(self, marks: Iterable[Mark]) -> str:
        """Return why a mark cannot be one of this axis, or an empty text."""
        for mark in marks:
            if mark.score is None:
                continue
            is_refusal = mark.score == NOT_APPLICABLE_MARK
            allowed = self.may_not_apply if is_refusal else self._get_value(mark) is not None
            if mark.criterion or not allowed:
                return sentence(
                    "{rater} gave `{score}`, which is no mark of this axis",
                    rater=mark.by,
                    score=f"{mark.criterion} {format_score(mark.score)}".strip(),
                )
        return ""

    def _get_value(self, mark: Mark) -> Fraction | None:
        """Return the value from 0 to 1 of a mark, or `None` if it is none of this axis."""
        raise NotImplementedError

    def _explain_value(self, value: Fraction, marks: Sequence[Mark]) -> str:
        """Return the reason of a cell with this value."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedScale(QuestionAxis):
    """Raters answer a question with a number; each whole number has an anchor.

    The value is (score - lowest) / (highest - lowest).
    """

    kind: ClassVar[str] = "scale"
    anchors: Mapping[int, str] = FrozenDict()
    step: Fraction = Fraction(1)

    def _get_value(self, mark: Mark) -> Fraction | None:
        score, low, high = mark.score, min(self.anchors), max(self.anchors)
        if not isinstance(score, Fraction) or not low <= score <= high:
            return None
        return (score - low) / (high - low) if (score / self.step).denominator == 1 else None

    def _explain_value(self, value: Fraction, marks: Sequence[Mark]) -> str:
        low, high = min(self.anchors), max(self.anchors)
        return sentence(
            "{score} on the scale from {low} to {high} ({marks})",
            score=format_short(low + value * (high - low)),
            low=low,
            high=high,
            marks=format_marks(marks),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedChoice(QuestionAxis):
    """Raters answer a question with one of several names; each option has a value from 0 to 1."""

    kind: ClassVar[str] = "choice"
    options: Mapping[str, Fraction] = FrozenDict()

    def _get_value(self, mark: Mark) -> Fraction | None:
        return self.options.get(mark.score) if isinstance(mark.score, str) else None

    def _explain_value(self, value: Fraction, marks: Sequence[Mark]) -> str:
        names = dict.fromkeys(mark.score for mark in marks if mark.score in self.options)
        return sentence(
            "{options}, worth {value} ({marks})",
            options=", ".join(f"`{name}`" for name in names),
            value=format_short(value),
            marks=format_marks(marks),
        )


def average_marks(
    marks: Iterable[tuple[Mark, Fraction | None]],
) -> Fraction | NotApplicable | None:
    """Return the exact mean of the marks with a value, `None` if nothing could be read.

    `n/a` counts if more raters say it than give a value; else it is left out.
    """
    values, refusals = [], 0
    for mark, value in marks:
        if mark.score == NOT_APPLICABLE_MARK:
            refusals += 1
        elif value is not None:
            values.append(value)
    if refusals > len(values):
        return NOT_APPLICABLE
    return sum(values, Fraction(0)) / len(values) if values else None


def find_mixed_sources(marks: Iterable[Mark]) -> str:
    """Return why marks cannot be combined: some are of people, some of judges. Else nothing."""
    by_source = {mark.source: mark.by for mark in marks}
    if {MarkSource.PERSON, MarkSource.JUDGE} <= by_source.keys():
        return sentence(
            "marks of people and of judges are never combined ({person}, {judge})",
            person=by_source[MarkSource.PERSON],
            judge=by_source[MarkSource.JUDGE],
        )
    return ""


def explain_unread(marks: Sequence[Mark]) -> str:
    """Return why there is no mark: none was given, or none could be read."""
    if not marks:
        return sentence("not marked")
    return sentence("not read ({marks})", marks=format_marks(marks))


def format_marks(marks: Sequence[Mark]) -> str:
    """Return who marked and why; with several raters also what each of them gave."""
    return join_messages(", ", [_format_mark(mark, with_score=len(marks) > 1) for mark in marks])


def _format_mark(mark: Mark, *, with_score: bool) -> str:
    rater = f"{mark.by} {format_score(mark.score)}" if with_score else mark.by
    if not mark.why:
        return rater
    # A reason of code can be translated; what a rater wrote is quoted.
    is_quoted = mark.source is not MarkSource.CHECK and mark.score is not None
    return sentence(
        "{rater}: {why}", rater=rater, why=_quote_reason(mark.why) if is_quoted else mark.why
    )


def _quote_reason(text: str) -> str:
    """Return what a rater wrote in quotation marks that its own quotations do not end."""
    quoted = quote_excerpt(text)
    if '"' not in text:
        return quoted
    is_quotation = text[0] == text[-1] == '"' and text.count('"') == 2  # noqa: PLR2004 - a pair
    return quoted[1:-1] if is_quotation else f"\u201c{quoted[1:-1]}\u201d"


def format_score(score: Fraction | str | None) -> str:
    """Return a mark as reasons show it: `3.5`, an option, `n/a`, or a dash if there is none."""
    return score if isinstance(score, str) else format_short(score)

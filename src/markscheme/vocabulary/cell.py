"""How one answer is scored: the response as it is read, a cell per axis, and their breakdown.

A cell that was not scored has bounds: whatever is still unknown, its value lies between them.

>>> cell = Cell.missed("`went` is not in the text", near_miss="lower")
>>> cell.status, cell.value
(<Status.SCORED: 'scored'>, Fraction(0, 1))
>>> Cell.failed("the answer is not a number").value is None
True
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

from msgspec import Struct

from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.numbers import format_decimal, format_short
from markscheme.vocabulary.transcript import Transcript

# `Cell.passed` and `Cell.missed` always use these two objects, so that `Cell.__post_init__` can
# accept nearly all values by identity. A run makes millions of cells.
_ZERO, _ONE = Fraction(0), Fraction(1)


class Status(StrEnum):
    """Whether an axis could score an answer.

    `NOT_APPLICABLE` is a mark that was given: the axis asks for nothing here, so the weights of the
    others are scaled up. An axis that abstained or failed leaves the score unknown.
    """

    SCORED = "scored"
    ABSTAINED = "abstained"
    FAILED = "failed"
    NOT_APPLICABLE = "n/a"


_SCORED = Status.SCORED


class MarkSource(StrEnum):
    """Who marks: a person, a judge model, or a check that the rubric's own code computes."""

    PERSON = "person"
    JUDGE = "judge"
    CHECK = "check"


class Mark(Struct, frozen=True, kw_only=True):
    """One mark of an axis or of one of its criteria: who gave it, its score and the reason.

    `score` is a number of the scale, the name of an option, 1 or 0 for a criterion, or `n/a`. It is
    `None` where nothing could be read or told; `why` then says the reason. `by` is the name of the
    rater, or the kind of the check. `criterion` is empty for a mark of the axis itself.
    """

    score: Fraction | str | None
    source: MarkSource
    by: str
    criterion: str = ""
    why: str = ""


class ScoreBounds(Struct, frozen=True, kw_only=True):
    """The lowest and the highest value that an unknown score can still get, both included."""

    low: Fraction
    high: Fraction


UNKNOWN_SCORE = ScoreBounds(low=_ZERO, high=_ONE)
"""The bounds of a score of which nothing is known."""


class NotApplicable(Struct, frozen=True):
    """The value of an axis, or of an answer, that asks for nothing: it counts in no mean."""


NOT_APPLICABLE = NotApplicable()
AxisValue: TypeAlias = Fraction | ScoreBounds | NotApplicable
"""What is known of the value of an axis: the value, its bounds, or that the axis does not apply."""


class Reading(StrEnum):
    """How a raw output was read: as the first of these that fits.

    A JSON object, one JSON object in a code fence, or plain text.
    """

    OBJECT = "object"
    FENCED = "fenced"
    TEXT = "text"


class Cell(Struct, frozen=True, kw_only=True):
    """The score of one axis for one answer: a value if and only if scored, and always a reason.

    `near_miss` names the one normalisation step that is not used and would have let the answer
    pass. `marks` are those that people, judges or checks gave, where the axis is made of marks.

    Only an axis of criteria that keeps negative values gives less than 0.
    """

    status: Status
    value: Fraction | None
    reason: str
    near_miss: str | None = None
    bounds: ScoreBounds = UNKNOWN_SCORE
    marks: tuple[Mark, ...] = ()

    def __post_init__(self) -> None:
        value = self.value
        if (value is None) == (self.status is _SCORED):
            raise ValueError(f"a cell has a value exactly when it is scored, not {self!r}")
        if value is None or value is _ZERO or value is _ONE:
            return
        if type(value) is not Fraction or value > 1:
            raise ValueError(f"a cell's value is a fraction of at most 1, not {value!r}")

    @property
    def axis_value(self) -> AxisValue:
        """The value if the cell is scored, else what is known of it."""
        if self.value is not None:
            return self.value
        return NOT_APPLICABLE if self.status is Status.NOT_APPLICABLE else self.bounds

    @classmethod
    def passed(cls, reason: str) -> Cell:
        """Return a cell with full marks."""
        return cls(status=_SCORED, value=_ONE, reason=reason)

    @classmethod
    def missed(cls, reason: str, near_miss: str | None = None) -> Cell:
        """Return a cell with no marks: the answer is wrong. If scoring fails, use `failed`."""
        return cls(status=_SCORED, value=_ZERO, reason=reason, near_miss=near_miss)

    @classmethod
    def failed(cls, reason: str) -> Cell:
        """Return a cell that could not be scored; it has no value."""
        return cls(status=Status.FAILED, value=None, reason=reason)

    @classmethod
    def abstained(cls, reason: str) -> Cell:
        """Return a cell of an axis that does not apply to this answer; it has no value."""
        return cls(status=Status.ABSTAINED, value=None, reason=reason)


class Response(Struct, frozen=True, kw_only=True):
    """A raw output after reading: its text, and the JSON object in it if there is one.

    - `why`: why the output is not an object.
    - `lacking`: the fields that axes read but that the object does not have as text. Those axes
      read the whole text instead.
    - `numbers`: the exact value of the fields that axes read as numbers.
    - `transcript`: what the agent did, if the answer comes from an agent's log.
    """

    reading: Reading
    text: str
    document: Mapping[str, Any] | None = None
    why: str = ""
    lacking: tuple[str, ...] = ()
    numbers: Mapping[str, Decimal] = FrozenDict()
    transcript: Transcript | None = None

    def text_of(self, name: str | None) -> str:
        """Return the text field `name`, or the whole text if there is no such text field."""
        if name is None or self.document is None:
            return self.text
        value = self.document.get(name)
        return value if isinstance(value, str) else self.text


class Breakdown(Struct, frozen=True, kw_only=True):
    """The cells of one answer, in the order of the rubric, and the exact score they add up to.

    `score` is `None` as soon as one cell could not be scored: a part that was not scored is not a
    0. `bounds` are then the lowest and highest score that the answer can still get; they are `None`
    if the answer is scored, or if no axis applies to it.
    """

    item: str
    reading: Reading
    expected: Any
    got: str
    cells: Mapping[str, Cell]
    weighted: Mapping[str, Fraction | None]
    score: Fraction | None
    bounds: ScoreBounds | None = None

    def __repr__(self) -> str:
        lost = [
            f"{axis} {cell.status if cell.value is None else format_short(cell.value)}"
            for axis, cell in self.cells.items()
            if cell.value != 1
        ]
        score = "not scored" if self.score is None else f"score {format_decimal(self.score)}"
        return f"Breakdown({self.item}: {'; '.join([score, *lost])})"

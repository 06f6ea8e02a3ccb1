"""What axes make of one answer: a response as it is read, cells, and the breakdown they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.transcript import Transcript

_ZERO, _ONE = Fraction(0), Fraction(1)


class Status(StrEnum):
    """What became of one axis on one answer."""

    SCORED = "scored"
    ABSTAINED = "abstained"
    FAILED = "failed"


_SCORED = Status.SCORED


class Reading(StrEnum):
    """How a raw output was read: the first that fits. The last two are the fallback."""

    OBJECT = "object"
    FENCED = "fenced"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One axis on one answer: a value if and only if it is scored, and always a reason.

    `near_miss` names the one further normalisation step that would have let the answer pass.
    """

    status: Status
    value: Fraction | None
    reason: str
    near_miss: str | None = None

    def __post_init__(self) -> None:
        value = self.value
        if (value is None) == (self.status is _SCORED):
            raise ValueError(f"a cell has a value exactly when it is scored, not {self!r}")
        if value is None or value is _ZERO or value is _ONE:
            return
        if type(value) is not Fraction or not 0 <= value <= 1:
            raise ValueError(f"a cell's value is a fraction from 0 to 1, not {value!r}")

    @classmethod
    def passed(cls, reason: str) -> Cell:
        """Return a cell with full marks."""
        return cls(status=_SCORED, value=_ONE, reason=reason)

    @classmethod
    def missed(cls, reason: str, near_miss: str | None = None) -> Cell:
        """Return a cell with no marks: a judgement about the answer, not a failure of ours."""
        return cls(status=_SCORED, value=_ZERO, reason=reason, near_miss=near_miss)

    @classmethod
    def failed(cls, reason: str) -> Cell:
        """Return a cell that could not be judged; it has no number."""
        return cls(status=Status.FAILED, value=None, reason=reason)

    @classmethod
    def abstained(cls, reason: str) -> Cell:
        """Return a cell of an axis that has nothing to say about this answer."""
        return cls(status=Status.ABSTAINED, value=None, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A raw output after reading: its text, and the JSON object in it where there is one.

    `why` says why it is not an object; `lacking` names the fields that axes read and that the
    object does not have as text, so that those axes read the whole text instead; `numbers` holds
    the exact value of fields that axes read as numbers. `transcript` says what was done for the
    answer, where it comes from an agent's log.
    """

    reading: Reading
    text: str
    document: Mapping[str, Any] | None = None
    why: str = ""
    lacking: tuple[str, ...] = ()
    numbers: Mapping[str, Decimal] = FrozenDict()
    transcript: Transcript | None = None

    def text_of(self, name: str | None) -> str:
        """Return the text field `name`, or the whole text where there is no such text field."""
        if name is None or self.document is None:
            return self.text
        found = self.document.get(name)
        return found if isinstance(found, str) else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The cells of one answer, in the order of the rubric, and the exact score they add up to.

    `score` is `None` as soon as one cell has no value: a part that was not judged is not a 0.
    """

    item: str
    reading: Reading
    expected: Any
    got: str
    cells: Mapping[str, Cell]
    weighted: Mapping[str, Fraction | None]
    score: Fraction | None

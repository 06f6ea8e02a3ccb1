"""Axes that people or judge models rate, and the ratings that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

from msgspec import Struct

from markscheme.vocabulary.cell import MarkSource


class ScaleLevel(StrEnum):
    """What the scores of a scale mean: names, an order, or numbers with equal steps."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class ScaleAxis(Struct, frozen=True, kw_only=True):
    """An axis that is rated, not computed: numbers with equal steps, and anchors in words.

    Every whole number has an anchor. With a `step` of a half, the numbers between them can be given
    too. With `may_not_apply`, `n/a` can be given in place of a number.

    In a comparison the average of a variant is the plain mean of its scales, whatever weight they
    have in the score of a run.
    """

    # A scale that does not use these keys keeps the fingerprint that it had before they existed.
    left_out_if_unset: ClassVar[tuple[str, ...]] = ("step", "may_not_apply")

    name: str
    question: str
    anchors: Mapping[int, str]
    title: str = ""
    step: Fraction = Fraction(1)
    may_not_apply: bool = False

    @property
    def lowest(self) -> int:
        """The lowest score that can be given."""
        return min(self.anchors)

    @property
    def highest(self) -> int:
        """The highest score that can be given."""
        return max(self.anchors)

    @property
    def label(self) -> str:
        """The name, followed by the title if there is one."""
        return f"{self.name} {self.title}".rstrip()


class ChoiceAxis(Struct, frozen=True, kw_only=True):
    """An axis whose marks are names without an order; `options` gives the value of each name."""

    name: str
    question: str
    options: Mapping[str, Fraction]
    title: str = ""
    may_not_apply: bool = False


class NoteAxis(Struct, frozen=True, kw_only=True):
    """A question that a rater answers in words. It has no score and decides nothing."""

    name: str
    question: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One rater's score of one axis, or of one criterion of it, on one answer. A note has no score.

    `score` is a number of the scale, the name of an option, 1 or 0 for a criterion, or `n/a`.
    `attempt` says which of several answers of the variant to the item was rated. `source` says
    whether the rater is a person or a judge model. `repeat` counts how often the same rater had
    been asked the same before. `order` is the place of the answer among all that the rater was
    shown, counted from 1, and `at` is when the rating was given, in ISO 8601; both are `None` if
    they were not recorded. `file` and `line` say where the rating is written.
    """

    item: str
    variant: str
    rater: str
    axis: str
    score: Fraction | str | None
    note: str = ""
    order: int | None = None
    at: str | None = None
    criterion: str = ""
    source: MarkSource = MarkSource.PERSON
    repeat: int = 0
    attempt: int = 1
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRating:
    """One rater's score of any axis, with or without a rubric: a number, or a word if nominal.

    `unit` is what was rated: item, variant, the criterion, which may be empty, and the attempt if
    it is not the first.
    """

    unit: tuple[str, ...]
    rater: str
    score: Fraction | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedAxis:
    """The ratings of one axis, and what its scores mean.

    `scale` holds the scores that can be given, if a rubric says which there are. `judges` are the
    raters that are models. `empty` counts the ratings without a score, `repeats` those that repeat
    an earlier one of the same rater; neither are among `ratings`.
    """

    name: str
    level: ScaleLevel
    ratings: tuple[OpenRating, ...]
    judges: frozenset[str] = frozenset()
    scale: tuple[Fraction | str, ...] = ()
    empty: int = 0
    repeats: int = 0

"""Axes that people or judge models rate, and the ratings that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct


class ScaleAxis(Struct, frozen=True, kw_only=True):
    """An axis that is rated, not computed: whole numbers, each with an anchor text.

    It has no weight: the average of a variant is the plain mean of its scales.
    """

    name: str
    question: str
    anchors: Mapping[int, str]
    title: str = ""

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


class NoteAxis(Struct, frozen=True, kw_only=True):
    """A question that a rater answers in words. It has no score and decides nothing."""

    name: str
    question: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One rater's score of one axis on one answer. A note has no score.

    `order` is the place of the answer among all that the rater was shown, counted from 1, and `at`
    is when the rating was given, in ISO 8601; both are `None` if they were not recorded. `line` is
    its line in the file of ratings.
    """

    item: str
    variant: str
    rater: str
    axis: str
    score: int | None
    note: str = ""
    order: int | None = None
    at: str | None = None
    line: int = field(default=0, compare=False)

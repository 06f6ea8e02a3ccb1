"""What people rate and nothing marks: scales, notes, and the ratings on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleAxis:
    """An axis that people rate and nothing marks: whole numbers, each with its anchor.

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
        """The name, with the title where there is one."""
        return f"{self.name} {self.title}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAxis:
    """What a rater says in words: it has no score and decides nothing."""

    name: str
    question: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One person's or judge's score of one axis on one answer; no score where it is a note only.

    `line` is where it stands in its file.
    """

    item: str
    variant: str
    rater: str
    axis: str
    score: int | None
    note: str = ""
    line: int = field(default=0, compare=False)

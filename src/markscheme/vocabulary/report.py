"""What a scored run adds up to: totals per run, per subject, per tag and per item."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Any

from msgspec import Struct, field

from markscheme.vocabulary.frozen import FrozenDict

Row = Mapping[str, Any]
"""One scored answer: a row of the frame of a `Result`."""


class TagGroup(Struct, frozen=True, kw_only=True):
    """The mean scores of all items that have the same value of a tag."""

    tag: str
    value: str
    n: int
    score: Fraction
    axes: Mapping[str, Fraction]


class SubjectSummary(Struct, frozen=True, kw_only=True):
    """The mean scores of one subject, and the items that it did not answer.

    `axes`, `judged` and `unjudged` are those of a `Summary`.
    """

    subject: str | None
    n: int
    score: Fraction | None
    axes: Mapping[str, Fraction | None]
    missing: tuple[str, ...]
    judged: Mapping[str, int]
    unjudged: Mapping[str, int]


class Summary(Struct, frozen=True, kw_only=True):
    """The exact totals of a run: `n` answers were scored, and the mean score is over those.

    The mean of an axis is over the answers that this axis could judge, which `judged` counts;
    `unjudged` counts the others. An axis that abstains so leaves the means of the others alone.

    Missing items, error rows and answers with a failed cell are counted separately; any of them
    makes the run incomplete. If the answers are from several subjects, an item is missing as soon
    as one of the subjects did not answer it.
    """

    n: int
    score: Fraction | None
    axes: Mapping[str, Fraction | None]
    answers: int
    unscored: int
    errors: int
    items: int
    missing: tuple[str, ...]
    subjects: tuple[SubjectSummary, ...]
    groups: tuple[TagGroup, ...]
    judged: Mapping[str, int]
    unjudged: Mapping[str, int]

    @property
    def complete(self) -> bool:
        """Whether every item was answered and every row and cell could be scored."""
        return not (self.missing or self.errors or self.unscored) and self.n > 0

    @property
    def rows(self) -> int:
        """The number of rows of the run: answers, error rows, and missing items per subject."""
        missing = sum(len(subject.missing) for subject in self.subjects)
        return self.answers + self.errors + missing


class ItemStatus(StrEnum):
    """What became of an item; only the first is good."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    MISSING = "missing"


class ItemReport(Struct, frozen=True, kw_only=True):
    """One item: its exact means over its attempts, and some of its answers.

    `answers` is filled only if the caller asked for reasons: with the answers that lost points, or
    with the first ones if none did. `more` counts the answers that were left out.
    """

    item: str
    status: ItemStatus
    score: Fraction | None
    axes: Mapping[str, Fraction | None] = field(default_factory=FrozenDict)
    answers: tuple[Row, ...] = ()
    more: int = 0

"""What a scored run adds up to: totals per run, per subject, per tag and per item."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

from msgspec import Struct, field

from markscheme.vocabulary.cell import ScoreBounds
from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.records import RecordFields, exact_ratios, if_known

Row = Mapping[str, Any]
"""One scored answer: a row of the frame of a `Result`."""


class TagGroup(Struct, frozen=True, kw_only=True):
    """The mean scores of all items that have the same value of a tag.

    Means and bounds are those of a `Summary`.
    """

    tag: str
    value: str
    n: int
    score: Fraction | None
    axes: Mapping[str, Fraction | None]
    bounds: ScoreBounds | None = None
    axis_bounds: Mapping[str, ScoreBounds] = FrozenDict()

    record_fields: ClassVar[RecordFields] = (
        "tag",
        "value",
        "n",
        "score",
        "axes",
        if_known("bounds"),
        if_known("axis_bounds"),
    )


class SubjectSummary(Struct, frozen=True, kw_only=True):
    """The mean scores of one subject, and the items that it did not answer.

    The other fields are those of a `Summary`.
    """

    subject: str | None
    n: int
    score: Fraction | None
    axes: Mapping[str, Fraction | None]
    missing: tuple[str, ...]
    judged: Mapping[str, int]
    unjudged: Mapping[str, int]
    bounds: ScoreBounds | None = None
    score_cut: Fraction | None = None
    axis_bounds: Mapping[str, ScoreBounds] = FrozenDict()
    not_applicable: Mapping[str, int] = FrozenDict()

    record_fields: ClassVar[RecordFields] = (
        "subject",
        "n",
        "score",
        "axes",
        "missing",
        "judged",
        "unjudged",
        if_known("bounds"),
        if_known("score_cut"),
        if_known("axis_bounds"),
        if_known("not_applicable"),
    )


class Summary(Struct, frozen=True, kw_only=True):
    """The exact totals of a run: `n` of its answers were scored.

    The score is the mean over all answers, and `None` if one of them has no score. Unless the run
    is complete, `bounds` are the lowest and the highest mean over all items that are still
    possible. The same holds for each axis, with `axis_bounds`; `judged` counts the answers that it
    gave a value, `not_applicable` those that it does not apply to, and `unjudged` the others.

    `score_cut` is the score cut to 0 … 1, if an axis of the rubric keeps values below 0.

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
    bounds: ScoreBounds | None = None
    score_cut: Fraction | None = None
    axis_bounds: Mapping[str, ScoreBounds] = FrozenDict()
    not_applicable: Mapping[str, int] = FrozenDict()

    record_fields: ClassVar[RecordFields] = (
        "n",
        "score",
        "axes",
        "complete",
        "items",
        "answers",
        "unscored",
        "errors",
        "missing",
        exact_ratios("score", "axes", known=("bounds", "score_cut", "axis_bounds")),
        "subjects",
        "groups",
        "judged",
        "unjudged",
        if_known("bounds"),
        if_known("score_cut"),
        if_known("axis_bounds"),
        if_known("not_applicable"),
    )

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
    """What became of an item; only the first is good. No axis applies to one that is `n/a`."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    MISSING = "missing"
    NOT_APPLICABLE = "n/a"


class ItemReport(Struct, frozen=True, kw_only=True):
    """One item: its exact means over its attempts, or their bounds, and some of its answers.

    `answers` is filled only if the caller asked for reasons: with the answers that lost points, or
    with the first ones if none did. `more` counts the answers that were left out.
    """

    item: str
    status: ItemStatus
    score: Fraction | None
    axes: Mapping[str, Fraction | None] = field(default_factory=FrozenDict)
    answers: tuple[Row, ...] = ()
    more: int = 0
    bounds: ScoreBounds | None = None

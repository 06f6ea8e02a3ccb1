"""Answers as they come in, the rows that are none, and what becomes of them all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a subject said to one item, with what is known of how it said it."""

    item: str
    output: str | Mapping[str, Any]
    subject: str | None = None
    attempt: int = 1
    latency_ms: Decimal | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowError:
    """A row of an answers file that could not be taken as an answer; counted and shown.

    `file` is told where the answers are a folder of files.
    """

    line: int
    reason: str
    item: str | None = None
    excerpt: str = ""
    file: str | None = None

    @property
    def place(self) -> str:
        """Where the row is, for people."""
        return f"line {self.line}" if self.file is None else f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagGroup:
    """The items that share the value of a tag, and how they did."""

    tag: str
    value: str
    n: int
    score: Fraction
    axes: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectSummary:
    """How one of the subjects in a file of answers did, and what it did not answer."""

    subject: str | None
    n: int
    score: Fraction | None
    axes: Mapping[str, Fraction | None]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in exact numbers. `n` answers were scored; the means are over those.

    Missing items, error rows and answers with a failed cell are counted beside them, and any of
    the three makes the run incomplete. Where the answers are of several subjects, an item that one
    of them did not answer is missing.
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

    @property
    def complete(self) -> bool:
        """Whether every item was answered and every row and cell could be scored."""
        return not (self.missing or self.errors or self.unscored) and self.n > 0

    @property
    def rows(self) -> int:
        """How many rows tell of the run: answers, bad rows, and what each subject missed."""
        return self.answers + self.errors + sum(len(found.missing) for found in self.subjects)


class Outcome(StrEnum):
    """What a gate says. A gate that cannot tell is undecided, never passed.

    A baseline gate is not applicable where no baseline was ever set; that judges nothing.
    """

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    WARN = "warn"
    FAIL = "fail"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not applicable"


class Evidence(StrEnum):
    """What the paired differences show about a limit on the drop of the score."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"

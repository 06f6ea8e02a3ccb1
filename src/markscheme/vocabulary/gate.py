"""Gates: limits on a metric of a run, and the outcomes that a gate can have.

>>> Gate(name="release", level=Level.HARD, at_least=Decimal("0.90")).metric
'score'
>>> Allowance(amount=Decimal("0.02"), relative=True).points(Fraction(1, 2))
Fraction(1, 100)
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct, field

from markscheme.vocabulary.exam import Exam
from markscheme.vocabulary.frozen import FrozenDict


class Level(StrEnum):
    """A hard gate that is not met blocks; a soft gate that is not met warns."""

    HARD = "hard"
    SOFT = "soft"


class Outcome(StrEnum):
    """What a gate decides about a run. A gate that cannot decide is undecided, never passed.

    A baseline gate is not applicable if no baseline was ever set; it then decides nothing.
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


class Allowance(Struct, frozen=True, kw_only=True):
    """How far a score may move: a share of the baseline's score (`2%`), or points (`0.02`)."""

    amount: Decimal
    relative: bool

    def points(self, score: Fraction) -> Fraction:
        """Return the allowance in points for a baseline with this score, which may be below 0."""
        return Fraction(self.amount) * (abs(score) if self.relative else 1)

    def __str__(self) -> str:
        return f"{(self.amount * 100).normalize():f}%" if self.relative else f"{self.amount:f}"


class Attempts(Struct, frozen=True, kw_only=True):
    """An item passes if at least `at_least` of its `of` attempts pass."""

    at_least: int
    of: int


class BaselineLimit(Struct, frozen=True, kw_only=True):
    """How far a score may drop below its baseline, and from which rise on it is suspicious."""

    max_drop: Allowance
    suspicious_rise: Allowance
    evidence_required: bool = False


class Gate(Struct, frozen=True, kw_only=True):
    """A limit on a metric of a run. It applies to the exams it names, or to all if it names none.

    `axis`, `tags` and `attempts` select what the metric is computed from. `baseline` is set
    if and only if the metric is `baseline`, and then there is no other limit.
    """

    name: str
    level: Level
    metric: str = "score"
    at_least: Decimal | None = None
    at_most: Decimal | None = None
    axis: str | None = None
    tags: Mapping[str, str] = field(default_factory=FrozenDict)
    attempts: Attempts | None = None
    baseline: BaselineLimit | None = None
    exams: tuple[str, ...] = ()
    target: Decimal | None = None

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.at_least, self.at_most) if limit is not None]
        if (self.baseline is not None) == bool(limits) or not all(map(Decimal.is_finite, limits)):
            raise ValueError(f"a gate has a finite limit or a baseline, not {self!r}")

    def applies_to(self, exam: Exam) -> bool:
        """Return whether the gate applies to every document that the exam was merged from."""
        return not self.exams or set(exam.names) <= set(self.exams)

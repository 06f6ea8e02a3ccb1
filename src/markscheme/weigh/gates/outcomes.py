"""What gates say, as plain values: seen, limit, margin, why, and what to fix first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

from markscheme.vocabulary import (
    FrozenDict,
    Gate,
    Level,
    Outcome,
    RecordFields,
    exact_ratios,
)


class Evidence(StrEnum):
    """What the paired differences show about a limit on the drop."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLoss:
    """An item that costs the metric of a gate something: how much, and on which axes.

    `lost` is in the metric's own unit, so that the metric would be better by that much; `axes` says
    how the loss of a score is spread.
    """

    item: str
    lost: Fraction
    axes: Mapping[str, Fraction] = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """The mean score of an item in the baseline and now, and by how much each axis moved."""

    item: str
    before: Fraction
    after: Fraction
    axes: Mapping[str, Fraction] = field(default_factory=FrozenDict)

    record_fields: ClassVar[RecordFields] = ("item", "before", "after", "change", "axes")

    @property
    def change(self) -> Fraction:
        """By how much the item moved; a loss is negative."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisChange:
    """The mean of an axis in the baseline and now."""

    axis: str
    before: Fraction | None
    after: Fraction | None

    record_fields: ClassVar[RecordFields] = ("axis", "before", "after", "change")

    @property
    def change(self) -> Fraction | None:
        """By how much the axis moved."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class NonInferiority:
    """The evidence beside a limit on the drop, from the `n` items of both runs in pairs.

    `mean` is the exact mean of the paired differences, `lower` and `upper` its one-sided 95 %
    bounds, to be compared with `margin`. With a relative limit r a difference is candidate -
    (1 - r) · baseline and the margin 0; with a limit of m points it is candidate - baseline and -m.
    `items_needed` is how many items with the same mean and spread would settle it.
    """

    outcome: Evidence
    n: int
    mean: Fraction | None
    margin: Fraction
    lower: float | None
    upper: float | None
    p: float | None
    items_needed: int | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineReport:
    """A run beside its baseline, axis by axis and item by item.

    `regressed` went from pass to fail and `recovered` the other way; `moved` holds every item whose
    mean changed, the largest loss first, and `unmoved` counts the others; `added` and `removed` are
    in one of the two exams only. `warning` says what to do where the rise looks too good.
    """

    baseline: str
    before: Fraction | None
    after: Fraction | None
    floor: Fraction | None
    axes: tuple[AxisChange, ...] = ()
    regressed: tuple[ItemChange, ...] = ()
    recovered: tuple[ItemChange, ...] = ()
    moved: tuple[ItemChange, ...] = ()
    unmoved: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warning: str | None = None
    evidence: NonInferiority | None = None

    record_fields: ClassVar[RecordFields] = (
        "baseline",
        "before",
        "after",
        "change",
        "floor",
        exact_ratios("before", "after", "change", "floor"),
        "axes",
        "regressed",
        "recovered",
        "moved",
        "unmoved",
        "added",
        "removed",
        "warning",
        "evidence",
    )

    @property
    def change(self) -> Fraction | None:
        """By how much the score moved, in points."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before

    @property
    def margin(self) -> Fraction | None:
        """By how much the score is above the lowest one that passes."""
        if self.floor is None or self.after is None:
            return None
        return self.after - self.floor


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """What a gate saw and why it decided as it did.

    `margin` is positive inside the limit and negative outside, 0 exactly at it. `fix_first` lists
    what costs the metric most, worst first. `baseline` is there for a baseline gate that compared.
    """

    gate: Gate
    outcome: Outcome
    observed: Fraction | None
    because: str
    margin: Fraction | None = None
    fix_first: tuple[ItemLoss, ...] = ()
    baseline: BaselineReport | None = None

    record_fields: ClassVar[RecordFields] = (
        ("gate", "gate.name"),
        ("level", "gate.level"),
        ("metric", "gate.metric"),
        ("axis", "gate.axis"),
        ("tags", "gate.tags"),
        "outcome",
        "observed",
        ("at_least", "gate.at_least"),
        ("at_most", "gate.at_most"),
        ("max_drop", lambda found: found.gate.baseline and str(found.gate.baseline.max_drop)),
        "margin",
        exact_ratios("observed", "margin"),
        ("target", "gate.target"),
        "because",
        "fix_first",
        "baseline",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """All gates on one run, and what follows: pass, fail or undecided, which is never a pass."""

    run: str
    outcomes: tuple[GateOutcome, ...]
    verdict: Outcome
    because: str

    record_fields: ClassVar[RecordFields] = ("run", "verdict", "because", ("gates", "outcomes"))


def get_failure_outcome(gate: Gate) -> Outcome:
    """Return what it is called when a gate is not met: a hard one fails, a soft one warns."""
    return Outcome.FAIL if gate.level is Level.HARD else Outcome.WARN

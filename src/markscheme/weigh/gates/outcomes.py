"""The results of gates as plain values: outcome, observed value, margin, reason, what to fix first.

`GateReport` holds the verdict on a run and one `GateOutcome` per gate. A baseline gate adds a
`BaselineReport`, and that the `NonInferiority` evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from markscheme.vocabulary import (
    Evidence,
    FrozenDict,
    Gate,
    Level,
    Outcome,
    RecordFields,
    ScoreBounds,
    exact_ratios,
    if_known,
)


def _subtract(value: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if value is None or other is None else value - other


def find_range(value: Fraction | None, bounds: ScoreBounds | None) -> ScoreBounds | None:
    """Return the lowest and the highest value that a metric can have; None if it has none."""
    if bounds is None and value is not None:
        return ScoreBounds(low=value, high=value)
    return bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLoss:
    """An item that makes the metric of a gate worse: by how much, and on which axes.

    `lost` is in the unit of the metric: if the item were perfect, the metric would be better by
    that much. `axes` splits the loss of a score.
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
        return _subtract(self.after, self.before)


@dataclass(frozen=True, slots=True, kw_only=True)
class NonInferiority:
    """A test of non-inferiority on the `n` items that both runs have scored.

    `mean` is the exact mean of the paired differences; `lower` and `upper` are its one-sided 95 %
    bounds, to be compared with `margin`. With a relative limit r, a difference is
    candidate - (1 - r) · baseline and the margin is 0. With a limit of m points, a difference is
    candidate - baseline and the margin is -m. `items_needed` is how many items with the same mean
    and spread would make the test conclusive.
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
    """A run compared with its baseline, axis by axis and item by item.

    `floor` is the lowest score that passes. `bounds` are those of the score, if the run is not
    complete. `regressed` items went from pass to fail, `recovered`
    ones the other way. `moved` holds every item whose mean changed, the largest loss first, and
    `unmoved` counts the others. `added` and `removed` items are in one of the two exams only.
    `warning` says what to do about a rise that looks too good.
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
    bounds: ScoreBounds | None = None

    record_fields: ClassVar[RecordFields] = (
        "baseline",
        "before",
        "after",
        "change",
        "floor",
        exact_ratios("before", "after", "change", "floor", known=("bounds",)),
        if_known("bounds"),
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
        return _subtract(self.after, self.before)

    @property
    def margin(self) -> Fraction | None:
        """By how much the score is above the floor."""
        return _subtract(self.after, self.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """The outcome of one gate, and why.

    `observed` is the exact value of the metric, `None` if some answers have no score. `bounds` are
    the lowest and the highest value, if what is missing could still change it.
    `margin` is positive inside the limit, negative outside, and 0 exactly at it. `because` is the
    reason in one sentence. `fix_first` lists the items that cost the metric most, worst first.
    `baseline` is there if a baseline gate compared.
    """

    gate: Gate
    outcome: Outcome
    observed: Fraction | None
    because: str
    margin: Fraction | None = None
    fix_first: tuple[ItemLoss, ...] = ()
    baseline: BaselineReport | None = None
    bounds: ScoreBounds | None = None

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
        ("max_drop", lambda outcome: outcome.gate.baseline and str(outcome.gate.baseline.max_drop)),
        "margin",
        exact_ratios("observed", "margin", known=("bounds",)),
        if_known("bounds"),
        ("target", "gate.target"),
        "because",
        "fix_first",
        "baseline",
    )

    @property
    def range(self) -> ScoreBounds | None:
        """The lowest and the highest value that the metric can have; None if it has none."""
        return find_range(self.observed, self.bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The outcomes of all gates on one run, and the verdict: pass, fail or undecided."""

    run: str
    outcomes: tuple[GateOutcome, ...]
    verdict: Outcome
    because: str

    record_fields: ClassVar[RecordFields] = ("run", "verdict", "because", ("gates", "outcomes"))

    def __repr__(self) -> str:
        gates = ", ".join(f"{found.gate.name} {found.outcome}" for found in self.outcomes)
        return f"GateReport({self.verdict}: {gates})"


def get_failure_outcome(gate: Gate) -> Outcome:
    """Return the outcome of a gate that is not met: a hard gate fails, a soft gate warns."""
    return Outcome.FAIL if gate.level is Level.HARD else Outcome.WARN

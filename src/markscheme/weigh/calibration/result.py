"""The record of a calibration: what the store keeps, JSON shows and pages draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

from markscheme.vocabulary import Outcome, RecordFields, exact_ratios, to_record
from markscheme.weigh.calibration.canaries import CanaryOutcome
from markscheme.weigh.calibration.prediction import Prediction


class ReasonCode(StrEnum):
    """Why a calibration came out as it did, for programs; docs/calibration.md explains each."""

    AGREES = "agrees"
    ORDER = "order"
    ALWAYS_HIGHEST = "always-highest"
    ALWAYS_LOWEST = "always-lowest"
    CONSTANT = "constant"
    INVERTED = "inverted"
    CHANCE = "chance"
    LOW_AGREEMENT = "low-agreement"
    UNSTEADY = "unsteady"
    NO_BETTER_THAN_CONSTANT = "no-better-than-constant"
    CANARY = "canary"
    TOO_FEW = "too-few"
    UNREAD = "unread"
    PEOPLE_CONSTANT = "people-constant"
    NOTHING_READ = "nothing-read"
    UNDEFINED = "undefined"
    SERVED = "served"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReason:
    """Why a calibration came out as it did: a code for programs, a sentence for people."""

    code: ReasonCode
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantJudge:
    """The best judge that gives every answer the same mark.

    `percent` is how often it agrees with people. `distance` is how far it is from them: the mean
    squared distance on a scale, else the share that differs.
    """

    score: Fraction | str
    percent: Fraction
    distance: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """By how much the judge gives more than people: mean and 95 % interval, in the scale's points.

    Options count by their value, and criteria as 1 and 0.
    """

    mean: Fraction
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAgreement:
    """How people agree with each other on the same answers; `difference` is the judge's kappa less.

    Over `n` questions that two people or more scored.
    """

    n: int
    kappa: Fraction | None
    difference: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionCell:
    """How often people gave one score and the judge another, or the same."""

    person: str
    judge: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TagAgreement:
    """How the judge agrees with people on the items of a tag."""

    tag: str
    n: int
    percent: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthEffect:
    """Whether the judge favours long answers: Spearman's correlation of words and bias."""

    n: int
    spearman: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """How often the judge said something else when it was asked again: in reverse, or the same.

    On a scale, something else is half of the scale or more.
    """

    answers: int
    verdicts: int
    changed_by_order: int
    changed_by_repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisCalibration:
    """What a calibration found on one axis, and its outcome."""

    level: str
    n: int
    ratings: int
    unread: int
    kappa: Fraction | None
    interval: tuple[Fraction, Fraction] | None
    lower: Fraction | None
    usual_lower: float | None
    alpha: Fraction | None
    percent: Fraction | None
    distance: Fraction | None
    constant: ConstantJudge | None
    bias: Bias | None
    people: PeopleAgreement
    confusion: tuple[ConfusionCell, ...]
    worst_tags: tuple[TagAgreement, ...]
    length: LengthEffect
    steadiness: Steadiness | None
    outcome: Outcome
    reasons: tuple[CalibrationReason, ...]
    prediction: Prediction | None = None
    axis_fingerprint: str | None = None
    call_fingerprint: str | None = None

    record_fields: ClassVar[RecordFields] = (
        "outcome",
        "reasons",
        "n",
        "ratings",
        "unread",
        "level",
        "kappa",
        "interval",
        "lower",
        "usual_lower",
        exact_ratios("kappa", "lower"),
        "alpha",
        "percent",
        "distance",
        "constant",
        "bias",
        "people",
        "confusion",
        "worst_tags",
        "length",
        "steadiness",
        "prediction",
        "axis_fingerprint",
        "call_fingerprint",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRecord:
    """Which answers people rated: `rated` of `answers`.

    `random` is true only if they are the ones that `seed` draws; without a seed nobody can tell.
    """

    answers: int
    rated: int
    random: bool
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReport:
    """The known answers that the judge was asked about first; `out_of_range` names the bad ones.

    `entries` are the canaries as plain data, so that judged runs can ask the same ones again.
    """

    asked: int
    unread: int
    outcomes: tuple[CanaryOutcome, ...]
    entries: tuple[Mapping[str, Any], ...] = ()

    record_fields: ClassVar[RecordFields] = ("asked", "unread", "out_of_range", "entries")

    @property
    def out_of_range(self) -> tuple[CanaryOutcome, ...]:
        """The canaries whose marks were out of range."""
        return tuple(outcome for outcome in self.outcomes if not outcome.in_range)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A judge measured against people, axis by axis, and until when gates may rest on it.

    `id` is that in the store, None if nothing was stored. `served` are the models that answered.
    `needed` is the kappa that the lower bound has to reach.
    """

    judge: Mapping[str, Any]
    rubric: str
    exam: str
    served: tuple[str, ...]
    sample: SampleRecord
    needed: Fraction
    seed: int
    axes: Mapping[str, AxisCalibration]
    canaries: CanaryReport | None
    outcome: Outcome
    made: str
    expires: str
    calls: int = 0
    cost: float | None = None
    remarks: tuple[str, ...] = ()
    id: str | None = None
    unrated: tuple[str, ...] = ()

    record_fields: ClassVar[RecordFields] = (
        "id",
        "outcome",
        "judge",
        "rubric",
        "exam",
        "served",
        "needed",
        "seed",
        "made",
        "expires",
        "sample",
        "axes",
        "unrated",
        "canaries",
        "calls",
        "cost",
        "remarks",
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain data, as `--format json` prints it."""
        return to_record(self)

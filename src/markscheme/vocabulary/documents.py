"""What a rubric and an exam hold: axes with weights, gates, items."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from markscheme.vocabulary.decision import DecisionTable, VerdictRules
from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.rating import NoteAxis, ScaleAxis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.vocabulary.cell import Cell, Response


class Level(StrEnum):
    """A hard gate blocks; a soft gate warns."""

    HARD = "hard"
    SOFT = "soft"


class SourceLocation(NamedTuple):
    """Where a thing was written: its file, line and field, and the lines of its own keys.

    `lines` may leave out keys that stand on the line of the thing itself.
    """

    file: str
    line: int
    field: str
    lines: Mapping[str, int]

    def get_line(self, key: str) -> int:
        """Return the line of a key, or that of the thing where it has no such key."""
        return self.lines.get(key, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFields:
    """The fields of a response that axes read: the types that every axis on a field can read.

    `numeric` names those that some axis reads as numbers.
    """

    accepted: Mapping[str, Collection[type]] = field(default_factory=FrozenDict)
    numeric: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question of an exam, with what the axes expect of its answer."""

    id: str
    prompt: str
    expectations: Mapping[str, Any] = field(default_factory=FrozenDict)
    tags: Mapping[str, str] = field(default_factory=FrozenDict)
    place: SourceLocation | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """Items with unique ids. Several exam documents merge into one exam with several names."""

    names: tuple[str, ...]
    items: tuple[Item, ...]
    fingerprint: str

    @property
    def name(self) -> str:
        """The names of the merged documents, joined: `capstone+capstone-extra`.

        In whatever order they were given: it is one exam, which has one baseline.
        """
        return "+".join(sorted(self.names))


@runtime_checkable
class Axis(Protocol):
    """One thing a rubric scores: a frozen dataclass of parameters with one method that judges.

    `kind` is its name in a rubric; `version` is raised when the same answer would score
    differently. What is wrong with the parameters or with an item is told as pairs of field and
    message, before anything is scored.
    """

    kind: ClassVar[str]
    version: ClassVar[int]

    def mark(self, response: Response, item: Item) -> Cell:
        """Judge one response to one item."""
        ...

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Yield (parameter, message) for everything that is wrong with the parameters."""
        ...

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Yield (field, message) for everything that the axis needs of the item and lacks."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisSpec:
    """An axis as a rubric uses it: under a name, with a weight.

    Where a rubric gives no weights, all its axes count alike: a weight is then the fraction 1/n.
    """

    name: str
    weight: Decimal | Fraction
    axis: Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How far a score may move: a share of the baseline's score (`2%`), or points (`0.02`)."""

    amount: Decimal
    relative: bool

    def points(self, score: Fraction) -> Fraction:
        """Return how many points that is for a baseline of this score."""
        return Fraction(self.amount) * (score if self.relative else 1)

    def __str__(self) -> str:
        return f"{(self.amount * 100).normalize():f}%" if self.relative else f"{self.amount:f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """An item passes if at least so many of its so many attempts pass."""

    at_least: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineLimit:
    """How far a score may fall below its baseline, and from which rise on it looks too good."""

    max_drop: Allowance
    suspicious_rise: Allowance
    evidence_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A limit on a metric of a run, bound to exams (all, where none is named).

    `axis`, `tags` and `attempts` say what the metric is taken of; `baseline` is there exactly when
    the metric is `baseline`, and then there is no other limit.
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
        """Return whether every document of the exam is one that the gate is bound to."""
        return not self.exams or set(exam.names) <= set(self.exams)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Axes with weights that sum to exactly 1, and the gates on what they add up to.

    For comparisons it may have scales that people rate, notes, verdict rules and a decision table,
    and then it may lack axes that are marked.

    An item passes when its mean over its attempts is at least `pass_mark`, which like the gates
    changes no score. `source` is the text it was read from.
    """

    name: str
    version: int
    axes: tuple[AxisSpec, ...]
    gates: tuple[Gate, ...]
    fingerprint: str
    title: str = ""
    pass_mark: Decimal = Decimal(1)
    source: str = field(default="", compare=False, repr=False)
    verdict_rules: VerdictRules | None = None
    decision_table: DecisionTable | None = None
    scales: tuple[ScaleAxis, ...] = ()
    notes: tuple[NoteAxis, ...] = ()

    def __iter__(self) -> Iterator[AxisSpec]:
        return iter(self.axes)

    @property
    def fields(self) -> ResponseFields:
        """The fields of a response that the axes read."""
        accepted: dict[str, set[type]] = {}
        for spec in self.axes:
            name = getattr(spec.axis, "reads", None)
            if name is not None:
                types = set(getattr(spec.axis, "accepts", (str,)))
                accepted[name] = accepted.get(name, types) & types
        numeric = {name for spec in self.axes for name in _find_numeric_fields(spec.axis)}
        return ResponseFields(accepted=accepted, numeric=tuple(sorted(numeric)))


def _find_numeric_fields(axis: Axis) -> Iterator[str]:
    name = getattr(axis, "reads", None)
    if name is not None and Decimal in getattr(axis, "accepts", ()):
        yield name

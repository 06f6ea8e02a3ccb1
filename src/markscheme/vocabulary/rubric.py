"""A rubric: named axes with weights, the gates on a run, and the rules of a comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Protocol, runtime_checkable

from msgspec import Struct

from markscheme.vocabulary.cell import Cell, Response
from markscheme.vocabulary.decision import DecisionRequirements, DecisionTable, VerdictRules
from markscheme.vocabulary.exam import Item
from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.gate import Gate
from markscheme.vocabulary.rating import ChoiceAxis, NoteAxis, ScaleAxis


@runtime_checkable
class Axis(Protocol):
    """One thing that a rubric scores: a frozen dataclass of parameters with one scoring method.

    `kind` is its name in a rubric. Raise `version` when the same answer would score differently.
    Problems with the parameters or with an item are reported as pairs of field and message,
    before anything is scored.
    """

    kind: ClassVar[str]
    version: ClassVar[int]

    def mark(self, response: Response, item: Item) -> Cell:
        """Score one response to one item."""
        ...

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Yield (parameter, message) for every problem with the parameters."""
        ...

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:
        """Yield (field, message) for everything that the axis needs and the item lacks."""
        ...


class AxisKinds(Protocol):
    """The axis kinds that a rubric may name; some may come from plugins."""

    def __getitem__(self, kind: str, /) -> type[Axis]:
        """Return the class of a kind, or raise `KeyError`."""
        ...

    def __contains__(self, kind: object, /) -> bool:
        """Whether the kind is known."""
        ...

    def __iter__(self) -> Iterator[str]:
        """Iterate over the known kinds."""
        ...

    def get_distribution(self, kind: str) -> str:
        """Return the installed package that declares a kind, or an empty text."""
        ...


class AxisSpec(Struct, frozen=True, kw_only=True):
    """An axis as a rubric uses it: with a name and a weight.

    If a rubric states no weights, its n axes count equally: each weight is the fraction 1/n. If it
    states `points`, the weight is their share of all points, exactly. `distribution` is the
    installed package that the axis comes from, empty if it is built in or given by the caller.
    """

    name: str
    weight: Decimal | Fraction
    axis: Axis
    points: Decimal | None = None
    title: str = ""
    distribution: str = ""


class ResponseFields(Struct, frozen=True, kw_only=True):
    """The fields of a response that axes read.

    `accepted` maps each field to the types that all axes on it can read; `numeric` names the
    fields that some axis reads as a number.
    """

    accepted: Mapping[str, Collection[type]] = FrozenDict()
    numeric: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Axes whose weights sum to exactly 1, and the gates on the score they add up to.

    Scales and choices are rated. Those with a weight are among the `axes` too. For comparisons a
    rubric may also have notes, verdict rules and a decision table, and requirements on the
    decision. Such a rubric may have no scored axes at all.

    An item passes if its mean over its attempts is at least `pass_mark`. Like the gates, the pass
    mark changes no score. `source` is the text that the rubric was read from.
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
    requirements: DecisionRequirements | None = None
    scales: tuple[ScaleAxis, ...] = ()
    notes: tuple[NoteAxis, ...] = ()
    choices: tuple[ChoiceAxis, ...] = ()

    def __iter__(self) -> Iterator[AxisSpec]:
        return iter(self.axes)

    def __repr__(self) -> str:
        rated: tuple[ScaleAxis | ChoiceAxis | NoteAxis, ...] = (
            *self.scales,
            *self.choices,
            *self.notes,
        )
        names = [*(spec.name for spec in self.axes), *(axis.name for axis in rated)]
        axes = ", ".join(dict.fromkeys(names))
        return f"Rubric({self.name!r}, version={self.version}, axes: {axes})"

    @property
    def fields(self) -> ResponseFields:
        """The fields of a response that the axes read.

        `reads` (a field name) and `accepts` (types, text by default) are optional attributes of
        an axis, so they are not part of the `Axis` protocol.
        """
        return collect_fields(spec.axis for spec in self.axes)


def collect_fields(axes: Iterable[Axis]) -> ResponseFields:
    """Return the fields of a response that axes read."""
    accepted: dict[str, set[type]] = {}
    numeric: set[str] = set()
    for axis in axes:
        name = getattr(axis, "reads", None)
        if name is None:
            continue
        types = set(getattr(axis, "accepts", (str,)))
        accepted[name] = accepted.get(name, types) & types
        if Decimal in types:
            numeric.add(name)
    return ResponseFields(accepted=accepted, numeric=tuple(sorted(numeric)))

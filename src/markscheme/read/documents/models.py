"""The rubric and exam formats as models: which keys a document may have and what they may hold.

The model of an axis kind is built from the fields of its dataclass, so a new axis needs no second
description. `json_schema` builds the JSON Schemas for editors from the same models; the docstrings
of the models are the descriptions in those schemas.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from markscheme.read.documents.validation import UNSET, Constraints, Converter, Model, alias_key
from markscheme.vocabulary import Axis, FrozenDict

COMPARISON_KEYS = ("verdicts", "verdict_rules", "decision_table", "blocking", "agreement")
"""The keys of a rubric that only a comparison uses."""
MAX_POINTS = 1_000_000
_POINTS_PLACES = 6
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


def _parse_number(value: Any) -> Decimal | None:
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return Decimal(value) if is_number else None


def _parse_points(value: Any) -> Decimal | None:
    number = _parse_number(value)
    if number is None or abs(number) > MAX_POINTS:
        return None
    # Sums of such numbers stay short, whatever a document holds.
    return number if number == round(number, _POINTS_PLACES) else None


Number = Annotated[Decimal, Converter(_parse_number, "number_type", FrozenDict(type="number"))]
Share = Annotated[
    Decimal,
    Converter(_parse_number, "number_type", FrozenDict(type="number", minimum=0, maximum=1)),
    Constraints(at_least=0, at_most=1),
]
_POINTS_SCHEMA = FrozenDict(
    {"type": "number", "minimum": -MAX_POINTS, "maximum": MAX_POINTS, "not": FrozenDict(const=0)}
)
_POSITIVE_POINTS_SCHEMA = FrozenDict(type="number", exclusiveMinimum=0, maximum=MAX_POINTS)
_Points = Converter(_parse_points, "points_type", _POINTS_SCHEMA)
Points = Annotated[Decimal, _Points]
PositivePoints = Annotated[
    Decimal, _Points._replace(schema=_POSITIVE_POINTS_SCHEMA), Constraints(above=0)
]
Name = Annotated[str, Constraints(pattern=NAME_PATTERN, longest=200)]
Text = Annotated[str, Constraints(longest=100_000)]
Scalar = str | bool | int | Number
NO_ENTRIES: Any = ()
"""The default of a key that holds a list."""


class RubricModel(Model):
    """What a rubric holds beside its axes, gates and comparison, which are checked by themselves.

    A rubric of verdict rules or a decision table may do without axes: it scores nothing by itself.
    """

    rubric: Name
    version: Annotated[int, Constraints(at_least=1)] = 1
    title: Text = ""
    normalise: list[Any] = NO_ENTRIES
    tool_families: Any = None
    axes: Annotated[list[Any], Constraints(shortest=1)] = NO_ENTRIES
    pass_mark: Annotated[Share, Constraints(above=0)] = Decimal(1)
    gates: list[Any] = NO_ENTRIES
    verdicts: Any = None
    verdict_rules: Any = None
    decision_table: Any = None
    blocking: Any = None
    agreement: Any = None


def is_exam_tree(tree: Mapping[str, Any]) -> bool:
    """Return whether a document is an exam, by the keys that only an exam has."""
    return bool({"exam", "items"} & tree.keys()) and "rubric" not in tree


def is_rubric_tree(tree: Mapping[str, Any]) -> bool:
    """Return whether a document is a rubric, by the keys that only a rubric has."""
    return bool({"rubric", "axes"} & tree.keys()) and not {"exam", "items"} & tree.keys()


class ItemModel(Model):
    """One item; keys beside these three are what axes expect of it."""

    allows_extra_keys = True

    id: Name
    prompt: Annotated[Text, Constraints(shortest=1)]
    tags: dict[Name, Scalar] = FrozenDict()


class ExamModel(Model):
    """An exam: a name and its items."""

    exam: Name
    version: Annotated[int, Constraints(at_least=1)] = 1
    title: Text = ""
    items: Annotated[list[ItemModel], Constraints(shortest=1)]


class AxisModel(Model):
    """What every axis has, whatever its kind."""

    name: Name
    kind: str
    # If no axis of a rubric states a weight or points, all axes count equally.
    weight: Share = UNSET
    points: PositivePoints = UNSET
    title: Text = ""


class RatedModel(Model):
    """What an axis has that is rated: a question."""

    name: Name
    title: Text = ""
    question: Annotated[Text, Constraints(shortest=1)]


class MarkedModel(RatedModel):
    """An axis that may count in the score too: with a weight or with points."""

    weight: Share = UNSET
    points: PositivePoints = UNSET
    may_not_apply: bool = False


class ScaleModel(MarkedModel):
    """An axis that is rated in numbers; each whole number has an anchor that says what it is."""

    kind: Literal["scale"]
    anchors: Annotated[
        dict[
            Annotated[str, Constraints(pattern=r"^-?[0-9]{1,3}$")],
            Annotated[Text, Constraints(shortest=1)],
        ],
        Constraints(shortest=2, longest=20),
    ]
    step: Annotated[
        Decimal,
        Converter(
            _parse_number,
            "number_type",
            FrozenDict(type="number", exclusiveMinimum=0, maximum=1),
        ),
        Constraints(above=0, at_most=1),
    ] = Decimal(1)


class ChoiceModel(MarkedModel):
    """An axis that is rated with one of several names; each option has a value from 0 to 1."""

    kind: Literal["choice"]
    options: Annotated[dict[Name, Share], Constraints(shortest=2, longest=50)]


class NoteModel(RatedModel):
    """An axis that people answer in words; it has no score."""

    kind: Literal["note"]


RATED_MODELS: Mapping[str, type[RatedModel]] = {
    "scale": ScaleModel,
    "choice": ChoiceModel,
    "note": NoteModel,
}
WEIGHT_KEYS = ("weight", "points")
"""The keys that make an axis count in the score."""


def is_rated(entry: Any) -> bool:
    """Return whether an entry of `axes` is only rated and counts in no score.

    That is every note, and every scale or choice without a weight.
    """
    if not isinstance(entry, Mapping) or entry.get("kind") not in tuple(RATED_MODELS):
        return False
    return entry["kind"] == "note" or not any(key in entry for key in WEIGHT_KEYS)


class CriterionModel(Model):
    """A criterion: what an answer gets points for, or loses points for."""

    id: Name
    points: Points
    says: Annotated[Text, Constraints(shortest=1)] = UNSET
    check: dict[str, Any] = UNSET
    must: bool = False
    tags: dict[Name, Scalar] = FrozenDict()


class CriterionGroupModel(Model):
    """Criteria that together earn a share of the points of their group."""

    group: Name
    points: Points
    criteria: Annotated[list[Any], Constraints(shortest=1)]


class CheckModel(Model):
    """What every check of a criterion has: the kind of an axis."""

    kind: str


_ModelBase = TypeVar("_ModelBase", bound=Model)


@lru_cache(maxsize=256)
def build_axis_model(axis: type[Axis], steps: tuple[str, ...]) -> type[AxisModel]:
    """Return the model of one axis kind, built from the fields of its dataclass."""
    return _build_parameter_model(axis, steps, AxisModel, "Axis")


@lru_cache(maxsize=256)
def build_check_model(axis: type[Axis], steps: tuple[str, ...]) -> type[CheckModel]:
    """Return the model of the check of a criterion that uses one axis kind."""
    return _build_parameter_model(axis, steps, CheckModel, "Check")


def _build_parameter_model(
    axis: type[Axis], steps: tuple[str, ...], base: type[_ModelBase], noun: str
) -> type[_ModelBase]:
    """Return a model with the keys of `base` and one key for each parameter of the axis."""
    hints = get_parameter_types(axis)
    annotations: dict[str, Any] = {"kind": Literal[axis.kind]}
    defaults: dict[str, Any] = {"__doc__": axis.__doc__}
    for field in dataclasses.fields(axis):  # type: ignore[arg-type]
        if field.name == "tool_families":
            # The rubric states the families of tools once, for all axes.
            continue
        hint = _to_document_type(hints[field.name])
        if field.name == "normalise":
            hint = list[Literal[steps]]  # type: ignore[valid-type]
        required = field.default is dataclasses.MISSING
        default = ... if required else None if field.name == "normalise" else field.default
        # The underscore keeps parameters apart from the attributes of `Model` itself.
        annotations[f"{field.name}_"] = hint
        defaults[f"{field.name}_"] = alias_key(field.name, default)
    return type(
        f"{axis.__name__.removesuffix('Axis')}{noun}",
        (base,),
        {"__annotations__": annotations, **defaults},
    )


@lru_cache(maxsize=256)
def get_parameter_types(axis: type[Axis]) -> Mapping[str, Any]:
    """Return the types of the fields of an axis."""
    return get_type_hints(axis)


def _to_document_type(hint: Any) -> Any:
    """Return the type of a field in documents: a list for a tuple, words for an enum."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return Union[tuple(_to_document_type(argument) for argument in arguments)]  # noqa: UP007
    if origin is tuple:
        return list[_to_document_type(arguments[0])]  # type: ignore[misc]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Literal[tuple(member.value for member in hint)]
    if origin is Mapping:
        return dict[str, Any]
    return Number if hint in {Decimal, float} else hint


def build_axis_models(
    kinds: Mapping[str, type[Axis]], steps: tuple[str, ...]
) -> dict[str, type[AxisModel]]:
    """Return the model of every axis kind, by the name of the kind."""
    return {kind: build_axis_model(axis, steps) for kind, axis in kinds.items()}

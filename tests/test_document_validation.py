"""Validation of documents by models: what is valid, and all violations reported at once."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import pytest

from markscheme import Cell, UsageError, load_rubric
from markscheme.read.documents import (
    Constraints,
    Model,
    ModelValidationError,
    Name,
    Number,
    Scalar,
    Share,
    alias_key,
    validate_model,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Leaf(Model):
    """Something inside."""

    size: Annotated[int, Constraints(at_least=1, at_most=9)]
    inner: list[Leaf] = []  # noqa: RUF012 - as a document would have it


class Tree(Model):
    """Everything that a document can hold."""

    name: Name
    kind: Literal["oak", "elm"] = "oak"
    share: Share | None = None
    in_: str = alias_key("in", "nowhere")
    tags: Annotated[dict[Name, Scalar], Constraints(shortest=1, longest=2)] | None = None
    leaves: Annotated[list[str | Leaf], Constraints(shortest=1, longest=3)] | None = None
    number: Number = Decimal(0)


class Bush(Tree):
    """A tree of another kind, which must be said."""

    kind: Literal["box", "yew"]  # type: ignore[assignment]


def findings(model: type[Model], given: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    with pytest.raises(ModelValidationError) as caught:
        validate_model(model, given)
    return [(finding.kind, finding.place) for finding in caught.value.violations]


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_are_the_first_to_check_a_model_check_every_key() -> None:
    given = {f"k{n}": "x" for n in range(100)}
    with ThreadPoolExecutor(4) as threads:
        for number in range(60):
            hints = {key: Annotated[str, Constraints(longest=1, above=number)] for key in given}
            model = type("Wide", (Model,), {"__annotations__": hints})
            instances = threads.map(validate_model, [model] * 4, [given] * 4)
            assert [len(instance.stated_keys) for instance in instances] == [len(given)] * 4


def test_what_is_right_comes_out_with_its_defaults_and_says_what_was_stated() -> None:
    instance = validate_model(
        Tree, {"name": "t", "in": "park", "leaves": ["a", {"size": 2}], "number": 3}
    )
    assert (instance.name, instance.kind, instance.share, instance.in_) == (
        "t",
        "oak",
        None,
        "park",
    )
    assert isinstance(instance.number, Decimal)
    assert instance.leaves is not None
    assert isinstance(instance.leaves[1], Leaf)
    assert instance.leaves[1].size == 2
    assert instance.stated_keys == {"name", "in_", "leaves", "number"}


def test_everything_that_is_wrong_is_found_at_once_and_in_order() -> None:
    given = {"kind": "ash", "share": Decimal(2), "tags": {}, "leaves": ["a"] * 4, "in_": "x"}
    assert findings(Tree, given) == [
        ("missing", ("name",)),
        ("literal", ("kind",)),
        ("above", ("share",)),
        ("too_short", ("tags",)),
        ("too_long", ("leaves",)),
        ("extra", ("in_",)),
    ]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"name": 5}, "string_type"),
        ({"name": "a b"}, "pattern"),
        ({"name": "a\n"}, "pattern"),
        ({"name": "a" * 201}, "too_long"),
        ({"name": "t", "number": True}, "number_type"),
        ({"name": "t", "number": "1"}, "number_type"),
        ({"name": "t", "share": Decimal("-0.1")}, "below"),
        ({"name": "t", "tags": {"a": None}}, "string_type"),
        ({"name": "t", "tags": {"a b": 1}}, "pattern"),
        ({"name": "t", "tags": []}, "dict_type"),
        ({"name": "t", "leaves": {}}, "list_type"),
        ([], "model_type"),
    ],
)
def test_no_type_is_taken_for_another(given: Any, kind: str) -> None:
    assert findings(Tree, given)[0][0] == kind


def test_each_arm_of_a_union_says_what_it_misses() -> None:
    assert findings(Tree, {"name": "t", "leaves": [{"size": 0}]}) == [
        ("string_type", ("leaves", 0, "[arm]")),
        ("below", ("leaves", 0, "Leaf", "size")),
    ]


def test_true_is_no_whole_number_and_no_fraction_is_one() -> None:
    assert findings(Leaf, {"size": True}) == [("int_type", ("size",))]
    assert findings(Leaf, {"size": Decimal("1.0")}) == [("int_type", ("size",))]


def test_a_model_may_hold_itself() -> None:
    instance = validate_model(Leaf, {"size": 1, "inner": [{"size": 2, "inner": [{"size": 3}]}]})
    assert instance.inner[0].inner[0].size == 3
    nested = {"size": 1, "inner": [{"size": 2, "inner": [{}]}]}
    assert findings(Leaf, nested) == [("missing", ("inner", 0, "inner", 0, "size"))]


def test_a_key_that_is_said_anew_keeps_its_place_and_loses_its_default() -> None:
    assert list(Bush.get_keys()) == list(Tree.get_keys())
    assert findings(Bush, {"name": "b"}) == [("missing", ("kind",))]


@dataclass(frozen=True, kw_only=True)
class OnADay:
    kind: ClassVar[str] = "on_a_day"
    version: ClassVar[int] = 1
    day: date

    def mark(self, response: Any, item: Any) -> Cell:
        raise NotImplementedError

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        yield from ()

    def item_problems(self, item: Any) -> Iterator[tuple[str, str]]:
        del item
        yield from ()


def test_a_parameter_that_no_document_can_hold_is_told_to_its_author(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("rubric: r\naxes: [{name: a, kind: on_a_day, weight: 1, day: 2024-01-01}]\n")
    with pytest.raises(UsageError, match="type `date` cannot be stated in a rubric"):
        load_rubric(path, axes=[OnADay])

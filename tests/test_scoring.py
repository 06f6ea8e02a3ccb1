"""The score is the exact sum of weight times value, and an axis that fails leaves none."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marking import EAT, OUTPUTS, TUTOR
from markscheme import AxisSpec, Cell, Item, Rubric, Status
from markscheme.mark import mark_answer
from markscheme.mark.axes import ContainsAll, MaxWords, PatternAxis


def test_the_seeds_example_scores_0_75_not_0_95() -> None:
    output = json.dumps(
        {"correction": "Ate.", "spanish_gloss": "", "explanation": "Irregular past."}
    )
    marked = mark_answer(TUTOR, EAT, output)
    assert marked.score == Fraction(75, 100)
    assert {axis: c.value for axis, c in marked.cells.items()} == {
        "correctness": 1,
        "spanish_gloss": 0,
        "schema": 1,
        "conciseness": 1,
    }
    assert list(marked.weighted.values()) == [
        Fraction(60, 100),
        0,
        Fraction(1, 10),
        Fraction(1, 20),
    ]


def test_a_cell_has_a_value_exactly_when_it_is_scored() -> None:
    with pytest.raises(ValueError, match="exactly when it is scored"):
        Cell(status=Status.FAILED, value=Fraction(0), reason="x")
    with pytest.raises(ValueError, match="at most 1"):
        Cell(status=Status.SCORED, value=Fraction(2), reason="x")


def test_an_axis_that_raises_gives_a_failed_cell_and_no_score() -> None:
    class Broken(MaxWords):
        def judge(self, text: str, item: Item) -> Cell:
            raise RuntimeError(text + item.id)

    spec = TUTOR.axes[3]
    broken = type(spec)(name=spec.name, weight=spec.weight, axis=Broken(limit=30))
    rubric = Rubric(
        name="r", version=1, axes=(*TUTOR.axes[:3], broken), gates=(), fingerprint="b2:0"
    )
    marked = mark_answer(rubric, EAT, "Ate.")
    assert marked.cells["conciseness"].status is Status.FAILED
    assert marked.cells["conciseness"].reason == "the axis failed: RuntimeError: Ate.e-39-01"
    assert marked.score is None


@given(OUTPUTS)
def test_the_score_is_the_exact_sum_of_weight_times_value(output: str) -> None:
    marked = mark_answer(TUTOR, EAT, output)
    values = [marked.cells[spec.name].value for spec in TUTOR]
    total = sum(Fraction(s.weight) * (v or 0) for s, v in zip(TUTOR, values, strict=True))
    assert marked.score == total == sum(v or 0 for v in marked.weighted.values())


@given(st.permutations(TUTOR.axes), OUTPUTS)
def test_the_score_does_not_depend_on_the_order_of_the_axes(axes: list[Any], output: str) -> None:
    moved = Rubric(name="r", version=1, axes=tuple(axes), gates=(), fingerprint="b2:0")
    one, two = mark_answer(TUTOR, EAT, output), mark_answer(moved, EAT, output)
    assert one.score == two.score
    assert dict(one.cells) == dict(two.cells)


def test_the_leading_axis_is_the_first_that_expects_something_of_the_item() -> None:
    fixed = AxisSpec(name="p", weight=Decimal("0.5"), axis=PatternAxis(pattern="a"))
    asks = AxisSpec(name="c", weight=Decimal("0.5"), axis=ContainsAll(reads="correction"))
    rubric = Rubric(name="r", version=1, axes=(fixed, asks), gates=(), fingerprint="b2:0")
    marked = mark_answer(rubric, EAT, '{"correction": "Ate."}')
    assert (marked.got, list(marked.expected)) == ("Ate.", ["ate"])


def test_an_axis_that_gives_no_cell_fails_the_cell_not_the_run() -> None:
    class Silent(MaxWords):
        def judge(self, text: str, item: Item) -> Cell:  # noqa: ARG002
            return None  # type: ignore[return-value]

    axes = (AxisSpec(name="a", weight=Decimal(1), axis=Silent(limit=1)),)
    rubric = Rubric(name="r", version=1, axes=axes, gates=(), fingerprint="b2:0")
    marked = mark_answer(rubric, EAT, "x")
    assert marked.cells["a"].reason == "the axis gave a NoneType, not a cell"
    assert marked.score is None

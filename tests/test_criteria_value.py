"""The value of criteria is exact, and its bounds hold whatever is not known turns out to be."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marked_criteria import (
    Tree,
    Verdicts,
    cell_of,
    criterion,
    item_with,
    leaves,
    mark_of,
    mark_with,
    rubric_of,
    true_value,
)
from markscheme import Status
from markscheme.mark import find_bounds
from markscheme.mark.axes import CriteriaAxis, MaxWords

if TYPE_CHECKING:
    from markscheme.vocabulary import Cell

ERASURES = 10_000


def make_tree(chance: random.Random, depth: int = 0, name: str = "c") -> Tree:
    """Return random criteria: positive and negative points, thirds, musts, nested groups."""
    tree: Tree = []
    for at in range(chance.randint(1, 4 if depth == 0 else 3)):
        own = f"{name}{at}"
        points = chance.choice([1, 2, 3, 5, 7, -1, -2, -4])
        if depth < 2 and chance.random() < 0.3:
            inner = make_tree(chance, depth + 1, own)
            tree.append({"group": own, "points": points, "criteria": inner})
            if points < 0:
                for one in leaves(inner):
                    one.pop("must", None)
        else:
            must = {"must": True} if points > 0 and chance.random() < 0.1 else {}
            tree.append(criterion(own, points, **must))
    return tree


def make_verdicts(chance: random.Random, tree: Tree) -> Verdicts:
    scores: list[Fraction | str] = [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(1, 2), "n/a"]
    weights = [6, 6, 1, 1, chance.choice([1, 12])]
    return {one["id"]: chance.choices(scores, weights)[0] for one in leaves(tree)}


def cell_for(tree: Tree, verdicts: Verdicts, *, kept: bool) -> Cell:
    return cell_of(tree, [mark_of(name, score) for name, score in verdicts.items()], kept=kept)


@given(seed=st.integers(0, 2**32), kept=st.booleans())
def test_the_value_is_that_of_an_independent_calculation(seed: int, *, kept: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 - makes inputs
    tree = make_tree(chance)
    verdicts = make_verdicts(chance, tree)

    cell = cell_for(tree, verdicts, kept=kept)

    expected = true_value(tree, verdicts, kept=kept)
    assert cell.value == expected
    assert cell.status is (Status.NOT_APPLICABLE if expected is None else Status.SCORED)


@pytest.mark.parametrize("kept", [True, False])
def test_bounds_hold_the_true_score_in_10_000_random_erasures(*, kept: bool) -> None:
    """Also where an axis or an answer turns out not to apply, and beside another axis."""
    chance = random.Random(23)  # noqa: S311 - makes inputs
    axes = (("quality", rubric_of(kept=kept).axes[0].axis), ("brief", MaxWords(limit=3)))
    single, double = rubric_of(kept=kept), rubric_of(*axes)
    for _ in range(ERASURES // 2):
        tree = make_tree(chance)
        verdicts = make_verdicts(chance, tree)
        names = list(verdicts)
        erased = set(chance.sample(names, chance.randint(1, len(names))))
        item, output = item_with(tree), chance.choice(["one", "one two three four"])
        known = [mark_of(name, verdicts[name]) for name in names if name not in erased]
        unread = [mark_of(name, None, "cut-off") for name in erased if chance.random() < 0.5]
        truth = [mark_of(name, score) for name, score in verdicts.items()]

        rubric = chance.choice([single, double])
        seen = mark_with(rubric, item, [*known, *unread], output)
        true = mark_with(rubric, item, truth, output)
        assert seen.score is None
        assert seen.cells["quality"].status is Status.ABSTAINED
        assert seen.bounds is not None
        if true.score is not None:
            assert seen.bounds.low <= true.score <= seen.bounds.high, (tree, verdicts, erased)


@given(seed=st.integers(0, 2**32), kept=st.booleans())
def test_bounds_are_reached_unless_a_must_is_unknown(seed: int, *, kept: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 - makes inputs
    tree = make_tree(chance, depth=1)
    for one in leaves(tree):
        one.pop("must", None)
    names = [one["id"] for one in leaves(tree)]
    erased = chance.sample(names, min(len(names), chance.randint(1, 5)))
    verdicts: Verdicts = {name: Fraction(chance.randint(0, 1)) for name in names}

    cell = cell_of(tree, [mark_of(n, s) for n, s in verdicts.items() if n not in erased], kept=kept)

    options: list[Fraction | str] = [Fraction(0), Fraction(1), "n/a"]
    outcomes = [
        true_value(tree, {**verdicts, **dict(zip(erased, choice, strict=True))}, kept=kept)
        for choice in product(options, repeat=len(erased))
    ]
    reached = [value for value in outcomes if value is not None]
    assert (cell.bounds.low, cell.bounds.high) == (min(reached), max(reached))


@given(seed=st.integers(0, 2**32), kept=st.booleans())
def test_an_answer_without_any_mark_is_within_the_bounds_of_its_item(
    seed: int, *, kept: bool
) -> None:
    chance = random.Random(seed)  # noqa: S311 - makes inputs
    tree = make_tree(chance)
    verdicts = make_verdicts(chance, tree)
    axis = rubric_of(kept=kept).axes[0].axis

    bounds = find_bounds(axis, item_with(tree))

    value = true_value(tree, verdicts, kept=kept)
    assert cell_of(tree, [], kept=kept).bounds == bounds
    assert value is None or bounds.low <= value <= bounds.high


def test_thirds_in_nested_groups_are_exact() -> None:
    tree: list[Any] = [
        {
            "group": "methods",
            "points": 1,
            "criteria": [criterion("a", 1), criterion("b", 1), criterion("c", 1)],
        },
        {
            "group": "results",
            "points": 2,
            "criteria": [
                {"group": "table", "points": 3, "criteria": [criterion("d", 1), criterion("e", 6)]},
                criterion("f", 4),
            ],
        },
    ]
    marks = [mark_of(name, int(name in "ade")) for name in "abcdef"]

    assert cell_of(tree, marks).value == (Fraction(1, 3) + 2 * Fraction(3, 7)) / 3


def test_only_penalties_start_at_full_marks() -> None:
    tree = [criterion("a", -1), criterion("b", -3)]

    assert cell_of(tree, [mark_of("a", 0), mark_of("b", 0)]).value == 1
    assert cell_of(tree, [mark_of("a", 1), mark_of("b", 0)]).value == Fraction(3, 4)
    assert cell_of(tree, [mark_of("a", 1), mark_of("b", 1)]).value == 0


def test_a_value_below_0_is_cut_or_kept() -> None:
    tree = [criterion("a", 2), criterion("b", -3)]
    marks = [mark_of("a", 0), mark_of("b", 1)]

    assert cell_of(tree, marks).value == 0
    assert cell_of(tree, marks, kept=True).value == Fraction(-3, 2)


def test_if_all_that_could_be_earned_does_not_apply_penalties_are_counted_from_1() -> None:
    tree = [criterion("a", 1), criterion("b", -2), criterion("c", -2)]
    marks = [mark_of("a", "n/a"), mark_of("b", 1), mark_of("c", 0)]

    assert cell_of(tree, marks).value == Fraction(1, 2)
    assert cell_of(tree, marks[1:]).bounds.high == Fraction(1, 2)


def test_an_axis_of_criteria_knows_that_it_keeps_values_below_0() -> None:
    assert not CriteriaAxis().keeps_negatives
    assert getattr(rubric_of(kept=True).axes[0].axis, "keeps_negatives", None) is True

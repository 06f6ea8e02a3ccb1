"""`agree -r`: criteria and choices are nominal with the rubric's options; scales may halve."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

import markscheme
from commands import here
from marked_answers import HEADER, Desk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def rows_of(axis: str, scores: Sequence[tuple[str, str]], criterion: str = "") -> list[str]:
    """Return the ratings of two people, answer by answer."""
    return [
        f"i{at},v,{rater},{axis},{criterion},{score}"
        for at, both in enumerate(scores)
        for rater, score in zip(("ana", "ben"), both, strict=True)
    ]


def agreed(desk: Desk, rows: Sequence[str], *more: str) -> Any:
    path = desk.write_ratings(rows)
    done = here("agree", "-r", desk.rubric, "--ratings", path, "--format", "json", *more)
    assert done.code == 0, done.err
    return done.json["axes"]


def measure(desk: Desk, rows: Sequence[str]) -> Any:
    """Return the agreement on the one axis of some rows by the library, with exact fractions."""
    axes = markscheme.agree(desk.write_ratings(rows), desk.rubric).axes
    (axis,) = axes.values()
    return axis


def test_criteria_are_nominal_and_each_criterion_is_rated_by_itself(desk: Desk) -> None:
    # Met or not by both: 11, 11, 00, 10. Two of eight scores would have to change.
    rows = rows_of("facts", [("1", "true"), ("1", "1"), ("0", "false"), ("1", "0")], "c1")
    axis = measure(desk, rows)
    assert axis.level.value == "nominal"
    assert axis.people.percent == Fraction(3, 4)
    # alpha = 1 - (8 - 1) · 1 / (5 · 3), kappa = 1 - (1/4) / (1/2)
    assert axis.people.alpha == Fraction(8, 15)
    assert axis.pairs[0].kappa == Fraction(1, 2)


def test_criteria_of_one_answer_are_units_of_their_own(desk: Desk) -> None:
    rows = rows_of("facts", [("1", "1")], "c1") + rows_of("facts", [("0", "0")], "c2")
    assert agreed(desk, rows)["facts"]["n"] == 2


def test_a_choice_has_the_options_of_the_rubric(desk: Desk) -> None:
    scores = [("right", "right"), ("wrong", "wrong"), ("right", "wrong"), ("right", "right")]
    axis = measure(desk, rows_of("outcome", scores))
    assert axis.level.value == "nominal"
    # AC1 over three options, of which nobody chose one: shares 5/8 and 3/8, so that
    # chance is (5/8 · 3/8 + 3/8 · 5/8) / 2 = 15/64.
    assert axis.people.ac2 == (Fraction(3, 4) - Fraction(15, 64)) / (1 - Fraction(15, 64))


def test_a_scale_with_halves_has_its_halves_as_categories(desk: Desk) -> None:
    scores = [("1", "1.5"), ("3", "3"), ("2", "2"), ("2.5", "2")]
    axis = measure(desk, rows_of("tone", scores))
    assert axis.level.value == "ordinal"
    # Squared differences 1/4 + 1/4, and twice the squares less twice the product of the sums.
    squares = 1 + Fraction(9, 4) + 9 + 9 + 4 + 4 + Fraction(25, 4) + 4
    chance = 4 * squares - 2 * Fraction(17, 2) * Fraction(17, 2)
    assert axis.pairs[0].kappa == 1 - 4 * Fraction(1, 2) / chance
    # AC2 has five categories: 1, 1.5, 2, 2.5 and 3.
    assert axis.people.ac2 == compute_ac2_by_definition([(0, 1), (4, 4), (2, 2), (3, 2)], 5)


def compute_ac2_by_definition(pairs: Sequence[tuple[int, int]], q: int) -> Fraction:
    """Return Gwet's AC2 of two raters with quadratic weights, from its textbook formula."""
    weights = {(k, m): 1 - Fraction((k - m) ** 2, (q - 1) ** 2) for k in range(q) for m in range(q)}
    agreed_ = sum((weights[pair] for pair in pairs), Fraction(0)) / len(pairs)
    shares = [
        Fraction(sum(score == k for pair in pairs for score in pair), 2 * len(pairs))
        for k in range(q)
    ]
    spread = sum((share * (1 - share) for share in shares), Fraction(0))
    chance = sum(weights.values()) * spread / (q * (q - 1))
    return (agreed_ - chance) / (1 - chance)


def test_what_does_not_apply_is_a_gap(desk: Desk) -> None:
    rows = rows_of("facts", [("1", "n/a"), ("0", "0")], "c1")
    axis = agreed(desk, rows)["facts"]
    assert (axis["n"], axis["empty"]) == (1, 1)


def test_later_attempts_are_answers_of_their_own(desk: Desk) -> None:
    rows = [f"{row},{at}" for at in (1, 2) for row in rows_of("outcome", [("right", "right")])]
    path = desk.write_ratings(rows, f"{HEADER},attempt")
    done = here("agree", "-r", desk.rubric, "--ratings", path, "--format", "json")
    assert done.json["axes"]["outcome"]["n"] == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("i1,v,ana,outcome,,rigth", "`rigth` is no score; allowed: right, too-long, wrong"),
        ("i1,v,ana,facts,c1,yes", "`yes` is no score; allowed: 1, 0, n/a, true, false"),
        ("i1,v,ana,facts,,1", "criterion: is empty; `facts` is rated by criterion"),
        ("i1,v,ana,tone,c1,1", "`tone` is a scale and has no criteria"),
        ("i1,v,ana,words,,1", "`words` is no scale of the rubric advice; allowed: tone, outcome"),
    ],
)
def test_what_the_rubric_does_not_allow_is_refused(desk: Desk, row: str, message: str) -> None:
    done = here("agree", "-r", desk.rubric, "--ratings", desk.write_ratings([row]))
    assert done.code == 3
    assert message in done.err


def test_a_rubric_with_choices_and_no_scale_will_do(desk: Desk) -> None:
    text = """\
rubric: r
version: 1
axes:
  - {name: outcome, kind: choice, question: "What?", options: {right: 1, wrong: 0}}
  - {name: words, kind: contains_all, weight: 1}
"""
    desk.rubric.write_text(text, encoding="utf-8")
    axes = agreed(desk, rows_of("outcome", [("right", "right"), ("wrong", "right")]))
    assert axes["outcome"]["level"] == "nominal"

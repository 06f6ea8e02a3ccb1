"""Patterns of criteria: what most items lose, and what is lost within one theme alone."""

from __future__ import annotations

from typing import Any

from marked_criteria import rubric_of
from markscheme import Exam, Item, score
from markscheme.mark.axes import CriteriaAxis
from markscheme.vocabulary import FrozenDict
from markscheme.weigh.patterns import find_patterns, observe_rows

RUBRIC = rubric_of(("quality", CriteriaAxis()))
CRITERIA = [
    {"id": "right", "points": 2, "says": "Is right.", "tags": {"of": "content"}},
    {"id": "source", "points": 1, "says": "Names a source.", "tags": {"of": "form"}},
    {"id": "harm", "points": -2, "says": "Harms.", "tags": {"of": "safety"}},
]
ITEMS = tuple(
    Item(
        id=f"i{at}",
        prompt="?",
        expectations=FrozenDict.freeze({"criteria": CRITERIA}),
        tags=FrozenDict({"theme": "burns" if at % 4 == 0 else "other"}),
    )
    for at in range(20)
)
EXAM = Exam(names=("e",), items=ITEMS, fingerprint="b2:e")


def patterns(**lost: Any) -> list[tuple[str, int, int, dict[str, str]]]:
    """Return the patterns of criteria of a run in which criteria are met as these functions say."""
    usual = {"right": 1, "source": 1, "harm": 0}
    ratings = [
        {
            "item": item.id,
            "variant": "",
            "rater": "ana",
            "axis": "quality",
            "criterion": name,
            "score": str(lost[name](at) if name in lost else met),
        }
        for at, item in enumerate(ITEMS)
        for name, met in usual.items()
    ]
    answers = [{"item": item.id, "output": "x"} for item in ITEMS]
    result = score(RUBRIC, EXAM, answers, ratings=ratings)
    observed = observe_rows(RUBRIC, [result.frame])
    found = find_patterns(RUBRIC, EXAM, next(result.runs), observed)
    return [
        (one.sentence.split(" is lost")[0], one.hits, one.of, dict(one.tags))
        for one in found
        if one.kind == "criterion"
    ]


def test_a_criterion_that_every_item_loses_is_told_once_and_not_again_by_its_tag() -> None:
    found = patterns(source=lambda _: 0)
    assert found == [("the criterion `quality.source`", 20, 20, {})]


def test_a_penalty_that_one_theme_alone_gets_is_told_with_the_theme() -> None:
    found = patterns(harm=lambda at: int(at % 4 == 0))
    assert found == [("the criterion `quality.harm`", 5, 5, {"theme": "burns"})]


def test_losses_that_luck_explains_are_not_told() -> None:
    assert patterns(right=lambda at: int(at % 3 > 0), source=lambda at: int(at % 5 > 1)) == []

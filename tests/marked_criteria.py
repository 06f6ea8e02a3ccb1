"""Criteria for tests: rubrics and items in memory, and an oracle of their value."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme import AxisSpec, Item, Rubric
from markscheme.mark import mark_answer
from markscheme.mark.axes import BelowZero, CriteriaAxis
from markscheme.vocabulary import Cell, FrozenDict, Mark, MarkSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markscheme import Breakdown

Tree = list[dict[str, Any]]
"""Criteria as they stand in an exam."""
Verdicts = dict[str, Fraction | str]
"""The score of each criterion by its id: a number, or `n/a`."""


def criterion(name: str, points: int, **keys: Any) -> dict[str, Any]:
    """Return the entry of one criterion that somebody has to mark."""
    return {"id": name, "points": points, "says": f"It is {name}.", **keys}


def item_with(criteria: Sequence[Any]) -> Item:
    """Return an item with these criteria."""
    return Item(id="i", prompt="?", expectations=FrozenDict.freeze({"criteria": criteria}))


def rubric_of(*axes: tuple[str, Any], kept: bool = False) -> Rubric:
    """Return a rubric of these axes with equal weights; without axes, of one axis of criteria."""
    below_zero = BelowZero.KEPT if kept else BelowZero.CUT
    named = axes or (("quality", CriteriaAxis(below_zero=below_zero)),)
    share = Fraction(1, len(named))
    specs = tuple(AxisSpec(name=name, weight=share, axis=axis) for name, axis in named)
    return Rubric(name="r", version=1, axes=specs, gates=(), fingerprint="")


def mark_of(
    name: str,
    score: Fraction | str | int | None,
    why: str = "",
    by: str = "ana",
    *,
    judge: bool = False,
) -> Mark:
    """Return what one rater says about a criterion, or about an axis if the name is empty."""
    source = MarkSource.JUDGE if judge else MarkSource.PERSON
    value = Fraction(score) if isinstance(score, int) else score
    return Mark(score=value, source=source, by=by, criterion=name, why=why)


def mark_with(rubric: Rubric, item: Item, marks: Iterable[Mark], output: str = "") -> Breakdown:
    """Mark one answer on the axis `quality`."""
    return mark_answer(rubric, item, output, marks={"quality": tuple(marks)})


def cell_of(
    criteria: Sequence[Any], marks: Iterable[Mark], *, kept: bool = False, output: str = ""
) -> Cell:
    """Return the cell of an axis of criteria."""
    return mark_with(rubric_of(kept=kept), item_with(criteria), marks, output).cells["quality"]


def true_value(
    tree: Tree, verdicts: Mapping[str, Fraction | str], *, kept: bool
) -> Fraction | None:
    """Return the value of criteria by the sentences of the contract; `None` if none applies."""
    if any(_misses(one, verdicts) for one in leaves(tree) if one.get("must")):
        return Fraction(0)
    return _share(tree, verdicts, kept=kept)


def leaves(tree: Tree) -> list[dict[str, Any]]:
    """Return every criterion, those of groups too."""
    nested = [leaves(entry["criteria"]) if "group" in entry else [entry] for entry in tree]
    return [one for part in nested for one in part]


def _misses(one: dict[str, Any], verdicts: Mapping[str, Fraction | str]) -> bool:
    verdict = verdicts[one["id"]]
    return verdict != "n/a" and Fraction(verdict) <= Fraction(1, 2)


def _share(tree: Tree, verdicts: Mapping[str, Fraction | str], *, kept: bool) -> Fraction | None:
    scored = []
    for entry in tree:
        points = Fraction(entry["points"])
        if "group" in entry:
            score = _share(entry["criteria"], verdicts, kept=kept and points > 0)
        else:
            verdict = verdicts[entry["id"]]
            score = None if verdict == "n/a" else Fraction(verdict)
        if score is not None:
            scored.append((points, score))
    if not scored:
        return None
    earned = sum((points * score for points, score in scored), Fraction(0))
    possible = sum((points for points, _ in scored if points > 0), Fraction(0))
    penalties = sum((abs(points) for points, _ in scored), Fraction(0))
    value = earned / possible if possible else 1 + earned / penalties
    return value if kept else max(value, Fraction(0))

"""The criteria of an item: what an answer gets points for, one by one or in groups.

>>> right = Criterion(id="c1", points=Fraction(3), says="Names the dose.")
>>> wrong = Criterion(id="c2", points=Fraction(-2), says="Invents a source.")
>>> [criterion.id for criterion in iterate_criteria((right, wrong))]
['c1', 'c2']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from msgspec import Struct

from markscheme.vocabulary.exam import Item
from markscheme.vocabulary.frozen import FrozenDict
from markscheme.vocabulary.rubric import Axis


class CriterionCheck(Struct, frozen=True, kw_only=True):
    """A check that code decides in place of a rater: an axis, and the item as that axis reads it.

    The item holds what the check itself expects beside what the item expects.
    """

    axis: Axis
    item: Item


class Criterion(Struct, frozen=True, kw_only=True):
    """One thing that an answer gets points for, or loses points for if they are negative.

    People and judges decide what the sentence `says`; code decides a `check`. If a criterion that
    `must` be met is not, its axis is 0.
    """

    id: str
    points: Fraction
    says: str = ""
    check: CriterionCheck | None = None
    must: bool = False
    tags: Mapping[str, str] = FrozenDict()


class CriterionGroup(Struct, frozen=True, kw_only=True):
    """Criteria that together earn a share of the points of their group."""

    group: str
    points: Fraction
    criteria: Criteria


Criteria: TypeAlias = tuple[Criterion | CriterionGroup, ...]


def iterate_criteria(criteria: Iterable[Criterion | CriterionGroup]) -> Iterator[Criterion]:
    """Yield every criterion, those of groups too, in the order in which they are written."""
    for entry in criteria:
        if isinstance(entry, CriterionGroup):
            yield from iterate_criteria(entry.criteria)
        else:
            yield entry

"""One run as patterns read it: its table, its groups, and what was observed beside the marks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from markscheme.vocabulary import Exam, Rubric
from markscheme.weigh.patterns.groups import list_item_groups
from markscheme.weigh.patterns.observed import RowObservations, find_leading_axis_name
from markscheme.weigh.patterns.table import compute_item_axis_means
from markscheme.weigh.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.weigh.patterns.groups import ItemGroup


@dataclass(frozen=True, kw_only=True)
class PatternContext:
    """What there is to read patterns from."""

    rubric: Rubric
    exam: Exam
    run: Run
    observed: RowObservations

    @cached_property
    def item_ids(self) -> tuple[str, ...]:
        """The items in the order of the exam."""
        return tuple(item.id for item in self.exam.items)

    @cached_property
    def groups(self) -> tuple[ItemGroup, ...]:
        """The groups by tag."""
        return list_item_groups(self.exam)

    @cached_property
    def leading_axis_name(self) -> str:
        """The axis that says whether an answer is right: what `got` shows, else the heaviest."""
        heaviest = max(self.rubric, key=lambda spec: spec.weight).name
        return find_leading_axis_name(self.rubric) or heaviest

    def list_item_ids(self, positions: Iterable[int]) -> tuple[str, ...]:
        """Return the names of items in the order of the exam."""
        return tuple(self.item_ids[at] for at in sorted(positions))

    @cached_property
    def _item_axis_means(self) -> list[tuple[Fraction | None, ...]]:
        return compute_item_axis_means(self.run.marks)

    def compute_lost_score(self, axis: str | None, positions: Iterable[int]) -> Fraction:
        """Return what items take from the mean score; `None` is every axis.

        What has no value counts as if it had been missed.
        """
        at = {spec.name: number for number, spec in enumerate(self.rubric)}
        weights = [(at[s.name], Fraction(s.weight)) for s in self.rubric if axis in {None, s.name}]
        counts = Counter(self._item_axis_means[item] for item in positions)
        total = sum(
            (
                weight * (1 - (means[number] or 0)) * count
                for means, count in counts.items()
                for number, weight in weights
            ),
            Fraction(0),
        )
        return total / len(self.item_ids)

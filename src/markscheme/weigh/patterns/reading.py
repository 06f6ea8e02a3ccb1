"""One run as patterns read it: its table, its groups, and what was observed beside the marks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from markscheme.vocabulary import Exam, Rubric
from markscheme.weigh.patterns.groups import groups_by_tags
from markscheme.weigh.patterns.observed import Observed, leading_name
from markscheme.weigh.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.weigh.patterns.groups import Group


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What there is to read patterns from."""

    rubric: Rubric
    exam: Exam
    run: Run
    observed: Observed

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The items in the order of the exam."""
        return tuple(item.id for item in self.exam.items)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups by tag."""
        return groups_by_tags(self.exam)

    @cached_property
    def leading(self) -> str:
        """The axis that says whether an answer is right: what `got` shows, else the heaviest."""
        heaviest = max(self.rubric, key=lambda spec: spec.weight).name
        return leading_name(self.rubric) or heaviest

    def items(self, positions: Iterable[int]) -> tuple[str, ...]:
        """Return the names of items in the order of the exam."""
        return tuple(self.names[at] for at in sorted(positions))

    def lost(self, axis: str | None, misses: int) -> Fraction:
        """Return what so many misses take from the score; `None` is every axis."""
        weight = sum(
            (Fraction(spec.weight) for spec in self.rubric if axis in {None, spec.name}),
            Fraction(0),
        )
        return weight * misses / len(self.names)

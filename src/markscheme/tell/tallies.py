"""What is known of a subject while it is asked: how much is done, the mean so far, errors, cost."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import mean, show
from markscheme.mark.scoring import mark_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.ask.runner import Asked
    from markscheme.vocabulary import Item, Rubric


class Tally:
    """One subject's replies, counted as they come and marked when somebody wants to know."""

    def __init__(self, rubric: Rubric, items: Mapping[str, Item]) -> None:
        self._rubric, self._items = rubric, items
        self._new: list[Asked] = []
        self._scores: Counter[Fraction] = Counter()
        self._axes: dict[str, Counter[Fraction]] = {spec.name: Counter() for spec in rubric}
        self.done = self._errors = 0
        self.cost = Decimal(0)

    def count(self, asked: Asked) -> None:
        """Count one reply."""
        self.done += 1
        self._errors += asked.reply.fault is not None
        self.cost += asked.reply.cost or 0
        self._new.append(asked)

    def mark(self) -> None:
        """Mark what came since the last time; only who watches pays for it."""
        some = self._new[:]
        del self._new[: len(some)]  # others may come meanwhile
        for asked in some:
            if asked.reply.text is not None:
                self._take(asked.ask.question.item, asked.reply.text)

    def _take(self, item: str, text: str) -> None:
        found = mark_answer(self._rubric, self._items[item], text)
        if found.score is not None:
            self._scores[found.score] += 1
        for axis, cell in found.cells.items():
            if cell.value is not None:
                self._axes[axis][cell.value] += 1

    def told(self) -> list[str]:
        """Return the mean with its interval, and how many ended with an error."""
        errors = "1 error" if self._errors == 1 else f"{self._errors:,} errors"
        return [self._mean(), errors]

    def axes(self) -> list[str]:
        """Return the mean of each axis."""
        return [f"{axis} {show(_mean(found), 2)}" for axis, found in self._axes.items()]

    def _mean(self) -> str:
        from markscheme.weigh.statistics import Sample  # noqa: PLC0415 - only where a line is told

        told = f"score {show(_mean(self._scores), 3)}"
        sample = Sample.of_counts(self._scores)
        if sample is None:
            return told
        low, high = sample.interval()
        return f"{told} [{max(0.0, low):.3f}, {min(1.0, high):.3f}]"


def _mean(counts: Counter[Fraction]) -> Fraction | None:
    """Return the mean of values that are counted: few are different, however many there are."""
    return mean(sum((value * n for value, n in counts.items()), Fraction(0)), counts.total())

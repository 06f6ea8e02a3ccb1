"""What is known of a subject while it is asked: how much is done, the mean so far, errors, cost."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from markscheme.exact import compute_mean, format_decimal
from markscheme.mark.scoring import mark_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.ask.runner import AskedQuestion
    from markscheme.vocabulary import Item, Rubric


class SubjectProgress:
    """One subject's replies, counted as they come and marked when somebody wants to know."""

    def __init__(self, rubric: Rubric, items: Mapping[str, Item]) -> None:
        self._rubric, self._items = rubric, items
        self._unmarked: list[AskedQuestion] = []
        self._scores: Counter[Fraction] = Counter()
        self._axes: dict[str, Counter[Fraction]] = {spec.name: Counter() for spec in rubric}
        self.done = self._errors = 0
        self.cost = Decimal(0)

    def count_reply(self, asked: AskedQuestion) -> None:
        """Count one reply."""
        self.done += 1
        self._errors += asked.reply.fault is not None
        self.cost += asked.reply.cost or 0
        self._unmarked.append(asked)

    def mark_new_replies(self) -> None:
        """Mark what came since the last time; only who watches pays for it."""
        some = self._unmarked[:]
        del self._unmarked[: len(some)]  # others may come meanwhile
        for asked in some:
            if asked.reply.text is not None:
                self._add_marks(asked.scheduled.question.item, asked.reply.text)

    def _add_marks(self, item: str, text: str) -> None:
        found = mark_answer(self._rubric, self._items[item], text)
        if found.score is not None:
            self._scores[found.score] += 1
        for axis, cell in found.cells.items():
            if cell.value is not None:
                self._axes[axis][cell.value] += 1

    def format_summary(self) -> list[str]:
        """Return the mean with its interval, and how many ended with an error."""
        errors = "1 error" if self._errors == 1 else f"{self._errors:,} errors"
        return [self._format_mean(), errors]

    def format_axes(self) -> list[str]:
        """Return the mean of each axis."""
        return [
            f"{axis} {format_decimal(_compute_mean(found), 2)}"
            for axis, found in self._axes.items()
        ]

    def _format_mean(self) -> str:
        from markscheme.weigh.statistics import SampleStatistics  # noqa: PLC0415 - only where a line is told

        told = f"score {format_decimal(_compute_mean(self._scores), 3)}"
        sample = SampleStatistics.from_counts(self._scores)
        if sample is None:
            return told
        low, high = sample.compute_interval()
        return f"{told} [{max(0.0, low):.3f}, {min(1.0, high):.3f}]"


def _compute_mean(counts: Counter[Fraction]) -> Fraction | None:
    """Return the mean of values that are counted: few are different, however many there are."""
    return compute_mean(
        sum((value * n for value, n in counts.items()), Fraction(0)), counts.total()
    )

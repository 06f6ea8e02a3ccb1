"""Axes with one rule removed on purpose, for mutants that no parameter can express."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from markscheme.mark import get_expectation_key
from markscheme.vocabulary import Axis, Cell, FrozenDict, Item, Response


@dataclass(frozen=True, slots=True, kw_only=True)
class WaivedAxis:
    """An axis that asks for nothing: every response passes."""

    kind: ClassVar[str] = "waived"
    version: ClassVar[int] = 1

    def mark(self, response: Response, item: Item) -> Cell:  # noqa: ARG002 - the same for all
        """Pass every response."""
        return Cell.passed("nothing is asked for")

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Yield nothing."""
        yield from ()

    def item_problems(self, item: Item) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Yield nothing."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyEntryAxis(WaivedAxis):
    """An axis for which one of the expected entries is enough."""

    kind: ClassVar[str] = "any_entry"
    inner: Axis

    def mark(self, response: Response, item: Item) -> Cell:
        """Return the best cell that the inner axis gives for one entry alone."""
        key = get_expectation_key(self.inner) or ""
        cells = []
        for entry in item.expectations[key]:
            expectations = FrozenDict({**item.expectations, key: (entry,)})
            cells.append(self.inner.mark(response, replace(item, expectations=expectations)))
        return next((cell for cell in cells if cell.value == 1), cells[0])

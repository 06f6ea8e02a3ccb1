"""Axes that are bent on purpose: what an axis would be with one of its rules gone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from markscheme.mark import get_expectation_key
from markscheme.vocabulary import Axis, Cell, FrozenDict, Item, Response

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class WaivedAxis:
    """An axis that asks for nothing: every response passes."""

    kind: ClassVar[str] = "waived"
    version: ClassVar[int] = 1

    def mark(self, response: Response, item: Item) -> Cell:  # noqa: ARG002 - the same for all
        """Pass."""
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
        """Ask the axis about each entry alone."""
        key = get_expectation_key(self.inner) or ""
        alone = [replace_expectation(item, key, (entry,)) for entry in item.expectations[key]]
        cells = [self.inner.mark(response, one) for one in alone]
        return next((cell for cell in cells if cell.value == 1), cells[0])


def replace_expectation(item: Item, key: str, entries: tuple[str, ...]) -> Item:
    """Return the item with other entries under one expectation."""
    return replace(item, expectations=FrozenDict({**item.expectations, key: entries}))

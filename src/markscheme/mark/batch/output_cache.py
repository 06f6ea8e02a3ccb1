"""Answers that come again word for word are marked once.

Recorded traffic repeats itself: a model asked the same item a thousand times says the same few
things. Where it does not, remembering costs more than it saves, and is given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    MarkRows = Callable[[Sequence[Any], Sequence[int]], pl.DataFrame]

MAX_CACHED_ROWS = 50_000
MAX_CHARACTERS = 16_000_000
_TRIAL_ROWS = 50_000
_MAX_ROWS_PER_HIT = 4  # remembering pays where at least one answer in so many was seen before


class RowCache:
    """The marked rows of different (output, item) pairs, found again by the pair."""

    def __init__(self) -> None:
        self._disabled = False
        self._lookups = self._hits = 0
        self.clear()

    def clear(self) -> None:
        """Forget every row."""
        self._codes: dict[tuple[str, int], int] = {}
        self._rows = pl.DataFrame()
        self._characters = 0

    @property
    def is_full(self) -> bool:
        """Whether it holds as much as it may."""
        return len(self._codes) > MAX_CACHED_ROWS or self._characters > MAX_CHARACTERS

    def get_or_mark(
        self, outputs: Sequence[Any], items: Sequence[int], mark: MarkRows
    ) -> pl.DataFrame:
        """Return the row of each output and item; those that are new are marked first."""
        if self._disabled or set(map(type, outputs)) != {str}:
            return mark(outputs, items)
        codes: list[Any] = list(map(self._codes.get, zip(outputs, items, strict=True)))
        new = [at for at, code in enumerate(codes) if code is None]
        self._add_rows(codes, new, outputs, items, mark)
        rows = self._rows[codes]
        self._update_hit_rate(len(codes), len(codes) - len(new))
        return rows

    def _add_rows(
        self,
        codes: list[Any],
        new: list[int],
        outputs: Sequence[str],
        items: Sequence[int],
        mark: MarkRows,
    ) -> None:
        """Mark what is new, once for each pair, and complete the codes."""
        firsts: dict[tuple[str, int], int] = {}
        height = self._rows.height
        for at in new:
            codes[at] = height + firsts.setdefault((outputs[at], items[at]), len(firsts))
        if firsts:
            rows = mark([output for output, _ in firsts], [item for _, item in firsts])
            self._codes |= {pair: height + at for pair, at in firsts.items()}
            self._rows = self._rows.vstack(rows) if self._rows.width else rows
            self._characters += sum(len(output) for output, _ in firsts)

    def _update_hit_rate(self, asked: int, found: int) -> None:
        """Give up where few answers come again."""
        self._lookups += asked
        self._hits += found
        if self._lookups > _TRIAL_ROWS and self._hits * _MAX_ROWS_PER_HIT < self._lookups:
            self._disabled = True
            self.clear()

"""Answers that come again word for word are marked once.

Recorded traffic repeats itself: a model asked the same item a thousand times says the same few
things. Where it does not, remembering costs more than it saves, and is given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Rows = Callable[[Sequence[Any], Sequence[int]], pl.DataFrame]

CAPACITY = 50_000
_TRIAL = 50_000
_WORTH_IT = 4  # remembering pays where at least one answer in so many was seen before


class Memory:
    """The marked rows of different (output, item) pairs, found again by the pair."""

    def __init__(self) -> None:
        self._given_up = False
        self._asked = self._found = 0
        self.clear()

    def clear(self) -> None:
        """Forget every row."""
        self._codes: dict[tuple[Any, int], int] = {}
        self._rows = pl.DataFrame()

    @property
    def full(self) -> bool:
        """Whether it holds as many rows as it may."""
        return len(self._codes) > CAPACITY

    def recall(self, outputs: Sequence[Any], items: Sequence[int], mark: Rows) -> pl.DataFrame:
        """Return the row of each output and item; those that are new are marked first."""
        if self._given_up:
            return mark(outputs, items)
        try:
            codes: list[Any] = list(map(self._codes.get, zip(outputs, items, strict=True)))
        except TypeError:  # an output that is an object has no hash
            return mark(outputs, items)
        new = [at for at, code in enumerate(codes) if code is None]
        self._learn(codes, new, outputs, items, mark)
        self._judge(len(codes), len(codes) - len(new))
        return self._rows[codes]

    def _learn(
        self,
        codes: list[Any],
        new: list[int],
        outputs: Sequence[Any],
        items: Sequence[int],
        mark: Rows,
    ) -> None:
        """Mark what is new, once for each pair, and complete the codes."""
        firsts: list[int] = []
        for at in new:
            pair = outputs[at], items[at]
            code = codes[at] = self._codes.setdefault(pair, len(self._codes))
            if code == self._rows.height + len(firsts):
                firsts.append(at)
        if firsts:
            rows = mark([outputs[at] for at in firsts], [items[at] for at in firsts])
            self._rows = self._rows.vstack(rows) if self._rows.width else rows

    def _judge(self, asked: int, found: int) -> None:
        """Give up where few answers come again."""
        self._asked += asked
        self._found += found
        if self._asked > _TRIAL and self._found * _WORTH_IT < self._asked:
            self._given_up = True

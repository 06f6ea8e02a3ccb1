"""Patterns in sentences: what was seen, what to do, and why it is no accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from markscheme.tell.language import say, told
from markscheme.tell.reports import FIRST
from markscheme.tell.terminal import console

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from markscheme.weigh.patterns import Pattern

_ITEMS_SHOWN = 10


class PatternPage:
    """Prints patterns, the most telling first."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or console()

    def first(self, patterns: Sequence[Pattern]) -> None:
        """Print the first few in short, where there are any."""
        if patterns:
            self._line(f"\n{say('What to look at first')}", "bold")
            for line in pattern_lines(patterns[:FIRST]):
                self._line(line)
            if len(patterns) > FIRST:
                more = say(
                    "… and {n:,} more: `markscheme show RUN --patterns`", n=len(patterns) - FIRST
                )
                self._line(more)

    def every(self, patterns: Sequence[Pattern]) -> None:
        """Print all of them with their evidence; that there is none is worth a line too."""
        self._line(f"\n{say('Patterns')}", "bold")
        if not patterns:
            self._line(say("no pattern: nothing here is unlikely by luck"))
        for line in pattern_lines(patterns, evidence=True):
            self._line(line)

    def _line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), soft_wrap=True)


def pattern_lines(patterns: Sequence[Pattern], *, evidence: bool = False) -> Iterator[str]:
    """Yield patterns in numbered sentences, each with its action, which every format shows."""
    for number, pattern in enumerate(patterns, start=1):
        yield f"{number}. {told(pattern.sentence)}"
        yield f"   → {told(pattern.action)}"
        if evidence:
            yield from (f"   {told(reason)}" for reason in pattern.evidence)
            yield from _items(pattern)


def _items(pattern: Pattern) -> Iterator[str]:
    if pattern.items:
        shown, more = ", ".join(pattern.items[:_ITEMS_SHOWN]), len(pattern.items) - _ITEMS_SHOWN
        tail = f" {say('and {n:,} more', n=more)}" if more > 0 else ""
        yield f"   {say('items: {items}', items=shown)}{tail}"

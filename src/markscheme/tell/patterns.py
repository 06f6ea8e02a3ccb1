"""Patterns in sentences: what was seen, what to do, and why it is no accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from markscheme.tell.language import translate, translate_stored
from markscheme.tell.text import create_console
from markscheme.tell.words import PATTERNS_SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from markscheme.weigh.patterns import Pattern

_PATTERN_ITEMS_SHOWN = 10


class PatternPage:
    """Prints patterns, the most telling first."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or create_console()

    def print_first(self, patterns: Sequence[Pattern]) -> None:
        """Print the first few in short, where there are any."""
        if patterns:
            self._print_line(f"\n{translate('What to look at first')}", "bold")
            for line in format_pattern_lines(patterns[:PATTERNS_SHOWN]):
                self._print_line(line)
            if len(patterns) > PATTERNS_SHOWN:
                more = translate(
                    "… and {n:,} more: `markscheme show RUN --patterns`",
                    n=len(patterns) - PATTERNS_SHOWN,
                )
                self._print_line(more)

    def print_all(self, patterns: Sequence[Pattern]) -> None:
        """Print all of them with their evidence; that there is none is worth a line too."""
        self._print_line(f"\n{translate('Patterns')}", "bold")
        if not patterns:
            self._print_line(translate("no pattern: nothing here is unlikely by luck"))
        for line in format_pattern_lines(patterns, evidence=True):
            self._print_line(line)

    def _print_line(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style=style), soft_wrap=True)


def format_pattern_lines(patterns: Sequence[Pattern], *, evidence: bool = False) -> Iterator[str]:
    """Yield patterns in numbered sentences, each with its action, which every format shows."""
    for number, pattern in enumerate(patterns, start=1):
        yield f"{number}. {translate_stored(pattern.sentence)}"
        yield f"   → {translate_stored(pattern.action)}"
        if evidence:
            yield from (f"   {translate_stored(reason)}" for reason in pattern.evidence)
            yield from _format_pattern_items(pattern)


def _format_pattern_items(pattern: Pattern) -> Iterator[str]:
    if pattern.items:
        shown, more = (
            ", ".join(pattern.items[:_PATTERN_ITEMS_SHOWN]),
            len(pattern.items) - _PATTERN_ITEMS_SHOWN,
        )
        tail = f" {translate('and {n:,} more', n=more)}" if more > 0 else ""
        yield f"   {translate('items: {items}', items=shown)}{tail}"

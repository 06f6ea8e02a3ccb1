"""Progress bar of a live run on a terminal, drawn by rich.

A module of its own, so that a run in a pipe asks its first question before rich is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from markscheme.tell.console import TerminalConsole

# A terminal writes it behind the last line; without room for it, that would begin another line.
_INTERRUPT_WIDTH = len("^C")


class TerminalProgress(Progress):
    """Progress bar on a terminal with status lines below it; erased at the end."""

    def __init__(self, total: int) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._out = TerminalConsole(sys.stderr)
        self._lines: Sequence[Sequence[str]] = (("asking",),)
        super().__init__(*columns, console=self._out, transient=True)
        self._task = self.add_task("", total=total)

    def count_question(self) -> None:
        """Count one question that is done."""
        self.advance(self._task)

    def show_status(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
        """Replace the status lines; `done` and `rate` are in the bar already."""
        del done, rate
        self._lines = lines or self._lines

    def get_renderable(self) -> RenderableType:
        """Return the bar and the status lines, wrapped to the width of the terminal."""
        width = max(1, self._out.width - _INTERRUPT_WIDTH)
        lines = [line for parts in self._lines for line in _wrap_parts(parts, width)]
        status = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
        return Constrain(Group(self.make_tasks_table(self.tasks), status), width)


def _wrap_parts(parts: Sequence[str], width: int) -> list[str]:
    """Join parts with commas, and break lines only between parts."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}, {part}"
        if cell_len(longer) < width:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(part)
    return lines

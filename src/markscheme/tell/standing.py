"""How a run stands, on a terminal: a line that moves, and below it what is known so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

_INTERRUPT_WIDTH = len(
    "^C"
)  # which a terminal writes behind the last line, and would begin another one


class TerminalProgress(Progress):
    """What is shown while a subject is asked; it is gone when everybody was."""

    def __init__(self, total: int) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._out = Console(stderr=True)
        self._lines: Sequence[Sequence[str]] = (("asking",),)
        super().__init__(*columns, console=self._out, transient=True)
        self._task = self.add_task("", total=total)

    def count_question(self) -> None:
        """Count one question that is done."""
        self.advance(self._task)

    def show_status(self, done: int, rate: float, lines: Sequence[Sequence[str]]) -> None:
        """Say what is known anew; how many are done is counted here."""
        del done, rate
        self._lines = lines or self._lines

    def get_renderable(self) -> RenderableType:
        """Return what is drawn, in as many lines as there are columns for."""
        width = max(1, self._out.width - _INTERRUPT_WIDTH)
        lines = [line for parts in self._lines for line in _wrap_parts(parts, width)]
        known = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
        return Constrain(Group(self.make_tasks_table(self.tasks), known), width)


def _wrap_parts(parts: Sequence[str], width: int) -> list[str]:
    """Break a list between its parts, never within one."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}, {part}"
        if cell_len(longer) < width:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(part)
    return lines

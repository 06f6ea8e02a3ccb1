"""The console of pages: styled on a terminal, plain and of fixed width in a pipe."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO, cast

from rich.console import Console
from rich.segment import Segment

from markscheme.vocabulary import UnescapedWriter, escape_control_characters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType

PIPE_WIDTH = 120


def create_console() -> Console:
    """Return a console as wide as the terminal; in a pipe, of fixed width and without colour."""
    if sys.stdout.isatty():
        return TerminalConsole(sys.stdout, width=_get_terminal_width())
    return _PipeConsole(width=PIPE_WIDTH, no_color=True, highlight=False, emoji=False)


def _get_terminal_width() -> int | None:
    """Return the width of the terminal behind stdout; rich would ask other streams as well."""
    if "COLUMNS" in os.environ:
        return None
    with suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    return None


class _PipeConsole(Console):
    """A console that raises on a broken pipe, so that the command chooses the exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class TerminalConsole(_PipeConsole):
    """A console on a terminal: it escapes the texts that it draws, and writes its own styles."""

    def __init__(self, stream: TextIO, *, width: int | None = None) -> None:
        super().__init__(file=cast("TextIO", UnescapedWriter(stream)), width=width, emoji=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of a page; those that control the terminal are rich's own."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_control_characters(segment.text), segment.style)

"""Stdout, which knows whether anything went out: one document is there, or none."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer


class Outlet(io.FileIO):
    """Where all that is printed goes out."""

    begun = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, and remember that."""
        self.begun = True
        return super().write(data)


def through_an_outlet(stream: TextIO, encoding: str) -> TextIO:
    """Return a stream that writes where this one does, through an outlet."""
    stream.flush()
    outlet = io.BufferedWriter(Outlet(stream.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(
        outlet, encoding=encoding, errors="plainly", line_buffering=stream.isatty()
    )


def nothing_is_out() -> bool:
    """Say whether nothing was printed yet, not even in part."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return not getattr(raw, "begun", False)

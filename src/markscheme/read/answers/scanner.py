"""Calls `scan.c`: reads lines by the steps that they have in common, a tenth of the time of JSON.

The steps are bytes, put together of the letters below and of literals. Where the package was not
built, as in a bare copy of its sources, there is no scanner, and lines are read in other ways.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

LIBRARY = Path(__file__).with_name("_scan.so")
TEXT, INSIDE, NAME, WHOLE, NUMBER = b"T", b"I", b"N", b"W", b"D"
NOTHING = "\0"  # stands in a column for null
_END = b"E"
_ROOM = 16  # beside the text itself: a line end, and eight bytes are written at once


def literal(text: str) -> bytes:
    """Return the step that takes this text, of at most 65,535 bytes, and nothing else."""
    written = text.encode()
    return b"L" + len(written).to_bytes(2, "little") + written


class _Found(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in ("lines", "left", "unescaped"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What the steps found in a text of so many lines.

    Each column is one capture of all lines that match. `left` has the position of each line that
    does not, and where it starts and ends in the text.
    """

    lines: int
    columns: list[pl.Series]
    left: list[tuple[int, int, int]]
    unescaped: bool

    @property
    def matched(self) -> pl.Series:
        """The positions of the lines that match."""
        matches = pl.repeat(value=True, n=self.lines, eager=True)
        return matches.scatter([at for at, _, _ in self.left], values=False).arg_true()


class Scanner:
    """Scans texts one after the other, in the same memory."""

    def __init__(self) -> None:
        library = _library()
        self._scan, self._line_ends = library.scan, library.line_ends
        self._memory = mmap(-1, 1)

    def scan(self, text: bytes, steps: bytes, captures: int) -> Scan:
        """Read the lines of a text by steps that capture so much of each."""
        most = self._line_ends(text, len(text)) + 1
        left = (ctypes.c_uint32 * (3 * most))()
        starts = self._room(captures, len(text) + _ROOM)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        outs = (ctypes.c_void_p * captures)(*(address + start for start in starts))
        ends = (ctypes.c_void_p * captures)()
        found = _Found()
        self._scan(text, len(text), steps + _END, outs, ends, left, ctypes.byref(found))
        columns = [slice(start, end - address) for start, end in zip(starts, outs, strict=True)]
        numbers = iter(left[: 3 * found.left])
        return Scan(
            lines=found.lines,
            columns=self._texts(columns, found.lines - found.left),
            left=list(zip(numbers, numbers, numbers, strict=True)),
            unescaped=bool(found.unescaped),
        )

    def _room(self, count: int, size: int) -> Sequence[int]:
        """Return where so many columns of that size start; only what is written takes memory."""
        if len(self._memory) < count * size:
            self._memory = mmap(-1, count * size * 2)
        return range(0, count * size, size)

    def _texts(self, columns: Sequence[slice], height: int) -> list[pl.Series]:
        """Return the lines of columns, so many of each, which are cut out of one text."""
        if not height:
            return [pl.Series(dtype=pl.String) for _ in columns]
        written = memoryview(self._memory)
        texts = pl.read_lines(b"".join(written[column] for column in columns)).to_series()
        return [texts.slice(at * height, height) for at in range(len(columns))]


def is_built() -> bool:
    """Whether there is a library that can be loaded here."""
    try:
        _library()
    except OSError:
        return False
    return True


@cache
def _library() -> Any:
    library = ctypes.CDLL(str(LIBRARY))
    size, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
    library.line_ends.argtypes, library.line_ends.restype = [text, size], size
    library.scan.argtypes, library.scan.restype = [text, size, text, *[pointer] * 4], None
    return library

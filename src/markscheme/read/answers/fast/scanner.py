"""Calls `scan.c`: reads lines by the steps that they have in common, faster than JSON is parsed.

The steps are bytes, put together of literals and of captures, each of which has a column. Where the
package was not built, as in a bare copy of its sources, there is no scanner, and lines are read in
other ways.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl  # noqa: TC004 - imported where it is used: see batch.py

LIBRARY_PATH = Path(__file__).with_name("_scan.so")
CAPTURE_TEXT, CAPTURE_INNER_TEXT, CAPTURE_NAME, CAPTURE_INTEGER, CAPTURE_NUMBER, CAPTURE_ABSENT = (
    b"T",
    b"I",
    b"N",
    b"W",
    b"D",
    b"A",
)
NULL_TEXT = "\0"  # stands in a column for null
_END_STEP = b"E"
_LIBRARY_VERSION = 2  # of the library: one that was built before is not called
_SCHEMA, _ARRAY = b"arrow_schema", b"arrow_array"
_raw_malloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(
    ("PyMem_RawMalloc", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


def encode_literal(text: str) -> bytes:
    """Return the step that takes this text, of at most 65,535 bytes, and nothing else."""
    written = text.encode()
    return b"L" + len(written).to_bytes(2, "little") + written


def encode_capture(kind: bytes, column: int) -> bytes:
    """Return the step that takes what is of this kind into a column, at most the 255th."""
    return kind + bytes([column])


class _ScanCounts(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in ("lines", "left", "unescaped"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """What was found in a text of so many lines.

    Each column is one capture of all lines that match, and `ways` tells by which steps they do.
    `left` has the position of each line that does not, and where it starts and ends in the text.
    """

    lines: int
    columns: list[pl.Series]
    template_indexes: pl.Series
    unmatched: list[tuple[int, int, int]]
    unescaped: bool

    @property
    def matched_positions(self) -> pl.Series:
        """The positions of the lines that match."""
        import polars as pl

        matches = pl.Series([True]).new_from_index(0, self.lines)
        return matches.scatter([at for at, _, _ in self.unmatched], values=False).arg_true()


class _ScanMemory(ctypes.Structure):
    """The beginning of what is allocated for one text."""

    _fields_ = (
        ("give_back", ctypes.c_void_p),
        ("users", ctypes.c_int64),
        ("captured", ctypes.c_int64),
        ("columns", ctypes.c_size_t),
        ("room", ctypes.c_size_t),
    )


class _ArrowColumn:
    """A column that polars takes as it is, and lets go of when it is done with it."""

    def __init__(self, memory: int, at: int, height: int) -> None:
        self._place = (memory, at, height)
        self._schema, self._array = (ctypes.c_int64 * 9)(), (ctypes.c_int64 * 10)()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return the column by Arrow's protocol."""
        del requested_schema
        _load_library().hand_out(*self._place, self._schema, self._array)
        return _new_capsule(self._schema, _SCHEMA, None), _new_capsule(self._array, _ARRAY, None)


def scan_lines(text: bytes, ways: Sequence[bytes], columns: int) -> ScanResult:
    """Read the lines of a text, each by the first steps that take it, into so many columns.

    The steps of every way must capture something for every column.
    """
    library = _load_library()
    lines = library.line_ends(text, len(text)) + 1
    left, found = (ctypes.c_uint32 * (3 * lines))(), _ScanCounts()
    starts = list(accumulate((len(steps) + 1 for steps in ways), initial=0))
    places = (ctypes.c_size_t * len(starts))(*starts)
    steps = b"".join(steps + _END_STEP for steps in ways)
    memory = _allocate_memory(library.memory_for(columns, lines, len(text)), columns, lines)
    try:
        asked = (text, len(text), steps, places, len(ways))
        library.scan(*asked, memory, left, ctypes.byref(found))
        height = found.lines - found.left
        import polars as pl

        *texts, numbers = [pl.Series(_ArrowColumn(memory, at, height)) for at in range(columns + 1)]
    finally:
        library.let_go(memory)
    told = iter(left[: 3 * found.left])
    return ScanResult(
        lines=found.lines,
        columns=texts,
        template_indexes=numbers,
        unmatched=list(zip(told, told, told, strict=True)),
        unescaped=bool(found.unescaped),
    )


def _allocate_memory(size: int, columns: int, room: int) -> int:
    """Return where so much memory is, in use by us."""
    address = _raw_malloc(size)
    if not address:
        raise MemoryError
    free = ctypes.cast(ctypes.pythonapi.PyMem_RawFree, ctypes.c_void_p).value
    memory = _ScanMemory(give_back=free, users=1, columns=columns, room=room)
    ctypes.memmove(address, ctypes.byref(memory), ctypes.sizeof(memory))
    return int(address)


def is_available() -> bool:
    """Whether there is a library that can be loaded here."""
    try:
        _load_library()
    except (AttributeError, OSError):
        return False
    return True


@cache
def _load_library() -> Any:
    library = ctypes.CDLL(str(LIBRARY_PATH))
    if library.edition() != _LIBRARY_VERSION:
        raise OSError(f"`{LIBRARY_PATH.name}` is of another edition; build the package again")
    size, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
    library.line_ends.argtypes, library.line_ends.restype = [text, size], size
    library.memory_for.argtypes, library.memory_for.restype = [size] * 3, size
    library.scan.argtypes = [text, size, text, pointer, size, *[pointer] * 3]
    library.scan.restype = None
    library.hand_out.argtypes = [pointer, size, ctypes.c_int64, pointer, pointer]
    library.let_go.argtypes, library.let_go.restype = [pointer], None
    library.hand_out.restype = None
    return library

"""Call the scanner in `scan.c`, which matches lines against templates faster than JSON is parsed.

A template is a byte string of steps: literals, and captures with the number of their column. If the
package was not built, as in a bare copy of its sources, there is no library, and `is_available`
returns False.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import polars as pl
from msgspec import Struct

LIBRARY_PATH = Path(__file__).with_name("_scan.so")
# Kinds of captures, as `scan.c` defines them.
CAPTURE_TEXT = b"T"
CAPTURE_INNER_TEXT = b"I"
CAPTURE_NAME = b"N"
CAPTURE_INTEGER = b"W"
CAPTURE_NUMBER = b"D"
CAPTURE_ABSENT = b"A"
# Stands in a column for null.
NULL_TEXT = "\0"
_END_STEP = b"E"
# Raised with every change of the C interface, so that a library of an older build is not called.
_LIBRARY_VERSION = 2
_SCHEMA, _ARRAY = b"arrow_schema", b"arrow_array"
_raw_malloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(
    ("PyMem_RawMalloc", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


def encode_literal(text: str) -> bytes:
    """Encode the step that matches exactly this text, of at most 65,535 bytes."""
    written = text.encode()
    return b"L" + len(written).to_bytes(2, "little") + written


def encode_capture(kind: bytes, column: int) -> bytes:
    """Encode the step that captures a value of this kind into a column, at most the 255th."""
    return kind + bytes([column])


class _ScanCounts(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in ("lines", "left", "unescaped"))


class ScanResult(Struct, frozen=True, kw_only=True):
    """The captures of the lines that match, in columns, and the lines that do not match.

    `template_indexes` says which template matched each line. `unmatched` holds the position of each
    other line, and where it starts and ends in the text. `unescaped` is set if a capture held an
    escape that was decoded.
    """

    lines: int
    columns: list[pl.Series]
    template_indexes: pl.Series
    unmatched: list[tuple[int, int, int]]
    unescaped: bool

    @property
    def matched_positions(self) -> pl.Series:
        """The positions of the lines that match."""
        is_match = pl.Series([True]).new_from_index(0, self.lines)
        return is_match.scatter([at for at, _, _ in self.unmatched], values=False).arg_true()


class _ScanMemory(ctypes.Structure):
    """The first fields of the memory that is allocated for one text (`struct memory` in C)."""

    _fields_ = (
        ("give_back", ctypes.c_void_p),
        ("users", ctypes.c_int64),
        ("captured", ctypes.c_int64),
        ("columns", ctypes.c_size_t),
        ("room", ctypes.c_size_t),
    )


class _ArrowColumn:
    """A column that polars uses without copying, and releases when it is done with it."""

    def __init__(self, memory: int, column: int, height: int) -> None:
        self._location = (memory, column, height)
        self._schema, self._array = (ctypes.c_int64 * 9)(), (ctypes.c_int64 * 10)()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Export the column through Arrow's C data interface."""
        del requested_schema
        _load_library().hand_out(*self._location, self._schema, self._array)
        return _new_capsule(self._schema, _SCHEMA, None), _new_capsule(self._array, _ARRAY, None)


def scan_lines(text: bytes, templates: Sequence[bytes], columns: int) -> ScanResult:
    """Match each line of a text with the first template that fits, and capture into columns.

    Every template must have a capture for every column.
    """
    library = _load_library()
    lines = library.line_ends(text, len(text)) + 1
    # Three numbers for each line that does not match: position, start, end.
    unmatched, counts = (ctypes.c_uint32 * (3 * lines))(), _ScanCounts()
    starts = list(accumulate((len(steps) + 1 for steps in templates), initial=0))
    step_starts = (ctypes.c_size_t * len(starts))(*starts)
    steps = b"".join(steps + _END_STEP for steps in templates)
    memory = _allocate_memory(library.memory_for(columns, lines, len(text)), columns, lines)
    try:
        arguments = (text, len(text), steps, step_starts, len(templates))
        library.scan(*arguments, memory, unmatched, ctypes.byref(counts))
        height = counts.lines - counts.left
        *texts, indexes = [pl.Series(_ArrowColumn(memory, at, height)) for at in range(columns + 1)]
    finally:
        library.let_go(memory)
    triples = iter(unmatched[: 3 * counts.left])
    return ScanResult(
        lines=counts.lines,
        columns=texts,
        template_indexes=indexes,
        unmatched=list(zip(triples, triples, triples, strict=True)),
        unescaped=bool(counts.unescaped),
    )


def _allocate_memory(size: int, columns: int, room: int) -> int:
    """Allocate memory for a scan, with one reference held by the caller; return its address."""
    address = _raw_malloc(size)
    if not address:
        raise MemoryError
    free = ctypes.cast(ctypes.pythonapi.PyMem_RawFree, ctypes.c_void_p).value
    memory = _ScanMemory(give_back=free, users=1, columns=columns, room=room)
    ctypes.memmove(address, ctypes.byref(memory), ctypes.sizeof(memory))
    return int(address)


def is_available() -> bool:
    """Return whether the compiled library is there and of this version."""
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

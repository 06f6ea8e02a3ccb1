"""What the machine ran out of: recognise full disks and spent memory or descriptors in any error.

Libraries report a shortage in their own way: as an error number, as a text, or by a panic of their
Rust code. A shortage says nothing about what was judged, so a command that meets one cannot tell.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import suppress

_DISK = "the disk is full; free some space, then run the same command again"
_FILE_SIZE = "a file reached the size limit of this shell (`ulimit -f`); raise it, then run again"
_DISK_FAULT = "the disk cannot be read or written; see if it is full or at a limit (`ulimit -f`)"
_MEMORY = "the memory is used up; give the command more (`ulimit -v`), then run it again"
_DESCRIPTORS = "too many files are open; raise the limit (`ulimit -n`), then run again"
_THREADS = "no further thread can be started; raise the limits of this shell, then run again"

# polars maps some 600 MB when it is imported; a store, pipes and threads take about 20 descriptors.
_LEAST_ADDRESS_SPACE = 2**30
_LEAST_DESCRIPTORS = 32

_BY_ERROR_NUMBER = {
    errno.ENOSPC: _DISK,
    errno.EDQUOT: _DISK,
    errno.EIO: _DISK_FAULT,
    errno.EFBIG: _FILE_SIZE,
    errno.ENOMEM: _MEMORY,
    errno.EMFILE: _DESCRIPTORS,
    errno.ENFILE: _DESCRIPTORS,
}
# How Rust words an error of the system: "No space left on device (os error 28)".
_RUST_ERROR_NUMBER = re.compile(r"\(os error (\d+)\)")
# Only errors of these packages are recognised by their text: any other text may quote an input.
_LIBRARIES = ("polars", "pyo3_runtime", "sqlite3", "psycopg", "backports.zstd")
_BY_LIBRARY_TEXT = {
    "StorageFull": _DISK,
    "database or disk is full": _DISK,
    "disk I/O error": _DISK_FAULT,
    "memory allocation of": _MEMORY,
    "OutOfMemory": _MEMORY,
    "out of memory": _MEMORY,
    "TooManyOpenFiles": _DESCRIPTORS,
    "WouldBlock": _THREADS,
}


def find_shortage(error: BaseException) -> str | None:
    """Return a sentence about what the machine ran out of, or `None` if an error has other causes.

    >>> find_shortage(OSError(28, "No space left on device"))
    'the disk is full; free some space, then run the same command again'
    """
    found = [words for words in map(_describe_shortage, _iter_causes(error)) if words is not None]
    return found[-1] if found else None


def find_tight_limit() -> str | None:
    """Return a sentence about a limit of this shell under which libraries fail in odd ways.

    A library that cannot map memory or open a file may raise any error at all, even a `NameError`
    about a module that it failed to import before.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on Windows

        if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < _LEAST_ADDRESS_SPACE:
            return _MEMORY
        if 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] < _LEAST_DESCRIPTORS:
            return _DESCRIPTORS
    return None


def _iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that led to it, also where `from None` hides them."""
    current: BaseException | None = error
    seen: set[int] = set()  # two errors may name each other
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _describe_shortage(error: BaseException) -> str | None:
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return _THREADS
    if isinstance(error, OSError) and error.errno in _BY_ERROR_NUMBER:
        return _BY_ERROR_NUMBER[error.errno]
    text = str(error)
    is_rust = isinstance(error, OSError) and error.errno is None
    if not is_rust and not type(error).__module__.startswith(_LIBRARIES):
        return None
    for number in _RUST_ERROR_NUMBER.findall(text):
        if int(number) in _BY_ERROR_NUMBER:
            return _BY_ERROR_NUMBER[int(number)]
    return next((words for sign, words in _BY_LIBRARY_TEXT.items() if sign in text), None)

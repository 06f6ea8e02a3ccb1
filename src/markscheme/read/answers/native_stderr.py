"""Keep the panic texts of Rust libraries off stderr.

A panic becomes an exception that we report in a sentence, but its hook writes a backtrace to
descriptor 2 first, and nothing in Python can change that. So the descriptor leads nowhere while a
library reads a file that may be damaged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

_lock = Lock()
_open_blocks = 0
_saved_stderr: int | None = None


@contextmanager
def hide_native_stderr() -> Iterator[None]:
    """Discard what is written to descriptor 2 inside the block; `MARKSCHEME_DEBUG` shows it.

    Blocks of several threads may overlap: the last one restores the descriptor.
    """
    if os.environ.get("MARKSCHEME_DEBUG"):
        yield
        return
    _enter_block()
    try:
        yield
    finally:
        _leave_block()


def _enter_block() -> None:
    global _open_blocks, _saved_stderr  # noqa: PLW0603 - there is one descriptor 2 in a process
    with _lock:
        if _open_blocks == 0:
            _saved_stderr = _redirect_stderr()
        _open_blocks += 1


def _redirect_stderr() -> int | None:
    """Lead descriptor 2 nowhere; return a duplicate of what it was, `None` if that cannot be."""
    with suppress(OSError):  # stderr is closed, or there is no descriptor left
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            saved = os.dup(2)
            os.dup2(nowhere, 2)
        finally:
            os.close(nowhere)
        return saved
    return None


def _leave_block() -> None:
    global _open_blocks, _saved_stderr  # noqa: PLW0603 - there is one descriptor 2 in a process
    with _lock:
        _open_blocks -= 1
        if _open_blocks == 0 and _saved_stderr is not None:
            os.dup2(_saved_stderr, 2)
            os.close(_saved_stderr)
            _saved_stderr = None

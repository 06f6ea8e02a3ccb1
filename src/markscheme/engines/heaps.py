"""Few heaps for all threads: what one thread has freed another can use, so memory stays flat.

polars works in threads, and allocators give each thread a heap of its own. Parts of answers are
read, marked and written in different threads, so every heap would come to hold as much as one.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_M_ARENA_MAX = -8  # of glibc


def limit_malloc_arenas() -> None:
    """Let threads share heaps; call it before polars is loaded. Whoever set this up is obeyed."""
    os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:2")  # read by the allocator of polars
    with suppress(AttributeError, OSError, TypeError):  # where the system has no such allocator
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)

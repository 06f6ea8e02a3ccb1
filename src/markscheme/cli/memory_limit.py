"""Prepare the process for limits of the shell on memory and descriptors (`ulimit -v`, `-n`).

Rust libraries abort the process when memory cannot be had, and no code inside it can prevent that.
So under such a limit a parent waits for the process that does the work and says what happened. It
imports nothing but what Python has loaded already: it must have room where the child has none.
Libraries also write panics and notes of their own to stderr, which are kept off it.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import suppress
from itertools import pairwise

_UNDECIDED = 4  # `ExitCode.UNDECIDED`, whose module imports too much for this process
# A store, pipes and threads take about 20 descriptors; libraries panic where one is missing.
_LEAST_DESCRIPTORS = 64
_FATAL_SIGNALS = frozenset(
    getattr(signal, name)
    for name in ("SIGABRT", "SIGBUS", "SIGILL", "SIGSEGV", "SIGTRAP")
    if hasattr(signal, name)
)


def is_memory_limited() -> bool:
    """Return whether the shell limits the address space of this process."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return False


def are_descriptors_scarce() -> bool:
    """Return whether the shell leaves this process few descriptors."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        return 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] < _LEAST_DESCRIPTORS
    return False


def hide_library_errors() -> None:
    """Keep what libraries write off stderr; `MARKSCHEME_DEBUG` shows it.

    A library that finds no memory, thread or descriptor writes its panic to descriptor 2 before it
    fails, and the command reports the failure in a sentence. So descriptor 2 leads nowhere from
    now on, and `sys.stderr` writes to a duplicate of it.
    """
    if os.environ.get("MARKSCHEME_DEBUG") or sys.stderr is None:
        return
    warnings.simplefilter("ignore")
    with suppress(OSError):  # no descriptor is left, or stderr is closed
        nowhere = os.open(os.devnull, os.O_WRONLY)
        own = os.dup(2)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        encoding, errors = sys.stderr.encoding, sys.stderr.errors
        sys.stderr = os.fdopen(own, "w", buffering=1, encoding=encoding, errors=errors)


def fork_worker() -> None:
    """Return in a child process; the parent waits for it and exits with its code.

    Without a fork (no room even for that, or Windows) this returns in the process itself.
    """
    try:
        child = os.fork()
    except (AttributeError, OSError):
        return
    if child == 0:
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: os.kill(child, number))
    # Ctrl-C reaches the child too, which decides how to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if -code in _FATAL_SIGNALS:
        _report_abort()
        code = _UNDECIDED
    os._exit(code if code >= 0 else 128 - code)


def _report_abort() -> None:
    message = (
        "cannot tell: the memory is used up; give the command more (`ulimit -v`), then run it again"
    )
    with suppress(OSError):
        os.write(2, f"Error: {message}\n".encode())
    words = " ".join(sys.argv[1:]).replace("--format=", "--format ").split()
    if ("--format", "json") in pairwise(words):
        document = f'{{"error": {{"exit_code": 4, "message": "{message}", "problems": []}}}}\n'
        with suppress(OSError):
            os.write(1, document.encode())

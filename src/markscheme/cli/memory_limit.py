"""Run the command in a child process where the shell limits memory (`ulimit -v`).

Rust libraries abort the process when memory cannot be had, and no code inside it can prevent that.
So under such a limit a parent waits for the process that does the work and says what happened. It
imports nothing but what Python has loaded already: it must have room where the child has none.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from itertools import pairwise

_UNDECIDED = 4  # `ExitCode.UNDECIDED`, whose module imports too much for this process
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

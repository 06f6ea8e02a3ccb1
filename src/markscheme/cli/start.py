"""Start the command line: with care under limits of the shell, silent on an early Ctrl-C."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from markscheme.cli.memory_limit import (
    are_descriptors_scarce,
    fork_worker,
    hide_library_errors,
    is_memory_limited,
)


def start() -> NoReturn:
    """Run the command line. Ctrl-C while modules are imported ends the process silently."""
    is_limited = is_memory_limited()
    if is_limited:
        fork_worker()
    if is_limited or are_descriptors_scarce():
        hide_library_errors()
    # Importing creates 300,000 objects and no cycles. With the default threshold the collector
    # takes 30 of the 280 ms of CPU of a small `score` (benchmarks/start.py).
    gc.set_threshold(300_000, 50, 50)
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from markscheme.cli.main import run  # imported while Ctrl-C is silent
    except Exception as error:  # noqa: BLE001 - the machine has no room to load the program
        with suppress(Exception):
            sys.stderr.write(f"Error: cannot tell: markscheme cannot be loaded: {error}\n")
        os._exit(4)

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()

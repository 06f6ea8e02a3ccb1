"""Start the command line: in a child process under a memory limit, silent on an early Ctrl-C."""

from __future__ import annotations

import gc
import os
import signal
from typing import NoReturn

from markscheme.cli.memory_limit import fork_worker, is_memory_limited


def start() -> NoReturn:
    """Run the command line. Ctrl-C while modules are imported ends the process silently."""
    if is_memory_limited():
        fork_worker()
    # Importing creates 300,000 objects and no cycles. With the default threshold the collector
    # takes 30 of the 280 ms of CPU of a small `score` (benchmarks/start.py).
    gc.set_threshold(300_000, 50, 50)
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from markscheme.cli.main import run  # imported while Ctrl-C is silent
    except Exception as error:  # noqa: BLE001 - the machine has no room to load the program
        os.write(2, f"Error: cannot tell: markscheme cannot be loaded: {error}\n".encode())
        os._exit(4)

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()

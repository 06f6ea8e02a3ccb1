"""The command `markscheme`, and `python -m markscheme`, which is the same."""

from __future__ import annotations

import gc
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; whoever looks for cycles among imports and rows wastes time.

    Ctrl-C while nothing has begun ends us without a word.
    """
    gc.set_threshold(300_000, 50, 50)
    raising = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raising:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from markscheme.cli.main import run  # noqa: PLC0415 - the import is what this is about

    if raising:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()

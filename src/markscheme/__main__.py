"""The command `markscheme`, and `python -m markscheme`, which is the same."""

from __future__ import annotations

import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; whoever looks for cycles among imports and rows wastes time."""
    gc.set_threshold(100_000, 50, 50)
    from markscheme.cli.main import run  # noqa: PLC0415 - the import is what this is about

    run()


if __name__ == "__main__":
    main()

"""Entry point of the command `markscheme` and of `python -m markscheme`.

It takes the present folder off the search path before it imports anything that Python has not
loaded already: a module there would be imported instead of ours or of those that we need.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` itself could be a module of the present folder
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    _remove_present_folder()
    from markscheme.cli.start import start  # noqa: PLC0415 - after the search path is safe

    start()


def _remove_present_folder() -> None:
    """Remove the present folder from the search path, unless markscheme is installed in it."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109 - `pathlib` is not loaded yet
    except OSError:
        here = ""  # The folder was deleted.
    package = os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120
    if os.path.dirname(package) != here:  # noqa: PTH120
        sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != here]


if __name__ == "__main__":
    main()

"""Files and folders that appear under their name only when they are whole."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def write_path(path: Path) -> Iterator[Path]:
    """Give a path beside this one to write to; it takes the name when all is written.

    Where it comes to nothing, nothing stays. The name is known before anything is made, so that
    there is no moment at which an interruption leaves what nobody knows of.
    """
    partial = path.with_name(f".{path.name}.{os.urandom(4).hex()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)

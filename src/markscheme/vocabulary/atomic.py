"""Atomic writes: a file or folder appears under its name only when it is complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def write_path(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling path; rename it to `path` on success, delete it on error.

    Use it as `with write_path(folder / "report.html") as partial: partial.write_text(page)`.
    """
    # The name is chosen before anything is created. So whenever an interruption comes, the
    # `finally` below knows which file to delete.
    partial = path.with_name(f".{path.name}.{os.urandom(4).hex()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)

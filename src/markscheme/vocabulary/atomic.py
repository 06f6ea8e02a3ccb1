"""Atomic writes: a file or folder appears under its name only when it is complete."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Nobody writes a file for a day without changing it.
_ABANDONED_AFTER_SECONDS = 24 * 3600


@contextmanager
def write_path(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling path; rename it to `path` on success, delete it on error.

    Siblings that killed processes left behind are deleted first. Use it as
    `with write_path(folder / "report.html") as partial: partial.write_text(page)`.
    """
    _delete_leftovers(path)
    # The name is chosen before anything is created. So whenever an interruption comes, the
    # `finally` below knows which file to delete.
    owner = f"{_compute_host_code()}-{os.getpid()}"
    partial = path.with_name(f".{path.name}.{owner}-{os.urandom(4).hex()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        _delete(partial)


def _delete_leftovers(path: Path) -> None:
    """Delete partial siblings whose process is gone, or that are older than a day."""
    name = re.compile(rf"\.{re.escape(path.name)}\.(?:(\w+)-(\d+)-)?\w+\.partial")
    with suppress(OSError):
        for sibling in path.parent.iterdir():
            match = name.fullmatch(sibling.name)
            if match and _is_abandoned(sibling, match[1], match[2]):
                _delete(sibling)


def _is_abandoned(partial: Path, host: str | None, process: str | None) -> bool:
    with suppress(OSError):
        if time.time() - partial.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
            return True
        # On Windows there is no signal 0, and sending it would end the process.
        if process is None or host != _compute_host_code() or sys.platform == "win32":
            return False
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return True
    return False


def _compute_host_code() -> str:
    """Return a short code of this host: a process number means nothing on another one."""
    host = "windows" if sys.platform == "win32" else os.uname().nodename
    return f"{zlib.crc32(host.encode()):08x}"


def _delete(partial: Path) -> None:
    if partial.is_dir():
        shutil.rmtree(partial, ignore_errors=True)
    else:
        partial.unlink(missing_ok=True)

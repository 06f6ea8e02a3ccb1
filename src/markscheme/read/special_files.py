"""Refuse pipes, sockets and devices where a file is needed: they may block or never end."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

_KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}
# Pipes of the shell, as in `lint <(cat rubric.yaml)`: their other end is open already.
_SHELL_PIPES = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


def describe_special_file(path: Path, *, allow_shell_pipes: bool = False) -> str | None:
    """Return why a path is no ordinary file, or `None` if it is one, a folder or missing.

    >>> describe_special_file(Path("/dev/zero"))
    'is a device; a file is needed'
    """
    if allow_shell_pipes and str(path).startswith(_SHELL_PIPES):
        return None
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
        for is_kind, noun in _KINDS.items():
            if is_kind(mode):
                return f"is {noun}; a file is needed"
    return None

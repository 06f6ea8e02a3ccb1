"""A real pseudo-terminal for tests: a command, the keys that are typed, what the screen shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_PATIENCE = 60


def is_readable(descriptor: int, seconds: float) -> bool:
    """Wait until there is something to read; `select` refuses high numbers of descriptors."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


class Terminal:
    """The command in a terminal of 80 columns and 24 rows; `screen` is what was drawn last."""

    def __init__(self, *arguments: str | Path, rows: int = 24, columns: int = 80) -> None:
        self._main, side = pty.openpty()
        self.resize(rows, columns)
        self.former_mode = termios.tcgetattr(side)
        self._side = side
        self.process = subprocess.Popen(
            [sys.executable, "-m", "markscheme", *map(str, arguments)],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**_without_size(os.environ), "TERM": "xterm", "PYTHONWARNINGS": "error"},
            start_new_session=True,
        )
        self.seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=_PATIENCE)
        os.close(self._side)
        os.close(self._main)

    @property
    def mode(self) -> list[object]:
        return termios.tcgetattr(self._side)

    @property
    def screen(self) -> str:
        """What was drawn since the cursor went to the upper left corner, without control codes."""
        return _CONTROL.sub("", self.seen.rpartition("\x1b[H")[2])

    def resize(self, rows: int, columns: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, size)

    def type(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def wait_for(self, text: str) -> str:
        """Read until the screen shows a text; return the screen."""
        deadline = time.monotonic() + _PATIENCE
        while text not in self.screen or not self.seen.endswith(("\x1b[?25l", "\x1b[?25h")):
            assert time.monotonic() < deadline, f"{text!r} never came:\n{self.screen}"
            self._read(0.2)
        return self.screen

    def press(self, keys: str, then: str) -> str:
        """Type keys one after the other, and wait until the screen shows a text."""
        self.type(keys)
        return self.wait_for(then)

    def redraw(self, keys: str = "") -> str:
        """Type keys, and return the screen that is drawn next."""
        frames, deadline = self.seen.count("\x1b[H"), time.monotonic() + _PATIENCE
        self.type(keys)
        while self.seen.count("\x1b[H") == frames:
            assert time.monotonic() < deadline, self.screen
            self._read(0.2)
        return self.wait_for("")

    def end(self) -> int:
        """Wait for the end of the command; return its exit code."""
        deadline = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.screen
            self._read(0.1)
        self._read(0.1)
        return self.process.returncode

    def _read(self, seconds: float) -> None:
        if is_readable(self._main, seconds):
            self.seen += os.read(self._main, 65536).decode(errors="replace")


def _without_size(environment: os._Environ[str]) -> dict[str, str]:
    return {name: v for name, v in environment.items() if name not in {"COLUMNS", "LINES"}}

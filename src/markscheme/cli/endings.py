"""Signals that end us: what was begun is tidied up, and the exit code says who ended it."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from markscheme.cli.exits import Exit
from markscheme.errors import Terminated

if TYPE_CHECKING:
    from types import FrameType

_CODES = {"SIGINT": Exit.INTERRUPTED, "SIGTERM": Exit.TERMINATED, "SIGHUP": Exit.HUNG_UP}
_ONE = 0.5  # seconds; `timeout` and others tell us and then our group: that is said once


class Endings:
    """Raises what a signal means, once; remembers it, as others may make another error of it."""

    def __init__(self) -> None:
        self.heard: Exit | None = None
        self._last = -_ONE

    def listen(self) -> None:
        """Hear every signal that nobody wants us to ignore, as `nohup` does."""
        for number in _numbers():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._hear)

    def cease(self) -> None:
        """Let signals end us at once: all is said, and nothing is left to tidy up."""
        for number in _numbers():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del frame
        now = time.monotonic()
        if now - self._last < _ONE:
            return
        self._last = now
        self.heard = _CODES[signal.Signals(number).name]
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(self.heard)


def _numbers() -> list[signal.Signals]:
    return [getattr(signal, name) for name in _CODES if hasattr(signal, name)]

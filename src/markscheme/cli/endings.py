"""Signals that end us: what was begun is tidied up, and the exit code says who ended it."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from markscheme.cli.exits import ExitCode
from markscheme.errors import Terminated

if TYPE_CHECKING:
    from types import FrameType

_SIGNAL_EXIT_CODES = {
    "SIGINT": ExitCode.INTERRUPTED,
    "SIGTERM": ExitCode.TERMINATED,
    "SIGHUP": ExitCode.HUNG_UP,
}
_REPEAT_WINDOW = 0.5  # seconds; `timeout` and others tell us and then our group: that is said once


class SignalHandlers:
    """Raises what a signal means, once; remembers it, as others may make another error of it."""

    def __init__(self) -> None:
        self.received: ExitCode | None = None
        self._received_at = -_REPEAT_WINDOW

    def install(self) -> None:
        """Hear every signal that nobody wants us to ignore, as `nohup` does."""
        for number in _list_signals():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle_signal)

    def restore_defaults(self) -> None:
        """Let signals end us at once: all is said, and nothing is left to tidy up."""
        for number in _list_signals():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        now = time.monotonic()
        if now - self._received_at < _REPEAT_WINDOW:
            return
        self._received_at = now
        self.received = _SIGNAL_EXIT_CODES[signal.Signals(number).name]
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(self.received)


def _list_signals() -> list[signal.Signals]:
    return [getattr(signal, name) for name in _SIGNAL_EXIT_CODES if hasattr(signal, name)]

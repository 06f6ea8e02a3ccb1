"""Signals that end us: what was begun is tidied up, and the exit code says who ended it.

Stdout, which knows whether anything went out: one document is there, or none.

While code of others runs in this process it is kept for the result alone: what they print goes to
stderr, whichever way they do it.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

from markscheme.cli.exit_codes import ExitCode
from markscheme.vocabulary import Terminated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import TextIO

    from _typeshed import ReadableBuffer

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


class TrackedStdout(io.FileIO):
    """Where all that is printed goes out."""

    begun = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, and remember that."""
        self.begun = True
        return super().write(data)


def track_stdout(stream: TextIO, encoding: str) -> TextIO:
    """Return a stream that writes where this one does, through an outlet."""
    stream.flush()
    outlet = io.BufferedWriter(TrackedStdout(stream.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(
        outlet, encoding=encoding, errors="plainly", line_buffering=stream.isatty()
    )


def is_stdout_empty() -> bool:
    """Say whether nothing was printed yet, not even in part."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return not getattr(raw, "begun", False)


class _ThreadBoundStdout:
    """Stdout for the thread that tells the result, and stderr for every other one."""

    def __init__(self, result: TextIO) -> None:
        self._result, self._owner = result, get_ident()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result if get_ident() == self._owner else sys.stderr, name)


_RETAINED_STREAMS: list[
    Any
] = []  # streams of others: let go of, one would close stderr, which it wraps


@contextmanager
def redirect_foreign_output() -> Iterator[None]:
    """Let others print to stderr: this thread until the end of the block, all else from now on.

    Threads that they leave behind, and children, may still print when the result is told.
    """
    ours = (
        sys.stdout
        if isinstance(sys.stdout, _ThreadBoundStdout)
        else _ThreadBoundStdout(_move_stdout(sys.stdout))
    )
    try:
        sys.stdout = sys.stderr
        yield
    finally:  # whatever they have put in its place
        _RETAINED_STREAMS.append(sys.stdout)
        sys.stdout = cast("TextIO", ours)


def close_result_output() -> None:
    """Let nobody add to a result that others were kept away from."""
    if isinstance(sys.stdout, _ThreadBoundStdout):
        sys.stdout = sys.stderr


def _move_stdout(stream: TextIO) -> TextIO:
    """Return a stream that writes where this one does by another descriptor; its own is stderr."""
    if not isinstance(getattr(getattr(stream, "buffer", None), "raw", None), TrackedStdout):
        return stream  # nothing of the system's is behind it, or it was closed
    stream.flush()
    outlet = io.BufferedWriter(TrackedStdout(os.dup(stream.fileno()), "wb", closefd=False))
    os.dup2(sys.stderr.fileno(), stream.fileno())
    return io.TextIOWrapper(
        outlet, encoding=stream.encoding, errors="plainly", line_buffering=stream.isatty()
    )

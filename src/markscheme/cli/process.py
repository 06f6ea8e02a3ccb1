"""Signals and standard output of the process.

A signal becomes an exception, so that work is cleaned up, and the exit code names the signal.
Stdout knows whether anything was written, so that there is one JSON document or none. While code
of others runs in this process, what it prints goes to stderr; stdout is kept for the result.
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
from markscheme.vocabulary import PrintableStream, Terminated

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
# Seconds. `timeout` and others signal a process and then its group: that counts once.
_REPEAT_WINDOW = 0.5


class SignalHandlers:
    """Raises an exception for a signal, and remembers it: libraries may hide the exception."""

    def __init__(self) -> None:
        self.received: ExitCode | None = None
        self._received_at = -_REPEAT_WINDOW

    def install(self) -> None:
        """Handle every signal that is not ignored, as SIGHUP is under `nohup`."""
        for number in _list_signals():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle_signal)

    def restore_defaults(self) -> None:
        """Let signals end the process at once: nothing is left to clean up."""
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
    """Raw stdout that remembers whether anything was written."""

    is_used = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, and remember it."""
        self.is_used = True
        return super().write(data)


def track_stdout(stream: TextIO, encoding: str) -> TextIO:
    """Return a stream that writes to the same descriptor through `TrackedStdout`."""
    stream.flush()
    buffer_ = io.BufferedWriter(TrackedStdout(stream.fileno(), "wb", closefd=False))
    return PrintableStream(
        buffer_, encoding=encoding, errors="ascii_signs", line_buffering=stream.isatty()
    )


def escape_stderr(stream: TextIO, encoding: str) -> TextIO:
    """Return a stream that writes to the same descriptor, and escapes control characters."""
    stream.flush()
    return PrintableStream(
        stream.buffer, encoding=encoding, errors="ascii_signs", line_buffering=True
    )


def is_stdout_empty() -> bool:
    """Whether nothing was written to stdout yet."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return not getattr(raw, "is_used", False)


class _ThreadBoundStdout:
    """Stdout for the thread that prints the result, and stderr for every other thread."""

    def __init__(self, result: TextIO) -> None:
        self._result, self._owner = result, get_ident()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result if get_ident() == self._owner else sys.stderr, name)


# Streams that foreign code installed. If one were deleted, it would close the stderr it wraps.
_RETAINED_STREAMS: list[Any] = []


@contextmanager
def redirect_foreign_output() -> Iterator[None]:
    """Send foreign output to stderr: of this thread inside the block, of others from now on.

    Threads and child processes that foreign code leaves behind may still print later.
    """
    own_stdout = (
        sys.stdout
        if isinstance(sys.stdout, _ThreadBoundStdout)
        else _ThreadBoundStdout(_move_stdout(sys.stdout))
    )
    try:
        sys.stdout = sys.stderr
        yield
    finally:
        # Foreign code may have replaced `sys.stdout`.
        _RETAINED_STREAMS.append(sys.stdout)
        sys.stdout = cast("TextIO", own_stdout)


def close_result_output() -> None:
    """Send what is printed from now on to stderr, if foreign code ran in this process."""
    if isinstance(sys.stdout, _ThreadBoundStdout):
        sys.stdout = sys.stderr


def _move_stdout(stream: TextIO) -> TextIO:
    """Move stdout to another descriptor and return its stream; the old one becomes stderr."""
    if not isinstance(getattr(getattr(stream, "buffer", None), "raw", None), TrackedStdout):
        # Not our stream: it was closed, or a test replaced it.
        return stream
    stream.flush()
    buffer_ = io.BufferedWriter(TrackedStdout(os.dup(stream.fileno()), "wb", closefd=False))
    os.dup2(sys.stderr.fileno(), stream.fileno())
    return PrintableStream(
        buffer_, encoding=stream.encoding, errors="ascii_signs", line_buffering=stream.isatty()
    )

"""Single keys from a terminal: no Enter needed, arrows and pasted text recognised.

The terminal is put into its former mode again when the `Keyboard` is closed, whatever ended it.
"""

from __future__ import annotations

import codecs
import os
import select
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self, TextIO

_SEQUENCES = {
    "[A": "up",
    "[B": "down",
    "[C": "right",
    "[D": "left",
    "OA": "up",
    "OB": "down",
    "OC": "right",
    "OD": "left",
    "[5~": "pageup",
    "[6~": "pagedown",
    "[H": "home",
    "[F": "end",
    "OH": "home",
    "OF": "end",
    "[1~": "home",
    "[4~": "end",
    "[7~": "home",
    "[8~": "end",
}
_CONTROLS = {"\r": "enter", "\n": "enter", "\x7f": "backspace", "\b": "backspace", "\x15": "clear"}
_PASTE_BEGIN, _PASTE_END = "[200~", "[201~"
# The alternate screen, and marks around pasted text.
_ENTER_SCREEN = "\x1b[?1049h\x1b[?2004h\x1b[H\x1b[2J"
_LEAVE_SCREEN = "\x1b[?25h\x1b[?2004l\x1b[?1049l"
# Seconds. The rest of an escape sequence comes at once; the key Esc comes alone.
_SEQUENCE_WAIT = 0.05


def is_key_terminal(source: TextIO | None, out: TextIO | None) -> bool:
    """Return whether single keys can be read here: both are terminals, and no plain ones."""
    try:
        import termios  # noqa: F401 - Windows has none
    except ImportError:
        return False
    if source is None or out is None or os.environ.get("TERM", "dumb") in {"", "dumb"}:
        return False
    return source.isatty() and out.isatty()


class Keyboard:
    """Reads keys; while it is open, the terminal shows another screen and does not echo.

    A key is a character, or one of the names enter, space, backspace, clear, esc, up, down, left,
    right, pageup, pagedown, home, end. Ctrl-C stays an interrupt.
    """

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self._source = source.fileno()
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._typed = ""
        self._keys: deque[str] = deque()
        self._former_mode: Any = None
        self._redraw: Callable[[], None] | None = None
        self._has_changed = False
        self._former_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        import termios

        self._former_mode = termios.tcgetattr(self._source)
        for number in (signal.SIGWINCH, signal.SIGCONT):
            self._former_handlers[number] = signal.signal(number, self._handle_change)
        self._enter_mode()
        return self

    def __exit__(self, *_: object) -> None:
        import termios

        for number, handler in self._former_handlers.items():
            signal.signal(number, handler)
        self._out.write(_LEAVE_SCREEN)
        self._out.flush()
        termios.tcsetattr(self._source, termios.TCSADRAIN, self._former_mode)

    def _enter_mode(self) -> None:
        import tty

        tty.setcbreak(self._source)
        self._out.write(_ENTER_SCREEN)
        self._out.flush()

    def _handle_change(self, number: int, frame: FrameType | None) -> None:
        """Draw again when the size changes, and when the process goes on after Ctrl-Z."""
        del frame
        if number == signal.SIGCONT:
            self._enter_mode()
        if self._redraw is None:
            self._has_changed = True
        else:
            self._redraw()

    @contextmanager
    def redrawing(self, redraw: Callable[[], None]) -> Iterator[None]:
        """Call `redraw` when the size of the terminal changes, or has since the last block."""
        self._redraw = redraw
        if self._has_changed:
            self._has_changed = False
            redraw()
        try:
            yield
        finally:
            self._redraw = None

    def read_key(self) -> str | None:
        """Return the next key; `None` at the end of the input. Pasted text is no key."""
        while True:
            key = self._read_event()
            if key is None or not key.startswith("paste:"):
                return key

    def read_text_key(self) -> str | None:
        """Return what is typed into a line: `text:…`, or the name of a key."""
        key = self._read_event()
        if key is None:
            return None
        if key.startswith("paste:"):
            return f"text:{key.removeprefix('paste:')}"
        if key == "space":
            return "text: "
        return f"text:{key}" if len(key) == 1 else key

    def _read_event(self) -> str | None:
        while not self._keys:
            try:
                data = os.read(self._source, 4096)
            # A terminal that was closed gives an error, or nothing.
            except OSError:
                return None
            if not data:
                return None
            self._typed += self._decoder.decode(data)
            self._split_keys()
        return self._keys.popleft()

    def _split_keys(self) -> None:
        """Take whole keys from what was typed; a pasted text stays until its end has come."""
        while self._typed:
            if self._typed[0] != "\x1b":
                first, self._typed = self._typed[0], self._typed[1:]
                # Ctrl-D at the beginning of a line would end the input.
                name = "q" if first == "\x04" else "space" if first == " " else first
                self._keys.append(_CONTROLS.get(name, name))
                continue
            if len(self._typed) == 1 and self._is_more_waiting():
                return
            if not self._take_sequence():
                return

    def _is_more_waiting(self) -> bool:
        return bool(select.select([self._source], [], [], _SEQUENCE_WAIT)[0])

    def _take_sequence(self) -> bool:
        """Take one escape sequence; return whether it was whole."""
        rest = self._typed[1:]
        if rest.startswith(_PASTE_BEGIN):
            text, end, after = rest.removeprefix(_PASTE_BEGIN).partition(f"\x1b{_PASTE_END}")
            if not end:
                return False
            self._keys.append(f"paste:{text}")
            self._typed = after
            return True
        length = _measure_sequence(rest)
        if length is None and self._is_more_waiting():
            return False
        sequence, self._typed = rest[: length or 0], rest[length or 0 :]
        # Sequences of other keys (F1, Alt-x) do nothing; Esc alone is a key.
        name = _SEQUENCES.get(sequence, "" if sequence else "esc")
        if name:
            self._keys.append(name)
        return True


def _measure_sequence(rest: str) -> int | None:
    """Return the length of the sequence after Esc: 0 for Esc alone, `None` if it is not whole."""
    if not rest or rest[0] == "\x1b":
        return 0
    if rest[0] == "O":
        return 2 if len(rest) > 1 else None
    if rest[0] != "[":
        return 1
    for at, character in enumerate(rest[1:], start=1):
        if "@" <= character <= "~":
            return at + 1
    return None

"""What may reach a terminal or the log of a CI job: no control characters but our own.

Values come from answers, documents, logs and old stores. In a terminal a control character could
move the cursor, hide text or reverse its order; in the log of a job a line such as `::error::` is
a command to the runner. All text output passes `PrintableStream`, which shows both escaped. The
escapes are valid in JSON strings too, so that a JSON document keeps its values.
"""

from __future__ import annotations

import io
import re
from typing import Any

# C0 except tab and line feed, DEL, C1, the Unicode line separators, and what reverses a line.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# Commands of GitHub Actions and Azure Pipelines that may stand anywhere in a line.
_INNER_COMMAND = re.compile(r"#(?=#(?:vso)?\[)")
# The other commands of GitHub Actions begin a line; spaces before them count for nothing.
_LINE_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_FIRST_PRINTABLE = 0x20


def find_control_character(text: str) -> str | None:
    r"""Return the first control character of a name, as messages show it, or None.

    >>> find_control_character("a\nb"), find_control_character("a b")
    ('\\n', None)
    """
    if text.isprintable():
        return None
    found = re.search(f"[\t\n]|{_CONTROL.pattern}", text)
    return ascii(found[0])[1:-1] if found else None


def escape_control_characters(text: str) -> str:
    r"""Return a text with its control characters, other than tabs and line feeds, escaped.

    >>> escape_control_characters("a\x1b[31mb\u202e")
    'a\\x1b[31mb\\u202e'
    """
    if text.isprintable() and "##" not in text:
        return text
    return _INNER_COMMAND.sub(r"\\u0023", _CONTROL.sub(_escape_character, text))


def _escape_character(found: re.Match[str]) -> str:
    code = ord(found[0])
    # JSON has no `\x` escape, and no raw characters that would need one here.
    return f"\\x{code:02x}" if code < _FIRST_PRINTABLE else f"\\u{code:04x}"


def escape_line(text: str) -> str:
    """Return a text on one line: line feeds and tabs are escaped too."""
    return escape_control_characters(text).replace("\n", "\\n").replace("\t", "\\t")


class PrintableStream(io.TextIOWrapper):
    """A text stream that escapes what could control a terminal or the runner of a CI job."""

    _is_line_start = True

    def write(self, text: str, /) -> int:
        """Write a text, escaped."""
        shown = escape_control_characters(text)
        if "::" in shown:
            # A mark stands for what is on the line already, so that it is no beginning of one.
            mark = "" if self._is_line_start else "|"
            shown = _LINE_COMMAND.sub(r"\1\\x3a", mark + shown).removeprefix(mark)
        _, line_feed, last = shown.rpartition("\n")
        self._is_line_start = not last.strip() and (bool(line_feed) or self._is_line_start)
        super().write(shown)
        return len(text)

    def write_unescaped(self, text: str) -> int:
        """Write what markscheme itself made: escape sequences of a page, commands to a runner."""
        return super().write(text)


class UnescapedWriter:
    """The same stream for those who escape values themselves and write escape sequences."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text as it is."""
        write = getattr(self._stream, "write_unescaped", self._stream.write)
        written: int = write(text)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

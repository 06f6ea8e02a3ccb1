"""From blocks of bytes to the records of delimited text, which quotes may spread over lines."""

from __future__ import annotations

import csv
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from markscheme.read.answers.encoding import fault_in_bytes
from markscheme.read.answers.lines import Lines, LongLine, split
from markscheme.read.answers.rows import Refused
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_REREADS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record: the line it starts on, what was written there, and its cells or its fault."""

    line: int
    raw: bytes
    cells: list[str] | Refused


class Records:
    """The records of a file.

    A record that cannot be read (a quote that is never closed, too many bytes) is taken to be
    the one line it starts on, so that the lines after it are read again. How much is read again
    is bounded by a multiple of what was read, so that no file takes more than linear time.
    """

    def __init__(self, blocks: Iterable[bytes], *, limit: int) -> None:
        self._stretches = split(blocks, limit=limit)
        self._limit = limit
        self._waiting: deque[bytes | LongLine] = deque()
        self._taken: list[bytes | LongLine] = []
        self._held = 0
        self._line = 1
        self._spare = limit

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Take one more line for the record that is being read."""
        while not self._waiting:
            self._fill(next(self._stretches))
        line = self._waiting.popleft()
        self._taken.append(line)
        self._line += 1
        if isinstance(line, LongLine):
            raise csv.Error(line.reason(self._limit))
        self._held += len(line)
        if self._held > self._limit:
            raise csv.Error(f"a record of more than {self._limit:,} bytes")
        return line.decode(errors="surrogateescape") + "\n"

    def first_line(self) -> bytes:
        """Return the first line that is not blank, without taking it."""
        while True:
            while self._waiting:
                line = self._waiting[0]
                if isinstance(line, LongLine):
                    return line.head
                if line.strip():
                    return line
                self._waiting.popleft()
                self._line += 1
            stretch = next(self._stretches, None)
            if stretch is None:
                return b""
            self._fill(stretch)

    def read(self, delimiter: str) -> Iterator[Record]:
        """Yield the records, without blank lines."""
        reader = csv.reader(self, delimiter=delimiter, strict=True)
        while True:
            self._taken, self._held = [], 0
            start = self._line
            try:
                with _fields_up_to(self._limit):
                    cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield self._broken(start, _explained(str(error)))
                reader = csv.reader(self, delimiter=delimiter, strict=True)
                continue
            raw = b"\n".join([line for line in self._taken if isinstance(line, bytes)])
            if raw.strip():
                fault = fault_in_bytes(raw)
                yield Record(line=start, raw=raw, cells=Refused(fault) if fault else cells)

    def _fill(self, stretch: Lines | LongLine) -> None:
        if isinstance(stretch, LongLine):
            self._waiting.append(stretch)
            return
        self._waiting.extend(stretch.text.split(b"\n"))
        self._spare += _REREADS * len(stretch.text)

    def _broken(self, start: int, reason: str) -> Record:
        """Return the record at `start` as a fault, and give back the lines after its first."""
        first, *others = self._taken
        size = sum(len(line) for line in others if isinstance(line, bytes))
        if size <= self._spare:
            self._spare -= size
            self._waiting.extendleft(reversed(others))
            self._line = start + 1
        else:
            reason += f"; lines {start} to {self._line - 1} are lost with it"
        raw = first.head if isinstance(first, LongLine) else first
        fault = None if isinstance(first, LongLine) else fault_in_bytes(raw)
        return Record(line=start, raw=raw, cells=Refused(fault or f"not CSV: {reason}"))


def _explained(message: str) -> str:
    """Say in the words of a user what the parser says about its own state."""
    if "unexpected end of data" in message:
        return "a quote that is never closed"
    if "expected after" in message:
        return "a quote that is never closed, or a field that goes on after its closing quote"
    if "new-line character" in message:
        return "a carriage return inside a line; end lines with LF or CRLF"
    return message


@contextmanager
def _fields_up_to(limit: int) -> Iterator[None]:
    """Let `csv` read fields of this size; its own limit holds for the whole process."""
    before = csv.field_size_limit(limit)
    try:
        yield
    finally:
        csv.field_size_limit(before)

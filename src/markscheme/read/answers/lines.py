"""From blocks of bytes to stretches of whole lines, never holding more of one line than allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from markscheme.read.answers.encoding import make_excerpt
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LINE_HEAD_BYTES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeLines:
    """Consecutive whole lines in one text, without the last newline."""

    text: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LongLine:
    """A line over the limit: its beginning, and how many bytes it had."""

    head: bytes
    length: int

    def format_reason(self, limit: int) -> str:
        """Say why this line is not read."""
        return f"a line of {self.length:,} bytes; a row may have {limit:,}"

    def to_row_error(self, line: int, limit: int) -> RowError:
        """Return the error row that stands for this line."""
        return RowError(
            line=line, reason=self.format_reason(limit), excerpt=make_excerpt(self.head)
        )


LineChunk: TypeAlias = WholeLines | LongLine


def split_lines(blocks: Iterable[bytes], *, limit: int) -> Iterator[LineChunk]:
    """Yield the lines of what arrives in blocks of any size."""
    splitter = _LineSplitter(limit)
    for block in blocks:
        yield from splitter.feed(block)
    yield from splitter.finish()


class _LineSplitter:
    """The line that is not complete yet, in parts."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, block: bytes) -> Iterator[LineChunk]:
        """Yield every line that this block completes, and hold what follows them."""
        end = block.find(b"\n")
        if end < 0:
            self._hold_part(block)
            return
        if self._size + end > self._limit:
            self._hold_part(block[:end])
            yield LongLine(head=self._parts[0], length=self._size)
            block = block[end + 1 :]
        else:
            block = b"".join((*self._parts, block))
        self._parts, self._size = [], 0
        whole, newline, rest = block.rpartition(b"\n")
        self._hold_part(rest)
        if newline:
            yield from self._separate_long_lines(whole)

    def finish(self) -> Iterator[LineChunk]:
        """Yield the last line, where the file does not end in a newline."""
        if self._size > self._limit:
            yield LongLine(head=self._parts[0], length=self._size)
        elif self._size:
            yield WholeLines(text=b"".join(self._parts))

    def _hold_part(self, part: bytes) -> None:
        """Keep a part of a line; of a line over the limit, no more than its beginning."""
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limit:
            self._parts = [
                b"".join([held[:_LINE_HEAD_BYTES] for held in self._parts[:_LINE_HEAD_BYTES]])[
                    :_LINE_HEAD_BYTES
                ]
            ]

    def _separate_long_lines(self, text: bytes) -> Iterator[LineChunk]:
        """Yield whole lines, the long ones among them apart."""
        if len(text) <= self._limit:
            yield WholeLines(text=text)
            return
        for raw in text.split(b"\n"):
            if len(raw) <= self._limit:
                yield WholeLines(text=raw)
            else:
                yield LongLine(head=raw[:_LINE_HEAD_BYTES], length=len(raw))

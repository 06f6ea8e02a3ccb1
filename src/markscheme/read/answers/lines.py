"""From blocks of bytes to stretches of whole lines, never holding more of one line than allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from markscheme.read.answers.excerpt import excerpt
from markscheme.values import dataclass
from markscheme.vocabulary import RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HEAD = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Consecutive whole lines in one text, without the last newline."""

    text: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LongLine:
    """A line over the limit: its beginning, and how many bytes it had."""

    head: bytes
    length: int

    def reason(self, limit: int) -> str:
        """Say why this line is not read."""
        return f"a line of {self.length:,} bytes; a row may have {limit:,}"

    def error(self, line: int, limit: int) -> RowError:
        """Return the error row that stands for this line."""
        return RowError(line=line, reason=self.reason(limit), excerpt=excerpt(self.head))


Stretch: TypeAlias = Lines | LongLine


def split(blocks: Iterable[bytes], *, limit: int) -> Iterator[Stretch]:
    """Yield the lines of what arrives in blocks of any size."""
    splitter = _Splitter(limit)
    for block in blocks:
        yield from splitter.feed(block)
    yield from splitter.finish()


class _Splitter:
    """The line that is not complete yet, in parts."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, block: bytes) -> Iterator[Stretch]:
        """Yield every line that this block completes, and hold what follows them."""
        end = block.find(b"\n")
        if end < 0:
            self._hold(block)
            return
        if self._size + end > self._limit:
            self._hold(block[:end])
            yield LongLine(head=self._parts[0], length=self._size)
            block = block[end + 1 :]
        else:
            block = b"".join((*self._parts, block))
        self._parts, self._size = [], 0
        whole, newline, rest = block.rpartition(b"\n")
        self._hold(rest)
        if newline:
            yield from self._stretches(whole)

    def finish(self) -> Iterator[Stretch]:
        """Yield the last line, where the file does not end in a newline."""
        if self._size > self._limit:
            yield LongLine(head=self._parts[0], length=self._size)
        elif self._size:
            yield Lines(text=b"".join(self._parts))

    def _hold(self, part: bytes) -> None:
        """Keep a part of a line; of a line over the limit, no more than its beginning."""
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limit:
            self._parts = [b"".join([held[:_HEAD] for held in self._parts[:_HEAD]])[:_HEAD]]

    def _stretches(self, text: bytes) -> Iterator[Stretch]:
        """Yield whole lines, the long ones among them apart."""
        if len(text) <= self._limit:
            yield Lines(text=text)
            return
        for raw in text.split(b"\n"):
            if len(raw) <= self._limit:
                yield Lines(text=raw)
            else:
                yield LongLine(head=raw[:_HEAD], length=len(raw))

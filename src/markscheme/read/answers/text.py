"""Text on its way in: split blocks of bytes into whole lines, check the encoding, quote excerpts.

Shared by the JSONL and CSV readers. A line over the limit is never held whole: only its first bytes
and its length are kept, for the error row.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from markscheme.vocabulary import RowError

EXCERPT_WIDTH = 80
_LINE_HEAD_BYTES = 400
_UTF16_32_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_MAX_ODD_SHARE = 0.1
# Control characters other than tab, newline, form feed and carriage return.
_ODD_CHARACTERS = re.compile("[\\x00-\\x08\\x0b\\x0e-\\x1f\N{REPLACEMENT CHARACTER}]")
_MAX_UTF8_BYTES = 4
_MAX_SHOWN_BITS = 1000


class WholeLines(Struct, frozen=True, kw_only=True):
    """Consecutive whole lines in one text, without the last newline."""

    text: bytes


class LongLine(Struct, frozen=True, kw_only=True):
    """A line over the limit: its beginning, and how many bytes it had."""

    head: bytes
    length: int

    def format_reason(self, limit: int) -> str:
        """Return the reason why this line is not read."""
        return f"a line of {self.length:,} bytes; a row may have {limit:,}"

    def to_row_error(self, line: int, limit: int) -> RowError:
        """Return the error row that replaces this line."""
        return RowError(
            line=line, reason=self.format_reason(limit), excerpt=make_excerpt(self.head)
        )


LineChunk: TypeAlias = WholeLines | LongLine


def split_lines(blocks: Iterable[bytes], *, limit: int) -> Iterator[LineChunk]:
    """Yield the lines of a stream that arrives in blocks of any size."""
    splitter = _LineSplitter(limit)
    for block in blocks:
        yield from splitter.feed(block)
    yield from splitter.finish()


class _LineSplitter:
    """Holds the parts of the line that is not complete yet."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, block: bytes) -> Iterator[LineChunk]:
        """Yield every line that this block completes; hold the rest of the block."""
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
        """Yield the last line if the file does not end in a newline."""
        if self._size > self._limit:
            yield LongLine(head=self._parts[0], length=self._size)
        elif self._size:
            yield WholeLines(text=b"".join(self._parts))

    def _hold_part(self, part: bytes) -> None:
        """Keep a part of a line; of a line over the limit, keep only the beginning."""
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limit:
            head = b"".join(held[:_LINE_HEAD_BYTES] for held in self._parts[:_LINE_HEAD_BYTES])
            self._parts = [head[:_LINE_HEAD_BYTES]]

    def _separate_long_lines(self, text: bytes) -> Iterator[LineChunk]:
        """Yield whole lines; each line over the limit comes by itself."""
        if len(text) <= self._limit:
            yield WholeLines(text=text)
            return
        for raw in text.split(b"\n"):
            if len(raw) <= self._limit:
                yield WholeLines(text=raw)
            else:
                yield LongLine(head=raw[:_LINE_HEAD_BYTES], length=len(raw))


def find_byte_fault(raw: bytes) -> str | None:
    """Return why the bytes of a row are not valid text, or `None` if they are."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        if _is_utf8_with_surrogates(raw):
            return f"a lone surrogate at byte {error.start + 1}, which is not a character"
        return f"not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the row"
    return "a NUL byte in the row" if b"\0" in raw else None


def find_head_fault(head: bytes) -> str | None:
    """Return why a file that starts with `head` is not UTF-8 text, or `None` if it may be.

    A single odd byte is an error of its row. This refuses files of which a tenth is odd.
    """
    text = head.decode(errors="replace")
    odd_count = len(_ODD_CHARACTERS.findall(text))
    if odd_count <= _MAX_ODD_SHARE * len(text):
        return None
    zeros = head.count(b"\0")
    if head.startswith(_UTF16_32_MARKS) or zeros > len(head) / 3:
        return "this is UTF-16 or UTF-32; save it as UTF-8"
    return "this is not text in UTF-8"


def _is_utf8_with_surrogates(raw: bytes) -> bool:
    try:
        raw.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def make_excerpt(content: str | bytes, width: int = EXCERPT_WIDTH) -> str:
    """Return the beginning of `content` on one line, in at most `width` printable characters."""
    head = content[: width * _MAX_UTF8_BYTES]
    text = head.decode(errors="replace") if isinstance(head, bytes) else head
    clean = (text if text.isprintable() else "".join(map(_replace_unprintable, text))).strip()
    cut = len(clean) > width or len(content) > len(head)
    return clean[: width - 1] + "…" if cut else clean


def _replace_unprintable(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"


def describe_json_value(value: object) -> str:
    """Describe a JSON value for an error message, as in: not the number `3`."""
    match value:
        case None:
            return "null"
        case bool():
            return f"`{str(value).lower()}`"
        case int() if value.bit_length() > _MAX_SHOWN_BITS:
            return "a number of many digits"
        case int() | float():
            return f"the number `{value}`"
        case str():
            return f"the text `{make_excerpt(value, 40)}`"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"

"""What is left of a JSON document that was cut off: everything up to its last whole value.

A log as it lies there: its lines or its document, whatever its encoding, compression or damage.

A log of lines is read line by line and never held; a document is parsed as a whole.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from markscheme.read.json_fields import JsonObject, iter_objects, parse_lenient_json
from markscheme.vocabulary import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_CLOSING_BRACKETS = {"{": "}", "[": "]"}


def repair_json(text: str) -> Any:
    """Return the document with what is open closed after its last whole value, or nothing."""
    found = _find_last_whole_value(text)
    if found is None:
        return None
    end, open_ = found
    closing = "".join(_CLOSING_BRACKETS[bracket] for bracket in reversed(open_))
    try:
        return json.loads(text[:end] + closing)
    except (ValueError, RecursionError):
        return None


def _find_last_whole_value(text: str) -> tuple[int, str] | None:
    """Return where the last whole value ends, and the brackets that are open there."""
    stack: list[str] = []
    whole: tuple[int, str] | None = None
    for token in _JSON_TOKEN.finditer(text):
        mark = token.group()
        if mark in _CLOSING_BRACKETS:
            stack.append(mark)
        elif mark in "}]":
            if not stack:
                return None
            stack.pop()
            whole = token.end(), "".join(stack)
        elif mark == ",":
            whole = token.start(), "".join(stack)
    return whole


MAX_LINE_BYTES = 64 * 1024 * 1024
_SAMPLE_LINES = 200
_SAMPLE_BYTES = 4 * 1024 * 1024
_SQLITE_MAGIC, _ZIP_MAGIC, _ZSTD_MAGIC = b"SQLite format 3\0", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BUFFER_BYTES = 1 << 20
_COMPRESSED_CHUNK_BYTES = 1 << 16
_EVENT_STREAM_PREFIXES = (b"event:", b"id:", b"retry:", b":")


class Log:
    """One file. `skipped` counts the lines that could not be read; `cut` says it was cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skipped = 0
        self.truncated = False
        self._is_document_truncated = False
        self._head = self._read_head()

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder, which only some formats are."""
        return self.path.is_dir()

    @property
    def is_text(self) -> bool:
        """Whether there are lines or a document to read."""
        return not (self.is_folder or self.is_database or self.is_archive)

    @property
    def is_database(self) -> bool:
        """Whether this is an SQLite file."""
        return self._head.startswith(_SQLITE_MAGIC)

    @property
    def is_archive(self) -> bool:
        """Whether this is a ZIP file."""
        return self._head.startswith(_ZIP_MAGIC)

    def iter_records(self) -> Iterator[JsonObject]:
        """Yield the objects of the log, one for each line or element; count what is none."""
        self.skipped, self.truncated = 0, False
        if not self.is_text:
            return
        if not self._has_lines:
            yield from self._iter_elements()
            return
        with self.open_stream() as stream:
            yield from self._parse_lines(stream)

    @cached_property
    def document(self) -> Any:
        """The whole JSON document, or nothing where the log is one of lines."""
        if not self.is_text:
            return None
        if self._has_lines:
            return self._line_objects[0] if self._is_one_line else None
        return self._whole_document

    @cached_property
    def sample(self) -> list[JsonObject]:
        """The first objects of the log, to see what it is."""
        if not self.is_text:
            return []
        if self._has_lines:
            return self._line_objects
        whole = self._whole_document
        return (
            [whole] if isinstance(whole, dict) else list(islice(iter_objects(whole), _SAMPLE_LINES))
        )

    @contextmanager
    def open_stream(self) -> Iterator[BinaryIO]:
        """Open the log as UTF-8, unpacked and without its byte order mark."""
        try:
            with self.path.open("rb", buffering=_BUFFER_BYTES) as file:
                yield self._decode_stream(file)
        except OSError as error:
            raise self.build_error(f"cannot be read: {error.strerror or error}") from None

    def _decode_stream(self, file: BinaryIO) -> BinaryIO:
        if self._head.startswith(_ZSTD_MAGIC):
            return io.BufferedReader(_ZstdStream(file, self))
        if self._head.startswith(_UTF16_BOMS):
            return io.BytesIO(file.read().decode("utf-16", "replace").encode())
        if self._head.startswith(codecs.BOM_UTF8):
            file.seek(len(codecs.BOM_UTF8))
        return file

    def build_error(self, message: str) -> InputError:
        """Return the error that says why this log is not read."""
        return InputError([Problem(file=str(self.path), line=1, field="", message=message)])

    def _read_head(self) -> bytes:
        if self.is_folder:
            return b""
        try:
            with self.path.open("rb") as file:
                return file.read(16)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self.build_error(f"cannot be read: {reason}") from None

    @cached_property
    def _first_lines(self) -> tuple[list[bytes], bool]:
        """The first lines, and whether these are all."""
        taken: list[bytes] = []
        size = 0
        with self.open_stream() as stream:
            for raw in iter(partial(stream.readline, MAX_LINE_BYTES), b""):
                taken.extend(part for part in raw.split(b"\r") if part.strip())
                size += len(raw)
                if len(taken) >= _SAMPLE_LINES or size > _SAMPLE_BYTES:
                    return taken, False
        return taken, True

    @cached_property
    def _line_objects(self) -> list[JsonObject]:
        found = (parse_line(raw) for raw in self._first_lines[0])
        return [record for record in found if isinstance(record, dict)]

    @property
    def _is_one_line(self) -> bool:
        lines, all_of_it = self._first_lines
        return all_of_it and len(lines) == 1

    @cached_property
    def _has_lines(self) -> bool:
        """Whether each line is an object of its own."""
        lines, _ = self._first_lines
        if not lines or isinstance(parse_line(lines[0]), dict):
            return True
        opens = lines[0].lstrip()[:1]
        if opens == b"{" and len(self._line_objects) > 1:
            return True  # only the first line is damaged: no need to hold the whole file
        if opens in {b"[", b"{"} and self._json_value is not None:
            return False
        return bool(self._line_objects)

    @cached_property
    def _json_value(self) -> Any:
        """The whole file as one JSON value, where it is one."""
        return _parse_json_bytes(self._content)

    @cached_property
    def _whole_document(self) -> Any:
        """The document, also behind a line of other text, also where it was cut off."""
        if self._json_value is not None:
            return self._json_value
        text = self._content
        starts = [at for at in (text.find(b"{"), text.find(b"[")) if at >= 0]
        if not starts:
            return None
        inner = text[min(starts) :]
        found = _parse_json_bytes(inner)
        if found is None:
            self._is_document_truncated = True
            found = repair_json(inner.decode("utf-8", "replace"))
        return found

    @property
    def _content(self) -> bytes:
        with self.open_stream() as stream:
            return stream.read()

    def _iter_elements(self) -> Iterator[JsonObject]:
        whole = self._whole_document
        self.truncated = self._is_document_truncated
        if isinstance(whole, dict):
            yield whole
            return
        for element in whole if isinstance(whole, list) else [None]:
            if isinstance(element, dict):
                yield element
            else:
                self.skipped += 1

    def _parse_lines(self, stream: BinaryIO) -> Iterator[JsonObject]:
        loads, previous = orjson.loads, b""
        for raw in iter(partial(stream.readline, MAX_LINE_BYTES), b""):
            if raw == previous:
                continue
            previous = raw
            try:
                record = loads(raw)
            except orjson.JSONDecodeError:
                yield from self._parse_damaged_line(raw, stream)
                continue
            if type(record) is dict:
                yield record
            else:
                self.skipped += 1
        last = previous.rpartition(b"\r")[2]
        if last.strip() and not last.endswith(b"\n") and parse_line(last) is None:
            self.truncated = True

    def _parse_damaged_line(self, raw: bytes, stream: BinaryIO) -> Iterator[JsonObject]:
        """Yield what can be read of a line that is no JSON as it stands."""
        if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE_BYTES)
            self.skipped += 1
            return
        for part in raw.replace(b"\x00", b"").split(b"\r"):
            stripped = part.strip()
            if not stripped or stripped.startswith(_EVENT_STREAM_PREFIXES):
                continue
            record = parse_line(stripped)
            if isinstance(record, dict):
                yield record
            else:
                self.skipped += 1


class _ZstdStream(io.RawIOBase):
    """A compressed log, unpacked while it is read; where it is damaged or cut off, it ends."""

    def __init__(self, file: BinaryIO, log: Log) -> None:
        from zstandard import ZstdDecompressor, ZstdError

        self._file = file
        self._new_decompressor = ZstdDecompressor().decompressobj
        self._decompressor = self._new_decompressor()
        self._zstd_error = ZstdError
        self._log = log
        self._buffer = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._buffer:
            packed = self._decompressor.unused_data if self._decompressor.eof else b""
            if self._decompressor.eof:
                self._decompressor = self._new_decompressor()
            packed = packed or self._file.read(_COMPRESSED_CHUNK_BYTES)
            if not packed:
                return 0
            try:
                self._buffer = self._decompressor.decompress(packed)
            except self._zstd_error:
                self._log.truncated = True
                return 0
            self._log.truncated = not self._decompressor.eof
        found, self._buffer = self._buffer[: len(buffer)], self._buffer[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)


def _parse_json_bytes(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return parse_lenient_json(raw.decode("utf-8", "replace"))


def parse_line(raw: bytes) -> Any:
    """Return the JSON value of one line, or nothing; also what an event stream calls data."""
    return _parse_json_bytes(raw.strip().removeprefix(b"data:"))

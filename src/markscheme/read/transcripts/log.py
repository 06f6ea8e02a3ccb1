"""A log as it lies there: its lines or its document, whatever its encoding, compression or damage.

A log of lines is read line by line and never held; a document is parsed as a whole.
"""

from __future__ import annotations

import codecs
import io
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from markscheme.errors import InputError, Problem
from markscheme.read.transcripts.repair import repaired
from markscheme.read.transcripts.values import Object, lenient, objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST = 64 * 1024 * 1024
_LOOKED_AT = 200
_LOOKED_AT_BYTES = 4 * 1024 * 1024
_SQLITE, _ZIP, _ZSTD = b"SQLite format 3\0", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BUFFER = 1 << 20
_PACKED = 1 << 16
_EVENT_STREAM = (b"event:", b"id:", b"retry:", b":")


class Log:
    """One file. `skipped` counts the lines that could not be read; `cut` says it was cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skipped = 0
        self.cut = False
        self._document_is_cut = False
        self._head = self._first_bytes()

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
        return self._head.startswith(_SQLITE)

    @property
    def is_archive(self) -> bool:
        """Whether this is a ZIP file."""
        return self._head.startswith(_ZIP)

    def records(self) -> Iterator[Object]:
        """Yield the objects of the log, one for each line or element; count what is none."""
        self.skipped, self.cut = 0, False
        if not self.is_text:
            return
        if not self._has_lines:
            yield from self._elements()
            return
        with self.opened() as stream:
            yield from self._parsed_lines(stream)

    @cached_property
    def document(self) -> Any:
        """The whole JSON document, or nothing where the log is one of lines."""
        if not self.is_text:
            return None
        if self._has_lines:
            return self._sample[0] if self._is_one_line else None
        return self._whole

    @cached_property
    def sample(self) -> list[Object]:
        """The first objects of the log, to see what it is."""
        if not self.is_text:
            return []
        if self._has_lines:
            return self._sample
        whole = self._whole
        return [whole] if isinstance(whole, dict) else list(islice(objects(whole), _LOOKED_AT))

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open the log as UTF-8, unpacked and without its byte order mark."""
        try:
            with self.path.open("rb", buffering=_BUFFER) as file:
                yield self._plain(file)
        except OSError as error:
            raise self.refusal(f"cannot be read: {error.strerror or error}") from None

    def _plain(self, file: BinaryIO) -> BinaryIO:
        if self._head.startswith(_ZSTD):
            return io.BufferedReader(_Unpacking(file, self))
        if self._head.startswith(_UTF16):
            return io.BytesIO(file.read().decode("utf-16", "replace").encode())
        if self._head.startswith(codecs.BOM_UTF8):
            file.seek(len(codecs.BOM_UTF8))
        return file

    def refusal(self, message: str) -> InputError:
        """Return the error that says why this log is not read."""
        return InputError([Problem(file=str(self.path), line=1, field="", message=message)])

    def _first_bytes(self) -> bytes:
        if self.is_folder:
            return b""
        try:
            with self.path.open("rb") as file:
                return file.read(16)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self.refusal(f"cannot be read: {reason}") from None

    @cached_property
    def _opening(self) -> tuple[list[bytes], bool]:
        """The first lines, and whether these are all."""
        taken: list[bytes] = []
        size = 0
        with self.opened() as stream:
            for raw in iter(partial(stream.readline, LONGEST), b""):
                taken.extend(part for part in raw.split(b"\r") if part.strip())
                size += len(raw)
                if len(taken) >= _LOOKED_AT or size > _LOOKED_AT_BYTES:
                    return taken, False
        return taken, True

    @cached_property
    def _sample(self) -> list[Object]:
        found = (parsed_line(raw) for raw in self._opening[0])
        return [record for record in found if isinstance(record, dict)]

    @property
    def _is_one_line(self) -> bool:
        lines, all_of_it = self._opening
        return all_of_it and len(lines) == 1

    @cached_property
    def _has_lines(self) -> bool:
        """Whether each line is an object of its own."""
        lines, _ = self._opening
        if not lines or isinstance(parsed_line(lines[0]), dict):
            return True
        opens = lines[0].lstrip()[:1]
        if opens == b"{" and len(self._sample) > 1:
            return True  # only the first line is damaged: no need to hold the whole file
        if opens in {b"[", b"{"} and self._loaded is not None:
            return False
        return bool(self._sample)

    @cached_property
    def _loaded(self) -> Any:
        """The whole file as one JSON value, where it is one."""
        return _loads(self._text)

    @cached_property
    def _whole(self) -> Any:
        """The document, also behind a line of other text, also where it was cut off."""
        if self._loaded is not None:
            return self._loaded
        text = self._text
        starts = [at for at in (text.find(b"{"), text.find(b"[")) if at >= 0]
        if not starts:
            return None
        inner = text[min(starts) :]
        found = _loads(inner)
        if found is None:
            self._document_is_cut = True
            found = repaired(inner.decode("utf-8", "replace"))
        return found

    @property
    def _text(self) -> bytes:
        with self.opened() as stream:
            return stream.read()

    def _elements(self) -> Iterator[Object]:
        whole = self._whole
        self.cut = self._document_is_cut
        if isinstance(whole, dict):
            yield whole
            return
        for element in whole if isinstance(whole, list) else [None]:
            if isinstance(element, dict):
                yield element
            else:
                self.skipped += 1

    def _parsed_lines(self, stream: BinaryIO) -> Iterator[Object]:
        loads, previous = orjson.loads, b""
        for raw in iter(partial(stream.readline, LONGEST), b""):
            if raw == previous:
                continue
            previous = raw
            try:
                record = loads(raw)
            except orjson.JSONDecodeError:
                yield from self._hard(raw, stream)
                continue
            if type(record) is dict:
                yield record
            else:
                self.skipped += 1
        last = previous.rpartition(b"\r")[2]
        if last.strip() and not last.endswith(b"\n") and parsed_line(last) is None:
            self.cut = True

    def _hard(self, raw: bytes, stream: BinaryIO) -> Iterator[Object]:
        """Yield what can be read of a line that is no JSON as it stands."""
        if len(raw) == LONGEST and not raw.endswith(b"\n"):
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(LONGEST)
            self.skipped += 1
            return
        for part in raw.replace(b"\x00", b"").split(b"\r"):
            stripped = part.strip()
            if not stripped or stripped.startswith(_EVENT_STREAM):
                continue
            record = parsed_line(stripped)
            if isinstance(record, dict):
                yield record
            else:
                self.skipped += 1


class _Unpacking(io.RawIOBase):
    """A compressed log, unpacked while it is read; where it is damaged or cut off, it ends."""

    def __init__(self, file: BinaryIO, log: Log) -> None:
        from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415 - only where it is met

        self._file = file
        self._frame = ZstdDecompressor().decompressobj
        self._unpacker = self._frame()
        self._damage = ZstdError
        self._log = log
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._ready:
            packed = self._unpacker.unused_data if self._unpacker.eof else b""
            if self._unpacker.eof:
                self._unpacker = self._frame()
            packed = packed or self._file.read(_PACKED)
            if not packed:
                return 0
            try:
                self._ready = self._unpacker.decompress(packed)
            except self._damage:
                self._log.cut = True
                return 0
            self._log.cut = not self._unpacker.eof
        found, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)


def _loads(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return lenient(raw.decode("utf-8", "replace"))


def parsed_line(raw: bytes) -> Any:
    """Return the JSON value of one line, or nothing; also what an event stream calls data."""
    return _loads(raw.strip().removeprefix(b"data:"))

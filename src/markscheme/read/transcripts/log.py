"""`Log`: one log file as JSON records, whatever its encoding, compression or damage.

A log with one JSON object per line is read line by line and never held in memory. A log that is one
JSON document is parsed as a whole; a truncated document is closed after its last whole value.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from markscheme.read.json_fields import JsonObject, iter_objects, parse_lenient_json
from markscheme.read.special_files import describe_special_file
from markscheme.vocabulary import InputError, Problem, Transcript

MAX_LINE_BYTES = 64 * 1024 * 1024
_SAMPLE_LINES = 200
_SAMPLE_BYTES = 4 * 1024 * 1024
_SQLITE_MAGIC, _ZIP_MAGIC, _ZSTD_MAGIC = b"SQLite format 3\0", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BUFFER_BYTES = 1 << 20
# Lines of a server-sent event stream that carry no data.
_EVENT_STREAM_PREFIXES = (b"event:", b"id:", b"retry:", b":")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_CLOSING_BRACKETS = {"{": "}", "[": "]"}


class Log:
    """One log file, or a folder that is a log as a whole.

    After `iter_records`, `skipped` is the number of lines that could not be read, and `truncated`
    says whether the file ends in the middle of a record.
    """

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
        """Yield the JSON objects of the log, one per line or list element; count the others."""
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
        """The whole JSON document; `None` if the log has several lines of JSON."""
        if not self.is_text:
            return None
        if self._has_lines:
            lines, is_whole_log = self._first_lines
            return self._line_objects[0] if is_whole_log and len(lines) == 1 else None
        return self._whole_document

    @cached_property
    def sample(self) -> list[JsonObject]:
        """The first objects of the log, for detecting its format."""
        if not self.is_text:
            return []
        if self._has_lines:
            return self._line_objects
        whole = self._whole_document
        return (
            [whole] if isinstance(whole, dict) else list(islice(iter_objects(whole), _SAMPLE_LINES))
        )

    def build_error(self, message: str) -> InputError:
        """Return an error about this log, to be raised."""
        return InputError([Problem(file=str(self.path), line=1, field="", message=message)])

    @contextmanager
    def open_stream(self) -> Iterator[BinaryIO]:
        """Open the log as UTF-8, decompressed and without its byte order mark.

        Raises:
            InputError: the file cannot be read, or unpacks to more than is allowed.
        """
        try:
            with self.path.open("rb", buffering=_BUFFER_BYTES) as file:
                if self._head.startswith(_ZSTD_MAGIC):
                    # Few logs are compressed, and the modules for it take time to load.
                    from markscheme.read.unpacking import ZstandardStream

                    size = self.path.stat().st_size
                    unpacked = ZstandardStream(file, size, self.build_error)
                    yield io.BufferedReader(unpacked, _BUFFER_BYTES)
                    self.truncated = self.truncated or unpacked.is_cut
                else:
                    yield self._decode_stream(file)
        except OSError as error:
            raise self.build_error(f"cannot be read: {error.strerror or error}") from error

    def _decode_stream(self, file: BinaryIO) -> BinaryIO:
        if self._head.startswith(_UTF16_BOMS):
            return io.BytesIO(file.read().decode("utf-16", "replace").encode())
        if self._head.startswith(codecs.BOM_UTF8):
            file.seek(len(codecs.BOM_UTF8))
        return file

    def _read_head(self) -> bytes:
        if self.is_folder:
            return b""
        if fault := describe_special_file(self.path):
            raise self.build_error(fault)
        try:
            with self.path.open("rb") as file:
                return file.read(16)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self.build_error(f"cannot be read: {reason}") from None

    @cached_property
    def _has_lines(self) -> bool:
        """Whether each line is a JSON object of its own."""
        lines, _ = self._first_lines
        if not lines or isinstance(_parse_line(lines[0]), dict):
            return True
        first_byte = lines[0].lstrip()[:1]
        # Only the first line is damaged. Decide before the whole file is read to see if it is JSON.
        if first_byte == b"{" and len(self._line_objects) > 1:
            return True
        if first_byte in {b"[", b"{"} and self._json_value is not None:
            return False
        return bool(self._line_objects)

    @cached_property
    def _first_lines(self) -> tuple[list[bytes], bool]:
        """The first lines, and whether they are the whole log."""
        lines: list[bytes] = []
        size = 0
        with self.open_stream() as stream:
            for raw in iter(partial(stream.readline, MAX_LINE_BYTES), b""):
                lines.extend(part for part in raw.split(b"\r") if part.strip())
                size += len(raw)
                if len(lines) >= _SAMPLE_LINES or size > _SAMPLE_BYTES:
                    return lines, False
        return lines, True

    @cached_property
    def _line_objects(self) -> list[JsonObject]:
        records = (_parse_line(raw) for raw in self._first_lines[0])
        return [record for record in records if isinstance(record, dict)]

    @cached_property
    def _json_value(self) -> Any:
        """The whole file as one JSON value; `None` if it is not valid JSON."""
        return _parse_json_bytes(self._content)

    @cached_property
    def _whole_document(self) -> Any:
        """The JSON document, even after a line of other text, even if it is truncated."""
        if self._json_value is not None:
            return self._json_value
        text = self._content
        starts = [at for at in (text.find(b"{"), text.find(b"[")) if at >= 0]
        if not starts:
            return None
        inner = text[min(starts) :]
        document = _parse_json_bytes(inner)
        if document is None:
            self._is_document_truncated = True
            document = _repair_json(inner.decode("utf-8", "replace"))
        return document

    @property
    def _content(self) -> bytes:
        with self.open_stream() as stream:
            return stream.read()

    def _iter_elements(self) -> Iterator[JsonObject]:
        """Yield the document, or the objects of its list."""
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
            # Some clients write a line twice in a row; it counts once.
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
        if last.strip() and not last.endswith(b"\n") and _parse_line(last) is None:
            self.truncated = True

    def _parse_damaged_line(self, raw: bytes, stream: BinaryIO) -> Iterator[JsonObject]:
        """Yield the objects of a line that is not valid JSON as it stands; count the rest."""
        if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
            # The line is longer than the limit: skip the rest of it.
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE_BYTES)
            self.skipped += 1
            return
        for part in raw.replace(b"\x00", b"").split(b"\r"):
            stripped = part.strip()
            if not stripped or stripped.startswith(_EVENT_STREAM_PREFIXES):
                continue
            record = _parse_line(stripped)
            if isinstance(record, dict):
                yield record
            else:
                self.skipped += 1


def _parse_line(raw: bytes) -> Any:
    """Parse one line of JSON, also a `data:` line of an event stream; return `None` if invalid."""
    return _parse_json_bytes(raw.strip().removeprefix(b"data:"))


def _parse_json_bytes(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return parse_lenient_json(raw.decode("utf-8", "replace"))


def _repair_json(text: str) -> Any:
    """Parse a truncated document up to its last whole value; return `None` if that fails."""
    end = _find_last_whole_value(text)
    if end is None:
        return None
    position, open_brackets = end
    closing = "".join(_CLOSING_BRACKETS[bracket] for bracket in reversed(open_brackets))
    try:
        return json.loads(text[:position] + closing)
    except (ValueError, RecursionError):
        return None


def _find_last_whole_value(text: str) -> tuple[int, str] | None:
    """Return where the last whole value ends, and the brackets that are open there."""
    stack: list[str] = []
    last_whole: tuple[int, str] | None = None
    for match in _JSON_TOKEN.finditer(text):
        symbol = match.group()
        if symbol in _CLOSING_BRACKETS:
            stack.append(symbol)
        elif symbol in "}]":
            if not stack:
                return None
            stack.pop()
            last_whole = match.end(), "".join(stack)
        elif symbol == ",":
            last_whole = match.start(), "".join(stack)
    return last_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """One log format.

    `name` is what `--log-format` takes. `looks_for` describes in words what `can_read_log` checks;
    it is shown when no format recognises a log. `read_log` returns one transcript per session.

    `read_together` is for formats in which the files of a folder depend on each other: a sub-agent
    has a file of its own, or a forked session repeats the lines of another. Without it, each log of
    a folder is read on its own.
    """

    name: str
    looks_for: str
    can_read_log: Callable[[Log], bool]
    read_log: Callable[[Log], list[Transcript]]
    read_together: Callable[[Sequence[Log]], Iterable[tuple[Log, Transcript]]] | None = None

    def read_logs(self, logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
        """Read the logs of one folder; yield each transcript with the log it comes from."""
        if self.read_together is not None:
            yield from self.read_together(logs)
            return
        for log in logs:
            yield from ((log, transcript) for transcript in self.read_log(log))

"""Read CSV: a header that names the fields, then one record per answer.

The delimiter may be a comma, a semicolon or a tab. A quoted field may spread over several lines.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from markscheme.read.answers.batch import (
    ANSWER_FIELDS,
    DEFAULT_LIMITS,
    REQUIRED_FIELDS,
    AnswerBatch,
    ReadLimits,
)
from markscheme.read.answers.columns import RawAnswerRows, add_rows
from markscheme.read.answers.duplicates import SeenAttempts
from markscheme.read.answers.rows import KnownItems, RefusedRow
from markscheme.read.answers.text import (
    LineChunk,
    LongLine,
    find_byte_fault,
    make_excerpt,
    split_lines,
)
from markscheme.vocabulary import AnswersError, Problem

# How many times the bytes of a file may be read again after records that cannot be parsed.
_REREAD_FACTOR = 4
_DELIMITERS = ",;\t"
_PIECE_ROWS = 512
_PIECE_BYTES = 1 << 20
_INTEGER_PATTERN = re.compile(r"[+-]?[0-9]{1,30}")
_DECIMAL_PATTERN = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?")
_TEXT_FIELDS = ("item", "output", "subject")


class CsvRecord(Struct, frozen=True, kw_only=True):
    """One record: the line it starts on, its raw bytes, and its cells or why it was refused."""

    line: int
    raw: bytes
    cells: list[str] | RefusedRow


class CsvRecordReader:
    """Splits a file into records; also used for files of ratings.

    If a record cannot be parsed (a quote that is never closed, too many bytes), only the line it
    starts on is refused, and the lines after it are parsed again. How much is parsed again is
    bounded by a multiple of what was read, so that no file takes more than linear time.
    """

    def __init__(self, blocks: Iterable[bytes], *, limit: int) -> None:
        self._line_chunks = split_lines(blocks, limit=limit)
        self._limit = limit
        self._queued_lines: deque[bytes | LongLine] = deque()
        self._record_lines: list[bytes | LongLine] = []
        self._record_bytes = 0
        self._line_number = 1
        self._reread_budget = limit

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return one more line of the record that is being parsed."""
        while not self._queued_lines:
            self._queue_lines(next(self._line_chunks))
        line = self._queued_lines.popleft()
        self._record_lines.append(line)
        self._line_number += 1
        if isinstance(line, LongLine):
            raise csv.Error(line.format_reason(self._limit))
        self._record_bytes += len(line)
        if self._record_bytes > self._limit:
            raise csv.Error(f"a record of more than {self._limit:,} bytes")
        return line.decode(errors="surrogateescape") + "\n"

    def peek_first_line(self) -> bytes:
        """Return the first line that is not blank, without consuming it."""
        while True:
            while self._queued_lines:
                line = self._queued_lines[0]
                if isinstance(line, LongLine):
                    return line.head
                if line.strip():
                    return line
                self._queued_lines.popleft()
                self._line_number += 1
            chunk = next(self._line_chunks, None)
            if chunk is None:
                return b""
            self._queue_lines(chunk)

    def read_records(self, delimiter: str) -> Iterator[CsvRecord]:
        """Yield the records, without blank lines."""
        reader = csv.reader(self, delimiter=delimiter, strict=True)
        while True:
            self._record_lines, self._record_bytes = [], 0
            start = self._line_number
            try:
                with _limit_field_size(self._limit):
                    cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield self._recover_record(start, _explain_csv_error(str(error)))
                reader = csv.reader(self, delimiter=delimiter, strict=True)
                continue
            raw = b"\n".join([line for line in self._record_lines if isinstance(line, bytes)])
            if raw.strip():
                fault = find_byte_fault(raw)
                yield CsvRecord(line=start, raw=raw, cells=RefusedRow(fault) if fault else cells)

    def _queue_lines(self, chunk: LineChunk) -> None:
        if isinstance(chunk, LongLine):
            self._queued_lines.append(chunk)
            return
        self._queued_lines.extend(chunk.text.split(b"\n"))
        self._reread_budget += _REREAD_FACTOR * len(chunk.text)

    def _recover_record(self, start: int, reason: str) -> CsvRecord:
        """Refuse the record at `start`, and queue the lines after its first again."""
        first, *others = self._record_lines
        size = sum(len(line) for line in others if isinstance(line, bytes))
        if size <= self._reread_budget:
            self._reread_budget -= size
            self._queued_lines.extendleft(reversed(others))
            self._line_number = start + 1
        else:
            reason += f"; lines {start} to {self._line_number - 1} are lost with it"
        raw = first.head if isinstance(first, LongLine) else first
        fault = None if isinstance(first, LongLine) else find_byte_fault(raw)
        return CsvRecord(line=start, raw=raw, cells=RefusedRow(fault or f"not CSV: {reason}"))


def _explain_csv_error(message: str) -> str:
    """Translate a message of the `csv` module into words about the file."""
    if "unexpected end of data" in message:
        return "a quote that is never closed"
    if "expected after" in message:
        return "a quote that is never closed, or a field that goes on after its closing quote"
    if "new-line character" in message:
        return "a carriage return inside a line; end lines with LF or CRLF"
    return message


@contextmanager
def _limit_field_size(limit: int) -> Iterator[None]:
    """Let `csv` read fields of this size, then restore its limit, which is process-wide."""
    before = csv.field_size_limit(limit)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def read_csv(
    blocks: Iterable[bytes],
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts,
    file: str,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[AnswerBatch]:
    """Yield the answers of a file; `file` is its name in messages."""
    records = CsvRecordReader(blocks, limit=limits.row_bytes)
    first_line = records.peek_first_line()
    if not first_line:
        return
    delimiter = max(_DELIMITERS, key=first_line.decode(errors="replace").count)
    rows = records.read_records(delimiter)
    names = _parse_csv_header(next(rows), file)
    batch, size = AnswerBatch(), 0
    for piece in _group_records(rows, min(_PIECE_ROWS, limits.batch_rows)):
        add_rows(batch, _build_csv_rows(piece, names), known)
        size += sum(len(record.raw) for record in piece)
        if batch.row_count >= limits.batch_rows or size >= limits.batch_bytes:
            seen_attempts.reject_duplicates(batch)
            yield batch
            batch, size = AnswerBatch(), 0
    if batch.row_count:
        seen_attempts.reject_duplicates(batch)
        yield batch


def _parse_csv_header(header: CsvRecord, file: str) -> list[str]:
    """Return the names of the columns, or raise `AnswersError` with all mistakes in the header."""
    if isinstance(header.cells, RefusedRow):
        raise AnswersError([_build_header_problem(file, header, "", str(header.cells))])
    names = [name.strip().lower() for name in header.cells]
    mistakes = [
        *((name, "is missing") for name in REQUIRED_FIELDS if name not in names),
        *((name, "occurs twice") for name in ANSWER_FIELDS if names.count(name) > 1),
    ]
    if mistakes:
        raise AnswersError(
            _build_header_problem(file, header, make_excerpt(name, 40), f"the column {mistake}")
            for name, mistake in mistakes
        )
    return names


def _build_header_problem(file: str, header: CsvRecord, field: str, message: str) -> Problem:
    required = " and ".join(f"`{name}`" for name in REQUIRED_FIELDS)
    optional = ", ".join(f"`{name}`" for name in ANSWER_FIELDS if name not in REQUIRED_FIELDS)
    allowed = f"the header must name {required}, and may name {optional}"
    return Problem(file=file, line=header.line, field=field, message=f"{message}; {allowed}")


def _group_records(records: Iterator[CsvRecord], rows: int) -> Iterator[list[CsvRecord]]:
    piece: list[CsvRecord] = []
    size = 0
    for record in records:
        piece.append(record)
        size += len(record.raw)
        if len(piece) >= rows or size >= _PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _build_csv_rows(piece: list[CsvRecord], names: list[str]) -> RawAnswerRows:
    return RawAnswerRows(
        lines=[record.line for record in piece],
        rows=[_parse_csv_row(record.cells, names) for record in piece],
        excerpt_at=lambda at: make_excerpt(piece[at].raw),
    )


def _parse_csv_row(cells: list[str] | RefusedRow, names: list[str]) -> dict[str, Any] | RefusedRow:
    """Return a record as the row that the same answer would have in JSON."""
    if isinstance(cells, RefusedRow):
        return cells
    if len(cells) != len(names):
        count = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        return RefusedRow(f"{count} where the header has {len(names)}")
    row = dict(zip(names, cells, strict=True))
    return {
        name: cell if name in _TEXT_FIELDS else _parse_csv_number(cell)
        for name, cell in row.items()
        if name in ANSWER_FIELDS and (cell or name == "output")
    }


def _parse_csv_number(cell: str) -> Any:
    """Return the number in a cell; a cell without one stays text, which the row check refuses."""
    text = cell.strip()
    if _INTEGER_PATTERN.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL_PATTERN.fullmatch(text) else cell

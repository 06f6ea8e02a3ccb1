"""Delimited text: a header that names the fields, then one record per answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.errors import AnswersError, Problem
from markscheme.read.answers.batch import ANSWER_FIELDS, REQUIRED_FIELDS, AnswerBatch
from markscheme.read.answers.excerpt import make_excerpt
from markscheme.read.answers.limits import DEFAULT_LIMITS, ReadLimits
from markscheme.read.answers.records import CsvRecord, CsvRecordReader
from markscheme.read.answers.rows import RefusedRow
from markscheme.read.answers.taking import RawAnswerRows, add_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.read.answers.known import KnownItems
    from markscheme.read.answers.ledger import SeenAttempts

_DELIMITERS = ",;\t"
_CSV_PIECE_ROWS = 512
_CSV_PIECE_BYTES = 1 << 20
_INTEGER_PATTERN = re.compile(r"[+-]?[0-9]{1,30}")
_DECIMAL_PATTERN = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?")
_TEXT_FIELDS = ("item", "output", "subject")


def read_csv(
    blocks: Iterable[bytes],
    *,
    known: KnownItems,
    seen_attempts: SeenAttempts,
    file: str,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[AnswerBatch]:
    """Yield the answers in a file; `file` is what messages call it."""
    records = CsvRecordReader(blocks, limit=limits.row_bytes)
    first_line = records.peek_first_line()
    if not first_line:
        return
    read = records.read_records(max(_DELIMITERS, key=first_line.decode(errors="replace").count))
    names = _parse_csv_header(next(read), file)
    batch, size = AnswerBatch(), 0
    for piece in _group_records(read, min(_CSV_PIECE_ROWS, limits.batch_rows)):
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
    """Return the names of the columns, or raise with everything that is wrong with them."""
    if isinstance(header.cells, RefusedRow):
        raise AnswersError([_build_header_problem(file, header, "", str(header.cells))])
    names = [name.strip().lower() for name in header.cells]
    wrong = [
        *((name, "is missing") for name in REQUIRED_FIELDS if name not in names),
        *((name, "occurs twice") for name in ANSWER_FIELDS if names.count(name) > 1),
    ]
    if wrong:
        raise AnswersError(
            _build_header_problem(file, header, make_excerpt(name, 40), f"the column {what}")
            for name, what in wrong
        )
    return names


def _build_header_problem(file: str, header: CsvRecord, field: str, message: str) -> Problem:
    needed = f"the header must name {' and '.join(f'`{name}`' for name in REQUIRED_FIELDS)}"
    others = f"and may name {', '.join(f'`{name}`' for name in ANSWER_FIELDS if name not in REQUIRED_FIELDS)}"
    whole = f"{message}; {needed}, {others}"
    return Problem(file=file, line=header.line, field=field, message=whole)


def _group_records(records: Iterator[CsvRecord], rows: int) -> Iterator[list[CsvRecord]]:
    piece: list[CsvRecord] = []
    size = 0
    for record in records:
        piece.append(record)
        size += len(record.raw)
        if len(piece) >= rows or size >= _CSV_PIECE_BYTES:
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
    """Return a record as the row that the same answer would be in JSON."""
    if isinstance(cells, RefusedRow):
        return cells
    if len(cells) != len(names):
        told = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        return RefusedRow(f"{told} where the header has {len(names)}")
    row = dict(zip(names, cells, strict=True))
    return {
        name: cell if name in _TEXT_FIELDS else _parse_csv_number(cell)
        for name, cell in row.items()
        if name in ANSWER_FIELDS and (cell or name == "output")
    }


def _parse_csv_number(cell: str) -> Any:
    """Return the number that a cell holds; a cell that holds none stays text, and is refused."""
    text = cell.strip()
    if _INTEGER_PATTERN.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL_PATTERN.fullmatch(text) else cell

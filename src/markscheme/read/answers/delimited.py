"""Delimited text: a header that names the fields, then one record per answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.errors import AnswersError, Problem
from markscheme.read.answers.batch import FIELDS, NEEDED, AnswerBatch
from markscheme.read.answers.excerpt import excerpt
from markscheme.read.answers.limits import USUAL, Limits
from markscheme.read.answers.records import Record, Records
from markscheme.read.answers.rows import Refused
from markscheme.read.answers.taking import RawRows, take

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.read.answers.known import KnownItems
    from markscheme.read.answers.ledger import Ledger

_DELIMITERS = ",;\t"
_PIECE_ROWS = 512
_PIECE_BYTES = 1 << 20
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?")
_TEXTS = ("item", "output", "subject")


def read_delimited(
    blocks: Iterable[bytes], *, known: KnownItems, ledger: Ledger, file: str, limits: Limits = USUAL
) -> Iterator[AnswerBatch]:
    """Yield the answers in a file; `file` is what messages call it."""
    records = Records(blocks, limit=limits.row_bytes)
    first_line = records.first_line()
    if not first_line:
        return
    read = records.read(max(_DELIMITERS, key=first_line.decode(errors="replace").count))
    names = _names(next(read), file)
    batch, size = AnswerBatch(), 0
    for piece in _pieces(read, min(_PIECE_ROWS, limits.batch_rows)):
        take(batch, _raw_rows(piece, names), known)
        size += sum(len(record.raw) for record in piece)
        if batch.rows >= limits.batch_rows or size >= limits.batch_bytes:
            ledger.strike(batch)
            yield batch
            batch, size = AnswerBatch(), 0
    if batch.rows:
        ledger.strike(batch)
        yield batch


def _names(header: Record, file: str) -> list[str]:
    """Return the names of the columns, or raise with everything that is wrong with them."""
    if isinstance(header.cells, Refused):
        raise AnswersError([_problem(file, header, "", str(header.cells))])
    names = [name.strip().lower() for name in header.cells]
    wrong = [
        *((name, "is missing") for name in NEEDED if name not in names),
        *((name, "occurs twice") for name in FIELDS if names.count(name) > 1),
    ]
    if wrong:
        raise AnswersError(
            _problem(file, header, excerpt(name, 40), f"the column {what}") for name, what in wrong
        )
    return names


def _problem(file: str, header: Record, field: str, message: str) -> Problem:
    needed = f"the header must name {' and '.join(f'`{name}`' for name in NEEDED)}"
    others = f"and may name {', '.join(f'`{name}`' for name in FIELDS if name not in NEEDED)}"
    whole = f"{message}; {needed}, {others}"
    return Problem(file=file, line=header.line, field=field, message=whole)


def _pieces(records: Iterator[Record], rows: int) -> Iterator[list[Record]]:
    piece: list[Record] = []
    size = 0
    for record in records:
        piece.append(record)
        size += len(record.raw)
        if len(piece) >= rows or size >= _PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _raw_rows(piece: list[Record], names: list[str]) -> RawRows:
    return RawRows(
        lines=[record.line for record in piece],
        rows=[_row(record.cells, names) for record in piece],
        shown=lambda at: excerpt(piece[at].raw),
    )


def _row(cells: list[str] | Refused, names: list[str]) -> dict[str, Any] | Refused:
    """Return a record as the row that the same answer would be in JSON."""
    if isinstance(cells, Refused):
        return cells
    if len(cells) != len(names):
        told = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        return Refused(f"{told} where the header has {len(names)}")
    row = dict(zip(names, cells, strict=True))
    return {
        name: cell if name in _TEXTS else _number(cell)
        for name, cell in row.items()
        if name in FIELDS and (cell or name == "output")
    }


def _number(cell: str) -> Any:
    """Return the number that a cell holds; a cell that holds none stays text, and is refused."""
    text = cell.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else cell

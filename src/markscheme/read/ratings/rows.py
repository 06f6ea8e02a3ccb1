"""The rows of a ratings file as they are written: their lines and cells, and what is no row."""

from __future__ import annotations

import codecs
import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from markscheme.errors import InputError, Problem, format_value
from markscheme.read.answers.limits import DEFAULT_LIMITS
from markscheme.read.answers.records import CsvRecord, CsvRecordReader
from markscheme.read.answers.rows import RefusedRow
from markscheme.read.complaints import suggest_match
from markscheme.read.composed import to_nfc
from markscheme.read.parsing import read_document_bytes

RATING_COLUMNS = ("item", "variant", "rater", "axis", "score", "note")
_REQUIRED_COLUMNS = RATING_COLUMNS[:-1]
_OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_UTF16_32_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRow:
    """One row: its line, and what stands in its columns."""

    line: int
    cells: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class RatingRows:
    """The rows of one file, its last line, and the problems of what could not be read."""

    file: str
    rows: list[RatingRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    last_line: int = 1

    def add_problem(self, line: int, column: str, message: str) -> None:
        """Note one problem."""
        self.problems.append(Problem(file=self.file, line=line, field=column, message=message))


def read_rating_rows(source: str | Path) -> RatingRows:
    """Read a file by its ending: .jsonl and .ndjson hold an object in each line, all else is CSV.

    Raises:
        InputError: nothing in the file can be read as rows.
    """
    path = Path(source)
    found = RatingRows(file=str(source))
    if path.is_dir():
        _refuse_rating_file(found, "", "is a folder; name a file of ratings")
    data = read_document_bytes(path, found.file)
    if data.startswith(_UTF16_32_MARKS) or b"\0" in data[:1000]:
        _refuse_rating_file(found, "", "this is UTF-16 or no text at all; save it as UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    found.last_line = max(1, len(data.splitlines()))
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        _read_jsonl_ratings(data, found)
    else:
        _read_csv_ratings(data, found)
    return found


def _refuse_rating_file(found: RatingRows, column: str, message: str) -> NoReturn:
    found.add_problem(1, column, message)
    raise InputError(found.problems)


def _read_csv_ratings(data: bytes, found: RatingRows) -> None:
    records = CsvRecordReader([data], limit=DEFAULT_LIMITS.row_bytes)
    first = records.peek_first_line().decode(errors="replace")
    if not first:
        _refuse_rating_file(
            found, "", f"the file is empty; its header is {','.join(RATING_COLUMNS)}"
        )
    if first.lstrip().startswith(("{", "[")):
        _refuse_rating_file(
            found, "", "this is JSON; ratings are CSV, or an object a line in a .jsonl file"
        )
    for delimiter, name in _OTHER_DELIMITERS.items():
        if first.count(delimiter) > first.count(","):
            _refuse_rating_file(
                found, "header", f"the columns are separated by {name}; separate them by commas"
            )
    read = records.read_records(",")
    names = _parse_rating_header(next(read), found)
    for record in read:
        cells = _parse_rating_cells(record, names, found)
        if cells is not None:
            found.rows.append(RatingRow(line=record.line, cells=cells))


def _parse_rating_header(header: CsvRecord, found: RatingRows) -> list[str]:
    if isinstance(header.cells, RefusedRow):
        _refuse_rating_file(found, "header", str(header.cells))
    names = [name.strip().lower() for name in header.cells]
    for name in _REQUIRED_COLUMNS:
        if name not in names:
            found.add_problem(
                header.line, name, f"the column is missing; columns: {_format_rating_columns()}"
            )
    for at, name in enumerate(names):
        if name not in RATING_COLUMNS:
            told = f"unknown column {format_value(name)}; columns: {_format_rating_columns()}{suggest_match(name, RATING_COLUMNS)}"
            found.add_problem(header.line, f"column {at + 1}", told)
        elif name in names[:at]:
            found.add_problem(header.line, name, "the column occurs twice")
    if found.problems:
        raise InputError(found.problems)
    return names


def _format_rating_columns() -> str:
    return ", ".join(RATING_COLUMNS)


def _parse_rating_cells(
    record: CsvRecord, names: list[str], found: RatingRows
) -> dict[str, Any] | None:
    """Return what stands in the columns of one record, or complain of what is wrong with it."""
    cells = record.cells
    if isinstance(cells, RefusedRow):
        for column in _find_non_utf8_columns(record.raw, names) or ["row"]:
            found.add_problem(record.line, column, f"{cells}; a row of CSV in UTF-8 is needed")
        return None
    if len(cells) != len(names):
        many = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        told = f"{many} where the header has {len(names)}"
        more = "; put a note with a comma in it in quotation marks" * (len(cells) > len(names))
        found.add_problem(record.line, "row", told + more)
        return None
    return dict(zip(names, cells, strict=True))


def _find_non_utf8_columns(raw: bytes, names: list[str]) -> list[str]:
    """Return the columns in which bytes stand that are not UTF-8."""
    text = raw.decode(errors="surrogateescape")
    try:
        cells = next(csv.reader(text.split("\n")))
    except (csv.Error, StopIteration):
        return []
    pairs = zip(names, cells, strict=False)
    return [name for name, cell in pairs if any("\udc80" <= c <= "\udcff" for c in cell)]


def _read_jsonl_ratings(data: bytes, found: RatingRows) -> None:
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            row = json.loads(
                raw.decode(),
                parse_constant=_refuse_constant,
                object_pairs_hook=_refuse_repeated_keys,
            )
        except UnicodeDecodeError as error:
            told = f"not UTF-8: byte 0x{raw[error.start]:02x}; save the file as UTF-8"
            found.add_problem(number, "row", told)
        except (ValueError, RecursionError) as error:
            found.add_problem(number, "row", f"not JSON: {error}")
        else:
            _add_rating_object(row, number, found)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that occurs twice: which of its scores is meant cannot be told."""
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {format_value(twice)} occurs more than once")
    return row


def _add_rating_object(row: Any, line: int, found: RatingRows) -> None:
    if not isinstance(row, dict):
        found.add_problem(
            line,
            "row",
            f"must be an object with {_format_rating_columns()}, not {format_value(row)}",
        )
        return
    for name in row:
        if name not in RATING_COLUMNS:
            found.add_problem(
                line,
                name,
                f"unknown key; keys: {_format_rating_columns()}{suggest_match(name, RATING_COLUMNS)}",
            )
    found.rows.append(RatingRow(line=line, cells=row))


def clean_cell_text(value: Any) -> str:
    """Return a cell as the name or the words that stand in it."""
    return to_nfc(value.strip()) if isinstance(value, str) else ""

"""The rows of a ratings file as they are written: their lines and cells, and what is no row."""

from __future__ import annotations

import codecs
import csv
import json
from dataclasses import field
from pathlib import Path
from typing import Any, NoReturn

from markscheme.errors import InputError, Problem, shown
from markscheme.read.answers.limits import USUAL
from markscheme.read.answers.records import Record, Records
from markscheme.read.answers.rows import Refused
from markscheme.read.complaints import guess
from markscheme.read.composed import composed
from markscheme.read.parsing import read_bytes
from markscheme.values import dataclass

COLUMNS = ("item", "variant", "rater", "axis", "score", "note")
_NEEDED = COLUMNS[:-1]
_OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRow:
    """One row: its line, and what stands in its columns."""

    line: int
    cells: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class RawRows:
    """The rows of one file, its last line, and the problems of what could not be read."""

    file: str
    rows: list[RawRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    last_line: int = 1

    def complain(self, line: int, column: str, message: str) -> None:
        """Note one problem."""
        self.problems.append(Problem(file=self.file, line=line, field=column, message=message))


def read_rows(source: str | Path) -> RawRows:
    """Read a file by its ending: .jsonl and .ndjson hold an object in each line, all else is CSV.

    Raises:
        InputError: nothing in the file can be read as rows.
    """
    path = Path(source)
    found = RawRows(file=str(source))
    if path.is_dir():
        _refuse(found, "", "is a folder; name a file of ratings")
    data = read_bytes(path, found.file)
    if data.startswith(_WIDE) or b"\0" in data[:1000]:
        _refuse(found, "", "this is UTF-16 or no text at all; save it as UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    found.last_line = max(1, len(data.splitlines()))
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        _read_lines(data, found)
    else:
        _read_delimited(data, found)
    return found


def _refuse(found: RawRows, column: str, message: str) -> NoReturn:
    found.complain(1, column, message)
    raise InputError(found.problems)


def _read_delimited(data: bytes, found: RawRows) -> None:
    records = Records([data], limit=USUAL.row_bytes)
    first = records.first_line().decode(errors="replace")
    if not first:
        _refuse(found, "", f"the file is empty; its header is {','.join(COLUMNS)}")
    if first.lstrip().startswith(("{", "[")):
        _refuse(found, "", "this is JSON; ratings are CSV, or an object a line in a .jsonl file")
    for delimiter, name in _OTHER_DELIMITERS.items():
        if first.count(delimiter) > first.count(","):
            _refuse(
                found, "header", f"the columns are separated by {name}; separate them by commas"
            )
    read = records.read(",")
    names = _header(next(read), found)
    for record in read:
        cells = _cells(record, names, found)
        if cells is not None:
            found.rows.append(RawRow(line=record.line, cells=cells))


def _header(header: Record, found: RawRows) -> list[str]:
    if isinstance(header.cells, Refused):
        _refuse(found, "header", str(header.cells))
    names = [name.strip().lower() for name in header.cells]
    for name in _NEEDED:
        if name not in names:
            found.complain(header.line, name, f"the column is missing; columns: {_named()}")
    for at, name in enumerate(names):
        if name not in COLUMNS:
            told = f"unknown column {shown(name)}; columns: {_named()}{guess(name, COLUMNS)}"
            found.complain(header.line, f"column {at + 1}", told)
        elif name in names[:at]:
            found.complain(header.line, name, "the column occurs twice")
    if found.problems:
        raise InputError(found.problems)
    return names


def _named() -> str:
    return ", ".join(COLUMNS)


def _cells(record: Record, names: list[str], found: RawRows) -> dict[str, Any] | None:
    """Return what stands in the columns of one record, or complain of what is wrong with it."""
    cells = record.cells
    if isinstance(cells, Refused):
        for column in _odd_columns(record.raw, names) or ["row"]:
            found.complain(record.line, column, f"{cells}; a row of CSV in UTF-8 is needed")
        return None
    if len(cells) != len(names):
        many = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        told = f"{many} where the header has {len(names)}"
        more = "; put a note with a comma in it in quotation marks" * (len(cells) > len(names))
        found.complain(record.line, "row", told + more)
        return None
    return dict(zip(names, cells, strict=True))


def _odd_columns(raw: bytes, names: list[str]) -> list[str]:
    """Return the columns in which bytes stand that are not UTF-8."""
    text = raw.decode(errors="surrogateescape")
    try:
        cells = next(csv.reader(text.split("\n")))
    except (csv.Error, StopIteration):
        return []
    pairs = zip(names, cells, strict=False)
    return [name for name, cell in pairs if any("\udc80" <= c <= "\udcff" for c in cell)]


def _read_lines(data: bytes, found: RawRows) -> None:
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            row = json.loads(
                raw.decode(), parse_constant=_no_constant, object_pairs_hook=_each_once
            )
        except UnicodeDecodeError as error:
            told = f"not UTF-8: byte 0x{raw[error.start]:02x}; save the file as UTF-8"
            found.complain(number, "row", told)
        except (ValueError, RecursionError) as error:
            found.complain(number, "row", f"not JSON: {error}")
        else:
            _take_object(row, number, found)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that occurs twice: which of its scores is meant cannot be told."""
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {shown(twice)} occurs more than once")
    return row


def _take_object(row: Any, line: int, found: RawRows) -> None:
    if not isinstance(row, dict):
        found.complain(line, "row", f"must be an object with {_named()}, not {shown(row)}")
        return
    for name in row:
        if name not in COLUMNS:
            found.complain(line, name, f"unknown key; keys: {_named()}{guess(name, COLUMNS)}")
    found.rows.append(RawRow(line=line, cells=row))


def text_of(value: Any) -> str:
    """Return a cell as the name or the words that stand in it."""
    return composed(value.strip()) if isinstance(value, str) else ""

"""The rows of files of ratings: tables, workbooks, JSON lines or rows in memory, not yet checked.

`read_rating_tables` returns them file by file. What cannot be read as a row becomes a problem of
its file; the cells are read by `rating_cells`, and checked by the readers of ratings.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from msgspec import structs

from markscheme.read.answers import DEFAULT_LIMITS, CsvRecord, CsvRecordReader, RefusedRow
from markscheme.read.documents import read_document_bytes, suggest_match
from markscheme.read.rating_tables import (
    WORKBOOK_SUFFIXES,
    RatedQuestion,
    RatingLayout,
    TableError,
    decode_table,
    find_delimiter,
    list_axis_headers,
    parse_layout,
    read_workbook,
    split_delimiter_line,
)
from markscheme.vocabulary import InputError, Problem, Rating, format_value

_REQUIRED_COLUMNS = ("item", "variant", "rater", "axis", "score")
RATING_COLUMNS = (*_REQUIRED_COLUMNS, "note", "order", "at")
"""The columns that `rate` writes."""
ALL_RATING_COLUMNS = (*RATING_COLUMNS, "criterion", "source", "repeat", "attempt")
"""The columns that are read."""

RatingSource = str | Path | Iterable[str | Path | Rating | Mapping[str, Any]]
"""Ratings to read: a file, several files, or rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingForm:
    """The columns of files of ratings, and the axes that a wide table may name.

    Without `axes`, every column of a wide table that is no other known column is an axis.
    """

    axes: tuple[RatedQuestion, ...] | None
    columns: tuple[str, ...] = ALL_RATING_COLUMNS
    required: tuple[str, ...] = _REQUIRED_COLUMNS

    @property
    def header_names(self) -> set[str]:
        """The names by which a header is known."""
        return {*self.columns, *list_axis_headers(self.axes or ())}


def list_rating_files(source: RatingSource) -> set[str]:
    """Return the files of ratings, as `Rating.file` names them."""
    entries = [source] if isinstance(source, str | Path) else source
    return {str(entry) for entry in entries if isinstance(entry, str | Path)}


def read_rating_tables(source: RatingSource, form: RatingForm) -> Iterator[RatingRows]:
    """Yield the rows of each file, unchecked; rows that are no file make up the last table.

    Raises:
        InputError: nothing in a file can be read as rows.
    """
    if isinstance(source, str | Path):
        yield _read_rating_rows(source, form)
        return
    entries = list(source)
    files = [entry for entry in entries if isinstance(entry, str | Path)]
    rows = [entry for entry in entries if not isinstance(entry, str | Path)]
    for file in files:
        yield _read_rating_rows(file, form)
    if rows or not files:
        yield _wrap_rating_rows(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRow:
    """One rating: its line, and its cells by column.

    `headers` holds the headers of the file where they are not the names of the columns: in a wide
    table, the score of an axis stands in the column of that axis.
    """

    line: int
    cells: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class RatingRows:
    """The rows of one file, its last line, and the problems of rows that could not be read."""

    file: str
    rows: list[RatingRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    last_line: int = 1

    def add_problem(self, line: int, column: str, message: str) -> None:
        """Add one problem of this file."""
        self.problems.append(Problem(file=self.file, line=line, field=column, message=message))

    def add_ratings(
        self, line: int, ratings: Iterable[tuple[dict[str, Any], dict[str, str]]]
    ) -> None:
        """Add the ratings of one line, each with its headers."""
        self.rows += [RatingRow(line=line, cells=cells, headers=named) for cells, named in ratings]

    def rename_fields(self, start: int, headers: Mapping[str, str]) -> None:
        """Let the problems from `start` on name the headers of the file."""
        self.problems[start:] = [
            structs.replace(problem, field=headers.get(problem.field, problem.field))
            for problem in self.problems[start:]
        ]


def _wrap_rating_rows(rows: Iterable[Rating | Mapping[str, Any]]) -> RatingRows:
    table = RatingRows(file="ratings")
    for line, row in enumerate(rows, start=1):
        if isinstance(row, Rating):
            cells = {name: getattr(row, name) for name in ALL_RATING_COLUMNS}
        else:
            cells = dict(row)
        table.rows.append(RatingRow(line=line, cells=cells))
        table.last_line = line
    return table


def _read_rating_rows(source: str | Path, form: RatingForm) -> RatingRows:
    """Read a file by its suffix: JSON lines, a workbook, or else a table of text (CSV).

    Raises:
        UsageError: a workbook cannot be read because the package for that is not installed.
        InputError: nothing in the file can be read as rows.
    """
    path = Path(source)
    table = RatingRows(file=str(source))
    if path.is_dir():
        _refuse_rating_file(table, "", "is a folder; name a file of ratings")
    data = read_document_bytes(path, table.file)
    try:
        if path.suffix.lower() in WORKBOOK_SUFFIXES:
            _read_workbook_ratings(path, table, form)
            return table
        data = decode_table(data)
        table.last_line = max(1, len(data.splitlines()))
        if path.suffix.lower() in {".jsonl", ".ndjson"}:
            _read_jsonl_ratings(data, table, form)
        else:
            _read_csv_ratings(data, table, form)
    except TableError as error:
        _refuse_rating_file(table, error.column, str(error))
    return table


def _refuse_rating_file(table: RatingRows, column: str, message: str) -> NoReturn:
    table.add_problem(1, column, message)
    raise InputError(table.problems)


def _read_csv_ratings(data: bytes, table: RatingRows, form: RatingForm) -> None:
    delimiter, data = split_delimiter_line(data)
    records = CsvRecordReader([data], limit=DEFAULT_LIMITS.row_bytes)
    first = records.peek_first_line().decode(errors="replace")
    if not first:
        _refuse_rating_file(table, "", f"the file is empty; its header is {','.join(form.columns)}")
    if first.lstrip().startswith(("{", "[")):
        _refuse_rating_file(
            table, "", "this is JSON; ratings are CSV, or an object a line in a .jsonl file"
        )
    delimiter = delimiter or find_delimiter(first.rstrip("\r"), form.header_names)
    read = records.read_records(delimiter)
    header = next(read)
    if isinstance(header.cells, RefusedRow):
        _refuse_rating_file(table, "header", str(header.cells))
    layout = _parse_rating_header(header.cells, header.line, table, form)
    for record in read:
        cells = _parse_rating_cells(record, layout, delimiter, table)
        if cells is not None:
            table.add_ratings(record.line, layout.split_row(cells))


def _read_workbook_ratings(path: Path, table: RatingRows, form: RatingForm) -> None:
    rows = read_workbook(path, None if form.axes is None else form.header_names)
    line, header = next(rows)
    layout = _parse_rating_header(header, line, table, form)
    for number, cells in rows:
        table.add_ratings(number, layout.split_row(cells))
        table.last_line = number


def _parse_rating_header(
    header: Sequence[Any], line: int, table: RatingRows, form: RatingForm
) -> RatingLayout:
    layout, problems = parse_layout(header, form.columns, form.required, form.axes)
    for column, message in problems:
        table.add_problem(line, column, message)
    if table.problems:
        raise InputError(table.problems)
    return layout


def _parse_rating_cells(
    record: CsvRecord, layout: RatingLayout, delimiter: str, table: RatingRows
) -> list[str] | None:
    """Return the cells of one record; `None` if it is blank, or wrong, which adds a problem."""
    cells = record.cells
    if isinstance(cells, RefusedRow):
        for column in _find_non_utf8_columns(record.raw, layout.headers, delimiter) or ["row"]:
            hint = "a row of CSV in UTF-8 is needed"
            if column != "row":
                hint += "; the file may be Latin-1 or Windows-1252: save it as UTF-8"
            table.add_problem(record.line, column, f"{cells}; {hint}")
        return None
    if not any(cell.strip() for cell in cells):
        return None
    if len(cells) != layout.width:
        many = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        message = f"{many} where the header has {layout.width}"
        more = "; put a note with a delimiter in it in quotation marks"
        table.add_problem(record.line, "row", message + more * (len(cells) > layout.width))
        return None
    return cells


def _find_non_utf8_columns(raw: bytes, names: Sequence[str], delimiter: str) -> list[str]:
    """Return the columns whose bytes are not UTF-8."""
    text = raw.decode(errors="surrogateescape")
    try:
        cells = next(csv.reader(text.split("\n"), delimiter=delimiter))
    except (csv.Error, StopIteration):
        return []
    pairs = zip(names, cells, strict=False)
    return [name for name, cell in pairs if any("\udc80" <= c <= "\udcff" for c in cell)]


def _read_jsonl_ratings(data: bytes, table: RatingRows, form: RatingForm) -> None:
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
            message = f"not UTF-8: byte 0x{raw[error.start]:02x}; save the file as UTF-8"
            table.add_problem(number, "row", message)
        except (ValueError, RecursionError) as error:
            table.add_problem(number, "row", f"not JSON: {error}")
        else:
            _add_rating_object(row, number, table, form)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that occurs twice: it is unknown which of its values is meant."""
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {format_value(twice)} occurs more than once")
    return row


def _add_rating_object(row: Any, line: int, table: RatingRows, form: RatingForm) -> None:
    listed = ", ".join(form.columns)
    if not isinstance(row, dict):
        table.add_problem(line, "row", f"must be an object with {listed}, not {format_value(row)}")
        return
    for name in row:
        if name not in form.columns:
            table.add_problem(
                line,
                name,
                f"unknown key; keys: {listed}{suggest_match(name, form.columns)}",
            )
    table.rows.append(RatingRow(line=line, cells=row))

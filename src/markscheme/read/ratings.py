"""Read ratings from tables, JSON lines or rows, and check them against rubric, exam and variants.

`read_ratings` reads all rows first, then checks each cell, and raises one error with every problem:
an unknown name, a score outside its scale, a rating given twice, a rating that is missing. A rating
that nobody gave stays missing; it never becomes a number.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from msgspec import structs

from markscheme.read.answers import DEFAULT_LIMITS, CsvRecord, CsvRecordReader, RefusedRow
from markscheme.read.documents import read_document_bytes, suggest_match
from markscheme.read.nfc import to_nfc
from markscheme.read.rating_tables import (
    WORKBOOK_SUFFIXES,
    RatingLayout,
    TableError,
    decode_table,
    find_delimiter,
    list_axis_headers,
    parse_layout,
    read_workbook,
    split_delimiter_line,
)
from markscheme.read.spreadsheets import unguard_cell
from markscheme.vocabulary import (
    Exam,
    InputError,
    NoteAxis,
    Problem,
    Rating,
    Rubric,
    ScaleAxis,
    find_control_character,
    format_value,
)

_REQUIRED_COLUMNS = ("item", "variant", "rater", "axis", "score")
RATING_COLUMNS = (*_REQUIRED_COLUMNS, "note", "order", "at")
# `4.0` and `4,0` are whole numbers too: spreadsheets and data frames write them like that.
_SCORE_PATTERN = re.compile(r"([+-]?[0-9]{1,9})(?:[.,]0{1,9})?")
# A surrogate without its other half. JSON can hold one as an escape; no UTF-8 file can.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_NOTE_CHARACTERS = 100_000
_GAP_HINT = "rate it, or allow gaps, which leave the query without a verdict"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScope:
    """What ratings may be about: the scales and notes of a rubric, the items, the variants.

    With `allow_gaps`, ratings may be missing; the queries they belong to then have no verdict. Of
    `follow_ups` a variant may lack all ratings: they are run for the variants that need them.
    """

    rubric: Rubric
    exam: Exam
    variants: tuple[str, ...]
    allow_gaps: bool = False
    follow_ups: Collection[str] = ()


RatingSource = str | Path | Iterable[str | Path | Rating | Mapping[str, Any]]
"""Ratings to read: a file, several files, or rows."""


def read_ratings(source: RatingSource, scope: RatingScope) -> tuple[Rating, ...]:
    """Return the ratings of files or of rows, sorted by item, variant, rater and axis.

    Raises:
        InputError: with every row and cell that is wrong or missing.
    """
    form = RatingForm(axes=(*scope.rubric.scales, *scope.rubric.notes))
    tables = list(read_rating_tables(source, form))
    checker = _RatingChecker(scope=scope, table=tables[-1])
    empty = [table for table in tables if not table.rows and not table.problems]
    for table in tables:
        checker.table = table
        for row in table.rows:
            checker.check_row(row)
    for table in empty:
        table.add_problem(table.last_line, "", "holds no rating")
    if not empty and not scope.allow_gaps:
        checker.report_gaps()
    problems = [problem for table in tables for problem in table.problems]
    if problems:
        raise InputError(problems)
    return tuple(sorted(checker.ratings.values(), key=checker.get_sort_key))


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingForm:
    """The columns of files of ratings, and the axes that a wide table may name.

    Without `axes`, every column of a wide table that is no other known column is an axis.
    """

    axes: tuple[ScaleAxis | NoteAxis, ...] | None
    columns: tuple[str, ...] = RATING_COLUMNS
    required: tuple[str, ...] = _REQUIRED_COLUMNS

    @property
    def header_names(self) -> set[str]:
        """The names by which a header is known."""
        return {*self.columns, *list_axis_headers(self.axes or ())}


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
            cells = {name: getattr(row, name) for name in RATING_COLUMNS}
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


@dataclass(slots=True, kw_only=True)
class _RatingChecker:
    """Checks rows one by one: keeps the ratings that are right, adds problems for the others.

    `lines` holds the line of every rating met, also of wrong ones, so that a wrong rating is not
    reported as missing too; `tables` holds the file that it is in. `table` is the file being
    checked.
    """

    scope: RatingScope
    table: RatingRows
    ratings: dict[tuple[str, str, str, str], Rating] = field(default_factory=dict)
    lines: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    tables: dict[tuple[str, str, str, str], RatingRows] = field(default_factory=dict)
    items: dict[str, int] = field(init=False)
    scales: dict[str, ScaleAxis] = field(init=False)
    notes: set[str] = field(init=False)
    axes: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        rubric = self.scope.rubric
        self.items = {item.id: at for at, item in enumerate(self.scope.exam.items)}
        self.scales = {scale.name: scale for scale in rubric.scales}
        self.notes = {note.name for note in rubric.notes}
        rated = (*self.scales, *(note.name for note in rubric.notes))
        self.axes = {axis: at for at, axis in enumerate(rated)}

    def check_row(self, row: RatingRow) -> None:
        """Check every cell of a row; keep the rating if all are right."""
        before = len(self.table.problems)
        check_cell_characters(row, self.table)
        item = self._check_name(row, "item", self.items)
        variant = self._check_name(row, "variant", self.scope.variants)
        rater = self._check_name(row, "rater", None)
        axis = self._check_name(row, "axis", self.axes)
        note = self._check_note(row, axis)
        score = self._check_score(row, axis)
        order, at = self._check_order(row), self._check_time(row)
        key = (item, variant, rater, axis)
        first = self.lines.setdefault(key, row.line)
        other = self.tables.setdefault(key, self.table)
        if (first, other) != (row.line, self.table) and all(key):
            rated = f"{format_value(axis)} of {format_value(item)}, {format_value(variant)}"
            where = f"line {first}" if other is self.table else f"line {first} of {other.file}"
            message = f"{rated} was rated by {format_value(rater)} on {where} already"
            self.table.add_problem(row.line, "axis", f"{message}; once is allowed")
        if len(self.table.problems) > before:
            self.table.rename_fields(before, row.headers)
            return
        self.ratings[key] = Rating(
            item=item,
            variant=variant,
            rater=rater,
            axis=axis,
            score=score,
            note=note,
            order=order,
            at=at,
            line=row.line,
        )

    def _check_name(self, row: RatingRow, column: str, allowed: Collection[str] | None) -> str:
        value = row.cells.get(column)
        text = clean_cell_text(value)
        if not text:
            what = "is empty" if value is None or isinstance(value, str) else "must be text"
            self.table.add_problem(
                row.line, column, f"{what}; {_describe_allowed_names(allowed, column)}"
            )
        elif allowed is not None and text not in allowed:
            message = f"{format_value(text)} is no {column} of this comparison; "
            message += _describe_allowed_names(allowed, column) + suggest_match(text, allowed)
            self.table.add_problem(row.line, column, message)
        elif found := find_control_character(text):
            message = f"{format_value(text)} holds the control character `{found}`"
            self.table.add_problem(row.line, column, f"{message}; a name has none")
        return text

    def _check_note(self, row: RatingRow, axis: str) -> str:
        value = row.cells.get("note")
        if value is not None and not isinstance(value, str):
            self.table.add_problem(row.line, "note", f"must be text, not {format_value(value)}")
        note = unguard_cell(clean_cell_text(value))
        if len(note) > _MAX_NOTE_CHARACTERS:
            message = f"is too long; at most {_MAX_NOTE_CHARACTERS:,} characters"
            self.table.add_problem(row.line, "note", message)
        if axis in self.notes and not note:
            self.table.add_problem(
                row.line, "note", f"is empty; {format_value(axis)} is answered in words"
            )
        return note

    def _check_score(self, row: RatingRow, axis: str) -> int | None:
        value = row.cells.get("score")
        empty = is_empty_cell(value)
        if axis in self.notes:
            if not empty:
                note = f"{format_value(axis)} is a note"
                message = f"{format_value(value)} stands where none belongs; {note}"
                self.table.add_problem(row.line, "score", message)
            return None
        scale = self.scales.get(axis)
        if scale is None or (empty and self.scope.allow_gaps):
            return None
        allowed = f"whole numbers from {scale.lowest} to {scale.highest}"
        score = _parse_score(value)
        if empty:
            self.table.add_problem(row.line, "score", f"is empty; allowed: {allowed}")
        elif score is None or not scale.lowest <= score <= scale.highest:
            self.table.add_problem(
                row.line, "score", f"{format_value(value)} is no score; allowed: {allowed}"
            )
        return score

    def _check_order(self, row: RatingRow) -> int | None:
        value = row.cells.get("order")
        order = _parse_score(value)
        if is_empty_cell(value) or (order is not None and order > 0):
            return order
        message = f"{format_value(value)} is no place in an order; allowed: whole numbers from 1"
        self.table.add_problem(row.line, "order", message)
        return None

    def _check_time(self, row: RatingRow) -> str | None:
        value = row.cells.get("at")
        if is_empty_cell(value):
            return None
        text = clean_cell_text(value)
        try:
            datetime.fromisoformat(text)
        except ValueError:
            message = f"{format_value(value)} is no time; write it as 2026-03-01T11:00:00Z"
            self.table.add_problem(row.line, "at", message)
        return text

    def get_sort_key(self, rating: Rating) -> tuple[Any, ...]:
        """Return the key that sorts ratings by exam, variants, rater and rubric."""
        place = self.scope.variants.index(rating.variant)
        return self.items[rating.item], place, rating.rater, self.axes[rating.axis]

    def report_gaps(self) -> None:
        """Add a problem for each variant without ratings, and each answer that a rater left out."""
        variants = self.scope.variants
        rated = {variant for _, variant, _, _ in self.lines}
        for variant in variants:
            if variant not in rated:
                message = f"no row rates the variant {format_value(variant)}; {_GAP_HINT}"
                self.table.add_problem(self.table.last_line, "variant", message)
        raters = sorted({rater for _, _, rater, _ in self.lines if rater})
        answers = {(item, variant) for item, variant, _, _ in self.lines}
        for item in self.scope.exam.items:
            for variant in (variant for variant in variants if variant in rated):
                not_run = item.id in self.scope.follow_ups and (item.id, variant) not in answers
                for rater in () if not_run else raters:
                    self._report_missing_axes(item.id, variant, rater)

    def _report_missing_axes(self, item: str, variant: str, rater: str) -> None:
        keys = {axis: (item, variant, rater, axis) for axis in self.scales}
        there = {axis: self.lines[key] for axis, key in keys.items() if key in self.lines}
        missing = [axis for axis in self.scales if axis not in there]
        if missing:
            line = max(there.values(), default=self.table.last_line)
            table = next((self.tables[keys[axis]] for axis in there), self.table)
            axes = ", ".join(missing) if there else "no axis at all"
            what = "lacks" if there else "rates"
            answer = f"{format_value(item)}, {format_value(variant)}"
            message = f"{format_value(rater)} {what} {axes} for {answer}; {_GAP_HINT}"
            table.add_problem(line, "score", message)


def check_cell_characters(row: RatingRow, table: RatingRows) -> None:
    """Add a problem for each cell with half a character, which no file can hold."""
    for column, value in row.cells.items():
        if isinstance(value, str) and _LONE_SURROGATE.search(value):
            message = f"holds half a character in {format_value(value)}; whole ones are needed"
            table.add_problem(row.line, column, message)


def is_empty_cell(value: Any) -> bool:
    """Whether a cell holds nothing."""
    return value is None or (isinstance(value, str) and not value.strip())


def clean_cell_text(value: Any) -> str:
    """Return the text of a cell, stripped and in NFC; empty if it is not text."""
    return to_nfc(value.strip()) if isinstance(value, str) else ""


def _parse_score(value: Any) -> int | None:
    if isinstance(value, str) and (match := _SCORE_PATTERN.fullmatch(value.strip())):
        return int(match[1])
    return value if type(value) is int else None


def _describe_allowed_names(allowed: Collection[str] | None, column: str) -> str:
    return f"a {column} is needed" if allowed is None else f"allowed: {', '.join(allowed)}"

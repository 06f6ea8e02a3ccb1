"""A file that several people add to at once: each of them has it alone for a moment.

The rows of a ratings file as they are written: their lines and cells, and what is no row.

Ratings checked against the rubric, the exam and the variants: nothing unknown, twice or missing.

A cell that nobody rated stays missing; it never becomes a number.

A file of ratings that grows row by row: what is in it is safe, whatever happens next.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from markscheme.read.answers import DEFAULT_LIMITS, CsvRecord, CsvRecordReader, RefusedRow
from markscheme.read.documents import read_document_bytes, suggest_match
from markscheme.read.nfc import to_nfc
from markscheme.vocabulary import (
    Exam,
    InputError,
    Problem,
    Rating,
    Rubric,
    ScaleAxis,
    UsageError,
    format_value,
    write_path,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


class SharedFile:
    """A file under an advisory lock, which is held while it is read and changed, and no longer."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()  # a link stays a link when the file is replaced

    @contextmanager
    def lock_file(self) -> Iterator[BinaryIO]:
        """Give the file, open to be read and added to, to nobody else; begin it if it is new."""
        try:
            with self._open_locked() as file:
                yield file
        except OSError as error:
            told = f"`{self._path}` cannot be written: {error.strerror or error}"
            raise UsageError(told) from error

    def _open_locked(self) -> BinaryIO:
        """Open the file that has the name once it is locked: another may have taken its place."""
        while True:
            file = self._path.open("a+b")
            _lock_exclusively(file)
            if self._path.exists() and os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                return file
            file.close()

    def replace_content(self, content: bytes) -> None:
        """Put other content in its place, all of it or nothing; the lock must be held."""
        with write_path(self._path) as partial:
            with partial.open("wb") as file:
                append_to_disk(file, content)
            partial.chmod(self._path.stat().st_mode & 0o7777)


def read_whole_file(file: BinaryIO) -> bytes:
    """Return all that a file holds."""
    file.seek(0)
    return file.read()


def append_to_disk(file: BinaryIO, content: bytes) -> None:
    """Add to the end of a file; when this returns, it is on the disk."""
    file.write(content)
    _sync_file(file)


def truncate_on_disk(file: BinaryIO, size: int) -> None:
    """Cut a file off; when this returns, it is on the disk."""
    file.truncate(size)
    _sync_file(file)


def _sync_file(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _lock_exclusively(file: BinaryIO) -> None:
    try:
        import fcntl
    except ImportError:
        return  # rows are added whole all the same
    fcntl.flock(file, fcntl.LOCK_EX)


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


_SCORE_PATTERN = re.compile(r"[+-]?[0-9]{1,9}")
_LONE_SURROGATE = re.compile(
    "[\ud800-\udfff]"
)  # a surrogate without its other half; no file can hold it
_MAX_NOTE_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScope:
    """What ratings may be about: the scales and notes of a rubric, the items, the variants.

    Where `gaps` are allowed, a cell may be missing; its query then has no verdict.
    """

    rubric: Rubric
    exam: Exam
    variants: tuple[str, ...]
    allow_gaps: bool = False


def read_ratings(
    source: str | Path | Iterable[Rating | Mapping[str, Any]], raters: RatingScope
) -> tuple[Rating, ...]:
    """Return the ratings of a file, or of rows, in one order whatever order they are written in.

    Raises:
        InputError: with every row and cell that is wrong or missing.
    """
    raw = read_rating_rows(source) if isinstance(source, str | Path) else _wrap_rating_rows(source)
    checked = _RatingChecker(scope=raters, rating_rows=raw)
    for row in raw.rows:
        checked.check_row(row)
    if not raw.rows and not raw.problems:
        raw.add_problem(raw.last_line, "", "holds no rating")
    elif not raters.allow_gaps:
        checked.report_gaps()
    if raw.problems:
        raise InputError(raw.problems)
    return tuple(sorted(checked.ratings.values(), key=checked.get_sort_key))


def _wrap_rating_rows(rows: Iterable[Rating | Mapping[str, Any]]) -> RatingRows:
    raw = RatingRows(file="ratings")
    for line, row in enumerate(rows, start=1):
        named = (
            {name: getattr(row, name) for name in RATING_COLUMNS}
            if isinstance(row, Rating)
            else row
        )
        raw.rows.append(RatingRow(line=line, cells=dict(named)))
        raw.last_line = line
    return raw


@dataclass(slots=True, kw_only=True)
class _RatingChecker:
    """Takes rows one by one; holds what was right, and complains of the rest."""

    scope: RatingScope
    rating_rows: RatingRows
    ratings: dict[tuple[str, str, str, str], Rating] = field(default_factory=dict)
    lines: dict[tuple[str, str, str, str], int] = field(default_factory=dict)  # of wrong ones too
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
        """Check every cell of a row, and keep it where all are right."""
        before = len(self.rating_rows.problems)
        for column, value in row.cells.items():
            if isinstance(value, str) and _LONE_SURROGATE.search(value):
                told = f"holds half a character in {format_value(value)}; whole ones are needed"
                self.rating_rows.add_problem(row.line, column, told)
        item = self._check_name(row, "item", self.items)
        variant = self._check_name(row, "variant", self.scope.variants)
        rater = self._check_name(row, "rater", None)
        axis = self._check_name(row, "axis", self.axes)
        note = self._check_note(row, axis)
        score = self._check_score(row, axis)
        key = (item, variant, rater, axis)
        first = self.lines.setdefault(key, row.line)
        if first != row.line and all(key):
            told = f"{format_value(axis)} of {format_value(item)}, {format_value(variant)} was rated by {format_value(rater)}"
            told = f"{told} on line {first} already; once is allowed"
            self.rating_rows.add_problem(row.line, "axis", told)
        if len(self.rating_rows.problems) > before:
            return
        self.ratings[key] = Rating(
            item=item,
            variant=variant,
            rater=rater,
            axis=axis,
            score=score,
            note=note,
            line=row.line,
        )

    def _check_name(self, row: RatingRow, column: str, allowed: Collection[str] | None) -> str:
        value = row.cells.get(column)
        text = clean_cell_text(value)
        if not text:
            what = "is empty" if value is None or isinstance(value, str) else "must be text"
            self.rating_rows.add_problem(
                row.line, column, f"{what}; {_describe_allowed_names(allowed, column)}"
            )
        elif allowed is not None and text not in allowed:
            told = f"{format_value(text)} is no {column} of this comparison; "
            told += _describe_allowed_names(allowed, column) + suggest_match(text, allowed)
            self.rating_rows.add_problem(row.line, column, told)
        return text

    def _check_note(self, row: RatingRow, axis: str) -> str:
        value = row.cells.get("note")
        if value is not None and not isinstance(value, str):
            self.rating_rows.add_problem(
                row.line, "note", f"must be text, not {format_value(value)}"
            )
        note = clean_cell_text(value)
        if len(note) > _MAX_NOTE_CHARACTERS:
            told = f"is too long; at most {_MAX_NOTE_CHARACTERS:,} characters"
            self.rating_rows.add_problem(row.line, "note", told)
        if axis in self.notes and not note:
            self.rating_rows.add_problem(
                row.line, "note", f"is empty; {format_value(axis)} is answered in words"
            )
        return note

    def _check_score(self, row: RatingRow, axis: str) -> int | None:
        value = row.cells.get("score")
        empty = value is None or (isinstance(value, str) and not value.strip())
        if axis in self.notes:
            if not empty:
                told = f"{format_value(value)} stands where none belongs; {format_value(axis)} is a note"
                self.rating_rows.add_problem(row.line, "score", told)
            return None
        scale = self.scales.get(axis)
        if scale is None or (empty and self.scope.allow_gaps):
            return None
        allowed = f"whole numbers from {scale.lowest} to {scale.highest}"
        score = _parse_score(value)
        if empty:
            self.rating_rows.add_problem(row.line, "score", f"is empty; allowed: {allowed}")
        elif score is None or not scale.lowest <= score <= scale.highest:
            self.rating_rows.add_problem(
                row.line, "score", f"{format_value(value)} is no score; allowed: {allowed}"
            )
        return score

    def get_sort_key(self, rating: Rating) -> tuple[Any, ...]:
        """Return where a rating stands among the others: by exam, variant, rater and rubric."""
        place = self.scope.variants.index(rating.variant)
        return self.items[rating.item], place, rating.rater, self.axes[rating.axis]

    def report_gaps(self) -> None:
        """Complain of every cell that a rater left out, those that belong together at once."""
        variants = self.scope.variants
        rated = {variant for _, variant, _, _ in self.lines}
        for variant in variants:
            if variant not in rated:
                told = f"no row rates the variant {format_value(variant)}; {_GAP_HINT}"
                self.rating_rows.add_problem(self.rating_rows.last_line, "variant", told)
        raters = sorted({rater for _, _, rater, _ in self.lines if rater})
        for item in self.scope.exam.items:
            for variant in (variant for variant in variants if variant in rated):
                for rater in raters:
                    self._report_missing_axes(item.id, variant, rater)

    def _report_missing_axes(self, item: str, variant: str, rater: str) -> None:
        keys = {axis: (item, variant, rater, axis) for axis in self.scales}
        there = {axis: self.lines[key] for axis, key in keys.items() if key in self.lines}
        missing = [axis for axis in self.scales if axis not in there]
        if missing:
            line = max(there.values(), default=self.rating_rows.last_line)
            axes = ", ".join(missing) if there else "no axis at all"
            what = "lacks" if there else "rates"
            told = f"{format_value(rater)} {what} {axes} for {format_value(item)}, {format_value(variant)}; {_GAP_HINT}"
            self.rating_rows.add_problem(line, "score", told)


_GAP_HINT = "rate it, or allow gaps, which leave the query without a verdict"


def _describe_allowed_names(allowed: Collection[str] | None, column: str) -> str:
    return f"a {column} is needed" if allowed is None else f"allowed: {', '.join(allowed)}"


def _parse_score(value: Any) -> int | None:
    if isinstance(value, str) and _SCORE_PATTERN.fullmatch(value.strip()):
        return int(value)
    return value if type(value) is int else None


_KEY_COLUMNS = 4  # so many columns say which rating it is: item, variant, rater, axis
_RESTART_HINT = "start the command again to go on"


class RatingFile:
    """Adds ratings to a CSV file, each of them on the disk before the next question is asked.

    Others may add to it at the same time. A row that was torn when the machine stopped is cut off;
    it was never counted.
    """

    def __init__(self, path: Path, raters: RatingScope) -> None:
        self._path = path
        self._file = SharedFile(path)
        self._added_lines: list[bytes] = []
        with self._file.lock_file() as file:
            data = read_whole_file(file)
            self._check_header(data)
            self.had_torn_row = bool(data) and not data.endswith(b"\n")
            if self.had_torn_row:
                truncate_on_disk(file, data.rfind(b"\n") + 1)
            if not read_whole_file(file):
                append_to_disk(file, _format_csv_line(RATING_COLUMNS))
            only_header = read_whole_file(file).count(b"\n") <= 1
            self.ratings = [] if only_header else list(read_ratings(str(path), raters))

    def _check_header(self, data: bytes) -> None:
        """Refuse a file with other columns, before a byte of it is changed."""
        first, end, _ = data.removeprefix(codecs.BOM_UTF8).decode(errors="replace").partition("\n")
        header = ",".join(name.strip().strip('"').lower() for name in first.split(","))
        wanted = ",".join(RATING_COLUMNS)
        if header != wanted and (end or not wanted.startswith(header)):
            told = f"ratings are added to a file whose header is {wanted}; this one has another"
            problem = Problem(file=str(self._path), line=1, field="header", message=told)
            raise InputError([problem])

    def add_rating(self, rating: Rating) -> None:
        """Write a rating; when this returns, it is on the disk.

        The same rater may sit at two desks: what was rated at the other one meanwhile is refused.
        """
        cells = [_format_rating_cell(getattr(rating, column)) for column in RATING_COLUMNS]
        line = _format_csv_line(cells)
        with self._file.lock_file() as file:
            data = read_whole_file(file)
            if not data.endswith(b"\n"):
                raise UsageError(f"the last row of `{self._path}` is not whole; {_RESTART_HINT}")
            rows = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
            if any(row[:_KEY_COLUMNS] == cells[:_KEY_COLUMNS] for row in rows):
                told = f"`{rating.rater}` rated this answer in another sitting meanwhile"
                raise UsageError(f"{told}, in `{self._path}`; {_RESTART_HINT}")
            append_to_disk(file, line)
        self._added_lines.append(line)
        self.ratings.append(rating)

    def undo_last_rating(self) -> Rating | None:
        """Remove the last rating of this sitting, if there is one, and nothing of anybody else."""
        if not self._added_lines:
            return None
        line = self._added_lines[-1]
        with self._file.lock_file() as file:
            data = read_whole_file(file)
            at = data.rfind(b"\n" + line) + 1
            if not at:
                told = f"the last rating of this sitting is not in `{self._path}` any more"
                raise UsageError(f"{told}; {_RESTART_HINT}")
            if data.endswith(line):
                truncate_on_disk(file, at)
            else:
                self._file.replace_content(data[:at] + data[at + len(line) :])
        self._added_lines.pop()
        return self.ratings.pop()


def _format_rating_cell(value: object) -> str:
    return "" if value is None else str(value)


def _format_csv_line(cells: tuple[str, ...] | list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()

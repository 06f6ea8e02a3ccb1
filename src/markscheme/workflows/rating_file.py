"""The file of ratings that several raters write to: checked before rating, merged into afterwards.

`RatingFile` reads the ratings that are there, and `merge_ratings` puts one rater's ratings among
them in one atomic step. An advisory lock is held while the file is read and changed, and no longer,
so several raters can finish at the same time.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import BinaryIO, TypeAlias

from markscheme.read.nfc import to_nfc
from markscheme.read.rating_rows import ALL_RATING_COLUMNS, RATING_COLUMNS
from markscheme.read.ratings import RatingScope, read_ratings
from markscheme.read.spreadsheets import guard_cell
from markscheme.vocabulary import (
    InputError,
    MarkSource,
    Problem,
    Rating,
    UsageError,
    format_value,
    write_path,
)

RatingKey: TypeAlias = tuple[str, str, str, str]
"""Item, variant, rater and axis: what identifies a rating."""

_KEY_COLUMNS = RATING_COLUMNS[:4]
# Files of earlier versions have only these.
_FIRST_COLUMNS = RATING_COLUMNS[:6]


class RatingFile:
    """A CSV file of ratings; created with its header if it does not exist.

    `ratings` holds what the file held when it was opened. `had_torn_row` says that the last row had
    no end of line, because a process stopped while it wrote. Such a row is cut off.
    """

    def __init__(self, path: Path, scope: RatingScope) -> None:
        self._path = path
        with lock_file(path) as file:
            data = _read_all(file)
            self._check_header(data)
            self.had_torn_row = bool(data) and not data.endswith(b"\n")
            if self.had_torn_row:
                data = data[: data.rfind(b"\n") + 1]
                file.truncate(len(data))
                sync_file(file)
            if not data:
                append_to_disk(file, _format_csv_line(RATING_COLUMNS))
            only_header = data.count(b"\n") <= 1
            self.ratings = () if only_header else read_ratings(str(path), _widen(scope, data))
            self._check_raters()

    def _check_raters(self) -> None:
        """Refuse a file with ratings of judges: people's are never mixed with them."""
        for rating in self.ratings:
            if rating.source is MarkSource.JUDGE:
                name = format_value(rating.rater)
                message = f"{name} is a judge; people's ratings go to a file of their own"
                problem = Problem(
                    file=str(self._path), line=rating.line, field="source", message=message
                )
                raise InputError([problem])

    def _check_header(self, data: bytes) -> None:
        """Refuse a file with other columns before anything in it is changed.

        A torn header is accepted if it is the beginning of the right one.
        """
        first, end, _ = data.removeprefix(codecs.BOM_UTF8).decode(errors="replace").partition("\n")
        names = _split_header(first)
        further = set(names[len(_FIRST_COLUMNS) :])
        is_known = tuple(names[: len(_FIRST_COLUMNS)]) == _FIRST_COLUMNS
        is_torn = not end and ",".join(RATING_COLUMNS).startswith(",".join(names))
        if not is_torn and not (is_known and further <= {*ALL_RATING_COLUMNS}):
            wanted = ",".join(RATING_COLUMNS)
            message = f"ratings are added to a file whose header is {wanted}; this one has another"
            problem = Problem(file=str(self._path), line=1, field="header", message=message)
            raise InputError([problem])

    def merge_ratings(
        self, ratings: Mapping[RatingKey, Rating | None], changed: Collection[RatingKey]
    ) -> None:
        """Put the ratings of one rater into the file, in one atomic step.

        A rating that the file lacks is added. One that it has is replaced if its key is in
        `changed`, and otherwise left as it is: it may have been edited by hand. `None` removes a
        changed rating.
        """
        with lock_file(self._path) as file:
            data = _read_all(file)
            self._check_header(data)
            # A row without an end of line was never finished.
            text = data[: data.rfind(b"\n") + 1].removeprefix(codecs.BOM_UTF8).decode()
            header, *rows = (
                csv.reader(io.StringIO(text, newline="")) if text else [list(RATING_COLUMNS)]
            )
            merged = _merge_rows(_split_header(",".join(header)), rows, ratings, changed)
            content = b"".join(map(_format_csv_line, merged))
            if data.startswith(codecs.BOM_UTF8):
                content = codecs.BOM_UTF8 + content
            if content != data:
                _replace_file(self._path.resolve(), content)


def _widen(scope: RatingScope, data: bytes) -> RatingScope:
    """Allow the variants that other ratings in the file are about; the rater rates others now."""
    rows = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
    place = _FIRST_COLUMNS.index("variant")
    others = {to_nfc(row[place].strip()) for row in list(rows)[1:] if len(row) > place}
    more = sorted(others - {"", *scope.variants})
    return replace(scope, variants=(*scope.variants, *more))


def _split_header(line: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.split(",")]


def _merge_rows(
    names: list[str],
    rows: list[list[str]],
    ratings: Mapping[RatingKey, Rating | None],
    changed: Collection[RatingKey],
) -> Iterator[list[str]]:
    """Yield the header, the rows of the file with what has changed, then the new ratings."""
    columns = [*names, *(name for name in RATING_COLUMNS if name not in names)]
    places = [columns.index(name) for name in _KEY_COLUMNS]
    yield columns
    there: set[RatingKey] = set()
    for row in rows:
        cells = [*row, *[""] * (len(columns) - len(row))]
        item, variant, rater, axis = (to_nfc(cells[place].strip()) for place in places)
        key = item, variant, rater, axis
        there.add(key)
        if key not in changed:
            yield cells
        elif (rating := ratings.get(key)) is not None:
            yield _build_cells(columns, rating, cells)
    for new_key, rating in ratings.items():
        if rating is not None and new_key not in there:
            yield _build_cells(columns, rating, [""] * len(columns))


def _build_cells(columns: list[str], rating: Rating, cells: list[str]) -> list[str]:
    """Return a row of these columns: the rating, and the former cells where it says nothing."""
    values = {name: getattr(rating, name) for name in RATING_COLUMNS}
    values["note"] = guard_cell(rating.note)  # `read_ratings` takes the guard off
    texts = {name: "" if value is None else str(value) for name, value in values.items()}
    return [texts.get(name, cell) for name, cell in zip(columns, cells, strict=False)]


def _format_csv_line(cells: Collection[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


@contextmanager
def lock_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading and appending under an exclusive lock; create it if it is missing."""
    # Resolved, so that a link is followed and stays a link.
    path = path.resolve()
    try:
        with _open_locked(path) as file:
            yield file
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from error


def _open_locked(path: Path) -> BinaryIO:
    """Open and lock a file; open it again if another process replaced it meanwhile."""
    while True:
        file = path.open("a+b")
        acquire_lock(file)
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()


def acquire_lock(file: BinaryIO | FileIO, *, wait: bool = True) -> bool:
    """Take the advisory lock of a file; without `wait`, return False if another process has it."""
    try:
        import fcntl
    # Windows has no `fcntl`. A row is still written by one call.
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_all(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def append_to_disk(file: BinaryIO, content: bytes) -> None:
    """Append to a file and flush it to the disk."""
    file.write(content)
    sync_file(file)


def sync_file(file: BinaryIO | FileIO) -> None:
    """Flush a file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def _replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically and keep its mode; the lock must be held."""
    with write_path(path) as partial:
        with partial.open("wb") as file:
            append_to_disk(file, content)
        partial.chmod(path.stat().st_mode & 0o7777)

"""A ratings file that several people may add to at the same time, one row at a time.

A rating is on the disk when `add_rating` returns. An advisory lock is held while the file is read
and changed, and no longer: two raters, or one rater in two terminals, can use the same file.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from markscheme.read.ratings import RATING_COLUMNS, RatingScope, read_ratings
from markscheme.vocabulary import InputError, Problem, Rating, UsageError, write_path

# Item, variant, rater and axis identify a rating.
_KEY_COLUMNS = 4
_RESTART_HINT = "start the command again to go on"


class RatingFile:
    """Adds ratings to a CSV file, and removes those of this sitting again.

    `ratings` holds the ratings of the file. `had_torn_row` says that the last row had no end of
    line, because an earlier process stopped while it wrote. Such a row is cut off: its rating was
    never confirmed to the rater.
    """

    def __init__(self, path: Path, scope: RatingScope) -> None:
        self._path = path
        self._file = _LockedFile(path)
        self._added_lines: list[bytes] = []
        with self._file.lock_file() as file:
            data = _read_all(file)
            self._check_header(data)
            self.had_torn_row = bool(data) and not data.endswith(b"\n")
            if self.had_torn_row:
                _truncate_on_disk(file, data.rfind(b"\n") + 1)
            if not _read_all(file):
                _append_to_disk(file, _format_csv_line(RATING_COLUMNS))
            only_header = _read_all(file).count(b"\n") <= 1
            self.ratings = [] if only_header else list(read_ratings(str(path), scope))

    def _check_header(self, data: bytes) -> None:
        """Refuse a file with other columns before anything in it is changed.

        A torn header is accepted if it is the beginning of the right one.
        """
        first, end, _ = data.removeprefix(codecs.BOM_UTF8).decode(errors="replace").partition("\n")
        header = ",".join(name.strip().strip('"').lower() for name in first.split(","))
        wanted = ",".join(RATING_COLUMNS)
        if header != wanted and (end or not wanted.startswith(header)):
            message = f"ratings are added to a file whose header is {wanted}; this one has another"
            problem = Problem(file=str(self._path), line=1, field="header", message=message)
            raise InputError([problem])

    def add_rating(self, rating: Rating) -> None:
        """Append a rating; it is on the disk when this returns.

        Raises:
            UsageError: the same rater has given this rating in another terminal meanwhile, or
                another process left a torn row.
        """
        values = [getattr(rating, column) for column in RATING_COLUMNS]
        cells = ["" if value is None else str(value) for value in values]
        line = _format_csv_line(cells)
        with self._file.lock_file() as file:
            data = _read_all(file)
            if not data.endswith(b"\n"):
                raise UsageError(f"the last row of `{self._path}` is not whole; {_RESTART_HINT}")
            rows = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
            if any(row[:_KEY_COLUMNS] == cells[:_KEY_COLUMNS] for row in rows):
                message = f"`{rating.rater}` rated this answer in another sitting meanwhile"
                raise UsageError(f"{message}, in `{self._path}`; {_RESTART_HINT}")
            _append_to_disk(file, line)
        self._added_lines.append(line)
        self.ratings.append(rating)

    def undo_last_rating(self) -> Rating | None:
        """Remove and return the last rating of this sitting; `None` if there is none."""
        if not self._added_lines:
            return None
        line = self._added_lines[-1]
        with self._file.lock_file() as file:
            data = _read_all(file)
            start = data.rfind(b"\n" + line) + 1
            if not start:
                message = f"the last rating of this sitting is not in `{self._path}` any more"
                raise UsageError(f"{message}; {_RESTART_HINT}")
            if data.endswith(line):
                _truncate_on_disk(file, start)
            else:
                # Other raters have added rows after it.
                self._file.replace_content(data[:start] + data[start + len(line) :])
        self._added_lines.pop()
        return self.ratings.pop()


def _format_csv_line(cells: tuple[str, ...] | list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


class _LockedFile:
    """A file that is read and changed under an exclusive advisory lock."""

    def __init__(self, path: Path) -> None:
        # Resolved, so that `replace_content` replaces the target of a link and not the link.
        self._path = path.resolve()

    @contextmanager
    def lock_file(self) -> Iterator[BinaryIO]:
        """Open the file for reading and appending, locked; create it if it is missing."""
        try:
            with self._open_locked() as file:
                yield file
        except OSError as error:
            message = f"`{self._path}` cannot be written: {error.strerror or error}"
            raise UsageError(message) from error

    def _open_locked(self) -> BinaryIO:
        """Open and lock the file; open it again if another process replaced it meanwhile."""
        while True:
            file = self._path.open("a+b")
            _lock_exclusively(file)
            if self._path.exists() and os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                return file
            file.close()

    def replace_content(self, content: bytes) -> None:
        """Replace the file atomically; the lock must be held."""
        with write_path(self._path) as partial:
            with partial.open("wb") as file:
                _append_to_disk(file, content)
            partial.chmod(self._path.stat().st_mode & 0o7777)


def _read_all(file: BinaryIO) -> bytes:
    """Read a file from its start."""
    file.seek(0)
    return file.read()


def _append_to_disk(file: BinaryIO, content: bytes) -> None:
    """Append to a file and flush it to the disk."""
    file.write(content)
    _sync_file(file)


def _truncate_on_disk(file: BinaryIO, size: int) -> None:
    """Truncate a file and flush it to the disk."""
    file.truncate(size)
    _sync_file(file)


def _sync_file(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _lock_exclusively(file: BinaryIO) -> None:
    try:
        import fcntl
    # Windows has no `fcntl`. A row is still written by one call.
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX)

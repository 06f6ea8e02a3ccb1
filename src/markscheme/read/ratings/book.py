"""A file of ratings that grows row by row: what is in it is safe, whatever happens next."""

from __future__ import annotations

import codecs
import csv
import io
from typing import TYPE_CHECKING

from markscheme.errors import InputError, Problem, UsageError
from markscheme.read.ratings.checking import RatingScope, read_ratings
from markscheme.read.ratings.rows import RATING_COLUMNS
from markscheme.read.ratings.shared import (
    SharedFile,
    append_to_disk,
    read_whole_file,
    truncate_on_disk,
)

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.vocabulary import Rating

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

"""A file of ratings that grows row by row: what is in it is safe, whatever happens next."""

from __future__ import annotations

import codecs
import csv
import io
from typing import TYPE_CHECKING

from markscheme.errors import InputError, Problem, UsageError
from markscheme.read.ratings.checking import Raters, read_ratings
from markscheme.read.ratings.rows import COLUMNS
from markscheme.read.ratings.shared import SharedFile, add, cut, whole

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.vocabulary import Rating

_KEY = 4  # so many columns say which rating it is: item, variant, rater, axis
_AGAIN = "start the command again to go on"


class RatingBook:
    """Adds ratings to a CSV file, each of them on the disk before the next question is asked.

    Others may add to it at the same time. A row that was torn when the machine stopped is cut off;
    it was never counted.
    """

    def __init__(self, path: Path, raters: Raters) -> None:
        self._path = path
        self._file = SharedFile(path)
        self._added: list[bytes] = []
        with self._file.alone() as file:
            data = whole(file)
            self._check_header(data)
            self.torn = bool(data) and not data.endswith(b"\n")
            if self.torn:
                cut(file, data.rfind(b"\n") + 1)
            if not whole(file):
                add(file, _line(COLUMNS))
            only_header = whole(file).count(b"\n") <= 1
            self.ratings = [] if only_header else list(read_ratings(str(path), raters))

    def _check_header(self, data: bytes) -> None:
        """Refuse a file with other columns, before a byte of it is changed."""
        first, end, _ = data.removeprefix(codecs.BOM_UTF8).decode(errors="replace").partition("\n")
        header = ",".join(name.strip().strip('"').lower() for name in first.split(","))
        wanted = ",".join(COLUMNS)
        if header != wanted and (end or not wanted.startswith(header)):
            told = f"ratings are added to a file whose header is {wanted}; this one has another"
            problem = Problem(file=str(self._path), line=1, field="header", message=told)
            raise InputError([problem])

    def add(self, rating: Rating) -> None:
        """Write a rating; when this returns, it is on the disk.

        The same rater may sit at two desks: what was rated at the other one meanwhile is refused.
        """
        cells = [_text(getattr(rating, column)) for column in COLUMNS]
        line = _line(cells)
        with self._file.alone() as file:
            data = whole(file)
            if not data.endswith(b"\n"):
                raise UsageError(f"the last row of `{self._path}` is not whole; {_AGAIN}")
            rows = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
            if any(row[:_KEY] == cells[:_KEY] for row in rows):
                told = f"`{rating.rater}` rated this answer in another sitting meanwhile"
                raise UsageError(f"{told}, in `{self._path}`; {_AGAIN}")
            add(file, line)
        self._added.append(line)
        self.ratings.append(rating)

    def take_back(self) -> Rating | None:
        """Remove the last rating of this sitting, if there is one, and nothing of anybody else."""
        if not self._added:
            return None
        line = self._added[-1]
        with self._file.alone() as file:
            data = whole(file)
            at = data.rfind(b"\n" + line) + 1
            if not at:
                told = f"the last rating of this sitting is not in `{self._path}` any more"
                raise UsageError(f"{told}; {_AGAIN}")
            if data.endswith(line):
                cut(file, at)
            else:
                self._file.replace(data[:at] + data[at + len(line) :])
        self._added.pop()
        return self.ratings.pop()


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _line(cells: tuple[str, ...] | list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()

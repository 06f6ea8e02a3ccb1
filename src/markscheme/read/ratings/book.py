"""A file of ratings that grows row by row: what is in it is safe, whatever happens next."""

from __future__ import annotations

import codecs
import csv
import io
import os
from typing import TYPE_CHECKING

from markscheme.errors import InputError, Problem, UsageError
from markscheme.read.ratings.checking import Raters, read_ratings
from markscheme.read.ratings.rows import COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.vocabulary import Rating


class RatingBook:
    """Adds ratings to a CSV file, each of them on the disk before the next question is asked.

    A row that was torn when the machine stopped is cut off; it was never counted.
    """

    def __init__(self, path: Path, raters: Raters) -> None:
        self._path = path
        self._ends: list[int] = []
        self._check_header()
        self.torn = self._mended() if path.exists() and path.stat().st_size else self._begun()
        only_header = path.read_bytes().count(b"\n") <= 1
        self.ratings = [] if only_header else list(read_ratings(str(path), raters))

    def _check_header(self) -> None:
        """Refuse a file with other columns, before a byte of it is changed."""
        data = self._path.read_bytes() if self._path.exists() else b""
        first, end, _ = data.removeprefix(codecs.BOM_UTF8).decode(errors="replace").partition("\n")
        header = ",".join(name.strip().strip('"').lower() for name in first.split(","))
        wanted = ",".join(COLUMNS)
        if header != wanted and (end or not wanted.startswith(header)):
            told = f"ratings are added to a file whose header is {wanted}; this one has another"
            problem = Problem(file=str(self._path), line=1, field="header", message=told)
            raise InputError([problem])

    def _begun(self) -> bool:
        try:
            self._append(_line(COLUMNS))
        except OSError as error:
            raise UsageError(f"`{self._path}` cannot be written: {error.strerror}") from error
        return False

    def _mended(self) -> bool:
        """Cut off a row that does not end, and say whether there was one."""
        data = self._path.read_bytes()
        if data.endswith(b"\n"):
            return False
        self._cut(data.rfind(b"\n") + 1)
        if not self._path.stat().st_size:
            self._append(_line(COLUMNS))
        return True

    def add(self, rating: Rating) -> None:
        """Write a rating; when this returns, it is on the disk."""
        self._ends.append(self._path.stat().st_size)
        self._append(_line([_text(getattr(rating, column)) for column in COLUMNS]))
        self.ratings.append(rating)

    def take_back(self) -> Rating | None:
        """Remove the last rating of this sitting, if there is one."""
        if not self._ends:
            return None
        self._cut(self._ends.pop())
        return self.ratings.pop()

    def _append(self, line: str) -> None:
        with self._path.open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def _cut(self, size: int) -> None:
        with self._path.open("r+b") as file:
            file.truncate(size)
            file.flush()
            os.fsync(file.fileno())


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()

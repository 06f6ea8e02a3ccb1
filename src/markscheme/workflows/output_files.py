"""Output files and folders: check that they can be written, and write them atomically."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.vocabulary import UsageError, write_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

RESULT_SUFFIXES = (".json", ".jsonl", ".parquet", ".csv")
_SQLITE_HEADER = b"SQLite format 3\0"


def check_destination(
    name: str, inputs: Iterable[str], suffixes: tuple[str, ...] = RESULT_SUFFIXES
) -> Path:
    """Return the path of a file to write; raise `UsageError` if it cannot be written.

    `suffixes` are the allowed endings, where the ending decides the format. `inputs` are files that
    must not be overwritten.
    """
    path = Path(name)
    if path.exists() and any(Path(i).exists() and path.samefile(i) for i in inputs if i):
        raise UsageError(f"`{name}` is an input of this run; write to another file")
    if suffixes and path.suffix.lower() not in suffixes:
        raise UsageError(f"`{name}`: the ending decides the format; use {', '.join(suffixes)}")
    if path.is_dir():
        raise UsageError(f"`{name}` is a folder; name a file")
    if _is_sqlite_file(path):
        raise UsageError(f"`{name}` is a database, the store perhaps; write to another file")
    _check_parent(name, path.parent)
    return path


def _is_sqlite_file(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
    except OSError:
        return False


def check_raw_csv(destination: Path | None, *, raw_csv: bool) -> None:
    """Refuse `raw_csv` for an output that is no CSV."""
    if raw_csv and (destination is None or destination.suffix.lower() != ".csv"):
        raise UsageError("--raw-csv goes with an --output that ends in .csv")


def check_folder(name: str) -> Path:
    """Return the path of a folder to make; raise `UsageError` if it cannot be made."""
    path = Path(name)
    if path.suffix.lower() in RESULT_SUFFIXES:
        raise UsageError(f"`{name}`: this engine writes a folder of Parquet files; name a folder")
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise UsageError(f"`{name}` exists; name a new folder, or an empty one")
    _check_parent(name, path.parent)
    return path


def _check_parent(name: str, parent: Path) -> None:
    if not parent.is_dir():
        raise UsageError(f"`{name}`: the folder `{parent}` does not exist")
    if not os.access(parent, os.W_OK):
        raise UsageError(f"`{name}`: the folder `{parent}` cannot be written to")


def write_file_atomically(path: Path, content: bytes) -> None:
    """Write a whole file; it appears under its name only when it is complete."""
    with create_file_atomically(path) as partial:
        partial.write_bytes(content)


def append_to_file(path: Path, content: bytes) -> None:
    """Append to a file that other programs append to as well."""
    try:
        with path.open("ab") as stream:
            stream.write(content)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None


@contextmanager
def create_file_atomically(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of `path` to write to; rename it on success, delete it on error."""
    try:
        with write_path(path) as partial:
            # Where we may not write, that is known now and not after the work.
            partial.touch(exist_ok=False)
            yield partial
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None


@contextmanager
def create_folder_atomically(folder: Path) -> Iterator[Path]:
    """Yield a temporary sibling folder; rename it to `folder` on success, delete it on error."""
    with write_path(folder.parent.resolve() / folder.name) as partial:
        partial.mkdir()
        yield partial
        # Temporary files of tasks that were killed.
        for leftover in partial.glob(".*.partial"):
            leftover.unlink()


def read_folder_rows(folder: Path) -> Iterator[pl.DataFrame]:
    """Yield the rows of a folder of Parquet files, file by file in the order of their names."""
    import polars as pl

    for path in sorted(folder.glob("*.parquet")):
        yield pl.read_parquet(path, glob=False)

"""A file that several people add to at once: each of them has it alone for a moment."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from markscheme.errors import UsageError
from markscheme.wholly import write_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return  # rows are added whole all the same
    fcntl.flock(file, fcntl.LOCK_EX)

"""A file that several people add to at once: each of them has it alone for a moment."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from markscheme.errors import UsageError
from markscheme.wholly import appearing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class SharedFile:
    """A file under an advisory lock, which is held while it is read and changed, and no longer."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()  # a link stays a link when the file is replaced

    @contextmanager
    def alone(self) -> Iterator[BinaryIO]:
        """Give the file, open to be read and added to, to nobody else; begin it if it is new."""
        try:
            with self._locked() as file:
                yield file
        except OSError as error:
            told = f"`{self._path}` cannot be written: {error.strerror or error}"
            raise UsageError(told) from error

    def _locked(self) -> BinaryIO:
        """Open the file that has the name once it is locked: another may have taken its place."""
        while True:
            file = self._path.open("a+b")
            _lock(file)
            if self._path.exists() and os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                return file
            file.close()

    def replace(self, content: bytes) -> None:
        """Put other content in its place, all of it or nothing; the lock must be held."""
        with appearing(self._path) as partial:
            with partial.open("wb") as file:
                add(file, content)
            partial.chmod(self._path.stat().st_mode & 0o7777)


def whole(file: BinaryIO) -> bytes:
    """Return all that a file holds."""
    file.seek(0)
    return file.read()


def add(file: BinaryIO, content: bytes) -> None:
    """Add to the end of a file; when this returns, it is on the disk."""
    file.write(content)
    _on_disk(file)


def cut(file: BinaryIO, size: int) -> None:
    """Cut a file off; when this returns, it is on the disk."""
    file.truncate(size)
    _on_disk(file)


def _on_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _lock(file: BinaryIO) -> None:
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return  # rows are added whole all the same
    fcntl.flock(file, fcntl.LOCK_EX)

"""The store in an SQLite file: the default, nothing to set up."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from markscheme.errors import StoreError, StoreInvalidError, StoreUnavailableError
from markscheme.keep.databases import Database, Dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

_RETRY = 0.01
_DAMAGED = "copy a backup over it, or move it away to start anew"


class SqliteDatabase(Database):
    """Write-ahead log, synced at each commit: readers never wait, a commit costs one sync."""

    dialect = Dialect(
        serial="INTEGER PRIMARY KEY AUTOINCREMENT",
        bytes="BLOB",
        begin="BEGIN IMMEDIATE",
        lock_row="",
    )

    def __init__(self, path: Path, *, create: bool, patience: float) -> None:
        self.place = str(path)
        self._held: list[tuple[Path, IO[bytes]]] = []
        with self.guarded():
            self._connection = sqlite3.connect(
                _address(path, create=create),
                uri=True,
                timeout=patience,
                isolation_level=None,
                check_same_thread=False,  # rows may flow through a thread of polars, one at a time
            )
        try:
            self._set_up(patience)
        except BaseException:
            self.close()
            raise

    def _set_up(self, patience: float) -> None:
        self.change("PRAGMA foreign_keys = ON")
        self.change("PRAGMA trusted_schema = OFF")  # a store may come from somebody else
        self.change("PRAGMA synchronous = FULL")
        if _may_write(Path(self.place)) and self.rows("PRAGMA journal_mode") != [("wal",)]:
            self._keep_a_log(time.monotonic() + patience)

    def _keep_a_log(self, until: float) -> None:
        """Switch to the write-ahead log; SQLite does not wait for others here, so we do."""
        while True:
            with self.guarded():
                try:
                    self._execute("PRAGMA journal_mode = WAL", ())
                except sqlite3.OperationalError as error:
                    if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                        raise
                else:
                    return
            time.sleep(_RETRY)

    def tables(self) -> set[str]:
        """Return the tables that are there."""
        return {name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type='table'")}

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()
        while self._held:
            path, opened = self._held.pop()
            with opened, suppress(OSError):
                path.unlink()

    def lock(self) -> None:
        """Do nothing: `BEGIN IMMEDIATE` has the only write lock already."""

    def hold(self, id_: str) -> bool:
        """Lock a file beside the store: however we end, the system gives it free."""
        try:
            import fcntl
        except ImportError:  # where there is no such lock, nobody is held off
            return True
        path = Path(f"{self.place}-{id_}")
        if any(held == path for held, _ in self._held):
            return True
        try:
            with ExitStack() as stack:
                opened = stack.enter_context(path.open("wb"))
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.exists() and os.path.samestat(path.stat(), os.fstat(opened.fileno())):
                    self._held.append((path, opened))
                    stack.pop_all()
                    return True
        except BlockingIOError:
            pass
        except OSError as error:
            told = f"the store `{self.place}` cannot be locked: {error.strerror or error}"
            raise StoreUnavailableError(f"{told}; check that its folder is writable") from error
        return False  # somebody has it, or has just let go of it and removed it

    def _execute(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _told(self, error: Exception) -> StoreError | None:
        if isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode"):
            return self.damaged("text that is no text")
        if not isinstance(error, sqlite3.Error):
            return None
        told = f"the store `{self.place}`"
        match _code(error):
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                why = "is locked by another process; try again when that one is done"
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
                why = "cannot be opened or written; check that it and its folder are writable"
            case sqlite3.SQLITE_FULL:
                why = "cannot grow: the disk is full; what was stored before is kept"
            case sqlite3.SQLITE_IOERR:
                why = f"cannot be read or written: {error}; what was stored before is kept"
            case sqlite3.SQLITE_NOTADB:
                return StoreInvalidError(f"{told} is not a database of markscheme; {_DAMAGED}")
            case sqlite3.SQLITE_CORRUPT:
                return StoreInvalidError(f"{told} is damaged: {error}; {_DAMAGED}")
            case _ if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                return None
            case _:  # our statements are sound, so what they meet is not
                return StoreInvalidError(f"{told} is damaged: {error}; {_DAMAGED}")
        return StoreUnavailableError(f"{told} {why}")


def _code(error: sqlite3.Error) -> int:
    """Return the kind of an error; the driver's own errors have none."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _address(path: Path, *, create: bool) -> str:
    """Return the file as SQLite's URI.

    Where we may not write, a log of others is read with the file; without one the file is all there
    is, and must be called immutable, because SQLite cannot put its own files beside it.
    """
    uri = path.absolute().as_uri()
    if create or _may_write(path):
        return f"{uri}?mode={'rwc' if create else 'rw'}"
    logged = path.with_name(f"{path.name}-wal").exists()
    return f"{uri}?mode=ro{'' if logged else '&immutable=1'}"


def _may_write(path: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    places = [path.parent, path] if path.exists() else [path.parent]
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in places)

"""The store in an SQLite file: the default, which needs no setup."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.keep.database import Database, Dialect
from markscheme.vocabulary import StoreError, StoreInvalidError, StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

_RETRY_SECONDS = 0.01
_FILES_OF_A_STORE = 3
_DAMAGED_HINT = "copy a backup over it, or move it away to start anew"
_KEPT_HINT = "what was stored before is kept"
_LOCKED_REASON = "is locked by another process; try again when that one is done"
_CLOSED_REASON = "cannot be opened or written; check that it and its folder are writable"
_UNAVAILABLE_REASONS = {
    sqlite3.SQLITE_BUSY: _LOCKED_REASON,
    sqlite3.SQLITE_LOCKED: _LOCKED_REASON,
    sqlite3.SQLITE_READONLY: _CLOSED_REASON,
    sqlite3.SQLITE_PERM: _CLOSED_REASON,
    sqlite3.SQLITE_CANTOPEN: _CLOSED_REASON,
    sqlite3.SQLITE_FULL: f"cannot grow: the disk is full; {_KEPT_HINT}",
    sqlite3.SQLITE_IOERR: f"cannot be read or written: {{error}}; {_KEPT_HINT}",
    sqlite3.SQLITE_TOOBIG: f"cannot hold so much in one piece: {{error}}; {_KEPT_HINT}",
}
# Open lock files. A forked process closes them, or it would hold the locks of its parent.
_OPEN_LOCK_FILES: set[int] = set()


def _close_lock_file(opened: int) -> None:
    _OPEN_LOCK_FILES.discard(opened)
    os.close(opened)


def _close_all_lock_files() -> None:
    while _OPEN_LOCK_FILES:
        with suppress(OSError):
            os.close(_OPEN_LOCK_FILES.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all_lock_files)


class SqliteDatabase(Database):
    """SQLite with a write-ahead log, synced at each commit: readers never wait for writers."""

    dialect = Dialect(
        serial="INTEGER PRIMARY KEY AUTOINCREMENT",
        bytes="BLOB",
        begin="BEGIN IMMEDIATE",
        lock_row="",
    )

    def __init__(self, path: Path, *, create: bool, patience: float) -> None:
        super().__init__()
        self.place = str(path)
        self._patience = patience
        # A subject may change the working folder.
        self._path = path.absolute()
        self._file_stat: os.stat_result | None = None
        self._locked_files: dict[Path, int] = {}
        if create:
            _create_private_file(path)
        with self.translate_errors():
            self._connection = sqlite3.connect(
                _build_uri(path, create=create),
                uri=True,
                timeout=patience,
                isolation_level=None,
                # Live runs store from a background thread, one thread at a time.
                check_same_thread=False,
            )
        try:
            self._configure_connection(patience)
            self._file_stat = self._path.stat()
        except BaseException:
            self.close()
            raise

    def _check_not_removed(self) -> None:
        """Raise if the file was removed, or replaced by another file, since it was opened."""
        try:
            gone = self._file_stat and not os.path.samestat(self._file_stat, self._path.stat())
        except OSError:
            gone = True
        if gone:
            message = f"the store `{self.place}` was removed while it was in use"
            raise StoreUnavailableError(f"{message}; what it held is lost, unless there is a copy")

    def _configure_connection(self, patience: float) -> None:
        self.execute_change("PRAGMA foreign_keys = ON")
        # The file may come from somebody else: its schema may not call functions.
        self.execute_change("PRAGMA trusted_schema = OFF")
        self.execute_change("PRAGMA synchronous = FULL")
        if _is_writable(self._path) and self.fetch_rows("PRAGMA journal_mode") != [("wal",)]:
            self._enable_wal(time.monotonic() + patience)

    def _enable_wal(self, until: float) -> None:
        """Switch to the write-ahead log; SQLite does not wait for locks here, so we do."""
        while True:
            with self.translate_errors():
                try:
                    self._execute("PRAGMA journal_mode = WAL", ())
                except sqlite3.OperationalError as error:
                    if _get_error_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                        raise
                else:
                    return
            time.sleep(_RETRY_SECONDS)

    def list_tables(self) -> set[str]:
        """Return the names of all tables."""
        return {
            name for (name,) in self.fetch_rows("SELECT name FROM sqlite_master WHERE type='table'")
        }

    def _close_connection(self) -> None:
        self._connection.close()
        while self._locked_files:
            path, opened = self._locked_files.popitem()
            with suppress(OSError):
                path.unlink()
            _close_lock_file(opened)

    def lock_writers(self) -> None:
        """Do nothing: `BEGIN IMMEDIATE` has taken the only write lock already."""

    def prepare_removal(self) -> None:
        """Overwrite deleted rows with zeros."""
        self.execute_change("PRAGMA secure_delete = ON")

    def compact(self) -> None:
        """Write the file anew, and empty the log beside it, which others may be reading."""
        self.execute_change("VACUUM")
        until = time.monotonic() + self._patience
        while self.fetch_rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            if time.monotonic() > until:
                message = f"the log of the store `{self.place}` is in use, so it still holds"
                raise StoreUnavailableError(
                    f"{message} what was deleted; stop the server and forget once more"
                )
            time.sleep(_RETRY_SECONDS)

    def try_lock_id(self, id_: str) -> bool:
        """Lock a file next to the store; the system releases it however this process ends."""
        try:
            import fcntl
        except ImportError:
            # This system has no such locks, so no process is kept out.
            return True
        # The real path: the store may be reached by several names.
        path = Path(f"{os.path.realpath(self._path)}-{id_}")
        if path in self._locked_files:
            return True
        try:
            # Read-only: the file may belong to another user. Whoever may use the store may lock it.
            mode = stat.S_IMODE(self._path.stat().st_mode)
            opened = os.open(path, os.O_RDONLY | os.O_CREAT, mode)
        except OSError as error:
            raise self._build_lock_error(path, error) from error
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(path.stat(), os.fstat(opened)):
                self._locked_files[path] = opened
                _OPEN_LOCK_FILES.add(opened)
                return True
        except (BlockingIOError, FileNotFoundError):
            # Another process has the lock, or has just released it and removed the file.
            pass
        except OSError as error:
            os.close(opened)
            raise self._build_lock_error(path, error) from error
        os.close(opened)
        return False

    def _build_lock_error(self, path: Path, error: OSError) -> StoreUnavailableError:
        message = f"the store `{self.place}` cannot be locked by `{path}`"
        return StoreUnavailableError(f"{message}: {error.strerror or error}")

    def _execute(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _translate_error(self, error: Exception) -> StoreError | None:
        if isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode"):
            return self.build_damage_error("text that is no text")
        if not isinstance(error, sqlite3.Error):
            return None
        store, code = f"the store `{self.place}`", _get_error_code(error)
        if code == sqlite3.SQLITE_CANTOPEN:
            _check_descriptors()
        if code in _UNAVAILABLE_REASONS:
            return StoreUnavailableError(
                f"{store} {_UNAVAILABLE_REASONS[code].format(error=error)}"
            )
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            return None
        # Our statements are valid, so the file is not.
        foreign = code == sqlite3.SQLITE_NOTADB
        what = "is not a database of markscheme" if foreign else f"is damaged: {error}"
        return StoreInvalidError(f"{store} {what}; {_DAMAGED_HINT}")


def _create_private_file(path: Path) -> None:
    """Create the file for this user alone; a file that exists keeps its mode.

    SQLite gives the mode of the file to the files that it creates next to it. Where the file cannot
    be created, SQLite says why. A file that exists is not opened: closing it would end the locks of
    other connections of this process, which are all that keeps them from removing each other's log.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR))


def _check_descriptors() -> None:
    """Raise the error of the system if no file can be opened: SQLite does not tell why it failed.

    It opens the file, its log and the index of the log.
    """
    opened: list[int] = []
    try:
        for _ in range(_FILES_OF_A_STORE):
            opened.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401 - closed below if one fails
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _get_error_code(error: sqlite3.Error) -> int:
    """Return the primary SQLite error code; 0 for errors of the Python driver."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _build_uri(path: Path, *, create: bool) -> str:
    """Return the SQLite URI of the file.

    Without write permission, SQLite can read the log of another process next to the file. If there
    is no log, the file must be opened as immutable: SQLite cannot create its own files there.
    """
    uri = path.absolute().as_uri()
    if create or _is_writable(path):
        return f"{uri}?mode={'rwc' if create else 'rw'}"
    logged = path.with_name(f"{path.name}-wal").exists()
    return f"{uri}?mode=ro{'' if logged else '&immutable=1'}"


def _is_writable(path: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    places = [path.parent, path] if path.exists() else [path.parent]
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in places)

"""Open the store: find its place, connect, and migrate its schema.

The place is an argument, the variable `MARKSCHEME_STORE`, or the nearest `.markscheme` folder from
the working folder upwards, as git finds its folder. A store that nobody named is used only if it
belongs to this user and nobody else can write to it: it holds answers, and gates believe it.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.keep.database import PATIENCE, Database
from markscheme.keep.schema import MIGRATIONS, migrate_schema, read_schema_version
from markscheme.keep.store import Store
from markscheme.vocabulary import StoreUnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

STORE_FOLDER = ".markscheme"
DEFAULT_STORE_PATH = f"{STORE_FOLDER}/markscheme.db"
STORE_VARIABLE = "MARKSCHEME_STORE"
_POSTGRES_SCHEMES = ("postgresql", "postgres")
_SCHEME_PATTERN = r"([A-Za-z][A-Za-z0-9+.-]+)://"


def resolve_place(where: str | Path | None) -> str | Path:
    """Return the URL of a PostgreSQL database, or the path of an SQLite file, existing or not."""
    named = where if where is not None else os.environ.get(STORE_VARIABLE) or None
    if named is None:
        return _find_own_store() or Path(DEFAULT_STORE_PATH)
    scheme = re.match(_SCHEME_PATTERN, str(named)) if "://" in str(named) else None
    if scheme is None:
        if not str(named):
            return _refuse_place("")
        if os.path.isdir(named):  # noqa: PTH112 - never raises, also without permission
            message = f"the store `{Path(named)}` is a folder"
            raise UsageError(f"{message}; name a file in it, or no store at all")
        return Path(named)
    return (
        str(named) if scheme[1].lower() in _POSTGRES_SCHEMES else _refuse_place(f"{scheme[1]}://…")
    )


def _find_own_store() -> Path | None:
    """Return the path of the nearest store upwards; refuse one that others may have written."""
    folder = _find_store_folder()
    if folder is None:
        return None
    store = folder / Path(DEFAULT_STORE_PATH).name
    for path in (folder, store):
        if why := _find_foreign_access(path):
            advice = f"if you trust it, name it with --store {store} or {STORE_VARIABLE}"
            raise UsageError(f"the store `{store}` was found, and {why}; {advice}")
    return store


def _find_store_folder() -> Path | None:
    """Return the nearest `.markscheme` folder upwards.

    The search ends at the home folder and at the root of a git repository.
    """
    home = Path.home().resolve() if os.environ.get("HOME") or os.name == "nt" else None
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / STORE_FOLDER).is_dir():
            return Path(STORE_FOLDER) if folder == here else folder / STORE_FOLDER
        if folder == home or os.path.lexists(folder / ".git"):
            break
    return None


def _find_foreign_access(path: Path) -> str | None:
    """Return why other users may have written to a file or folder, or None if they have not."""
    if sys.platform == "win32" or not os.path.exists(path):  # noqa: PTH110 - never raises
        return None
    # A link is judged with what it points to: whoever owns the link chooses that.
    if {path.lstat().st_uid, path.stat().st_uid} != {os.geteuid()}:
        return f"`{path}` belongs to another user"
    if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to `{path}` (`chmod go-w` forbids it)"
    return None


def _refuse_place(named: str) -> Path:
    allowed = "a store is the path of a file, or postgresql://USER@HOST/DATABASE"
    raise UsageError(f"`{named}` cannot be a store; {allowed}")


def create_store_folder(path: Path) -> None:
    """Create the folder of a new store, for this user alone; git ignores a `.markscheme` folder."""
    folder = path.parent
    try:
        if folder.name == STORE_FOLDER and not folder.is_dir():
            folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
            (folder / ".gitignore").write_text("*\n", encoding="ascii")
            _sync_folder(folder.parent)
    except OSError as error:
        message = f"cannot make the folder of the store `{path}`: {error.strerror or error}"
        raise StoreUnavailableError(f"{message}; name another place with --store") from error


def _sync_folder(folder: Path) -> None:
    """Sync a new folder to disk, where the system can, so that it survives a power cut."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _get_utc_now() -> datetime:
    return datetime.now(UTC)


def open_store(
    where: str | Path | None = None,
    *,
    create: bool,
    patience: float = PATIENCE,
    now: Callable[[], datetime] = _get_utc_now,
) -> Store:
    """Open the store at `where`, else at `MARKSCHEME_STORE`, else the nearest one upwards.

    With `create`, a store that does not exist is created; without, that is a `UsageError`.
    `patience` is the number of seconds to wait for a lock of another process.
    """
    database = _connect_database(resolve_place(where), create=create, patience=patience)
    try:
        _upgrade_schema(database, now().isoformat(), create=create)
    except BaseException:
        database.close()
        raise
    return Store(database, now)


def _upgrade_schema(database: Database, now: str, *, create: bool) -> None:
    version = read_schema_version(database)
    if version == 0 and not create:
        raise _build_no_store_error(database.place)
    if version < len(MIGRATIONS):
        migrate_schema(database, now)


def _connect_database(place: str | Path, *, create: bool, patience: float) -> Database:
    if isinstance(place, Path):
        from markscheme.keep.sqlite import SqliteDatabase

        if create:
            create_store_folder(place)
        elif not os.path.exists(place):  # noqa: PTH110 - never raises, also without permission
            raise _build_no_store_error(str(place))
        return SqliteDatabase(place, create=create, patience=patience)
    from markscheme.keep.postgres import PostgresDatabase

    return PostgresDatabase(place, patience=patience)


def _build_no_store_error(place: str) -> UsageError:
    hint = "`markscheme score` makes it with the first run; --store names another place"
    return UsageError(f"there is no store at `{place}` yet; {hint}")

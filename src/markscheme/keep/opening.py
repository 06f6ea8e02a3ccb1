"""Opening the store: find it, connect, and bring its schema up to date."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import UsageError
from markscheme.keep.databases import PATIENCE, Database
from markscheme.keep.places import create_store_folder, resolve_place
from markscheme.keep.schema import MIGRATIONS, migrate_schema, read_schema_version
from markscheme.keep.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable


def _get_utc_now() -> datetime:
    return datetime.now(UTC)


def open_store(
    where: str | Path | None = None,
    *,
    create: bool,
    patience: float = PATIENCE,
    now: Callable[[], datetime] = _get_utc_now,
) -> Store:
    """Open the store: `where` it is said to be, else as the environment says, else found upwards.

    With `create`, a store that is not there is made; without, that is a `UsageError`. `patience` is
    how many seconds to wait for somebody else's lock.
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
        elif not os.path.exists(place):  # noqa: PTH110 - never raises, also where we may not look
            raise _build_no_store_error(str(place))
        return SqliteDatabase(place, create=create, patience=patience)
    from markscheme.keep.postgres import PostgresDatabase

    return PostgresDatabase(place, patience=patience)


def _build_no_store_error(place: str) -> UsageError:
    hint = "`markscheme score` makes it with the first run; --store names another place"
    return UsageError(f"there is no store at `{place}` yet; {hint}")

"""Opening the store: find it, connect, and bring its schema up to date."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import UsageError
from markscheme.keep.databases import PATIENCE, Database
from markscheme.keep.places import make_folder, place_of
from markscheme.keep.schema import MIGRATIONS, migrate, version_of
from markscheme.keep.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable


def _now() -> datetime:
    return datetime.now(UTC)


def open_store(
    where: str | Path | None = None,
    *,
    create: bool,
    patience: float = PATIENCE,
    now: Callable[[], datetime] = _now,
) -> Store:
    """Open the store: `where` it is said to be, else as the environment says, else found upwards.

    With `create`, a store that is not there is made; without, that is a `UsageError`. `patience` is
    how many seconds to wait for somebody else's lock.
    """
    database = _connected(place_of(where), create=create, patience=patience)
    try:
        _bring_up_to_date(database, now().isoformat(), create=create)
    except BaseException:
        database.close()
        raise
    return Store(database, now)


def _bring_up_to_date(database: Database, now: str, *, create: bool) -> None:
    version = version_of(database)
    if version == 0 and not create:
        raise _nothing_there(database.place)
    if version < len(MIGRATIONS):
        migrate(database, now)


def _connected(place: str | Path, *, create: bool, patience: float) -> Database:
    if isinstance(place, Path):
        from markscheme.keep.sqlite import SqliteDatabase

        if create:
            make_folder(place)
        elif not os.path.exists(place):  # noqa: PTH110 - never raises, also where we may not look
            raise _nothing_there(str(place))
        return SqliteDatabase(place, create=create, patience=patience)
    from markscheme.keep.postgres import PostgresDatabase

    return PostgresDatabase(place, patience=patience)


def _nothing_there(place: str) -> UsageError:
    hint = "`markscheme score` makes it with the first run; --store names another place"
    return UsageError(f"there is no store at `{place}` yet; {hint}")

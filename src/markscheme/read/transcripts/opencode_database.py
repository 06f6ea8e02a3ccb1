"""The SQLite database in which OpenCode keeps its sessions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markscheme.read.transcripts.opencode_session import Sessions
from markscheme.read.transcripts.values import Object, mapping, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markscheme.read.transcripts.log import Log

_TABLES = ("session", "message", "part")


def has_sessions(path: Path) -> bool:
    """Say whether a database has the tables of OpenCode."""
    try:
        with closing(_connected(path)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return set(_TABLES) <= {row[0] for row in rows}
    except sqlite3.Error:
        return False


def _connected(path: Path) -> sqlite3.Connection:
    """Open a database only to read; without its lock where nobody has written beside it."""
    beside = path.with_name(f"{path.name}-wal")
    alone = not beside.exists() or beside.stat().st_size == 0
    mode = "mode=ro&immutable=1" if alone else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def read_sessions(log: Log) -> Sessions:
    """Read the sessions that a database holds.

    Raises:
        InputError: it cannot be read.
    """
    found = Sessions()
    try:
        with closing(_connected(log.path)) as connection:
            for row in _rows(connection, "session"):
                found.info({**row, "parentID": row.get("parent_id") or row.get("parentID")})
            for row in _rows(connection, "message"):
                found.message({**row, "sessionID": row.get("session_id")}, [])
            for row in _rows(connection, "part"):
                ids = {"sessionID": row.get("session_id"), "messageID": row.get("message_id")}
                found.part({**row, **ids})
    except sqlite3.Error as error:
        raise log.refusal(f"cannot be read as a database of OpenCode: {error}") from None
    return found


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[Object]:
    """Yield the rows of a table, each with what its JSON holds."""
    for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):  # noqa: S608 - our own names
        columns: dict[str, Any] = dict(row)
        yield {**mapping(parsed(columns.pop("data", None))), **columns}

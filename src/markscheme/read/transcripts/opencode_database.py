"""The SQLite database in which OpenCode keeps its sessions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markscheme.read.transcripts.opencode_session import OpencodeSessionIndex
from markscheme.read.transcripts.values import JsonObject, parse_json, to_object

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markscheme.read.transcripts.log import Log

_SESSION_TABLES = ("session", "message", "part")


def has_sessions(path: Path) -> bool:
    """Say whether a database has the tables of OpenCode."""
    try:
        with closing(_connect_database(path)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return set(_SESSION_TABLES) <= {row[0] for row in rows}
    except sqlite3.Error:
        return False


def _connect_database(path: Path) -> sqlite3.Connection:
    """Open a database only to read; without its lock where nobody has written beside it."""
    beside = path.with_name(f"{path.name}-wal")
    alone = not beside.exists() or beside.stat().st_size == 0
    mode = "mode=ro&immutable=1" if alone else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def read_sessions(log: Log) -> OpencodeSessionIndex:
    """Read the sessions that a database holds.

    Raises:
        InputError: it cannot be read.
    """
    found = OpencodeSessionIndex()
    try:
        with closing(_connect_database(log.path)) as connection:
            for row in _iter_rows(connection, "session"):
                found.add_info({**row, "parentID": row.get("parent_id") or row.get("parentID")})
            for row in _iter_rows(connection, "message"):
                found.add_message({**row, "sessionID": row.get("session_id")}, [])
            for row in _iter_rows(connection, "part"):
                ids = {"sessionID": row.get("session_id"), "messageID": row.get("message_id")}
                found.add_part({**row, **ids})
    except sqlite3.Error as error:
        raise log.build_error(f"cannot be read as a database of OpenCode: {error}") from None
    return found


def _iter_rows(connection: sqlite3.Connection, table: str) -> Iterator[JsonObject]:
    """Yield the rows of a table, each with what its JSON holds."""
    for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):  # noqa: S608 - our own names
        columns: dict[str, Any] = dict(row)
        yield {**to_object(parse_json(columns.pop("data", None))), **columns}

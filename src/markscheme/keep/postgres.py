"""The store in a PostgreSQL database, by its URL; needs the extra `markscheme[postgres]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.keep.database import Database, Dialect
from markscheme.vocabulary import StoreError, StoreInvalidError, StoreUnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

SCHEMA = "markscheme"
# SQL_ASCII stores bytes unchanged.
_ALLOWED_ENCODINGS = {"UTF8", "SQL_ASCII"}
# An arbitrary number that other applications are unlikely to lock: "mark" in ASCII.
_ADVISORY_LOCK = 0x6D61726B


class PostgresDatabase(Database):
    """PostgreSQL; the tables are in a schema of their own, as the database may hold others."""

    dialect = Dialect(
        serial="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        bytes="BYTEA",
        begin="BEGIN ISOLATION LEVEL READ COMMITTED",
        lock_row="FOR UPDATE",
    )

    def __init__(self, url: str, *, patience: float) -> None:
        super().__init__()
        options = _parse_url(url)
        self._password = str(options.get("password") or "")
        self.place = _format_place(options)
        wait = {"connect_timeout": max(2, int(patience)), **options, "client_encoding": "utf8"}
        import psycopg

        with self.translate_errors():
            self._connection = psycopg.connect(**wait, autocommit=True)
        self._cursor = self._connection.cursor(binary=True)
        try:
            self._configure_connection(patience)
        except BaseException:
            self.close()
            raise

    def _configure_connection(self, patience: float) -> None:
        ((encoding,),) = self.fetch_rows("SHOW server_encoding")
        if encoding not in _ALLOWED_ENCODINGS:
            message = (
                f"the store `{self.place}` is a database in {encoding}, which lacks characters"
            )
            raise UsageError(f"{message}; make one with ENCODING 'UTF8'")
        self.fetch_rows("SELECT set_config('search_path', ?, false)", [SCHEMA])
        self.fetch_rows(
            "SELECT set_config('lock_timeout', ?, false)", [f"{int(patience * 1000)}ms"]
        )
        self.fetch_rows(
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        )

    def list_tables(self) -> set[str]:
        """Return the names of all tables."""
        named = "SELECT tablename FROM pg_tables WHERE schemaname = ?"
        return {name for (name,) in self.fetch_rows(named, [SCHEMA])}

    def _close_connection(self) -> None:
        self._connection.close()

    def lock_writers(self) -> None:
        """Take a lock until the transaction ends; create the schema if it does not exist."""
        self.fetch_rows("SELECT pg_advisory_xact_lock(?)", [_ADVISORY_LOCK])
        if not self.fetch_rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", [SCHEMA]):
            self.execute_change(f"CREATE SCHEMA {SCHEMA}")

    def prepare_removal(self) -> None:
        """Do nothing: `VACUUM FULL` leaves no deleted row."""

    def compact(self) -> None:
        """Write the tables anew."""
        self.execute_change(f"VACUUM (FULL) {', '.join(sorted(self.list_tables()))}")

    def try_lock_id(self, id_: str) -> bool:
        """Take a lock of the connection; the server releases it however this process ends."""
        number = int(id_, 16) % 2**31
        ((held,),) = self.fetch_rows(
            "SELECT pg_try_advisory_lock(?::int, ?::int)", [_ADVISORY_LOCK, number]
        )
        return bool(held)

    def _check_not_removed(self) -> None:
        """Do nothing: a server does not remove a database that is in use."""

    def _execute(self, statement: str, values: Sequence[Any]) -> psycopg.Cursor[Any]:
        return self._cursor.execute(statement.replace("%", "%%").replace("?", "%s"), values)

    def _translate_error(self, error: Exception) -> StoreError | None:
        import psycopg
        from psycopg import errors

        store = f"the store `{self.place}`"
        match error:
            case errors.UndefinedTable() | errors.UndefinedColumn() | errors.DataCorrupted():
                return StoreInvalidError(f"{store} is damaged: {self._format_driver_error(error)}")
            case errors.LockNotAvailable():
                why = "is locked by another process; try again when that one is done"
            case errors.DiskFull():
                why = "cannot grow: the server's disk is full; what was stored before is kept"
            case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
                why = f"may not be used like this: {self._format_driver_error(error)}"
            case psycopg.OperationalError() | psycopg.InternalError():
                why = f"cannot be reached: {self._format_driver_error(error)}"
            case _:
                return None
        return StoreUnavailableError(f"{store} {why}")

    def _format_driver_error(self, error: Exception) -> str:
        """Return the message of the server on one line, without the password."""
        text = " ".join(str(error).split())
        return text.replace(self._password, "…") if self._password else text


def _parse_url(url: str) -> dict[str, Any]:
    """Parse the URL. Errors show no part of it: a misplaced part may be half a password."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        needs = "a store in PostgreSQL needs psycopg"
        raise StoreUnavailableError(
            f"{needs}; install it with `pip install 'markscheme[postgres]'`"
        ) from error
    try:
        options = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        options = {"port": "?"}
    host, port = str(options.get("host") or ""), str(options.get("port") or "0")
    if "@" in host or not port.replace(",", "").isdecimal():
        form = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        raise UsageError(
            f"the URL of the store is not of the form {form}; in a password, write"
            " signs such as / @ : # ? % as %2F %40 %3A %23 %3F %25"
        ) from None
    return options


def _format_place(options: dict[str, Any]) -> str:
    user = f"{options['user']}@" if options.get("user") else ""
    port = f":{options['port']}" if options.get("port") else ""
    return f"postgresql://{user}{options.get('host') or ''}{port}/{options.get('dbname') or ''}"

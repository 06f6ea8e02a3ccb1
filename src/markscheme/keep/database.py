"""What the store needs of a database; SQLite and PostgreSQL implement it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from markscheme.read.storable import find_text_fault
from markscheme.vocabulary import (
    StoreError,
    StoreInvalidError,
    StoreUnavailableError,
    UsageError,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Record = TypeVar("Record")

PATIENCE = 30.0
"""Seconds to wait for a lock or a connection before giving up."""
_CLOSE_TIMEOUT = 1.0  # seconds to wait for another thread that uses the connection


class Dialect(Struct, frozen=True, kw_only=True):
    """The words in which the SQL of the two databases differs."""

    serial: str
    bytes: str
    begin: str
    lock_row: str


class TransactionLostError(StoreUnavailableError):
    """The database undid the whole transaction because of an error in one part of it."""


class Cursor(Protocol):
    """The part of a DB-API cursor that is used."""

    @property
    def rowcount(self) -> int:
        """Number of rows that a change touched."""

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""


class Database(ABC):
    """One connection, used by one caller at a time.

    Statements have `?` for values and `{name}` for a word of the dialect.
    """

    dialect: Dialect
    place: str
    """How messages name the store; without a password."""
    _in_transaction = False

    def __init__(self) -> None:
        self._connection_lock = RLock()

    @abstractmethod
    def list_tables(self) -> set[str]:
        """Return the names of all tables."""

    def close(self) -> None:
        """Close the connection, unless another thread is using it, where closing would crash.

        That happens only when the process is ended while a background thread writes.
        """
        if self._connection_lock.acquire(timeout=_CLOSE_TIMEOUT):
            try:
                self._close_connection()
            finally:
                self._connection_lock.release()

    @abstractmethod
    def _close_connection(self) -> None:
        """Close the connection."""

    @abstractmethod
    def lock_writers(self) -> None:
        """In a transaction: make other callers of this method wait until the transaction ends."""

    @abstractmethod
    def try_lock_id(self, id_: str) -> bool:
        """Lock an id until this connection closes; return False if another process has it."""

    @abstractmethod
    def prepare_removal(self) -> None:
        """Before rows are deleted: let the database overwrite what they held."""

    @abstractmethod
    def compact(self) -> None:
        """After rows were deleted: write the database anew, so that no byte of them is left."""

    @abstractmethod
    def _check_not_removed(self) -> None:
        """Raise if the database was removed, so that a change would be lost."""

    @abstractmethod
    def _execute(self, statement: str, values: Sequence[Any]) -> Cursor:
        """Run one statement; errors are those of the driver."""

    @abstractmethod
    def _translate_error(self, error: Exception) -> StoreError | None:
        """Return the driver's error as a `StoreError`, or None if it is a bug of markscheme."""

    def fetch_rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query."""
        with self._connection_lock, self.translate_errors():
            return self._execute(self._apply_dialect(statement), _check_storable(values)).fetchall()

    def fetch_records(
        self, statement: str, values: Sequence[Any], make: Callable[..., Record]
    ) -> list[Record]:
        """Return the rows of a query as records; raise if a row is damaged."""
        rows = self.fetch_rows(statement, values)
        try:
            return [make(*row) for row in rows]
        except (ValueError, TypeError) as error:
            raise self.build_damage_error("a record") from error

    def execute_change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one changing statement; return the number of rows that it touched."""
        with self._connection_lock, self.translate_errors():
            self._check_not_removed()
            return self._execute(self._apply_dialect(statement), _check_storable(values)).rowcount

    def _apply_dialect(self, statement: str) -> str:
        return statement.format_map(asdict(self.dialect)) if "{" in statement else statement

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run all changes inside as one: all are on disk at the end, or none is.

        A transaction inside another is part of the outer one.
        """
        if self._in_transaction:
            yield
            return
        self.execute_change(self.dialect.begin)
        self._in_transaction = True
        try:
            yield
            self.execute_change("COMMIT")
        except BaseException:
            with suppress(Exception), self._connection_lock:
                self._execute("ROLLBACK", ())
            raise
        finally:
            self._in_transaction = False

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """In a transaction: undo the changes inside if they raise, and only those."""
        self.execute_change("SAVEPOINT part")
        try:
            yield
        except BaseException as error:
            try:
                with self._connection_lock:
                    self._execute("ROLLBACK TO SAVEPOINT part", ())
                    self._execute("RELEASE SAVEPOINT part", ())
            except Exception:  # noqa: BLE001 - there is no savepoint any more
                raise TransactionLostError(str(error)) from error
            raise
        self.execute_change("RELEASE SAVEPOINT part")

    def build_damage_error(self, what: str) -> StoreInvalidError:
        """Return the error for a record that does not match its digest, or cannot be parsed."""
        return StoreInvalidError(f"the store `{self.place}` is damaged: {what} cannot be read")

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Turn an error of the driver into a `StoreError` that says what to do."""
        try:
            yield
        except Exception as error:
            store_error = self._translate_error(error)
            if store_error is None:
                raise
            raise store_error from error


def _check_storable(values: Sequence[Any]) -> Sequence[Any]:
    """Raise `UsageError` for text that one of the two databases would not return unchanged."""
    for value in values:
        if isinstance(value, str) and find_text_fault(value):
            raise UsageError(
                f"{format_value(value)} holds NUL or half a surrogate pair; leave it out"
            )
    return values

"""What the store needs of a database, and the few words in which the two kinds differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from markscheme.read.storable import find_text_fault
from markscheme.vocabulary import StoreError, StoreInvalidError, UsageError, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Record = TypeVar("Record")

PATIENCE = 30.0
"""Seconds to wait for a lock or a connection before giving up."""
_CLOSE_TIMEOUT = 1.0  # seconds to wait for a thread of our own


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Everything in which the SQL of the two databases differs."""

    serial: str
    bytes: str
    begin: str
    lock_row: str


class Cursor(Protocol):
    """The part of DB-API that is used."""

    @property
    def rowcount(self) -> int:
        """How many rows a change touched."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""


class Database(ABC):
    """One connection, used by one caller at a time.

    Statements have `?` for values and `{words}` of the dialect.
    """

    dialect: Dialect
    place: str
    """How messages name the store; holds no password."""
    _in_transaction = False

    def __init__(self) -> None:
        self._connection_lock = RLock()

    @abstractmethod
    def list_tables(self) -> set[str]:
        """Return the tables that are there."""

    def close(self) -> None:
        """Give the connection back, unless a thread is in the middle of using it.

        That would crash; it happens only where somebody who does not wait ends the process.
        """
        if self._connection_lock.acquire(timeout=_CLOSE_TIMEOUT):
            try:
                self._close_connection()
            finally:
                self._connection_lock.release()

    @abstractmethod
    def _close_connection(self) -> None:
        """Give the connection back."""

    @abstractmethod
    def lock_writers(self) -> None:
        """Inside a transaction: whoever else calls this waits until it ends."""

    @abstractmethod
    def try_lock_id(self, id_: str) -> bool:
        """Take an id for this connection until it closes; whether nobody else has it."""

    @abstractmethod
    def _check_not_removed(self) -> None:
        """Raise where what is changed would be found by nobody."""

    @abstractmethod
    def _execute(self, statement: str, values: Sequence[Any]) -> Cursor:
        """Run one statement, errors as the driver raises them."""

    @abstractmethod
    def _translate_error(self, error: Exception) -> StoreError | None:
        """Return the driver's error as ours, or nothing where it would be a bug of ours."""

    def fetch_rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return what a query finds."""
        with self._connection_lock, self.translate_errors():
            return self._execute(self._apply_dialect(statement), _check_storable(values)).fetchall()

    def fetch_records(
        self, statement: str, values: Sequence[Any], make: Callable[..., Record]
    ) -> list[Record]:
        """Return what a query finds as records; a row that cannot be one is damaged."""
        rows = self.fetch_rows(statement, values)
        try:
            return [make(*row) for row in rows]
        except (ValueError, TypeError) as error:
            raise self.build_damage_error("a record") from error

    def execute_change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Carry out one change; return how many rows it touched."""
        with self._connection_lock, self.translate_errors():
            self._check_not_removed()
            return self._execute(self._apply_dialect(statement), _check_storable(values)).rowcount

    def _apply_dialect(self, statement: str) -> str:
        return statement.format_map(asdict(self.dialect)) if "{" in statement else statement

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what happens inside one change: all of it is on disk at the end, or nothing is.

        A transaction inside another is part of that one.
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

    def build_damage_error(self, what: str) -> StoreInvalidError:
        """Return the error for a record that is not what was kept."""
        return StoreInvalidError(f"the store `{self.place}` is damaged: {what} cannot be read")

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Turn what the driver raises into an error that says what to do."""
        try:
            yield
        except Exception as error:
            told = self._translate_error(error)
            if told is None:
                raise
            raise told from error


def _check_storable(values: Sequence[Any]) -> Sequence[Any]:
    """Refuse text that one of the databases could not give back as it was."""
    for value in values:
        if isinstance(value, str) and find_text_fault(value):
            raise UsageError(
                f"{format_value(value)} holds NUL or half a surrogate pair; leave it out"
            )
    return values

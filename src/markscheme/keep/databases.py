"""What the store needs of a database, and the few words in which the two kinds differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from dataclasses import asdict
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from markscheme.errors import StoreError, StoreInvalidError, UsageError, shown
from markscheme.read.sound import fault_in_text
from markscheme.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Record = TypeVar("Record")

PATIENCE = 30.0
"""Seconds to wait for a lock or a connection before giving up."""
_MOMENT = 1.0  # seconds to wait for a thread of our own


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
    _inside = False

    def __init__(self) -> None:
        self._alone = RLock()

    @abstractmethod
    def tables(self) -> set[str]:
        """Return the tables that are there."""

    def close(self) -> None:
        """Give the connection back, unless a thread is in the middle of using it.

        That would crash; it happens only where somebody who does not wait ends the process.
        """
        if self._alone.acquire(timeout=_MOMENT):
            try:
                self._close()
            finally:
                self._alone.release()

    @abstractmethod
    def _close(self) -> None:
        """Give the connection back."""

    @abstractmethod
    def lock(self) -> None:
        """Inside a transaction: whoever else calls this waits until it ends."""

    @abstractmethod
    def hold(self, id_: str) -> bool:
        """Take an id for this connection until it closes; whether nobody else has it."""

    @abstractmethod
    def _check_place(self) -> None:
        """Raise where what is changed would be found by nobody."""

    @abstractmethod
    def _execute(self, statement: str, values: Sequence[Any]) -> Cursor:
        """Run one statement, errors as the driver raises them."""

    @abstractmethod
    def _told(self, error: Exception) -> StoreError | None:
        """Return the driver's error as ours, or nothing where it would be a bug of ours."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return what a query finds."""
        with self._alone, self.guarded():
            return self._execute(self._worded(statement), _checked(values)).fetchall()

    def records(
        self, statement: str, values: Sequence[Any], make: Callable[..., Record]
    ) -> list[Record]:
        """Return what a query finds as records; a row that cannot be one is damaged."""
        rows = self.rows(statement, values)
        try:
            return [make(*row) for row in rows]
        except (ValueError, TypeError) as error:
            raise self.damaged("a record") from error

    def change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Carry out one change; return how many rows it touched."""
        with self._alone, self.guarded():
            self._check_place()
            return self._execute(self._worded(statement), _checked(values)).rowcount

    def _worded(self, statement: str) -> str:
        return statement.format_map(asdict(self.dialect)) if "{" in statement else statement

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what happens inside one change: all of it is on disk at the end, or nothing is.

        A transaction inside another is part of that one.
        """
        if self._inside:
            yield
            return
        self.change(self.dialect.begin)
        self._inside = True
        try:
            yield
            self.change("COMMIT")
        except BaseException:
            with suppress(Exception), self._alone:
                self._execute("ROLLBACK", ())
            raise
        finally:
            self._inside = False

    def damaged(self, what: str) -> StoreInvalidError:
        """Return the error for a record that is not what was kept."""
        return StoreInvalidError(f"the store `{self.place}` is damaged: {what} cannot be read")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn what the driver raises into an error that says what to do."""
        try:
            yield
        except Exception as error:
            told = self._told(error)
            if told is None:
                raise
            raise told from error


def _checked(values: Sequence[Any]) -> Sequence[Any]:
    """Refuse text that one of the databases could not give back as it was."""
    for value in values:
        if isinstance(value, str) and fault_in_text(value):
            raise UsageError(f"{shown(value)} holds NUL or half a surrogate pair; leave it out")
    return values

"""The store for many callers at once, as a server needs it: a few readers, and writers in groups.

SQLite has one writer. Its thread takes all changes that are waiting, runs each behind a savepoint,
and commits them together, so that many small changes share one sync of the disk. PostgreSQL syncs
for several connections at once by itself, so each change is a transaction on one of a few.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from threading import Lock, Thread, local
from typing import TYPE_CHECKING, Any, Self, TypeVar

from msgspec import Struct

from markscheme.keep.database import TransactionLostError
from markscheme.keep.open import open_store, resolve_place
from markscheme.keep.store import Store
from markscheme.vocabulary import StoreUnavailableError, UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future

Value = TypeVar("Value")
StoreTask = Callable[[Store], Value]

_READERS = 4
_SERVER_WRITERS = 4
_MAX_GROUP = 500


class StorePool:
    """Runs tasks on the store from any thread. A task is a function that takes a `Store`.

        with StorePool(path) as pool:
            runs = pool.submit_read(lambda store: store.list_runs(limit=5)).result()
            pool.submit_write(lambda store: store.tag_run(runs[0].id, "best")).result()

    A change is on disk when its future has a result: the future waits for the commit. If a client
    did not hear of it, it sends the change again. So the client makes the id of a record, and the
    id is unique in its table: the second insert with this id does nothing.
    """

    def __init__(self, where: str | Path | None = None, *, readers: int = _READERS) -> None:
        # The first connection creates and migrates the store, before anybody else uses it.
        first = open_store(where, create=True)
        self.place = first.place
        self.where = resolve_place(where)
        self._readers = _ConnectionPool(where, size=readers)
        self._writer: _GroupWriter | _ConnectionPool
        if isinstance(resolve_place(where), Path):
            self._writer = _GroupWriter(first)
        else:
            first.close()
            self._writer = _ConnectionPool(where, size=_SERVER_WRITERS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit_read(self, task: StoreTask[Value]) -> Future[Value]:
        """Run a task that changes nothing, next to others."""
        return self._readers.submit(task)

    def submit_write(self, task: StoreTask[Value]) -> Future[Value]:
        """Run a task in a transaction; the future is done when the change is on disk.

        If the task raises, its changes are undone, and those of other tasks are not.
        """
        if isinstance(self._writer, _GroupWriter):
            return self._writer.submit(task)
        return self._writer.submit(lambda store: _run_in_transaction(store, task))

    def close(self) -> None:
        """Finish the tasks that were submitted, then close all connections."""
        self._writer.close()
        self._readers.close()


def _run_in_transaction(store: Store, task: StoreTask[Value]) -> Value:
    with store.transaction():
        return task(store)


class _ConnectionPool:
    """A few threads, each with a connection of its own that is opened when it is first needed."""

    def __init__(self, where: str | Path | None, *, size: int) -> None:
        # Late: every command imports this package, and few need threads.
        from concurrent.futures import ThreadPoolExecutor

        self._where = where
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="store")
        self._held = local()
        self._lock = Lock()
        self._opened: set[Store] = set()

    def submit(self, task: StoreTask[Value]) -> Future[Value]:
        # In the context of the caller: it says which language is spoken.
        return self._threads.submit(copy_context().run, self._run, task)

    def _run(self, task: StoreTask[Value]) -> Value:
        store = self._get_store()
        try:
            return task(store)
        except StoreUnavailableError:
            # The connection may be gone, as after a restart of the server: the next task opens one.
            self._drop_store(store)
            raise

    def _get_store(self) -> Store:
        store: Store | None = getattr(self._held, "store", None)
        if store is None:
            try:
                store = open_store(self._where, create=False)
            except UsageError as error:
                # It was there when the pool was opened.
                raise StoreUnavailableError(str(error)) from error
            with self._lock:
                self._opened.add(store)
            self._held.store = store
        return store

    def _drop_store(self, store: Store) -> None:
        self._held.store = None
        with self._lock:
            self._opened.discard(store)
        store.close()

    def close(self) -> None:
        self._threads.shutdown()
        for store in self._opened:
            store.close()


class _QueuedTask(Struct, frozen=True, kw_only=True):
    """A task that waits for the writer, and its result afterwards."""

    run: Callable[[], Any]
    future: Future[Any]


class _GroupWriter:
    """One thread with the only connection that writes; it commits all waiting tasks together."""

    def __init__(self, store: Store) -> None:
        from queue import SimpleQueue

        self._store = store
        self._queue: SimpleQueue[_QueuedTask | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, task: StoreTask[Value]) -> Future[Value]:
        from concurrent.futures import Future

        future: Future[Value] = Future()
        context = copy_context()
        run = lambda: context.run(task, self._store)  # noqa: E731 - typed by its field
        self._queue.put(_QueuedTask(run=run, future=future))
        return future

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._store.close()

    def _work(self) -> None:
        task = self._queue.get()
        while task is not None:
            group = [task]
            # Nobody else takes from the queue, so what is in it comes without waiting.
            while task is not None and len(group) < _MAX_GROUP and not self._queue.empty():
                task = self._queue.get()
                group += [] if task is None else [task]
            self._commit_group(
                [task for task in group if task.future.set_running_or_notify_cancel()]
            )
            task = None if task is None else self._queue.get()

    def _commit_group(self, group: list[_QueuedTask]) -> None:
        """Run all tasks in one transaction; tell nobody of a result before it is committed."""
        results: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            with self._store.transaction():
                results.extend((task.future, *self._run_task(task)) for task in group)
        except Exception as error:  # noqa: BLE001 - it is everybody's: nothing was committed
            for task in group:
                task.future.set_exception(error)
            return
        for future, value, fault in results:
            if fault is None:
                future.set_result(value)
            else:
                future.set_exception(fault)

    def _run_task(self, task: _QueuedTask) -> tuple[Any, BaseException | None]:
        """Return the result of a task, or its error after undoing what it changed."""
        try:
            with self._store.savepoint():
                return task.run(), None
        except TransactionLostError:
            raise
        except Exception as error:  # noqa: BLE001 - it goes to the caller
            return None, error

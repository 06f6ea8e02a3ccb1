"""Runs the event loop of a live run: also inside another loop, and safely under signals.

It also raises the limit of open files, because each question under way may have a connection or a
process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, Self

from markscheme.vocabulary import UsageError

_CANCEL_TIMEOUT = 1.0  # seconds that cancelled tasks have to end
# A process has a file each for its input, output and errors, and one to wait for it.
_FILES_PER_QUESTION = 4
_OWN_FILES = 50  # files that are open without any question
_SPARE_FILES = 200  # for the store, libraries still to be loaded, and files that a subject opens


def run_coroutine(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end; where a loop runs already, as in a notebook, in a thread.

    Ctrl-C then cancels the coroutine, which may still clean up, before it is raised here.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        _run_in_this_thread(coroutine)
        return
    begun, ended = threading.Event(), threading.Event()
    raised: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def watched() -> None:
        task = asyncio.ensure_future(coroutine)
        running.append((asyncio.get_running_loop(), task))
        begun.set()
        await task

    def work() -> None:
        try:
            asyncio.run(watched())
        except BaseException as error:  # noqa: BLE001 - raised below, in the other thread
            raised.append(error)
        finally:
            ended.set()

    try:
        threading.Thread(target=work, name="markscheme run").start()
        # Not `join`: after an interrupt it cannot be called again.
        ended.wait()
    except KeyboardInterrupt:
        begun.wait()
        (loop, task) = running[0]
        with suppress(RuntimeError):  # the loop has just ended
            loop.call_soon_threadsafe(task.cancel)
        ended.wait()
        raise
    if raised:
        raise raised[0]


def _run_in_this_thread(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in this thread; raise the exception of a signal after it has ended."""
    runner = asyncio.Runner()
    try:
        with (
            _SignalGuard(runner.get_loop()) as signals,
            suppress(asyncio.CancelledError),
        ):
            runner.run(signals.run_watched(coroutine))
    finally:
        if _cancel_remaining_tasks(runner.get_loop()):
            runner.close()
    if signals.raised is not None:
        raise signals.raised


class _SignalGuard:
    """Cancels the task on Ctrl-C or termination, and keeps the exception until it has ended.

    Raised in the middle of the event loop, the exception may swallow the next step of a task,
    which then never ends. A second signal raises at once: the user does not want to wait.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._task: asyncio.Task[None] | None = None
        self._previous_handlers: dict[signal.Signals, Callable[[int, FrameType | None], Any]] = {}
        self._pid = os.getpid()
        self.raised: BaseException | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number: signal.Signals | None = getattr(signal, name, None)  # Windows lacks one
                handler = signal.getsignal(number) if number else None
                if number and callable(handler):
                    self._previous_handlers[number] = handler
                    signal.signal(number, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    async def run_watched(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Await a coroutine as the task that a signal cancels."""
        self._task = asyncio.current_task()
        await coroutine

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        try:
            self._previous_handlers[signal.Signals(number)](number, frame)
        except BaseException as error:
            # A forked child has the handler too, and must not cancel the parent's task.
            if self._task is None or self.raised is not None or os.getpid() != self._pid:
                raise
            self.raised = error
            self._loop.call_soon_threadsafe(self._task.cancel)


def _cancel_remaining_tasks(loop: asyncio.AbstractEventLoop) -> bool:
    """Cancel the tasks that remain; return whether all of them ended in time."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=_CANCEL_TIMEOUT))
    return all(task.done() for task in tasks)


def raise_open_file_limit(concurrency: int) -> None:
    """Raise the limit of open files to what so many questions at a time need.

    Raises:
        UsageError: the system does not allow enough.
    """
    try:
        import resource  # noqa: PLC0415 - not on Windows, which has no such limit
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and concurrency + _OWN_FILES > hard:
        needs = f"{concurrency:,} questions at a time take more open files"
        why = f"{needs} than the {hard:,} allowed here"
        raise UsageError(f"{why}; lower --concurrency, or raise the limit (`ulimit -n`)")
    wanted = concurrency * _FILES_PER_QUESTION + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

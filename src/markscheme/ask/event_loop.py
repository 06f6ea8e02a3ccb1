"""Between loops, threads and signals: a loop in a loop, and what a signal raises.

Open files: each question under way may have a connection or a process, and these are files.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import FrameType

_CANCEL_TIMEOUT = 1.0  # seconds for what is left, when somebody does not want to wait


def run_coroutine(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine, also where a loop runs already, as in a notebook: then in a thread.

    Who interrupts us there interrupts the coroutine, which may still tidy up.
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
        except BaseException as error:  # noqa: BLE001 - handed to who waits
            raised.append(error)
        finally:
            ended.set()

    try:
        threading.Thread(target=work, name="markscheme run").start()
        ended.wait()  # `join` is lost when it is interrupted
    except KeyboardInterrupt:
        begun.wait()
        (loop, task) = running[0]
        with contextlib.suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(task.cancel)
        ended.wait()
        raise
    if raised:
        raise raised[0]


def _run_in_this_thread(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in this thread; what a signal raises comes when the coroutine has ended."""
    runner = asyncio.Runner()
    try:
        with (
            _SignalGuard(runner.get_loop()) as signals,
            contextlib.suppress(asyncio.CancelledError),
        ):
            runner.run(signals.run_watched(coroutine))
    finally:
        if _cancel_remaining_tasks(runner.get_loop()):
            runner.close()
    if signals.raised is not None:
        raise signals.raised


class _SignalGuard:
    """Keeps back what Ctrl-C raises, or another signal that ends us, and cancels a task instead.

    Raised in the middle of a loop it may take away the next step of a task, which then never ends.
    Who says it again does not want to wait: then it is raised at once.
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
                one: signal.Signals | None = getattr(signal, name, None)
                before = signal.getsignal(one) if one else None
                if one and callable(before):
                    self._previous_handlers[one] = before
                    signal.signal(one, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for one, before in self._previous_handlers.items():
            signal.signal(one, before)

    async def run_watched(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.current_task()
        await coroutine

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        try:
            self._previous_handlers[signal.Signals(number)](number, frame)
        except BaseException as error:
            if self._task is None or self.raised is not None or os.getpid() != self._pid:
                raise
            self.raised = error
            self._loop.call_soon_threadsafe(self._task.cancel)


def _cancel_remaining_tasks(loop: asyncio.AbstractEventLoop) -> bool:
    """End the tasks that are left; whether they did."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=_CANCEL_TIMEOUT))
    return all(task.done() for task in left)


_FILES_PER_QUESTION = (
    4  # a process has its input, its output, its errors and a place to wait for it
)
_OWN_FILES = 50  # what we have open ourselves
_SPARE_FILES = 200  # the store, libraries that are still to be loaded, and whatever a subject opens


def raise_open_file_limit(at_once: int) -> None:
    """Let this process open as many files as so many questions take, as far as the system lets."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, which has no such limit
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and at_once + _OWN_FILES > hard:
        told = (
            f"{at_once:,} questions at a time take more open files than the {hard:,} allowed here"
        )
        raise UsageError(f"{told}; lower --concurrency, or raise the limit (`ulimit -n`)")
    wanted = at_once * _FILES_PER_QUESTION + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

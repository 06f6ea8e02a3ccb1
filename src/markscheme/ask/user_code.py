"""Functions by their name: of the present folder first, and never those of another module.

Calls of functions that anybody may have written: never in our loop, which one of them may block.

A plain one is called in a thread, an async one in a loop of its own. Both end with the process, so
that a call that was given up holds nothing back.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from markscheme.vocabulary import Terminated, UsageError, format_value

# What markscheme may load only when it has something to score or to tell.
_LAZY_DEPENDENCIES = (
    *("bpe_openai", "click", "h11", "jinja2", "jsonschema_rs", "markdown_it"),
    *("markupsafe", "mdurl", "msgspec", "orjson", "polars", "psycopg", "pygments", "rich"),
    *("ruamel", "typing_extensions", "vl_convert", "zstandard"),
    *("bz2", "calendar", "colorsys", "csv", "ctypes", "email", "glob", "lzma", "mmap", "pickle"),
    *("quopri", "resource", "shutil", "sqlite3", "statistics", "sysconfig", "tempfile", "zipfile"),
    *("zlib", "zoneinfo"),
)


def import_function(named: str) -> Callable[[str], Any]:
    """Import `MODULE:FUNCTION`; modules of the present folder come first, as with `python -m`."""
    module, _, name = named.rpartition(":")
    if not module or not name:
        told = f"{format_value(f'python:{named}')} names no function"
        raise UsageError(f"{told}; write python:MODULE:FUNCTION")
    _refuse_file_path(module, name)
    here = Path.cwd()
    _refuse_shadowing_modules(here)
    if str(here) not in sys.path:
        sys.path.insert(0, str(here))
    return _load_function(module, name, here)


def _load_function(module: str, name: str, here: Path) -> Callable[[str], Any]:
    try:
        imported = import_module(module)
        _refuse_module_from_elsewhere(module.partition(".")[0], here)
        function = getattr(imported, name)
    except (KeyboardInterrupt, Terminated, UsageError):
        raise
    except BaseException as error:
        told = f"cannot import `{name}` of `{module}`: {type(error).__name__}: {error}"
        raise UsageError(told) from error
    if not callable(function):
        raise UsageError(f"`{name}` of `{module}` is not a function")
    found: Callable[[str], Any] = function
    return found


def _refuse_file_path(module: str, name: str) -> None:
    """Say how a module is named where somebody names its file."""
    parts = module.replace("\\", "/").split("/")
    if len(parts) == 1 and not module.endswith(".py"):
        return
    inner = [part for part in parts if part != "."]
    there = "" in inner or ".." in inner  # an absolute path, or one that leads out of the folder
    path = inner[-1:] if there else inner
    advice = (
        f"python:{'.'.join(path).removesuffix('.py')}:{name}{' in its folder' if there else ''}"
    )
    raise UsageError(f"{format_value(module)} is a file, and not a module; write {advice}")


def _refuse_shadowing_modules(here: Path) -> None:
    """Refuse a folder whose modules would be loaded instead of those that we need later."""
    later = (name for name in _LAZY_DEPENDENCIES if name not in sys.modules)
    shadows = [f"`{name}`" for name in later if _find_module_file(name, here)]
    if shadows:
        told = f"{', '.join(shadows)} of the present folder would be loaded"
        raise UsageError(f"{told} instead of what markscheme needs; rename them")


def _refuse_module_from_elsewhere(top: str, here: Path) -> None:
    """Refuse a module that was loaded from elsewhere before that of the present folder."""
    mine, loaded = _find_module_file(top, here), getattr(sys.modules[top], "__file__", None)
    if mine is None or (loaded and Path(loaded).exists() and mine.samefile(loaded)):
        return
    other = f"`{loaded}`" if loaded else "a part of Python"
    raise UsageError(f"`{top}` is {other}, which is loaded already, and not `{mine}`; rename yours")


def _find_module_file(module: str, here: Path) -> Path | None:
    """Return the file by which a folder has a module, if it has it."""
    files = (here / f"{module}.py", here / module / "__init__.py")
    return next(filter(Path.is_file, files), None)


_CLOSE_TIMEOUT = 0.5  # seconds for what is left in a loop when it is closed
_BLOCKED_MESSAGE = "another call blocks the loop of the function, which is async"

# Begins a call, and returns what cancels it.
StartCall = Callable[["Future[Any]"], Callable[[], object]]


class CallPool:
    """Calls of one subject: so many at a time, with those that were given up and still run."""

    def __init__(self, most: int | None) -> None:
        self._slots = asyncio.Semaphore(most or sys.maxsize)
        self._abandoned: set[Future[Any]] = set()

    async def run_in_thread(self, function: Callable[[Any], Any], given: Any) -> Any:
        """Call a function in a thread of its own; what it raises is raised here."""

        def start(call: Future[Any]) -> Callable[[], object]:
            threading.Thread(
                target=_run_function, args=(function, given, call), daemon=True
            ).start()
            return lambda: None  # nobody can end a thread

        return await self._run_call(start)

    async def run_in_loop(self, own: LoopThread, make: Callable[[], Awaitable[Any]]) -> Any:
        """Await in another loop what is made there; what is given up here is cancelled there."""
        return await self._run_call(lambda call: own.start_call(call, make), _BLOCKED_MESSAGE)

    async def _run_call(self, start: StartCall, held_up: str = "") -> Any:
        """Begin a call and wait for its end; what was held up until it is given up never begins."""
        await self._acquire_slot()
        call: Future[Any] = Future()
        call.add_done_callback(partial(self._release_slot, asyncio.get_running_loop()))
        try:
            cancel = start(call)
        except BaseException:
            call.cancel()  # so it leaves its place
            raise
        try:
            return await asyncio.wrap_future(call)
        except asyncio.CancelledError as error:
            if call.cancel():
                raise asyncio.CancelledError(held_up) from error
            if call.running():
                self._abandoned.add(call)
            cancel()
            raise

    async def _acquire_slot(self) -> None:
        """Wait for a place; who gives up is told who holds them all."""
        try:
            await self._slots.acquire()
        except asyncio.CancelledError as error:
            raise asyncio.CancelledError(_describe_running_calls(len(self._abandoned))) from error

    def _release_slot(self, loop: asyncio.AbstractEventLoop, call: Future[Any]) -> None:
        def leave() -> None:
            self._abandoned.discard(call)
            self._slots.release()

        with contextlib.suppress(RuntimeError):  # the run is over, and nobody waits
            loop.call_soon_threadsafe(leave)


def _describe_running_calls(many: int) -> str:
    if many > 1:
        return f"{many} earlier calls are still running"
    return "an earlier call is still running" if many else ""


def _run_function(function: Callable[[Any], Any], given: Any, call: Future[Any]) -> None:
    if call.set_running_or_notify_cancel():
        try:
            call.set_result(function(given))
        except BaseException as error:  # noqa: BLE001 - handed to who called
            call.set_exception(_to_exception(error))


async def _run_awaitable(make: Callable[[], Awaitable[Any]], call: Future[Any]) -> None:
    if call.set_running_or_notify_cancel():
        try:
            call.set_result(await make())
        except asyncio.CancelledError as error:
            call.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - handed to who called
            call.set_exception(_to_exception(error))


def _to_exception(error: BaseException) -> Exception:
    """Return what a future takes and who called may catch: an exit, too, is then an error."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__} {error}".strip())


class LoopThread:
    """A loop in a thread of its own: what blocks it holds up nobody else."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._is_finished = False
        threading.Thread(target=self._run_loop, daemon=True, name="markscheme functions").start()

    def _run_loop(self) -> None:
        while not (self._is_finished or self._loop.is_closed()):
            with contextlib.suppress(BaseException):  # one of their tasks left; the others stay
                self._loop.run_forever()
        self._loop.close()

    def start_call(
        self, call: Future[Any], make: Callable[[], Awaitable[Any]]
    ) -> Callable[[], object]:
        """Begin a call in the context of who calls, and return what cancels it."""
        context = copy_context()
        tasks: list[asyncio.Task[None]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(_run_awaitable(make, call), context=context))

        self._loop.call_soon_threadsafe(begin)
        return lambda: self._loop.call_soon_threadsafe(tasks[0].cancel)

    async def close(self) -> None:
        """Cancel what is left and end; where something blocks it, that is done later."""
        here, ended = asyncio.get_running_loop(), asyncio.Event()

        async def wind_up() -> None:
            await self._cancel_all_tasks()
            with contextlib.suppress(RuntimeError):  # nobody waits any more
                here.call_soon_threadsafe(ended.set)

        asyncio.run_coroutine_threadsafe(wind_up(), self._loop)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await ended.wait()

    async def _cancel_all_tasks(self) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=_CLOSE_TIMEOUT)
        await self._loop.shutdown_asyncgens()
        self._is_finished = all(task.done() for task in left)
        if self._is_finished:
            self._loop.stop()


_LOOP_THREADS: dict[tuple[asyncio.AbstractEventLoop, str], LoopThread] = {}


def get_loop_thread(home: str) -> LoopThread:
    """Return the loop of a package, in this run: its functions may share what belongs to one."""
    key = (asyncio.get_running_loop(), home)
    if key not in _LOOP_THREADS:
        _LOOP_THREADS[key] = LoopThread()
    return _LOOP_THREADS[key]


async def close_loop_thread(home: str) -> None:
    """Close the loop of a package, if there is one; the run is over."""
    own = _LOOP_THREADS.pop((asyncio.get_running_loop(), home), None)
    if own is not None:
        await own.close()

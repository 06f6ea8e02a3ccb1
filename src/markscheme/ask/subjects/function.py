"""A Python function as a subject: it takes the prompt and returns the answer; sync or async.

A module of the present folder is refused where Python or markscheme has another of that name: the
folder comes last on the search path. Functions are never called in the event loop of the
run, which one of them may block: a plain function runs in a thread, an async one in a loop of its
own. Both are daemons, so that a call that was given up does not keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from markscheme.ask.questions import Question
from markscheme.ask.replies import Fault, Reply, build_exception_reply
from markscheme.ask.subjects.base import BaseSubject, Stopwatch, SubjectOptions
from markscheme.vocabulary import Terminated, UsageError, format_value


class FunctionSubject(BaseSubject):
    """Calls the function for each question; an exception becomes a reply with a fault."""

    def __init__(self, name: str, function: Callable[[str], Any], options: SubjectOptions) -> None:
        self.name = f"python:{name}"
        self.parameters: dict[str, Any] = {}
        self._function = function
        self._package = name.partition(":")[0].partition(".")[0]
        self._calls = CallPool(options.concurrency)

    async def __aexit__(self, *_: object) -> None:
        await close_loop_thread(self._package)

    async def ask(self, question: Question) -> Reply:
        """Call the function with the question as one text."""
        try:
            answer, latency = await self._call_timed(question.text)
        except Exception as error:  # noqa: BLE001 - the function may be anybody's
            return build_exception_reply(error)
        return _build_function_reply(answer, latency)

    async def _call_timed(self, text: str) -> tuple[Any, int]:
        """Return the result and its latency, without the time that the call waited to begin."""
        if inspect.iscoroutinefunction(self._function):
            return await self._await_timed(lambda: self._function(text))
        result, latency = await self._calls.run_in_thread(_run_timed, lambda: self._function(text))
        if not inspect.isawaitable(result):
            return result, latency
        # An object with an async `__call__` looks like a plain function until it is called.
        result, more = await self._await_timed(lambda: result)
        return result, latency + more

    async def _await_timed(self, make: Callable[[], Awaitable[Any]]) -> tuple[Any, int]:
        async def timed() -> tuple[Any, int]:
            watch = Stopwatch()
            return await make(), watch()

        loop_thread = get_loop_thread(self._package)
        result: tuple[Any, int] = await self._calls.run_in_loop(loop_thread, timed)
        return result


def _run_timed(function: Callable[[], Any]) -> tuple[Any, int]:
    watch = Stopwatch()
    return function(), watch()


def _build_function_reply(answer: Any, latency: int) -> Reply:
    match answer:
        case str():
            return Reply(text=answer, latency_us=latency)
        case Mapping():
            try:
                text = json.dumps(dict(answer), ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError) as error:
                return Reply.from_fault(Fault.FAILED, f"the function gave no JSON: {error}")
            return Reply(text=text, latency_us=latency)
    why = f"the function gave a {type(answer).__name__}"
    return Reply.from_fault(Fault.FAILED, f"{why}; allowed are a text and a dict")


def create_function_subject(rest: str, options: SubjectOptions) -> FunctionSubject:
    """Import the function `MODULE:FUNCTION`, and create its subject."""
    return FunctionSubject(rest, import_function(rest), options)


def import_function(path: str) -> Callable[[str], Any]:
    """Import `MODULE:FUNCTION` from the present folder, or else from where Python finds it.

    The folder comes last on the search path, so that no module in it is loaded instead of what
    markscheme needs.
    """
    module, _, name = path.rpartition(":")
    if not module or not name:
        why = f"{format_value(f'python:{path}')} names no function"
        raise UsageError(f"{why}; write python:MODULE:FUNCTION")
    _refuse_file_path(module, name)
    here = Path.cwd()
    if str(here) not in sys.path:
        sys.path.append(str(here))
    loaded_before = set(sys.modules)
    try:
        imported = import_module(module)
        loaded = {name.partition(".")[0] for name in set(sys.modules) - loaded_before}
        for top in sorted({*loaded, module.partition(".")[0]}):
            _refuse_module_from_elsewhere(top, here)
        function = getattr(imported, name)
    except (KeyboardInterrupt, Terminated, UsageError):
        raise
    except BaseException as error:
        why = f"cannot import `{name}` of `{module}`: {type(error).__name__}: {error}"
        raise UsageError(why) from error
    if not callable(function):
        raise UsageError(f"`{name}` of `{module}` is not a function")
    checked: Callable[[str], Any] = function
    return checked


def _refuse_file_path(module: str, name: str) -> None:
    """Refuse the path of a file, and tell the name of its module."""
    parts = module.replace("\\", "/").split("/")
    if len(parts) == 1 and not module.endswith(".py"):
        return
    inner = [part for part in parts if part != "."]
    is_outside = "" in inner or ".." in inner  # absolute, or above the present folder
    dotted = ".".join(inner[-1:] if is_outside else inner).removesuffix(".py")
    advice = f"python:{dotted}:{name}{' in its folder' if is_outside else ''}"
    raise UsageError(f"{format_value(module)} is a file, and not a module; write {advice}")


def _refuse_module_from_elsewhere(top: str, here: Path) -> None:
    """Refuse a module of the present folder if another of that name was imported."""
    local = _find_module_file(top, here)
    loaded = getattr(sys.modules.get(top), "__file__", None)
    if local is None or (loaded and Path(loaded).exists() and local.samefile(loaded)):
        return
    other = f"`{loaded}`" if loaded else "a part of Python"
    why = f"`{top}` is {other}, which is found first, and not `{local}`"
    raise UsageError(f"{why}; rename yours")


def _find_module_file(module: str, here: Path) -> Path | None:
    """Return the file of a module in a folder, if there is one."""
    files = (here / f"{module}.py", here / module / "__init__.py")
    return next(filter(Path.is_file, files), None)


_CLOSE_TIMEOUT = 0.5  # seconds that the tasks of a loop have to end when it is closed
_BLOCKED_MESSAGE = "another call blocks the loop of the function, which is async"

# Starts a call, and returns a function that cancels it.
StartCall = Callable[["Future[Any]"], Callable[[], object]]


class CallPool:
    """Limits the calls of one subject; calls that were given up and still run count too."""

    def __init__(self, max_calls: int | None) -> None:
        self._slots = asyncio.Semaphore(max_calls or sys.maxsize)
        self._abandoned: set[Future[Any]] = set()

    async def run_in_thread(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Call a function in a thread of its own; its exception is raised here."""

        def start(call: Future[Any]) -> Callable[[], object]:
            threading.Thread(
                target=_run_function, args=(function, argument, call), daemon=True
            ).start()
            return lambda: None  # a thread cannot be cancelled

        return await self._run_call(start)

    async def run_in_loop(self, loop: LoopThread, make: Callable[[], Awaitable[Any]]) -> Any:
        """Await the result of `make` in another loop; cancelled here, it is cancelled there."""
        return await self._run_call(lambda call: loop.start_call(call, make), _BLOCKED_MESSAGE)

    async def _run_call(self, start: StartCall, blocked_message: str = "") -> Any:
        """Start a call and wait for its end.

        A call that is given up before it could begin never begins; `blocked_message` says why.
        """
        await self._acquire_slot()
        call: Future[Any] = Future()
        call.add_done_callback(partial(self._release_slot, asyncio.get_running_loop()))
        try:
            cancel = start(call)
        except BaseException:
            call.cancel()  # frees its slot
            raise
        try:
            return await asyncio.wrap_future(call)
        except asyncio.CancelledError as error:
            if call.cancel():
                raise asyncio.CancelledError(blocked_message) from error
            if call.running():
                self._abandoned.add(call)
            cancel()
            raise

    async def _acquire_slot(self) -> None:
        """Wait for a slot; a caller that gives up is told which calls hold them all."""
        try:
            await self._slots.acquire()
        except asyncio.CancelledError as error:
            count = len(self._abandoned)
            why = "an earlier call is still running" if count else ""
            why = f"{count} earlier calls are still running" if count > 1 else why
            raise asyncio.CancelledError(why) from error

    def _release_slot(self, loop: asyncio.AbstractEventLoop, call: Future[Any]) -> None:
        def leave() -> None:
            self._abandoned.discard(call)
            self._slots.release()

        with contextlib.suppress(RuntimeError):  # the loop of the run is closed
            loop.call_soon_threadsafe(leave)


def _run_function(function: Callable[[Any], Any], argument: Any, call: Future[Any]) -> None:
    if call.set_running_or_notify_cancel():
        try:
            call.set_result(function(argument))
        except BaseException as error:  # noqa: BLE001 - raised at the caller
            call.set_exception(_to_exception(error))


async def _run_awaitable(make: Callable[[], Awaitable[Any]], call: Future[Any]) -> None:
    if call.set_running_or_notify_cancel():
        try:
            call.set_result(await make())
        except asyncio.CancelledError as error:
            call.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - raised at the caller
            call.set_exception(_to_exception(error))


def _to_exception(error: BaseException) -> Exception:
    """Return an exception that a future accepts; `SystemExit` and the like become RuntimeError."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__} {error}".strip())


class LoopThread:
    """An event loop in a thread of its own, so that code that blocks it blocks nothing else."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._is_finished = False
        threading.Thread(target=self._run_loop, daemon=True, name="markscheme functions").start()

    def _run_loop(self) -> None:
        while not (self._is_finished or self._loop.is_closed()):
            # A task may raise SystemExit and end the loop; the other tasks go on.
            with contextlib.suppress(BaseException):
                self._loop.run_forever()
        self._loop.close()

    def start_call(
        self, call: Future[Any], make: Callable[[], Awaitable[Any]]
    ) -> Callable[[], object]:
        """Start a call in the context of the caller, and return a function that cancels it."""
        context = copy_context()
        tasks: list[asyncio.Task[None]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(_run_awaitable(make, call), context=context))

        self._loop.call_soon_threadsafe(begin)
        return lambda: self._loop.call_soon_threadsafe(tasks[0].cancel)

    async def close(self) -> None:
        """Cancel what is left and end the thread; where something blocks it, do so later."""
        here, ended = asyncio.get_running_loop(), asyncio.Event()

        async def wind_up() -> None:
            await self._cancel_all_tasks()
            with contextlib.suppress(RuntimeError):  # the other loop is closed
                here.call_soon_threadsafe(ended.set)

        asyncio.run_coroutine_threadsafe(wind_up(), self._loop)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await ended.wait()

    async def _cancel_all_tasks(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_TIMEOUT)
        await self._loop.shutdown_asyncgens()
        self._is_finished = all(task.done() for task in tasks)
        if self._is_finished:
            self._loop.stop()


_LOOP_THREADS: dict[tuple[asyncio.AbstractEventLoop, str], LoopThread] = {}


def get_loop_thread(package: str) -> LoopThread:
    """Return the loop of a package in this run: its functions may share objects of one loop."""
    key = (asyncio.get_running_loop(), package)
    if key not in _LOOP_THREADS:
        _LOOP_THREADS[key] = LoopThread()
    return _LOOP_THREADS[key]


async def close_loop_thread(package: str) -> None:
    """Close the loop of a package at the end of a run, if there is one."""
    loop_thread = _LOOP_THREADS.pop((asyncio.get_running_loop(), package), None)
    if loop_thread is not None:
        await loop_thread.close()

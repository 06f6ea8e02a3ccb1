"""Between loops and threads: calls that block, and a loop where another one runs already."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


async def in_thread(function: Callable[[Any], Any], given: Any) -> Any:
    """Call a function in a thread of its own; what it raises is raised here.

    The thread ends with the process, so that a call that was given up holds nothing back.
    """
    loop = asyncio.get_running_loop()
    called: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if called.done():
            return
        if error is None:
            called.set_result(result)
        else:
            called.set_exception(error)

    def work() -> None:
        result: Any = None
        raised: Exception | None = None
        try:
            result = function(given)
        except (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration) as error:
            raised = RuntimeError(f"{type(error).__name__} {error}".strip())  # a future takes none
        except Exception as error:  # noqa: BLE001 - handed to who called
            raised = error
        with contextlib.suppress(RuntimeError):  # the run is over, and nobody listens
            loop.call_soon_threadsafe(settle, result, raised)

    threading.Thread(target=work, daemon=True).start()
    return await called


def to_the_end(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine, also where a loop runs already, as in a notebook: then in a thread.

    Who interrupts us there interrupts the coroutine, which may still tidy up.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
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

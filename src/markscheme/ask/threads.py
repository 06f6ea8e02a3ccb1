"""Calls that block, in threads that nobody waits for: Python cannot stop one that never returns."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


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

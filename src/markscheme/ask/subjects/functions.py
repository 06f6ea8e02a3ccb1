"""A Python function as a subject: given the prompt, it returns the answer; sync or async."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from markscheme.ask.calls import Calls, close_loop_of, loop_of
from markscheme.ask.importing import function_of
from markscheme.ask.raised import reply_to
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects.base import BaseSubject, Options, Watch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from markscheme.ask.questions import Question


class FunctionSubject(BaseSubject):
    """Calls the function; what it raises is the fault of its answer."""

    def __init__(self, name: str, function: Callable[[str], Any], options: Options) -> None:
        self.name = f"python:{name}"
        self.parameters: dict[str, Any] = {}
        self._function = function
        self._home = name.partition(":")[0].partition(".")[0]
        self._calls = Calls(options.concurrency)

    async def __aexit__(self, *_: object) -> None:
        await close_loop_of(self._home)

    async def ask(self, question: Question) -> Reply:
        """Call the function with the question as one text."""
        try:
            given, latency = await self._timed(question.text)
        except Exception as error:  # noqa: BLE001 - the function may be anybody's
            return reply_to(error)
        return _reply(given, latency)

    async def _timed(self, text: str) -> tuple[Any, int]:
        """Return what it gave and after how long; waiting until it begins is not in that."""
        if inspect.iscoroutinefunction(self._function):
            return await self._awaited(lambda: self._function(text))
        given, latency = await self._calls.in_thread(_returned, lambda: self._function(text))
        if not inspect.isawaitable(given):
            return given, latency
        given, more = await self._awaited(lambda: given)  # an async `__call__`
        return given, latency + more

    async def _awaited(self, make: Callable[[], Awaitable[Any]]) -> tuple[Any, int]:
        async def timed() -> tuple[Any, int]:
            watch = Watch()
            return await make(), watch()

        found: tuple[Any, int] = await self._calls.in_loop(loop_of(self._home), timed)
        return found


def _returned(function: Callable[[], Any]) -> tuple[Any, int]:
    watch = Watch()
    return function(), watch()


def _reply(given: Any, latency: int) -> Reply:
    match given:
        case str():
            return Reply(text=given, latency_us=latency)
        case Mapping():
            try:
                text = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError) as error:
                return Reply.failed(Fault.FAILED, f"the function gave no JSON: {error}")
            return Reply(text=text, latency_us=latency)
    told = f"the function gave a {type(given).__name__}"
    return Reply.failed(Fault.FAILED, f"{told}; allowed are a text and a dict")


def subject(rest: str, options: Options) -> FunctionSubject:
    """Import the function."""
    return FunctionSubject(rest, function_of(rest), options)

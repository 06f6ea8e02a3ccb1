"""A Python function as a subject: given the prompt, it returns the answer; sync or async."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from markscheme.ask.faults import build_exception_reply
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects.base import BaseSubject, Stopwatch, SubjectOptions
from markscheme.ask.user_code import CallPool, close_loop_thread, get_loop_thread, import_function

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from markscheme.ask.questions import Question


class FunctionSubject(BaseSubject):
    """Calls the function; what it raises is the fault of its answer."""

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
            given, latency = await self._call_timed(question.text)
        except Exception as error:  # noqa: BLE001 - the function may be anybody's
            return build_exception_reply(error)
        return _build_function_reply(given, latency)

    async def _call_timed(self, text: str) -> tuple[Any, int]:
        """Return what it gave and after how long; waiting until it begins is not in that."""
        if inspect.iscoroutinefunction(self._function):
            return await self._await_timed(lambda: self._function(text))
        given, latency = await self._calls.run_in_thread(_run_timed, lambda: self._function(text))
        if not inspect.isawaitable(given):
            return given, latency
        given, more = await self._await_timed(lambda: given)  # an async `__call__`
        return given, latency + more

    async def _await_timed(self, make: Callable[[], Awaitable[Any]]) -> tuple[Any, int]:
        async def timed() -> tuple[Any, int]:
            watch = Stopwatch()
            return await make(), watch()

        found: tuple[Any, int] = await self._calls.run_in_loop(
            get_loop_thread(self._package), timed
        )
        return found


def _run_timed(function: Callable[[], Any]) -> tuple[Any, int]:
    watch = Stopwatch()
    return function(), watch()


def _build_function_reply(given: Any, latency: int) -> Reply:
    match given:
        case str():
            return Reply(text=given, latency_us=latency)
        case Mapping():
            try:
                text = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError) as error:
                return Reply.from_fault(Fault.FAILED, f"the function gave no JSON: {error}")
            return Reply(text=text, latency_us=latency)
    told = f"the function gave a {type(given).__name__}"
    return Reply.from_fault(Fault.FAILED, f"{told}; allowed are a text and a dict")


def subject(rest: str, options: SubjectOptions) -> FunctionSubject:
    """Import the function."""
    return FunctionSubject(rest, import_function(rest), options)

"""A Python function as a subject: it takes the prompt and returns the answer; sync or async."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from markscheme.ask.faults import build_exception_reply
from markscheme.ask.questions import Question
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.subjects.base import BaseSubject, Stopwatch, SubjectOptions
from markscheme.ask.user_code import CallPool, close_loop_thread, get_loop_thread, import_function


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

"""A streamed completion: server-sent events, and when the first token came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from markscheme.ask.completions import said_in, usage_of
from markscheme.ask.replies import Fault, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

_DATA = b"data:"
_END = b"[DONE]"


class Stream:
    """Hears the bytes of a response; what is no event is left to who reads the whole."""

    def __init__(self, watch: Callable[[], int]) -> None:
        self._watch = watch
        self._rest = b""
        self._texts: list[str] = []
        self._usage: Any = None
        self._reason: str | None = None
        self._first: int | None = None
        self._refused = False
        self._ended = False
        self._wrong = self._error = ""
        self.spoke = False

    def hear(self, data: bytes) -> None:
        """Take some bytes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                self._event(line.removeprefix(_DATA).strip())

    def _event(self, data: bytes) -> None:
        self.spoke = True
        if data == _END:
            self._ended = True
            return
        try:
            document = orjson.loads(data)
            self._usage = document.get("usage") or self._usage
            if document.get("error"):
                self._error = self._error or said_in(data)
            for choice in document.get("choices") or ():
                self._choice(choice)
        except (orjson.JSONDecodeError, AttributeError, TypeError) as error:
            self._wrong = self._wrong or str(error)

    def _choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta") or {}
        text = delta.get("content") or delta.get("refusal") or ""
        self._refused = self._refused or bool(delta.get("refusal"))
        if text and self._first is None:
            self._first = self._watch()
        self._texts.append(text)
        reason = choice.get("finish_reason")
        if isinstance(reason, str):
            self._reason = reason

    def reply(self, latency: int) -> Reply:
        """Return the whole answer, unless its end never came."""
        if self._wrong:
            return Reply.failed(Fault.GARBLED, f"an event of the stream is no JSON: {self._wrong}")
        if self._error:
            return Reply.failed(Fault.SERVER, f"the stream ended with an error: {self._error}")
        if not self._ended and self._reason is None:
            return Reply.failed(Fault.BROKEN_OFF, "the stream ended before the answer did")
        return Reply(
            text="".join(self._texts),
            finish_reason="refusal" if self._refused else self._reason,
            latency_us=latency,
            first_token_us=self._first,
            **usage_of(self._usage),
        )

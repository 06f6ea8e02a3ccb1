"""A streamed completion: server-sent events, and when the first token came."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from markscheme.ask.completions import (
    error_of,
    failed_by,
    refusal_of,
    said_in,
    text_of,
    usage_in,
    usage_of,
)
from markscheme.ask.replies import Fault, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.ask.keys import Secrets

_DATA = b"data:"
_END = b"[DONE]"
_HALF = rb"\ud"  # begins the escape of one


def _loaded(data: bytes) -> Any:
    """Read JSON; it may hold half of a sign that takes two escapes: the rest may follow."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        if _HALF not in data.lower():
            raise
        return json.loads(data)


def _rejoined(text: str) -> str:
    """Return a text in which signs are whole whose halves came apart."""
    try:
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:  # one half never came
        return text


class Stream:
    """Hears the bytes of a response; what is no event is left to who reads the whole."""

    def __init__(self, watch: Callable[[], int], secrets: Secrets) -> None:
        self._watch = watch
        self._secrets = secrets
        self._rest: list[bytes] = []  # of a line whose end is yet to come
        self._held: list[bytes] = []  # lines of an event that has several
        self._texts: list[str] = []
        self._usage: Any = None
        self._reason: str | None = None
        self._first: int | None = None
        self._refused = self._in_deltas = self._returned = False
        self._ended: int | None = None  # when it was said to be the end
        self._wrong = ""
        self._error: Any = None
        self.spoke = False

    def hear(self, data: bytes) -> bool:
        """Take some bytes; say whether the answer is whole, whatever may follow."""
        *lines, rest = self._with_usual_ends(data).split(b"\n")
        if lines:
            lines[0], self._rest = b"".join([*self._rest, lines[0]]), []
        self._rest.append(rest)
        for line in lines:
            self._line(line)
        return self._ended is not None

    def _with_usual_ends(self, data: bytes) -> bytes:
        """Return bytes whose lines end with a line feed; some end with a carriage return, or both.

        The two of one end may come apart.
        """
        if self._returned and data:
            data = data.removeprefix(b"\n")
        self._returned = data.endswith(b"\r")
        if b"\r" not in data:
            return data
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _line(self, line: bytes) -> None:
        """Take a line: most are an event, some a part of one, and an empty one is its end.

        What follows the end of the answer is nobody's.
        """
        if self._ended is not None:
            return
        line = line.removeprefix(BOM_UTF8).strip()
        if line.startswith(_DATA):
            self.spoke = True
            data = line.removeprefix(_DATA).strip()
            if data == _END:
                self._ended = self._watch()
            elif self._held or not self._event(data):
                self._held.append(data)
        elif not line and self._held:
            whole, self._held = b"\n".join(self._held), []
            if not self._event(whole):
                self._wrong = self._wrong or f"no JSON: {said_in(whole, self._secrets)}"

    def _event(self, data: bytes) -> bool:
        """Take an event, if it is JSON."""
        try:
            document = _loaded(data)
        except (ValueError, RecursionError):
            return False
        try:
            self._take(document)
        except (AttributeError, TypeError):
            told = f"none of a completion: {said_in(data, self._secrets)}"
            self._wrong = self._wrong or told
        return True

    def _take(self, document: dict[str, Any]) -> None:
        self._usage = usage_in(document) or self._usage
        self._error = self._error or document.get("error")
        for choice in document.get("choices") or ():
            self._error = self._error or error_of(choice, document)
            self._choice(choice)
            reason = choice.get("finish_reason")
            self._reason = reason if isinstance(reason, str) else self._reason

    def _choice(self, choice: dict[str, Any]) -> None:
        delta = self._part_of(choice)
        if delta is None:
            return
        text, refusal = text_of(delta.get("content")), refusal_of(delta)
        if text is None or refusal is None:
            raise TypeError("not text")
        self._refused = self._refused or bool(refusal)
        if (text or refusal) and self._first is None:
            self._first = self._watch()
        self._texts.append(text or refusal)

    def _part_of(self, choice: dict[str, Any]) -> dict[str, Any] | None:
        """Return what a choice adds: a delta, or a message where no delta ever came."""
        delta: dict[str, Any] | None = choice.get("delta")
        self._in_deltas = self._in_deltas or delta is not None
        return delta if self._in_deltas else choice.get("message")

    def reply(self, latency: int) -> Reply:
        """Return the whole answer, unless its end never came; what it took is known anyhow."""
        self._line(b"".join(self._rest))  # it may lack its end
        usage, failed = usage_of(self._usage), self._failed()
        if failed is not None:
            return replace(failed, **usage)
        return Reply(
            text=_rejoined("".join(self._texts)),
            finish_reason="refusal" if self._refused else self._reason,
            latency_us=latency if self._ended is None else self._ended,
            first_token_us=self._first,
            **usage,
        )

    def _failed(self) -> Reply | None:
        if self._wrong:
            return Reply.failed(Fault.GARBLED, f"an event of the stream is {self._wrong}")
        if self._error:
            return failed_by(self._error, "the stream", self._secrets)
        if self._ended is None and self._reason is None:
            return Reply.failed(Fault.BROKEN_OFF, "the stream ended before the answer did")
        if not self._texts:
            return Reply.failed(Fault.GARBLED, "the stream holds no answer")
        return None

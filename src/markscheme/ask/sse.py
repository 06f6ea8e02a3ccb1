"""Parses a streamed completion (server-sent events), and measures the time to its first token."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson

from markscheme.ask.completions import (
    build_error_reply,
    extract_error_message,
    extract_refusal,
    extract_text,
    find_choice_error,
    find_usage,
    parse_usage,
)
from markscheme.ask.replies import Fault, Reply
from markscheme.ask.secrets import Secrets

_DATA_PREFIX = b"data:"
_DONE_MARKER = b"[DONE]"
_SURROGATE_ESCAPE = rb"\ud"  # how the JSON escape of a surrogate begins


def _load_event_json(data: bytes) -> Any:
    """Parse JSON that may end in half of a surrogate pair; the next event may hold the other."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        if _SURROGATE_ESCAPE not in data.lower():
            raise
        return json.loads(data)


def _join_surrogates(text: str) -> str:
    """Join surrogate pairs whose halves came in two events."""
    try:
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:  # the other half never came
        return text


class CompletionStream:
    """Collects the events of one response as its bytes arrive.

    `has_events` stays false for a response that is no stream; the caller then parses its body.
    """

    def __init__(self, watch: Callable[[], int], secrets: Secrets) -> None:
        self._stopwatch = watch
        self._secrets = secrets
        self._partial_line: list[bytes] = []  # pieces of a line whose end is yet to come
        self._event_lines: list[bytes] = []  # lines of an event that spans several
        self._texts: list[str] = []
        self._usage: Any = None
        self._reason: str | None = None
        self._first_token_at: int | None = None
        self._refused = self._in_deltas = self._after_carriage_return = False
        self._ended_at: int | None = None  # when `[DONE]` came
        self._problem = ""
        self._error: Any = None
        self.has_events = False

    def feed(self, data: bytes) -> bool:
        """Take some bytes; return whether the answer is complete, whatever may follow."""
        *lines, rest = self._normalise_line_ends(data).split(b"\n")
        if lines:
            lines[0], self._partial_line = b"".join([*self._partial_line, lines[0]]), []
        self._partial_line.append(rest)
        for line in lines:
            self._process_line(line)
        return self._ended_at is not None

    def _normalise_line_ends(self, data: bytes) -> bytes:
        """Convert CR and CRLF to LF; the CR and the LF of one CRLF may come in two pieces."""
        if self._after_carriage_return and data:
            data = data.removeprefix(b"\n")
        self._after_carriage_return = data.endswith(b"\r")
        if b"\r" not in data:
            return data
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _process_line(self, line: bytes) -> None:
        """Process a line: most are a whole event, some a part of one, an empty one ends it.

        Lines after `[DONE]` are ignored.
        """
        if self._ended_at is not None:
            return
        line = line.removeprefix(BOM_UTF8).strip()
        if line.startswith(_DATA_PREFIX):
            self.has_events = True
            data = line.removeprefix(_DATA_PREFIX).strip()
            if data == _DONE_MARKER:
                self._ended_at = self._stopwatch()
            elif self._event_lines or not self._process_event(data):
                self._event_lines.append(data)
        elif not line and self._event_lines:
            whole, self._event_lines = b"\n".join(self._event_lines), []
            if not self._process_event(whole):
                self._problem = (
                    self._problem or f"no JSON: {extract_error_message(whole, self._secrets)}"
                )

    def _process_event(self, data: bytes) -> bool:
        """Process an event; return False if it is no JSON, so that more lines may belong to it."""
        try:
            document = _load_event_json(data)
        except (ValueError, RecursionError):
            return False
        try:
            self._process_document(document)
        except (AttributeError, TypeError):
            problem = f"none of a completion: {extract_error_message(data, self._secrets)}"
            self._problem = self._problem or problem
        return True

    def _process_document(self, document: dict[str, Any]) -> None:
        self._usage = find_usage(document) or self._usage
        self._error = self._error or document.get("error")
        for choice in document.get("choices") or ():
            self._error = self._error or find_choice_error(choice, document)
            self._process_choice(choice)
            reason = choice.get("finish_reason")
            self._reason = reason if isinstance(reason, str) else self._reason

    def _process_choice(self, choice: dict[str, Any]) -> None:
        delta = self._select_delta(choice)
        if delta is None:
            return
        text, refusal = extract_text(delta.get("content")), extract_refusal(delta)
        if text is None or refusal is None:
            raise TypeError("not text")
        self._refused = self._refused or bool(refusal)
        if (text or refusal) and self._first_token_at is None:
            self._first_token_at = self._stopwatch()
        self._texts.append(text or refusal)

    def _select_delta(self, choice: dict[str, Any]) -> dict[str, Any] | None:
        """Return what a choice adds: its delta, or its message if the stream has no deltas."""
        delta: dict[str, Any] | None = choice.get("delta")
        self._in_deltas = self._in_deltas or delta is not None
        return delta if self._in_deltas else choice.get("message")

    def build_reply(self, latency: int) -> Reply:
        """Build the reply: the whole answer, or why there is none; either has the usage."""
        # The last line may lack its line feed.
        self._process_line(b"".join(self._partial_line))
        usage, failure = parse_usage(self._usage), self._find_failure()
        if failure is not None:
            return replace(failure, **usage)
        return Reply(
            text=_join_surrogates("".join(self._texts)),
            finish_reason="refusal" if self._refused else self._reason,
            latency_us=latency if self._ended_at is None else self._ended_at,
            first_token_us=self._first_token_at,
            **usage,
        )

    def _find_failure(self) -> Reply | None:
        if self._problem:
            return Reply.from_fault(Fault.GARBLED, f"an event of the stream is {self._problem}")
        if self._error:
            return build_error_reply(self._error, "the stream", self._secrets)
        if self._ended_at is None and self._reason is None:
            return Reply.from_fault(Fault.BROKEN_OFF, "the stream ended before the answer did")
        if not self._texts:
            return Reply.from_fault(Fault.GARBLED, "the stream holds no answer")
        return None

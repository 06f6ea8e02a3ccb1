"""Parses the completion of an OpenAI-compatible endpoint, whole or streamed, as a reply.

Endpoints differ in many small ways; each helper here says which one it deals with.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from markscheme.ask.replies import Fault, Reply, build_status_reply, to_single_line
from markscheme.ask.secrets import Secrets
from markscheme.read.storable import MAX_STORABLE_NUMBER, validate_count

_MAX_MESSAGE_LENGTH = 200
_MAX_MODEL_LENGTH = 200
_TOOL_CALL_ENDS = {"tool_calls", "function_call"}
_ERROR_STATUSES = {str(status): status for status in range(400, 600)}


def parse_completion(
    body: bytes, latency: int, secrets: Secrets, *, judging: bool = False
) -> Reply:
    """Parse a response body; anything that is no completion is a garbled reply.

    When `judging`, nothing is overlooked: a second choice, a tool call beside a text, or an end
    that is not told is no reply. The arguments of one tool call are the text of a reply without
    content: some endpoints give structured output like this.
    """
    try:
        document = orjson.loads(body.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        shown = to_single_line(
            f"{extract_error_message(body, secrets) or 'it is empty'} ({error})",
            _MAX_MESSAGE_LENGTH * 2,
        )
        return Reply.from_fault(Fault.GARBLED, f"the response is no JSON: {shown}")
    usage = parse_usage(find_usage(document) if isinstance(document, dict) else None)
    choice = _parse_choice(document, secrets, judging=judging)
    choice = choice or _build_non_completion_reply(document, extract_error_message(body, secrets))
    if isinstance(choice, Reply):
        return replace(choice, **usage)
    text, reason = choice
    served = _parse_served_model(document)
    return Reply(text=text, finish_reason=reason, latency_us=latency, served=served, **usage)


def _parse_served_model(document: dict[str, Any]) -> str | None:
    """Return the model that a document says it comes from, as far as that can be stored."""
    model = document.get("model")
    return to_single_line(model, _MAX_MODEL_LENGTH) or None if isinstance(model, str) else None


def _parse_choice(
    document: Any, secrets: Secrets, *, judging: bool
) -> tuple[str, str | None] | Reply | None:
    """Return text and finish reason, a reply with a fault, or None if it is no completion."""
    try:
        choice = document["choices"][0]
        error = find_choice_error(choice, document)
        if error is not None:
            return build_error_reply(error, "the answer", secrets)
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = extract_text(message.get("content")), extract_refusal(message)
        if judging and text is not None and not refusal:
            if document.get("error"):
                return build_error_reply(document["error"], "the response", secrets)
            if len(document["choices"]) > 1:
                return Reply.from_fault(Fault.GARBLED, "the response holds several answers")
            text, reason = _extract_judgement(text, choice)
    except (LookupError, TypeError, AttributeError):
        return None
    if text is None or refusal is None:
        return Reply.from_fault(Fault.GARBLED, "the content of the answer is not text")
    return text or refusal, "refusal" if refusal else reason if isinstance(reason, str) else None


def _extract_judgement(text: str, choice: Any) -> tuple[str, str | None]:
    """Return the text of a judge's reply and why it ended, as a text, unless it is not stated."""
    reason = choice.get("finish_reason")
    if not isinstance(reason, str) and "finish_reason" in choice:
        reason = json.dumps(reason)
    message = choice["message"]
    calls = bool(message.get("tool_calls") or message.get("function_call"))
    if text.strip():
        return text, "a tool call" if calls else reason
    return _extract_tool_arguments(message), "stop" if reason in _TOOL_CALL_ENDS else reason


def find_choice_error(choice: Any, document: Any) -> Any:
    """Return the error that ended an answer early, if there is one; its text is incomplete."""
    if choice.get("finish_reason") == "error":
        return choice.get("error") or document.get("error") or "it does not tell why"
    return choice.get("error") or None


def build_error_reply(error: Any, what: str, secrets: Secrets) -> Reply:
    """Build the reply for an error inside a response; without a status it counts as transient."""
    message = error.get("message") if isinstance(error, dict) else error
    why = f"{what} ended with an error: {_format_error_message(str(message or error), secrets)}"
    status = _find_error_status(error)
    if status is None:
        return Reply.from_fault(Fault.SERVER, why)
    return build_status_reply(status, why)


def _build_non_completion_reply(document: Any, message: str) -> Reply:
    """Build the reply for a document that is no completion; it may be an error with a status."""
    status = _find_error_status(document.get("error")) if isinstance(document, dict) else None
    if status is None:
        return Reply.from_fault(Fault.GARBLED, f"the response is no completion: {message}")
    return build_status_reply(status, f"the response says {status}: {message}")


def _find_error_status(error: Any) -> int | None:
    """Return the `code` of an error, where it is a status; gateways send such errors with 200."""
    code = error.get("code") if isinstance(error, dict) else None
    return _ERROR_STATUSES.get(str(code)) if type(code) in {int, str} else None


def extract_text(content: Any) -> str | None:
    """Return a content as text: a string, or the text parts of a list; None if it is neither."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    texts = [part.get("text") for part in content if part.get("type") == "text"]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else None


def _extract_tool_arguments(message: Any) -> str:
    """Return the arguments of the only tool call of a message; an empty text if there is none."""
    calls = message.get("tool_calls") or []
    functions = [call["function"] for call in calls] or [message.get("function_call") or {}]
    arguments = functions[0].get("arguments") if len(functions) == 1 else None
    return arguments if isinstance(arguments, str) else ""


def extract_refusal(message: Any) -> str | None:
    """Return the refusal of a message as text; LiteLLM may have it in a field further down."""
    refusal = message.get("refusal") or _find_refusal_part(message.get("content"))
    others = None if refusal else message.get("provider_specific_fields")
    return extract_text(others.get("refusal") if isinstance(others, dict) else refusal)


def _find_refusal_part(content: Any) -> Any:
    """Return the refusal among the parts of a content."""
    parts = [part for part in content if isinstance(part, dict)] if type(content) is list else []
    return next((part.get("refusal") for part in parts if part.get("type") == "refusal"), None)


def find_usage(document: dict[str, Any]) -> Any:
    """Return the usage of a document; streams of Groq have it in a field further down."""
    usage, groq = document.get("usage"), document.get("x_groq")
    return usage or (groq.get("usage") if isinstance(groq, dict) else None)


def parse_usage(usage: Any) -> dict[str, Any]:
    """Return tokens and cost of an answer as fields of a reply; None where they are unknown."""
    known = usage if isinstance(usage, dict) else {}
    cost = known.get("cost")
    return {
        "tokens_in": validate_count(_to_exact_integer(known.get("prompt_tokens"))),
        "tokens_out": validate_count(_to_exact_integer(known.get("completion_tokens"))),
        "cost": _parse_cost(cost.get("total_cost") if isinstance(cost, dict) else cost),
    }


def _to_exact_integer(value: Any) -> Any:
    """Convert 10.0 to 10: some endpoints write every number as a float."""
    return int(value) if type(value) is float and value.is_integer() else value


def _parse_cost(value: Any) -> Decimal | None:
    if type(value) not in {int, float, str}:
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= float(amount) <= MAX_STORABLE_NUMBER else None


def extract_error_message(body: bytes, secrets: Secrets) -> str:
    """Return the message of an error body, redacted, on one line and shortened."""
    try:
        error = orjson.loads(body)["error"]
        message = error["message"] if isinstance(error, dict) else error
    except (orjson.JSONDecodeError, LookupError, TypeError):
        message = None
    text = body.decode("utf-8", "replace") if message is None else str(message)
    return _format_error_message(text, secrets)


def _format_error_message(text: str, secrets: Secrets) -> str:
    # Redact before cutting, so that no half of a key remains.
    return to_single_line(secrets.redact(text)[: 4 * _MAX_MESSAGE_LENGTH], _MAX_MESSAGE_LENGTH)


def _load_event_json(data: bytes) -> Any:
    """Parse JSON that may end in half of a surrogate pair; the next event may hold the other."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # The JSON escape of a surrogate begins like this.
        if rb"\ud" not in data.lower():
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
        if line.startswith(b"data:"):
            self.has_events = True
            data = line.removeprefix(b"data:").strip()
            if data == b"[DONE]":
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
        # Some streams have no deltas, and a message in their place.
        delta = choice.get("delta")
        self._in_deltas = self._in_deltas or delta is not None
        delta = delta if self._in_deltas else choice.get("message")
        if delta is None:
            return
        text, refusal = extract_text(delta.get("content")), extract_refusal(delta)
        if text is None or refusal is None:
            raise TypeError("not text")
        self._refused = self._refused or bool(refusal)
        if (text or refusal) and self._first_token_at is None:
            self._first_token_at = self._stopwatch()
        self._texts.append(text or refusal)

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

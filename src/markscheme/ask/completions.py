"""Parses the completion of an OpenAI-compatible endpoint as a reply.

Endpoints differ in many small ways; each helper here says which one it deals with.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from markscheme.ask.faults import build_status_reply
from markscheme.ask.replies import Fault, Reply, to_single_line
from markscheme.ask.secrets import Secrets
from markscheme.read.storable import MAX_STORABLE_NUMBER, validate_count

_MAX_MESSAGE_LENGTH = 200
_ERROR_STATUSES = {str(status): status for status in range(400, 600)}


def parse_completion(body: bytes, latency: int, secrets: Secrets) -> Reply:
    """Parse a response body; anything that is no completion is a garbled reply."""
    try:
        document = orjson.loads(body.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        shown = to_single_line(
            f"{extract_error_message(body, secrets) or 'it is empty'} ({error})",
            _MAX_MESSAGE_LENGTH * 2,
        )
        return Reply.from_fault(Fault.GARBLED, f"the response is no JSON: {shown}")
    usage = parse_usage(find_usage(document) if isinstance(document, dict) else None)
    choice = _parse_choice(document, secrets) or _build_non_completion_reply(
        document, extract_error_message(body, secrets)
    )
    if isinstance(choice, Reply):
        return replace(choice, **usage)
    text, reason = choice
    return Reply(text=text, finish_reason=reason, latency_us=latency, **usage)


def _parse_choice(document: Any, secrets: Secrets) -> tuple[str, str | None] | Reply | None:
    """Return text and finish reason, a reply with a fault, or None if it is no completion."""
    try:
        choice = document["choices"][0]
        error = find_choice_error(choice, document)
        if error is not None:
            return build_error_reply(error, "the answer", secrets)
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = extract_text(message.get("content")), extract_refusal(message)
    except (LookupError, TypeError, AttributeError):
        return None
    if text is None or refusal is None:
        return Reply.from_fault(Fault.GARBLED, "the content of the answer is not text")
    return text or refusal, "refusal" if refusal else _get_text_or_none(reason)


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


def extract_refusal(message: Any) -> str | None:
    """Return the refusal of a message as text; LiteLLM may have it in a field further down."""
    refusal = message.get("refusal")
    others = None if refusal else message.get("provider_specific_fields")
    return extract_text(others.get("refusal") if isinstance(others, dict) else refusal)


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


def _get_text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def extract_error_message(body: bytes, secrets: Secrets) -> str:
    """Return the message of an error body, redacted, on one line and shortened."""
    message = _find_error_message(body)
    return _format_error_message(
        body.decode("utf-8", "replace") if message is None else str(message), secrets
    )


def _format_error_message(text: str, secrets: Secrets) -> str:
    # Redact before cutting, so that no half of a key remains.
    return to_single_line(secrets.redact(text)[: 4 * _MAX_MESSAGE_LENGTH], _MAX_MESSAGE_LENGTH)


def _find_error_message(body: bytes) -> Any:
    try:
        error = orjson.loads(body)["error"]
        return error["message"] if isinstance(error, dict) else error
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return None

"""Completions: what an OpenAI-compatible endpoint says, read as a reply."""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import orjson

from markscheme.ask.faults import build_status_reply
from markscheme.ask.replies import Fault, Reply, to_single_line
from markscheme.read.storable import MAX_STORABLE_NUMBER, validate_count

if TYPE_CHECKING:
    from markscheme.ask.secrets import Secrets

_MAX_MESSAGE_LENGTH = 200
_ERROR_STATUSES = {str(status): status for status in range(400, 600)}  # that are errors


def parse_completion(body: bytes, latency: int, secrets: Secrets) -> Reply:
    """Read a completion; whatever is not one is garbled."""
    try:
        document = orjson.loads(body.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        said = to_single_line(
            f"{extract_error_message(body, secrets) or 'it is empty'} ({error})",
            _MAX_MESSAGE_LENGTH * 2,
        )
        return Reply.from_fault(Fault.GARBLED, f"the response is no JSON: {said}")
    usage = parse_usage(find_usage(document) if isinstance(document, dict) else None)
    found = _parse_choice(document, secrets) or _build_non_completion_reply(
        document, extract_error_message(body, secrets)
    )
    if isinstance(found, Reply):
        return replace(found, **usage)
    text, reason = found
    return Reply(text=text, finish_reason=reason, latency_us=latency, **usage)


def _parse_choice(document: Any, secrets: Secrets) -> tuple[str, str | None] | Reply | None:
    """Return the answer and why it ended, or why there is none; nothing if it is no completion."""
    try:
        choice = document["choices"][0]
        ended = find_choice_error(choice, document)
        if ended is not None:
            return build_error_reply(ended, "the answer", secrets)
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = extract_text(message.get("content")), extract_refusal(message)
    except (LookupError, TypeError, AttributeError):
        return None
    if text is None or refusal is None:
        return Reply.from_fault(Fault.GARBLED, "the content of the answer is not text")
    return text or refusal, "refusal" if refusal else _get_text_or_none(reason)


def find_choice_error(choice: Any, document: Any) -> Any:
    """Return the error that an answer ended with, if it did; what was said before is a part."""
    if choice.get("finish_reason") == "error":
        return choice.get("error") or document.get("error") or "it does not tell why"
    return choice.get("error") or None


def build_error_reply(error: Any, what: str, secrets: Secrets) -> Reply:
    """Return the reply that an error inside a response is: unless it says so, it may pass."""
    said = error.get("message") if isinstance(error, dict) else error
    told = f"{what} ended with an error: {_format_error_message(str(said or error), secrets)}"
    status = _find_error_status(error)
    return (
        Reply.from_fault(Fault.SERVER, told) if status is None else build_status_reply(status, told)
    )


def _build_non_completion_reply(document: Any, said: str) -> Reply:
    """Return the reply that some other document is: an error, where it says with what status."""
    status = _find_error_status(document.get("error")) if isinstance(document, dict) else None
    if status is None:
        return Reply.from_fault(Fault.GARBLED, f"the response is no completion: {said}")
    return build_status_reply(status, f"the response says {status}: {said}")


def _find_error_status(error: Any) -> int | None:
    """Return the status that an error tells in a response whose own says that all is well."""
    code = error.get("code") if isinstance(error, dict) else None
    return _ERROR_STATUSES.get(str(code)) if type(code) in {int, str} else None


def extract_text(content: Any) -> str | None:
    """Return a content as text; of parts those that are text, which thoughts are not."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    texts = [part.get("text") for part in content if part.get("type") == "text"]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else None


def extract_refusal(message: Any) -> str | None:
    """Return the refusal of a message as text; LiteLLM passes on that of others further down."""
    found = message.get("refusal")
    others = None if found else message.get("provider_specific_fields")
    return extract_text(others.get("refusal") if isinstance(others, dict) else found)


def find_usage(document: dict[str, Any]) -> Any:
    """Return the usage that a document tells; Groq does so further down where it streams."""
    found, groq = document.get("usage"), document.get("x_groq")
    return found or (groq.get("usage") if isinstance(groq, dict) else None)


def parse_usage(usage: Any) -> dict[str, Any]:
    """Return the tokens and, where the endpoint tells it, the cost of an answer."""
    told = usage if isinstance(usage, dict) else {}
    cost = told.get("cost")
    return {
        "tokens_in": validate_count(_to_exact_integer(told.get("prompt_tokens"))),
        "tokens_out": validate_count(_to_exact_integer(told.get("completion_tokens"))),
        "cost": _parse_cost(cost.get("total_cost") if isinstance(cost, dict) else cost),
    }


def _to_exact_integer(value: Any) -> Any:
    """Return a whole number as one that is; some endpoints write every number as `10.0`."""
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
    """Return what an error body says, without keys, on one line and cut."""
    said = _find_error_message(body)
    return _format_error_message(
        body.decode("utf-8", "replace") if said is None else str(said), secrets
    )


def _format_error_message(text: str, secrets: Secrets) -> str:
    return to_single_line(secrets.redact(text)[: 4 * _MAX_MESSAGE_LENGTH], _MAX_MESSAGE_LENGTH)


def _find_error_message(body: bytes) -> Any:
    try:
        said = orjson.loads(body)["error"]
        return said["message"] if isinstance(said, dict) else said
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return None

"""Completions: what an OpenAI-compatible endpoint says, read as a reply."""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import orjson

from markscheme.ask.replies import Fault, Reply, on_one_line
from markscheme.ask.statuses import failed_with
from markscheme.read.sound import LARGEST, whole

if TYPE_CHECKING:
    from markscheme.ask.keys import Secrets

_TOLD = 200
_STATUSES = {str(status): status for status in range(400, 600)}  # that are errors


def completion_of(body: bytes, latency: int, secrets: Secrets) -> Reply:
    """Read a completion; whatever is not one is garbled."""
    try:
        document = orjson.loads(body.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        said = on_one_line(f"{said_in(body, secrets) or 'it is empty'} ({error})", _TOLD * 2)
        return Reply.failed(Fault.GARBLED, f"the response is no JSON: {said}")
    usage = usage_of(usage_in(document) if isinstance(document, dict) else None)
    found = _found_in(document, secrets) or _no_completion(document, said_in(body, secrets))
    if isinstance(found, Reply):
        return replace(found, **usage)
    text, reason = found
    return Reply(text=text, finish_reason=reason, latency_us=latency, **usage)


def _found_in(document: Any, secrets: Secrets) -> tuple[str, str | None] | Reply | None:
    """Return the answer and why it ended, or why there is none; nothing if it is no completion."""
    try:
        choice = document["choices"][0]
        ended = error_of(choice, document)
        if ended is not None:
            return failed_by(ended, "the answer", secrets)
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = text_of(message.get("content")), refusal_of(message)
    except (LookupError, TypeError, AttributeError):
        return None
    if text is None or refusal is None:
        return Reply.failed(Fault.GARBLED, "the content of the answer is not text")
    return text or refusal, "refusal" if refusal else _text_or_none(reason)


def error_of(choice: Any, document: Any) -> Any:
    """Return the error that an answer ended with, if it did; what was said before is a part."""
    if choice.get("finish_reason") == "error":
        return choice.get("error") or document.get("error") or "it does not tell why"
    return choice.get("error") or None


def failed_by(error: Any, what: str, secrets: Secrets) -> Reply:
    """Return the reply that an error inside a response is: unless it says so, it may pass."""
    said = error.get("message") if isinstance(error, dict) else error
    told = f"{what} ended with an error: {_shown(str(said or error), secrets)}"
    status = _status_in(error)
    return Reply.failed(Fault.SERVER, told) if status is None else failed_with(status, told)


def _no_completion(document: Any, said: str) -> Reply:
    """Return the reply that some other document is: an error, where it says with what status."""
    status = _status_in(document.get("error")) if isinstance(document, dict) else None
    if status is None:
        return Reply.failed(Fault.GARBLED, f"the response is no completion: {said}")
    return failed_with(status, f"the response says {status}: {said}")


def _status_in(error: Any) -> int | None:
    """Return the status that an error tells in a response whose own says that all is well."""
    code = error.get("code") if isinstance(error, dict) else None
    return _STATUSES.get(str(code)) if type(code) in {int, str} else None


def text_of(content: Any) -> str | None:
    """Return a content as text; of parts those that are text, which thoughts are not."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    texts = [part.get("text") for part in content if part.get("type") == "text"]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else None


def refusal_of(message: Any) -> str | None:
    """Return the refusal of a message as text; LiteLLM passes on that of others further down."""
    found = message.get("refusal")
    others = None if found else message.get("provider_specific_fields")
    return text_of(others.get("refusal") if isinstance(others, dict) else found)


def usage_in(document: dict[str, Any]) -> Any:
    """Return the usage that a document tells; Groq does so further down where it streams."""
    found, groq = document.get("usage"), document.get("x_groq")
    return found or (groq.get("usage") if isinstance(groq, dict) else None)


def usage_of(usage: Any) -> dict[str, Any]:
    """Return the tokens and, where the endpoint tells it, the cost of an answer."""
    told = usage if isinstance(usage, dict) else {}
    cost = told.get("cost")
    return {
        "tokens_in": whole(_exact(told.get("prompt_tokens"))),
        "tokens_out": whole(_exact(told.get("completion_tokens"))),
        "cost": _amount(cost.get("total_cost") if isinstance(cost, dict) else cost),
    }


def _exact(value: Any) -> Any:
    """Return a whole number as one that is; some endpoints write every number as `10.0`."""
    return int(value) if type(value) is float and value.is_integer() else value


def _amount(value: Any) -> Decimal | None:
    if type(value) not in {int, float, str}:
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= float(amount) <= LARGEST else None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def said_in(body: bytes, secrets: Secrets) -> str:
    """Return what an error body says, without keys, on one line and cut."""
    said = _message(body)
    return _shown(body.decode("utf-8", "replace") if said is None else str(said), secrets)


def _shown(text: str, secrets: Secrets) -> str:
    return on_one_line(secrets.hidden(text)[: 4 * _TOLD], _TOLD)


def _message(body: bytes) -> Any:
    try:
        said = orjson.loads(body)["error"]
        return said["message"] if isinstance(said, dict) else said
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return None

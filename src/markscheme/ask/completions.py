"""Completions: what an OpenAI-compatible endpoint says, read as a reply."""

from __future__ import annotations

from codecs import BOM_UTF8
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from markscheme.ask.replies import Fault, Reply, on_one_line
from markscheme.read.sound import LARGEST

_TOLD = 200


def completion_of(body: bytes, latency: int) -> Reply:
    """Read a completion; whatever is not one is garbled."""
    try:
        document = orjson.loads(body.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        return Reply.failed(Fault.GARBLED, f"the response is no JSON: {error}")
    try:
        choice = document["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError):
        return Reply.failed(Fault.GARBLED, f"the response is no completion: {said_in(body)}")
    if not isinstance(text, str | None) or not isinstance(refusal, str | None):
        return Reply.failed(Fault.GARBLED, "the content of the answer is not text")
    reason = choice.get("finish_reason")
    return Reply(
        text=text or refusal or "",
        finish_reason="refusal" if refusal else _text_or_none(reason),
        latency_us=latency,
        **usage_of(document.get("usage")),
    )


def usage_of(usage: Any) -> dict[str, Any]:
    """Return the tokens and, where the endpoint tells it, the cost of an answer."""
    told = usage if isinstance(usage, dict) else {}
    return {
        "tokens_in": _whole(told.get("prompt_tokens")),
        "tokens_out": _whole(told.get("completion_tokens")),
        "cost": _amount(told.get("cost")),
    }


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST else None


def _amount(value: Any) -> Decimal | None:
    if type(value) not in {int, float, str}:
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= LARGEST else None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def said_in(body: bytes) -> str:
    """Return what an error body says, on one line and cut."""
    try:
        document = orjson.loads(body)
        said = document["error"]
        said = said["message"] if isinstance(said, dict) else said
    except (orjson.JSONDecodeError, LookupError, TypeError):
        said = body[: 4 * _TOLD].decode("utf-8", "replace")
    return on_one_line(str(said), _TOLD)

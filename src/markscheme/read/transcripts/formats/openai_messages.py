"""OpenAI chat messages: conversations, requests with their responses, SWE-agent trajectories.

Chat messages have no timestamps and no error flag, so calls have neither a status nor a duration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft
from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.log import Log
from markscheme.vocabulary import Tokens, Transcript

FORMAT_NAME = "openai-chat"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LIST_KEYS = ("messages", "history")


def can_read_log(log: Log) -> bool:
    """Return whether the log has messages with a role."""
    return any(_is_message(message) for record in log.sample for message in _iter_messages(record))


def _is_message(message: JsonObject) -> bool:
    return to_text(message.get("role")) in _ROLES and (
        "content" in message or "tool_calls" in message or "function_call" in message
    )


def _iter_messages(record: JsonObject) -> Iterator[JsonObject]:
    """Yield the messages of a record: one message, a list, or a request with its response."""
    if to_text(record.get("role")) in _ROLES:
        yield record
        return
    for key in ("request", "body", "kwargs"):
        inner = record.get(key)
        if isinstance(inner, dict):
            yield from _iter_listed_messages(inner)
    yield from _iter_listed_messages(record)
    response = record.get("response")
    holder = response if isinstance(response, dict) else record
    # Further choices are other answers to the same request.
    first_choice = next(iter_objects(holder.get("choices")), {})
    if isinstance(first_choice.get("message"), dict):
        yield first_choice["message"]


def _iter_listed_messages(record: JsonObject) -> Iterator[JsonObject]:
    for key in _LIST_KEYS:
        yield from iter_objects(record.get(key))


def read_log(log: Log) -> list[Transcript]:
    """Read one conversation. A request that repeats the history adds only its new messages."""
    conversation = ChatConversation()
    draft = conversation.draft
    for record in log.iter_records():
        conversation.add_messages(list(_iter_messages(record)))
        response = to_object(record.get("response"))
        for holder in (record, response):
            usage = to_object(holder.get("usage"))
            if usage:
                draft.add_usage(_parse_usage(usage))
        draft.add_model(response.get("model") or record.get("model"))
    return [draft.build_transcript(FORMAT_NAME, skipped=log.skipped, truncated=log.truncated)]


class ChatConversation:
    """A conversation while its messages are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._known_keys: list[Any] = []

    def add_messages(self, messages: list[JsonObject]) -> None:
        """Add the messages of a record that are not known from an earlier record."""
        keys = [_build_message_key(message) for message in messages]
        is_repeat = len(keys) > 1 and keys[: len(self._known_keys)] == self._known_keys[: len(keys)]
        start = min(len(self._known_keys), len(keys)) if is_repeat else 0
        for message in messages[start:]:
            self._add_message(message)
        self._known_keys = keys if is_repeat else [*self._known_keys, *keys]

    def _add_message(self, message: JsonObject) -> None:
        role = to_text(message.get("role"))
        text = join_text(message.get("content"), ("text", "output_text"))
        if role == "user":
            if text is not None:
                self.draft.add_prompt(text)
        elif role == "assistant":
            if text is not None:
                self.draft.add_text(text)
            self._add_calls(message)
        elif role in {"tool", "function"}:
            for id_ in _find_answered_calls(message):
                self.draft.add_result(id_, None)

    def _add_calls(self, message: JsonObject) -> None:
        for call in iter_objects(message.get("tool_calls")):
            function = to_object(call.get("function")) or to_object(call.get("custom"))
            raw = function.get("arguments", function.get("input"))
            name = to_text(function.get("name")) or "?"
            self.draft.add_call(name, _parse_arguments(raw), id_=to_text(call.get("id")))
        # The older API has one call per message and no ids, so its name serves as the id.
        legacy = to_object(message.get("function_call"))
        if legacy:
            name = to_text(legacy.get("name")) or "?"
            self.draft.add_call(name, _parse_arguments(legacy.get("arguments")), id_=name)


def _build_message_key(message: JsonObject) -> Any:
    """Return what identifies a message when a later request repeats it."""
    calls = [call.get("id") for call in iter_objects(message.get("tool_calls"))]
    return (
        to_text(message.get("role")),
        join_text(message.get("content")),
        calls,
        _find_answered_calls(message),
    )


def _find_answered_calls(message: JsonObject) -> list[str]:
    """Return the ids of the calls that a message answers. SWE-agent writes a list of ids."""
    ids = message.get("tool_call_ids")
    answered = (
        ids if isinstance(ids, list) else [message.get("tool_call_id") or message.get("name")]
    )
    return [id_ for id_ in answered if isinstance(id_, str)]


def _parse_arguments(raw: Any) -> Any:
    """Return the parsed arguments, or the raw text if it is not valid JSON."""
    arguments = parse_json(raw)
    return raw if arguments is None else arguments


def _parse_usage(usage: JsonObject) -> Tokens:
    """Return a usage of the chat API, whose prompt tokens include cached ones."""
    details = to_object(usage.get("prompt_tokens_details"))
    prompt = parse_count(usage.get("prompt_tokens"))
    cached = parse_count(details.get("cached_tokens"))
    reasoning = to_object(usage.get("completion_tokens_details")).get("reasoning_tokens")
    return Tokens(
        input_uncached=None if prompt is None else max(prompt - (cached or 0), 0),
        cache_read=cached,
        output=parse_count(usage.get("completion_tokens")),
        reasoning=parse_count(reasoning),
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="messages with `role` and `content` or `tool_calls`",
    can_read_log=can_read_log,
    read_log=read_log,
)

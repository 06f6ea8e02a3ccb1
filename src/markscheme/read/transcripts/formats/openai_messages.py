"""OpenAI chat message lists: conversations, requests with responses, trajectories.

There are no times and no error flag: how a call went and how long it took is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.format import LogFormat
from markscheme.vocabulary import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.log import Log
    from markscheme.vocabulary import Transcript

FORMAT_NAME = "openai-chat"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LIST_KEYS = ("messages", "history")


def can_read_log(log: Log) -> bool:
    """Say whether there are messages with a role."""
    return any(_is_message(message) for record in log.sample for message in _iter_messages(record))


def _is_message(message: JsonObject) -> bool:
    return to_text(message.get("role")) in _ROLES and (
        "content" in message or "tool_calls" in message or "function_call" in message
    )


def _iter_messages(record: JsonObject) -> Iterator[JsonObject]:
    """Yield the messages of a record: it is one, holds a list, or is a request and its response."""
    if to_text(record.get("role")) in _ROLES:
        yield record
        return
    for key in ("request", "body", "kwargs"):
        inner = record.get(key)
        if isinstance(inner, dict):
            yield from _iter_listed_messages(inner)
    yield from _iter_listed_messages(record)
    response = record.get("response")
    yield from _iter_choices(response if isinstance(response, dict) else record)


def _iter_listed_messages(record: JsonObject) -> Iterator[JsonObject]:
    for key in _LIST_KEYS:
        yield from iter_objects(record.get(key))


def _iter_choices(record: JsonObject) -> Iterator[JsonObject]:
    for choice in iter_objects(record.get("choices")):
        if isinstance(choice.get("message"), dict):
            yield choice["message"]
        return  # further choices are other answers to the same request


def read_log(log: Log) -> list[Transcript]:
    """Read one conversation; a request that sends the history again adds only what is new."""
    conversation, used = ChatConversation(), []
    for record in log.iter_records():
        conversation.add_messages(list(_iter_messages(record)))
        for holder in (record, to_object(record.get("response"))):
            usage = to_object(holder.get("usage"))
            if usage:
                used.append(parse_chat_usage(usage))
        response = to_object(record.get("response"))
        conversation.draft.add_model(response.get("model") or record.get("model"))
    conversation.draft.tokens = sum_tokens(used)
    if log.truncated:
        conversation.draft.add_gap(LOG_TRUNCATED)
    return [conversation.draft.build_transcript(FORMAT_NAME, skipped=log.skipped)]


class ChatConversation:
    """A conversation while its messages are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._known_keys: list[Any] = []

    def add_messages(self, messages: list[JsonObject]) -> None:
        """Take the messages that go on from those already known."""
        keys = [_build_message_key(message) for message in messages]
        again = len(keys) > 1 and keys[: len(self._known_keys)] == self._known_keys[: len(keys)]
        start = min(len(self._known_keys), len(keys)) if again else 0
        for message in messages[start:]:
            self._add_message(message)
        self._known_keys = keys if again else [*self._known_keys, *keys]

    def _add_message(self, message: JsonObject) -> None:
        role, said = (
            to_text(message.get("role")),
            join_text(message.get("content"), ("text", "output_text")),
        )
        if role == "user":
            if said is not None:
                self.draft.add_prompt(said)
        elif role == "assistant":
            if said is not None:
                self.draft.add_text(said)
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
        legacy = to_object(message.get("function_call"))
        if legacy:
            name = to_text(legacy.get("name")) or "?"
            self.draft.add_call(name, _parse_arguments(legacy.get("arguments")), id_=name)


def _build_message_key(message: JsonObject) -> Any:
    calls = [call.get("id") for call in iter_objects(message.get("tool_calls"))]
    return (
        to_text(message.get("role")),
        join_text(message.get("content")),
        calls,
        _find_answered_calls(message),
    )


def _find_answered_calls(message: JsonObject) -> list[str]:
    """Return the ids of the calls that a message answers; SWE-agent writes a list."""
    ids = message.get("tool_call_ids")
    found = ids if isinstance(ids, list) else [message.get("tool_call_id") or message.get("name")]
    return [id_ for id_ in found if isinstance(id_, str)]


def _parse_arguments(raw: Any) -> Any:
    """Return arguments as an object; what is no valid JSON stays as it was written."""
    found = parse_json(raw)
    return raw if found is None else found


def parse_chat_usage(usage: JsonObject) -> Tokens:
    """Return a usage of the chat API: cached tokens are part of the prompt."""
    details = to_object(usage.get("prompt_tokens_details"))
    prompt, cached = (
        parse_count(usage.get("prompt_tokens")),
        parse_count(details.get("cached_tokens")),
    )
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

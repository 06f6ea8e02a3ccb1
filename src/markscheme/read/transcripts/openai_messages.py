"""OpenAI chat message lists: conversations, requests with responses, trajectories.

There are no times and no error flag: how a call went and how long it took is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.values import (
    Object,
    count,
    joined,
    mapping,
    objects,
    parsed,
    text,
)
from markscheme.transcript import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

NAME = "openai-chat"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LISTS = ("messages", "history")


def recognises(log: Log) -> bool:
    """Say whether there are messages with a role."""
    return any(_is_message(message) for record in log.sample for message in _messages(record))


def _is_message(message: Object) -> bool:
    return text(message.get("role")) in _ROLES and (
        "content" in message or "tool_calls" in message or "function_call" in message
    )


def _messages(record: Object) -> Iterator[Object]:
    """Yield the messages of a record: it is one, holds a list, or is a request and its response."""
    if text(record.get("role")) in _ROLES:
        yield record
        return
    for key in ("request", "body", "kwargs"):
        inner = record.get(key)
        if isinstance(inner, dict):
            yield from _messages_in(inner)
    yield from _messages_in(record)
    response = record.get("response")
    yield from _choices(response if isinstance(response, dict) else record)


def _messages_in(record: Object) -> Iterator[Object]:
    for key in _LISTS:
        yield from objects(record.get(key))


def _choices(record: Object) -> Iterator[Object]:
    for choice in objects(record.get("choices")):
        if isinstance(choice.get("message"), dict):
            yield choice["message"]
        return  # further choices are other answers to the same request


def read(log: Log) -> list[Transcript]:
    """Read one conversation; a request that sends the history again adds only what is new."""
    conversation, used = Conversation(), []
    for record in log.records():
        conversation.take(list(_messages(record)))
        for holder in (record, mapping(record.get("response"))):
            usage = mapping(holder.get("usage"))
            if usage:
                used.append(tokens_of(usage))
        response = mapping(record.get("response"))
        conversation.draft.model(response.get("model") or record.get("model"))
    conversation.draft.tokens = summed(used)
    if log.cut:
        conversation.draft.gap(CUT_OFF)
    return [conversation.draft.finish(NAME, skipped=log.skipped)]


class Conversation:
    """A conversation while its messages are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._known: list[Any] = []

    def take(self, messages: list[Object]) -> None:
        """Take the messages that go on from those already known."""
        keys = [_key(message) for message in messages]
        again = len(keys) > 1 and keys[: len(self._known)] == self._known[: len(keys)]
        start = min(len(self._known), len(keys)) if again else 0
        for message in messages[start:]:
            self._message(message)
        self._known = keys if again else [*self._known, *keys]

    def _message(self, message: Object) -> None:
        role, said = (
            text(message.get("role")),
            joined(message.get("content"), ("text", "output_text")),
        )
        if role == "user":
            if said is not None:
                self.draft.prompt(said)
        elif role == "assistant":
            if said is not None:
                self.draft.say(said)
            self._calls(message)
        elif role in {"tool", "function"}:
            for id_ in _answers(message):
                self.draft.result(id_, None)

    def _calls(self, message: Object) -> None:
        for call in objects(message.get("tool_calls")):
            function = mapping(call.get("function")) or mapping(call.get("custom"))
            raw = function.get("arguments", function.get("input"))
            name = text(function.get("name")) or "?"
            self.draft.call(name, _given(raw), id_=text(call.get("id")))
        legacy = mapping(message.get("function_call"))
        if legacy:
            name = text(legacy.get("name")) or "?"
            self.draft.call(name, _given(legacy.get("arguments")), id_=name)


def _key(message: Object) -> Any:
    calls = [call.get("id") for call in objects(message.get("tool_calls"))]
    return text(message.get("role")), joined(message.get("content")), calls, _answers(message)


def _answers(message: Object) -> list[str]:
    """Return the ids of the calls that a message answers; SWE-agent writes a list."""
    ids = message.get("tool_call_ids")
    found = ids if isinstance(ids, list) else [message.get("tool_call_id") or message.get("name")]
    return [id_ for id_ in found if isinstance(id_, str)]


def _given(raw: Any) -> Any:
    """Return arguments as an object; what is no valid JSON stays as it was written."""
    found = parsed(raw)
    return raw if found is None else found


def tokens_of(usage: Object) -> Tokens:
    """Return a usage of the chat API: cached tokens are part of the prompt."""
    details = mapping(usage.get("prompt_tokens_details"))
    prompt, cached = count(usage.get("prompt_tokens")), count(details.get("cached_tokens"))
    reasoning = mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")
    return Tokens(
        input_uncached=None if prompt is None else max(prompt - (cached or 0), 0),
        cache_read=cached,
        output=count(usage.get("completion_tokens")),
        reasoning=count(reasoning),
    )


FORMAT = Format(
    name=NAME,
    looks_for="messages with `role` and `content` or `tool_calls`",
    recognises=recognises,
    read=read,
)

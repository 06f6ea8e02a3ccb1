"""OpenAI: messages of the chat API, and items of the Responses API.

Chat messages are conversations, requests with their responses, or SWE-agent trajectories. They have
no timestamps and no error flag, so calls have neither a status nor a duration. Logs of the
Responses API are lists of items, responses, requests with responses, or recorded events.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_epoch,
    parse_json,
    parse_json_or_raw,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

_CHAT_NAME = "openai-chat"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
# Blocks that hold no calls. Those of other APIs, such as `tool_use` and `tool-call`, are not here:
# their calls are not read, so the log must not count as complete.
_BLOCKS_WITHOUT_CALLS = frozenset(
    [
        "text",
        "input_text",
        "output_text",
        "image",
        "image_url",
        "input_image",
        "audio",
        "input_audio",
        "file",
        "input_file",
        "refusal",
        "thinking",
        "redacted_thinking",
        "reasoning",
        "summary_text",
        "document",
    ]
)


def can_read_chat(log: Log) -> bool:
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
    inner = (to_object(record.get(key)) for key in ("request", "body", "kwargs"))
    for holder in (*inner, record):
        for key in ("messages", "history"):
            yield from iter_objects(holder.get(key))
    response = record.get("response")
    answered = response if isinstance(response, dict) else record
    # Further choices are other answers to the same request.
    first_choice = next(iter_objects(answered.get("choices")), {})
    if isinstance(first_choice.get("message"), dict):
        yield first_choice["message"]


def read_chat(log: Log) -> list[Transcript]:
    """Read one conversation. A request that repeats the history adds only its new messages."""
    conversation = ChatConversation()
    draft = conversation.draft
    for record in log.iter_records():
        conversation.add_messages(list(_iter_messages(record)))
        response = to_object(record.get("response"))
        for holder in (record, response):
            usage = to_object(holder.get("usage"))
            if usage:
                draft.add_usage(_parse_usage(usage, "prompt_tokens", "completion_tokens"))
        draft.add_model(response.get("model") or record.get("model"))
    return [draft.build_transcript(_CHAT_NAME, skipped=log.skipped, truncated=log.truncated)]


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
        for block in iter_objects(message.get("content")):
            kind = block.get("type", "text" if "text" in block else None)
            if not isinstance(kind, str) or kind not in _BLOCKS_WITHOUT_CALLS:
                self.draft.add_unknown_kind("content block", kind)
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
            self.draft.add_call(name, parse_json_or_raw(raw), id_=to_text(call.get("id")))
        # The older API has one call per message and no ids, so its name serves as the id.
        legacy = to_object(message.get("function_call"))
        if legacy:
            name = to_text(legacy.get("name")) or "?"
            self.draft.add_call(name, parse_json_or_raw(legacy.get("arguments")), id_=name)


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


CHAT_FORMAT = LogFormat(
    name=_CHAT_NAME,
    looks_for="messages with `role` and `content` or `tool_calls`",
    can_read_log=can_read_chat,
    read_log=read_chat,
)


_RESPONSES_NAME = "openai-responses"
_ITEM_TYPES = frozenset({"function_call", "function_call_output", "custom_tool_call", "mcp_call"})
_SERVER_CALL_TYPES = frozenset(
    {"web_search_call", "file_search_call", "computer_call", "code_interpreter_call", "mcp_call"}
)
_TEXT_TYPES = ("input_text", "output_text", "text")


def can_read_responses(log: Log) -> bool:
    """Return whether the log has items, responses or their events."""
    return any(_is_responses_record(record) for record in log.sample)


def _is_responses_record(record: JsonObject) -> bool:
    kind = to_text(record.get("type"))
    if kind in _ITEM_TYPES and ("call_id" in record or kind == "mcp_call"):
        return True
    if isinstance(kind, str) and kind.startswith("response.") and "sequence_number" in record:
        return True
    if kind in {"response.completed", "response.output_item.done"}:
        return True
    response = to_object(record.get("response")) or record
    return response.get("object") == "response" or any(
        to_text(item.get("type")) in _ITEM_TYPES for item in iter_objects(record.get("input"))
    )


def read_responses(log: Log) -> list[Transcript]:
    """Read one conversation. An item that is sent again counts once."""
    conversation = ResponsesConversation()
    for record in log.iter_records():
        conversation.add_record(record)
    transcript = conversation.draft.build_transcript(
        _RESPONSES_NAME, skipped=log.skipped, truncated=log.truncated
    )
    return [transcript]


class ResponsesConversation:
    """A conversation while its records are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._seen_items: set[Any] = set()
        self._sent_keys: list[Any] = []

    def add_record(self, record: JsonObject) -> None:
        """Add an item, an event, a response, or a request with its response."""
        kind = to_text(record.get("type"))
        if kind == "response.output_item.done":
            self._add_item(to_object(record.get("item")), None)
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._add_response(to_object(record.get("response")))
        if kind is not None and kind.startswith("response."):
            return
        is_bare = kind is not None and "output" not in record and "input" not in record
        if is_bare or kind in {"function_call_output", "custom_tool_call", "computer_call_output"}:
            self._add_item(record, None)
            return
        request = to_object(record.get("request")) or record
        self._add_request(request.get("input"))
        response = to_object(record.get("response")) or record
        if "output" in response:
            self._add_response(response)

    def _add_request(self, sent: Any) -> None:
        if isinstance(sent, str):
            self.draft.add_prompt(sent)
            return
        items = list(iter_objects(sent))
        keys = [_build_item_key(item) for item in items]
        is_repeat = self._sent_keys and keys[: len(self._sent_keys)] == self._sent_keys
        for item in items[len(self._sent_keys) if is_repeat else 0 :]:
            self._add_item(item, None)
        self._sent_keys = keys

    def _add_response(self, response: JsonObject) -> None:
        created = parse_epoch(response.get("created_at"), "s")
        completed = parse_epoch(response.get("completed_at"), "s")
        self.draft.add_model(response.get("model"))
        self.draft.session = self.draft.session or to_text(response.get("id"))
        if self.draft.prompts and self.draft.prompts[-1].at is None:
            self.draft.prompts[-1].at = created
        for item in iter_objects(response.get("output")):
            self._add_item(item, completed)
        usage = to_object(response.get("usage"))
        if usage:
            self.draft.add_usage(_parse_usage(usage, "input_tokens", "output_tokens"))
        if to_text(response.get("status")) in {"failed", "incomplete", "in_progress", "cancelled"}:
            self.draft.add_gap(f"a response is {response['status']}")

    def _add_item(self, item: JsonObject, at: datetime | None) -> None:
        id_ = to_text(item.get("id"))
        if id_ is not None and (id_, to_text(item.get("type"))) in self._seen_items:
            return
        self._seen_items.add((id_, to_text(item.get("type"))))
        kind = to_text(item.get("type"))
        if kind in {"function_call", "custom_tool_call"}:
            self._add_call(item)
        elif kind in {"function_call_output", "custom_tool_call_output", "computer_call_output"}:
            self.draft.add_result(to_text(item.get("call_id")), None)
        elif kind in _SERVER_CALL_TYPES:
            self._add_server_call(item)
        elif kind == "message" or (kind is None and "role" in item):
            self._add_message(item, at)

    def _add_call(self, item: JsonObject) -> None:
        call_id = to_text(item.get("call_id"))
        if call_id is not None and ("call", call_id) in self._seen_items:
            return
        self._seen_items.add(("call", call_id))
        raw = item.get("arguments", item.get("input"))
        name = to_text(item.get("name")) or "?"
        self.draft.add_call(name, parse_json_or_raw(raw), id_=call_id)

    def _add_server_call(self, item: JsonObject) -> None:
        """Add a call that the API itself carried out, with its outcome."""
        kind, status = str(item.get("type")), to_text(item.get("status"))
        name = kind.removesuffix("_call")
        if kind == "mcp_call":
            server, tool = to_text(item.get("server_label")), to_text(item.get("name"))
            name = f"mcp__{server or '?'}__{tool or '?'}"
        arguments = parse_json(item.get("arguments")) or item.get("action")
        id_ = to_text(item.get("call_id")) or to_text(item.get("id"))
        call = self.draft.add_call(name, arguments, id_=id_)
        if item.get("error") or status == "failed":
            call.set_outcome(CallStatus.ERROR)
        elif status == "completed" or (kind == "mcp_call" and "output" in item):
            call.set_outcome(CallStatus.OK)

    def _add_message(self, item: JsonObject, at: datetime | None) -> None:
        text = join_text(item.get("content"), _TEXT_TYPES)
        if text is None:
            return
        if to_text(item.get("role")) == "assistant":
            # The same text again is the message without an id that a later request repeats.
            if [text] != self.draft.final_texts:
                self.draft.add_text(text, at)
        elif to_text(item.get("role")) == "user":
            self.draft.add_prompt(text)


def _build_item_key(item: JsonObject) -> Any:
    """Return what identifies an item when a later request repeats it."""
    return (
        to_text(item.get("type")),
        item.get("call_id"),
        join_text(item.get("content"), _TEXT_TYPES),
    )


def _parse_usage(usage: JsonObject, input_key: str, output_key: str) -> Tokens:
    """Return a usage of either API; its input tokens include cached ones."""
    input_ = parse_count(usage.get(input_key))
    cached = parse_count(to_object(usage.get(f"{input_key}_details")).get("cached_tokens"))
    reasoning = to_object(usage.get(f"{output_key}_details")).get("reasoning_tokens")
    return Tokens(
        input_uncached=None if input_ is None else max(input_ - (cached or 0), 0),
        cache_read=cached,
        output=parse_count(usage.get(output_key)),
        reasoning=parse_count(reasoning),
    )


RESPONSES_FORMAT = LogFormat(
    name=_RESPONSES_NAME,
    looks_for="items with `type` function_call and `call_id`, or a `response` with `output`",
    can_read_log=can_read_responses,
    read_log=read_responses,
)

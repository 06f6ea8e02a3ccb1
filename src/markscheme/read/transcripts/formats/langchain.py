"""LangChain and LangGraph: lists of messages, states of a graph, and its stream of updates.

A message is written in three ways: flat with its `type`, as `{"type", "data"}`, or as a constructor
with `lc` and `kwargs`. States repeat the messages of earlier states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_json_or_raw,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft, parse_inclusive_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "langchain"
# What the kinds of messages are called in the chat API.
_CHAT_ROLES = {"human": "user", "ai": "assistant"}
_KINDS_BY_CLASS = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "RemoveMessage": "remove",
}
_OTHER_KINDS = frozenset({"system", "tool", "function", "remove", "chat"})
_KINDS_BY_ROLE = {
    "user": "human",
    "assistant": "ai",
    "tool": "tool",
    "system": "system",
    "developer": "system",
}
# Fields that are read, or that repeat what the provider wrote.
_READ_FIELDS = split_words(
    "content tool_calls invalid_tool_calls additional_kwargs response_metadata tool_call_chunks "
    "artifact"
)
_CHUNK = "Chunk"
_STATUSES = {"success": CallStatus.OK, "error": CallStatus.ERROR}
# Blocks of a provider that repeat what `tool_calls` of the message holds.
_REPEATED_BLOCKS = split_words("tool_use tool_call tool_call_chunk function_call input_json_delta")
_HARMLESS_BLOCKS = split_words(
    "text text-plain reasoning thinking redacted_thinking image image_url audio input_audio video "
    "file document refusal citation"
)
_CUT_REASONS = split_words("length max_tokens content_filter MAX_TOKENS SAFETY")
_METADATA_FIELDS = frozenset(
    {"response_metadata", "usage_metadata", "additional_kwargs", "name", "is_chunk"}
)
# Fields of a state that repeat its messages.
_REPEATING_FIELDS = frozenset({"messages", "metadata", "tasks", "checkpoint"})
_STATE_HOLDERS = ("values", "channel_values", "output", "outputs")


def can_read_log(log: Log) -> bool:
    """Return whether there are messages of LangChain, alone or in the states of a graph."""
    return any(
        any(map(_is_langchain_message, messages))
        for record in log.sample
        for messages in _find_message_lists(record)
    )


def _is_langchain_message(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    if _find_class(message) is not None:
        return "kwargs" in message or "content" in message
    content = to_object(message.get("data")) or message
    kind = to_text(message.get("type")) or ""
    return "content" in content and (
        kind in {"human", "ai"} or kind.removesuffix(_CHUNK) in _KINDS_BY_CLASS
    )


def _is_other_message(record: JsonObject) -> bool:
    """Return whether a record is a message whose kind other formats have too."""
    kind = to_text(record.get("type"))
    return kind in _OTHER_KINDS and ("content" in record or isinstance(record.get("data"), dict))


def _find_class(message: JsonObject) -> str | None:
    """Return the class of a message that is written as a constructor."""
    path = message.get("id")
    if not isinstance(path, list) or not path or not isinstance(path[-1], str):
        return None
    name = path[-1].removesuffix(_CHUNK)
    return name if name in _KINDS_BY_CLASS else None


def _find_message_lists(record: JsonObject) -> Iterator[list[Any]]:
    """Yield the lists of messages in a record: a message, a state, or updates of several nodes."""
    if _is_langchain_message(record) or "role" in record or _is_other_message(record):
        yield [record]
        return
    for holder in _find_holders(record):
        messages = holder["messages"]
        yield messages if isinstance(messages, list) else [messages]


def _find_holders(record: JsonObject) -> list[JsonObject]:
    """Return the objects of a record that have messages."""
    states = [to_object(record.get(key)) for key in _STATE_HOLDERS]
    checkpoint = to_object(to_object(record.get("checkpoint")).get("channel_values"))
    holders = [holder for holder in (record, *states, checkpoint) if "messages" in holder]
    # In the stream of updates, each node of the graph states what it adds.
    return holders or [node for node in map(to_object, record.values()) if "messages" in node]


def read_log(log: Log) -> list[Transcript]:
    """Read one conversation. A message that a later state repeats counts once."""
    conversation = LangchainConversation()
    for record in log.iter_records():
        conversation.add_record(record)
    conversation.read_messages()
    return [
        conversation.draft.build_transcript(
            FORMAT_NAME, skipped=log.skipped, truncated=log.truncated
        )
    ]


class LangchainConversation:
    """A conversation while its records are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._messages: list[JsonObject] = []
        self._positions: dict[str, int] = {}
        self._listed: list[Any] = []
        # Whether the graph was to go on, by the number of messages of the state.
        self._going_on: dict[int, bool] = {}
        self._is_interrupted = False

    def add_record(self, record: JsonObject) -> None:
        """Add the messages of a record, and note what its state says of the graph."""
        config = to_object(to_object(record.get("config")).get("configurable"))
        thread = to_text(record.get("thread_id")) or to_text(config.get("thread_id"))
        self.draft.session = self.draft.session or thread
        lists = list(_find_message_lists(record))
        if not lists and "__interrupt__" not in record:
            self.draft.add_unknown_kind("record", record.get("event") or record.get("type"))
        self._check_record(record)
        for messages in lists:
            self._add_message_list(messages)
        is_interrupted = "__interrupt__" in record or bool(record.get("interrupts"))
        if "next" in record and lists:
            count = max(map(len, lists))
            # Of the states with all messages, one that has ended is enough.
            goes_on = bool(record["next"]) or is_interrupted
            self._going_on[count] = goes_on and self._going_on.get(count, True)
        self._is_interrupted = is_interrupted and "next" not in record

    def _check_record(self, record: JsonObject) -> None:
        """Note calls that stand in a record or a state outside its messages."""
        holders = _find_holders(record)
        nodes = [key for key, value in record.items() if any(value is h for h in holders)]
        if holders:
            self.draft.add_unread_calls(record, {*_REPEATING_FIELDS, *nodes})
        for holder in holders:
            if holder is not record:
                self.draft.add_unread_calls(holder, ("messages",))

    def _add_message_list(self, messages: list[Any]) -> None:
        """Add a list; of messages without ids, only what goes on after an earlier list is new."""
        is_older = len(messages) > 1 and self._listed[: len(messages)] == messages
        known = len(messages) if is_older else 0
        if self._listed and messages[: len(self._listed)] == self._listed and len(messages) > 1:
            known = len(self._listed)
        for message in self.draft.iter_elements(messages[known:], "message"):
            flat = _flatten_message(message)
            self.draft.add_unread_calls(flat, _READ_FIELDS)
            if "kwargs" in message or "data" in message:
                self.draft.add_unread_calls(message, ("kwargs", "data"))
            self._add_message(flat)
        if len(messages) <= 1:
            self._listed += messages
        elif not is_older:
            self._listed = list(messages)

    def _add_message(self, message: JsonObject) -> None:
        id_ = to_text(message.get("id"))
        position = None if id_ is None else self._positions.get(id_)
        if position is None:
            if id_ is not None:
                self._positions[id_] = len(self._messages)
            self._messages.append(message)
        elif self._messages[position] != message:
            # Chunks of a stream share an id, and each holds only a piece.
            if _list_contents(self._messages[position]) != _list_contents(message):
                is_chunk = message.get("is_chunk")
                kind = "chunk of a stream" if is_chunk else "written in two ways"
                self.draft.add_unknown_kind("message", kind)
            self._messages[position] = message

    def read_messages(self) -> None:
        """Read all messages in their order, and how the graph ended."""
        for message in self._messages:
            self._read_message(message)
        if self._is_interrupted or (self._going_on and self._going_on[max(self._going_on)]):
            self.draft.add_gap("the graph was to go on")

    def _read_message(self, message: JsonObject) -> None:
        kind = to_text(message.get("type"))
        text = self._read_content(message)
        self.draft.check_text_commands(_CHAT_ROLES.get(kind or ""), text)
        if kind == "human":
            self.draft.add_prompt(text)
        elif kind == "ai":
            self._read_answer(message, text)
        elif kind in {"tool", "function"}:
            id_ = to_text(message.get("tool_call_id")) or to_text(message.get("name"))
            status = _STATUSES.get(to_text(message.get("status")) or "")
            if self.draft.add_result(id_, status) is None:
                self.draft.add_unknown_kind("result", "without its call")
        elif kind == "remove":
            self.draft.add_gap("messages were removed from the history")
        elif kind != "system":
            self.draft.add_unknown_kind("message", kind)

    def _read_content(self, message: JsonObject) -> str | None:
        """Return the text of a message; note blocks that may hold calls of their own."""
        content = message.get("content")
        if isinstance(content, str):
            return content or None
        # Strings may stand among the blocks.
        parts = content if isinstance(content, list) else [] if content is None else [content]
        texts = []
        known_ids = {to_text(call.get("id")) for call in iter_objects(message.get("tool_calls"))}
        for part in parts:
            if isinstance(part, str):
                texts.append(part)
                continue
            for block in self.draft.iter_elements([part], "content block"):
                if to_text(block.get("type")) == "text":
                    texts.append(to_text(block.get("text")) or "")
                self._read_block(block, known_ids)
        return "\n".join(filter(None, texts)) or None

    def _read_block(self, block: JsonObject, known_ids: set[str | None]) -> None:
        """Read the calls of a block; `known_ids` are those of the calls of the message."""
        kind = to_text(block.get("type"))
        if kind == "server_tool_call":
            name = to_text(block.get("name")) or "?"
            self.draft.add_call(name, block.get("args"), id_=to_text(block.get("id")))
        elif kind == "server_tool_result":
            status = _STATUSES.get(to_text(block.get("status")) or "")
            self.draft.add_result(to_text(block.get("tool_call_id")), status)
        elif kind in _REPEATED_BLOCKS:
            ids = {to_text(block.get("id")), to_text(block.get("call_id"))} - {None}
            if kind != "input_json_delta" and not ids & known_ids:
                self.draft.add_unknown_kind("content block", kind)
        elif kind in _HARMLESS_BLOCKS:
            self.draft.add_unread_calls(block)
        else:
            self.draft.add_unknown_kind("content block", kind)

    def _read_answer(self, message: JsonObject, text: str | None) -> None:
        metadata = to_object(message.get("response_metadata"))
        self.draft.add_model(metadata.get("model_name") or metadata.get("model"))
        usage = _parse_usage(message, metadata)
        if usage is not None:
            self.draft.add_usage(usage)
        if text is not None:
            self.draft.add_text(text)
        for name, arguments, id_ in self._iter_calls(message):
            call = self.draft.add_call(name, arguments, id_=id_)
            if name == "task":
                kind = to_object(arguments).get("subagent_type")
                self.draft.add_dispatch(to_text(kind), call)
            elif name.startswith("transfer_to_"):
                self.draft.add_dispatch(name.removeprefix("transfer_to_"), call)
        invalid = message.get("invalid_tool_calls")
        for record in self.draft.iter_elements(invalid, "invalid tool call"):
            name, id_ = to_text(record.get("name")) or "?", to_text(record.get("id"))
            call = self.draft.add_call(name, parse_json_or_raw(record.get("args")), id_=id_)
            # Its arguments could not be parsed, so the client did not carry it out.
            call.set_outcome(CallStatus.ERROR)
        reason = metadata.get("finish_reason", metadata.get("stop_reason"))
        if to_text(reason) in _CUT_REASONS:
            self.draft.pending_gap = f"the last answer ended with `{reason}`"

    def _iter_calls(self, message: JsonObject) -> Iterator[tuple[str, Any, str | None]]:
        """Yield name, arguments and id of the calls; older messages have those of the provider."""
        extra = to_object(message.get("additional_kwargs"))
        calls = message.get("tool_calls")
        if not calls and not message.get("invalid_tool_calls"):
            calls = extra.get("tool_calls")
        for call in self.draft.iter_elements(calls, "tool call"):
            function = to_object(call.get("function")) or call
            name = to_text(function.get("name"))
            raw = function.get("args", function.get("arguments"))
            yield name or "?", parse_json_or_raw(raw), to_text(call.get("id"))
        legacy = to_object(extra.get("function_call"))
        if legacy and not calls:
            name = to_text(legacy.get("name")) or "?"
            # A result of that age has only the name of its function.
            yield name, parse_json_or_raw(legacy.get("arguments")), name


def _flatten_message(message: JsonObject) -> JsonObject:
    """Return a message of any of the three ways to write it as one flat object."""
    class_ = _find_class(message)
    inner = message
    if class_ is not None and isinstance(message.get("kwargs"), dict):
        inner = message["kwargs"]
    elif isinstance(message.get("data"), dict):
        inner = message["data"]
    written = to_text(message.get("type")) or ""
    kind: Any = _KINDS_BY_CLASS.get(class_ or written.removesuffix(_CHUNK), message.get("type"))
    if kind is None and "role" in message:
        kind = _KINDS_BY_ROLE.get(to_text(message["role"]) or "", message["role"])
    path = message.get("id")
    names = (written, path[-1] if isinstance(path, list) and path else None)
    is_chunk = any(isinstance(name, str) and name.endswith(_CHUNK) for name in names)
    return {**inner, "type": kind, "id": to_text(inner.get("id")), "is_chunk": is_chunk}


def _list_contents(message: JsonObject) -> list[Any]:
    """Return what a message says and calls, which later versions of it repeat."""
    return [value for key, value in message.items() if key not in _METADATA_FIELDS]


def _parse_usage(message: JsonObject, metadata: JsonObject) -> Tokens | None:
    """Return the usage of an answer, as LangChain or as the provider states it."""
    usage = to_object(message.get("usage_metadata"))
    inputs = to_object(usage.get("input_token_details"))
    outputs = to_object(usage.get("output_token_details"))
    if usage:
        tokens = parse_inclusive_usage(
            usage.get("input_tokens"),
            inputs.get("cache_read"),
            usage.get("output_tokens"),
            outputs.get("reasoning"),
            inputs.get("cache_creation"),
        )
    else:
        stated = to_object(metadata.get("token_usage")) or to_object(metadata.get("tokenUsage"))
        prompt_details = to_object(stated.get("prompt_tokens_details"))
        answer_details = to_object(stated.get("completion_tokens_details"))
        tokens = parse_inclusive_usage(
            stated.get("prompt_tokens", stated.get("promptTokens")),
            prompt_details.get("cached_tokens"),
            stated.get("completion_tokens", stated.get("completionTokens")),
            answer_details.get("reasoning_tokens"),
        )
    return None if tokens == Tokens() else tokens


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="messages of `type` human and ai, or with `lc` and `kwargs`, alone or in the "
    "`messages` of a state",
    can_read_log=can_read_log,
    read_log=read_log,
)

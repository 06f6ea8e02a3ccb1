"""OpenAI: messages of the chat API, and items of the Responses API.

Chat messages are conversations, requests with their responses, or SWE-agent trajectories. They have
no timestamps and no error flag, so calls have neither a status nor a duration. Logs of the
Responses API are lists of items, responses, requests with responses, or recorded events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_epoch,
    parse_json,
    parse_json_or_raw,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import UNNAMED_TOOL, Draft, parse_inclusive_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

_CHAT_NAME = "openai-chat"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
# Blocks that hold no calls. Those of other APIs, such as `tool_use` and `tool-call`, are not here:
# their calls are not read, so the log must not count as complete.
_BLOCKS_WITHOUT_CALLS = split_words(
    "text input_text output_text image image_url input_image audio input_audio output_audio file "
    "input_file video_url refusal thinking redacted_thinking reasoning reasoning_text summary_text "
    "document computer_screenshot"
)
# The fields of a message that are read; those of a tool hold its output.
_MESSAGE_FIELDS = frozenset({"content", "tool_calls", "function_call", "tool_call_ids"})
# The fields of a record that are read, or that define the request.
_RECORD_FIELDS = split_words(
    "messages history request body kwargs response choices usage tools functions trajectory "
    "tool_choice response_format metadata info replay_config"
)
_CUT_REASONS = frozenset({"length", "content_filter"})
# Fields with calls; a response that ends with calls names the field as its reason.
_CALL_FIELDS = ("tool_calls", "function_call")
_CALL_TYPES = frozenset({None, "function", "custom"})
# The fields that name the kind of a record.
_KIND_FIELDS = ("type", "event", "object", "role", "kind")


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
    for holder in _list_holders(record):
        for key in ("messages", "history"):
            yield from iter_objects(holder.get(key))
    response = record.get("response")
    answered = response if isinstance(response, dict) else record
    # Further choices are other answers to the same request.
    first_choice = next(iter_objects(answered.get("choices")), {})
    if isinstance(first_choice.get("message"), dict):
        yield first_choice["message"]


def _list_holders(record: JsonObject) -> list[JsonObject]:
    """Return the objects of a record that may hold messages: its request, and the record itself."""
    inner = (to_object(record.get(key)) for key in ("request", "body", "kwargs"))
    return [*inner, record]


def read_chat(log: Log) -> list[Transcript]:
    """Read one conversation. A request that repeats the history adds only its new messages."""
    conversation = ChatConversation()
    draft = conversation.draft
    for record in log.iter_records():
        conversation.add_record(record)
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

    def add_record(self, record: JsonObject) -> None:
        """Add the messages of a record; note what else in it may hold calls."""
        messages = list(_iter_messages(record))
        self.add_messages(messages)
        for answered in (record, to_object(record.get("response"))):
            first, *others = [*iter_objects(answered.get("choices"))] or [{}]
            self._check_end(first)
            # Nobody says which of several answers was taken.
            for choice in others:
                self.draft.add_unread_calls({"choice": choice})
        is_message = messages[:1] == [record]
        if not messages:
            self._check_other_record(record)
        elif not is_message:
            self.draft.add_unread_calls(record, _RECORD_FIELDS)
            self._check_trajectory(record)
        for holder in [] if is_message else _list_holders(record):
            for key in ("messages", "history"):
                if not isinstance(holder.get(key), list):
                    self._note_container(holder, key)
                elif not all(isinstance(message, dict) for message in holder[key]):
                    self.draft.add_unknown_kind("message", "(no object)")

    def _check_end(self, choice: JsonObject) -> None:
        """Note a response that was cut off, or that ended to call tools and shows no call."""
        reason, message = to_text(choice.get("finish_reason")), to_object(choice.get("message"))
        if reason in _CUT_REASONS:
            self.draft.pending_gap = f"the last response ended with `{reason}`"
        elif reason in _CALL_FIELDS and not any(map(message.get, _CALL_FIELDS)):
            self.draft.add_gap("a response ended to call tools, but shows no call")

    def _check_other_record(self, record: JsonObject) -> None:
        """Note a record without messages, unless it only holds plain values about the session."""
        kind = next((record[key] for key in _KIND_FIELDS if record.get(key)), None)
        nested = [key for key, value in record.items() if isinstance(value, dict | list) and value]
        unread = [key for key in nested if key not in {"usage", "tools", "metadata"}]
        if kind is not None or unread:
            self.draft.add_unknown_kind("record", kind if kind is not None else unread[0])

    def _check_trajectory(self, record: JsonObject) -> None:
        """Note the steps of SWE-agent whose actions are in no message."""
        steps = record.get("trajectory")
        actions = sum(bool(to_text(step.get("action"))) for step in iter_objects(steps))
        if actions > len(self.draft.calls):
            self.draft.add_unknown_kind("tool container", "trajectory")

    def _note_container(self, holder: JsonObject, key: str) -> None:
        """Note a field that should hold calls or messages, but has another type."""
        if holder.get(key):
            self.draft.add_unknown_kind("tool container", key)

    def add_messages(self, messages: list[JsonObject]) -> None:
        """Add the messages of a record that are not known from an earlier record."""
        keys = [_build_message_key(message) for message in messages]
        is_repeat = len(keys) > 1 and keys[: len(self._known_keys)] == self._known_keys[: len(keys)]
        start = min(len(self._known_keys), len(keys)) if is_repeat else 0
        # What is repeated counts once, but it may hold more than it did before.
        repeated = Draft()
        for message in messages[:start]:
            _check_message(repeated, message)
        for kind in repeated.unknown_kinds:
            self.draft.unknown_kinds.setdefault(kind, 1)
        for message in messages[start:]:
            self._add_message(message)
        if is_repeat:
            self._known_keys = keys
        else:
            self._known_keys += keys

    def _add_message(self, message: JsonObject) -> None:
        role = to_text(message.get("role"))
        text = join_text(message.get("content"), ("text", "output_text"))
        if role in {"tool", "function"}:
            for id_ in _find_answered_calls(message):
                self.draft.add_result(id_, None)
                self.draft.check_result(id_)
            return
        _check_message(self.draft, message)
        if role == "user" and text is not None:
            self.draft.add_prompt(text)
        elif role == "assistant":
            if text is not None:
                self.draft.add_text(text)
            self._add_calls(message)

    def _add_calls(self, message: JsonObject) -> None:
        calls, legacy = message.get("tool_calls"), message.get("function_call")
        if isinstance(calls, str):
            self._note_container(message, "tool_calls")
        for call in self.draft.iter_blocks(calls, "tool call"):
            if to_text(call.get("type")) not in _CALL_TYPES:
                self.draft.add_unknown_kind("tool call", call.get("type"))
            function = to_object(call.get("function")) or to_object(call.get("custom"))
            raw = function.get("arguments", function.get("input"))
            name = to_text(function.get("name")) or UNNAMED_TOOL
            self.draft.add_call(name, parse_json_or_raw(raw), id_=to_text(call.get("id")))
        # The older API has one call per message and no ids, so its name serves as the id.
        if isinstance(legacy, dict) and legacy:
            name = to_text(legacy.get("name")) or UNNAMED_TOOL
            self.draft.add_call(name, parse_json_or_raw(legacy.get("arguments")), id_=name)
        else:
            self._note_container(message, "function_call")


def _check_message(draft: Draft, message: JsonObject) -> None:
    """Note what may hold calls that are not read. The messages of a tool hold its output."""
    role = to_text(message.get("role"))
    if role in {"tool", "function"}:
        return
    if role not in _ROLES:
        draft.add_unknown_kind("message", message.get("role"))
    for block in draft.iter_blocks(message.get("content")):
        kind = block.get("type", "text" if "text" in block else None)
        if not isinstance(kind, str) or kind not in _BLOCKS_WITHOUT_CALLS:
            draft.add_unknown_kind("content block", kind)
        else:
            draft.add_unread_calls(block)
    draft.check_text_commands(role, join_text(message.get("content"), ("text", "output_text")))
    if role != "assistant":
        draft.add_unread_calls(message, ("content",))
    # Messages with calls may hold them a second time, in a copy of the response.
    elif not (message.get("tool_calls") or message.get("function_call")):
        draft.add_unread_calls(message, _MESSAGE_FIELDS)
        # SWE-agent keeps what it has found in the text of the message here.
        if message.get("action"):
            draft.add_unknown_kind("tool container", "action")


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
_ITEM_TYPES = frozenset({"function_call", "function_call_output", "custom_tool_call"})
# Calls that the API itself carries out, and those of tools that it defines.
_SERVER_CALL_TYPES = split_words(
    "web_search_call file_search_call computer_call code_interpreter_call image_generation_call "
    "mcp_call local_shell_call shell_call apply_patch_call tool_search_call"
)
_OUTPUT_TYPES = split_words(
    "function_call_output custom_tool_call_output computer_call_output local_shell_call_output "
    "shell_call_output apply_patch_call_output tool_search_output"
)
_ITEMS_WITHOUT_CALLS = split_words(
    "reasoning item_reference compaction mcp_list_tools mcp_approval_response"
)
# Events of a stream. Each item of which they tell comes whole with `response.output_item.done`.
_KNOWN_EVENT = re.compile(
    r"response\.((created|queued|in_progress|completed|incomplete|failed|cancelled|done)"
    r"|(output_item|content_part|output_text|refusal|reasoning|reasoning_text|reasoning_summary"
    r"|reasoning_summary_text|reasoning_summary_part|audio|audio_transcript|output_audio"
    r"|output_audio_transcript|function_call_arguments|custom_tool_call_input|mcp_call_arguments"
    r"|mcp_call|mcp_list_tools|web_search_call|file_search_call|code_interpreter_call"
    r"|code_interpreter_call_code|image_generation_call|output_text_annotation)\.[a-z_]+"
    r"|output_text\.annotation\.added|audio\.transcript\.[a-z]+)"
)
_EVENT_FIELDS = ("item", "response")
_EXCHANGE_FIELDS = split_words("input output request response tools tool_choice usage metadata")
_TEXT_TYPES = ("input_text", "output_text", "text")


def can_read_responses(log: Log) -> bool:
    """Return whether the log has items, responses or their events."""
    return any(_is_responses_record(record) for record in log.sample)


def _is_responses_record(record: JsonObject) -> bool:
    kind = to_text(record.get("type"))
    if kind in _ITEM_TYPES and "call_id" in record:
        return True
    # Those that the API carries out have no `call_id`; Codex wraps its own in `payload`.
    if kind in _SERVER_CALL_TYPES and {"id", "call_id"} & record.keys():
        return True
    if isinstance(kind, str) and kind.startswith("response.") and "sequence_number" in record:
        return True
    if kind in {"response.completed", "response.output_item.done"}:
        return True
    response = to_object(record.get("response")) or record
    return response.get("object") == "response" or any(
        to_text(item.get("type")) in _ITEM_TYPES | _SERVER_CALL_TYPES
        for item in iter_objects(record.get("input"))
    )


def read_responses(log: Log) -> list[Transcript]:
    """Read one conversation. An item that is sent again counts once."""
    conversation = ResponsesConversation()
    for record in log.iter_records():
        conversation.add_record(record)
    conversation.add_unfinished_items()
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
        # Items of a stream that have begun, by id.
        self._begun_items: dict[str, JsonObject] = {}

    def add_record(self, record: JsonObject) -> None:
        """Add an item, an event, a response, or a request with its response."""
        kind = to_text(record.get("type"))
        if kind is not None and kind.startswith("response."):
            self._add_event(kind, record)
            return
        is_bare = kind is not None and "output" not in record and "input" not in record
        if is_bare or kind in _OUTPUT_TYPES or kind in {"custom_tool_call", "mcp_call"}:
            self._add_item(record, None)
            return
        self._add_exchange(record)

    def _add_event(self, kind: str, record: JsonObject) -> None:
        item = to_object(record.get("item"))
        self.draft.add_unread_calls(record, _EVENT_FIELDS)
        if kind == "response.output_item.done":
            self._begun_items.pop(to_text(item.get("id")) or "", None)
            self._add_item(item, None)
        elif kind == "response.output_item.added":
            self._begun_items[to_text(item.get("id")) or ""] = item
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._add_response(to_object(record.get("response")))
        elif not _KNOWN_EVENT.fullmatch(kind):
            self.draft.add_unknown_kind("event", kind)

    def _add_exchange(self, record: JsonObject) -> None:
        """Add a request, a response, or both."""
        request = to_object(record.get("request")) or record
        response = to_object(record.get("response")) or record
        self._add_request(request.get("input"))
        if "output" in response:
            self._add_response(response)
        if "output" not in response and "input" not in request:
            kind = record.get("object") or record.get("event") or next(iter(record), None)
            self.draft.add_unknown_kind("record", kind)
        for holder in (record, *(part for part in (request, response) if part is not record)):
            self.draft.add_unread_calls(holder, _EXCHANGE_FIELDS)

    def add_unfinished_items(self) -> None:
        """Add the items of a stream that have begun, and that nothing has told the end of."""
        for item in self._begun_items.values():
            if to_text(item.get("type")) not in {"message", "reasoning"}:
                self._add_item(item, None)

    def _add_request(self, sent: Any) -> None:
        if isinstance(sent, str):
            self.draft.add_prompt(sent)
            return
        items = list(self.draft.iter_blocks(sent, "item"))
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
        for item in self.draft.iter_blocks(response.get("output"), "item"):
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
        elif kind in _OUTPUT_TYPES:
            call_id = to_text(item.get("call_id"))
            self.draft.add_result(call_id, None)
            self.draft.check_result(call_id)
        elif kind in _SERVER_CALL_TYPES:
            self._add_server_call(item)
        elif kind == "message" or (kind is None and "role" in item):
            self._add_message(item, at)
        elif kind == "error":
            self.draft.add_gap("the API answered with an error")
        elif kind not in _ITEMS_WITHOUT_CALLS:
            self.draft.add_unknown_kind("item", item.get("type"))

    def _add_call(self, item: JsonObject) -> None:
        call_id = to_text(item.get("call_id"))
        if call_id is not None and ("call", call_id) in self._seen_items:
            return
        self._seen_items.add(("call", call_id))
        raw = item.get("arguments", item.get("input"))
        name = to_text(item.get("name")) or UNNAMED_TOOL
        self.draft.add_call(name, parse_json_or_raw(raw), id_=call_id)

    def _add_server_call(self, item: JsonObject) -> None:
        """Add a call that the API itself carried out, with its outcome."""
        kind, status = str(item.get("type")), to_text(item.get("status"))
        name = kind.removesuffix("_call")
        if kind == "mcp_call":
            server, tool = to_text(item.get("server_label")), to_text(item.get("name"))
            name = f"mcp__{server or UNNAMED_TOOL}__{tool or UNNAMED_TOOL}"
        arguments = _find_server_arguments(item)
        id_ = to_text(item.get("call_id")) or to_text(item.get("id"))
        call = self.draft.add_call(name, arguments, id_=id_)
        if item.get("error") or status == "failed":
            call.set_outcome(CallStatus.ERROR)
        elif status == "completed" or (kind == "mcp_call" and "output" in item):
            call.set_outcome(CallStatus.OK)

    def _add_message(self, item: JsonObject, at: datetime | None) -> None:
        text = join_text(item.get("content"), _TEXT_TYPES)
        role = to_text(item.get("role"))
        self.draft.add_unread_calls(item, ("content",))
        for block in self.draft.iter_blocks(item.get("content")):
            if to_text(block.get("type")) not in _BLOCKS_WITHOUT_CALLS:
                self.draft.add_unknown_kind("content block", block.get("type"))
        if role not in _ROLES:
            self.draft.add_unknown_kind("message", item.get("role"))
        self.draft.check_text_commands(role, text)
        if text is None:
            return
        if role == "assistant":
            # The same text again is the message without an id that a later request repeats.
            if [text] != self.draft.final_texts:
                self.draft.add_text(text, at)
        elif role == "user":
            self.draft.add_prompt(text)


def _find_server_arguments(item: JsonObject) -> Any:
    """Return the arguments of a call: as JSON, as an action, or as the change of a file."""
    arguments = parse_json(item.get("arguments")) or item.get("action") or item.get("operation")
    commands = to_object(arguments).get("commands")
    if isinstance(commands, list):
        return {"command": "\n".join(word for word in commands if isinstance(word, str))}
    if item.get("type") == "code_interpreter_call" and isinstance(item.get("code"), str):
        return {"code": item["code"]}
    return arguments


def _build_item_key(item: JsonObject) -> Any:
    """Return what identifies an item when a later request repeats it."""
    return (
        to_text(item.get("type")),
        item.get("call_id"),
        join_text(item.get("content"), _TEXT_TYPES),
    )


def _parse_usage(usage: JsonObject, input_key: str, output_key: str) -> Tokens:
    """Return a usage of either API; its input tokens include cached ones."""
    return parse_inclusive_usage(
        usage.get(input_key),
        to_object(usage.get(f"{input_key}_details")).get("cached_tokens"),
        usage.get(output_key),
        to_object(usage.get(f"{output_key}_details")).get("reasoning_tokens"),
    )


RESPONSES_FORMAT = LogFormat(
    name=_RESPONSES_NAME,
    looks_for="items with `type` function_call and `call_id`, or a `response` with `output`",
    can_read_log=can_read_responses,
    read_log=read_responses,
)

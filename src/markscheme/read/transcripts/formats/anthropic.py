"""Anthropic messages: a conversation, or requests to the API with their responses.

A log is a list of messages, one message per line, a request, or a list of requests with responses.
The API has no times, and a request repeats the messages before it. Streams are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    clean_text,
    iter_objects,
    join_text,
    parse_count,
    parse_id,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.containers import find_call_containers
from markscheme.read.transcripts.draft import RESULT_WITHOUT_CALL, UNNAMED_TOOL, Draft, DraftCall
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "anthropic-messages"
_CALL_BLOCKS = split_words("tool_use server_tool_use mcp_tool_use")
_RESULT_BLOCKS = split_words(
    "tool_result mcp_tool_result web_search_tool_result web_fetch_tool_result "
    "code_execution_tool_result bash_code_execution_tool_result "
    "text_editor_code_execution_tool_result tool_search_tool_result"
)
_BLOCKS_WITHOUT_CALLS = split_words(
    "text image document thinking redacted_thinking search_result container_upload"
)
# What the result of a tool of the client or of an MCP server may hold.
_RESULT_CONTENT = split_words(
    "text image document search_result tool_reference file audio resource"
)
_FINISHED = frozenset({None, "end_turn", "stop_sequence", "tool_use"})
# Tools of the server whose input is a program; what the program does is not known.
_CODE_TOOLS = frozenset({"code_execution"})
# Fields of a record, of a message and of a block that are read, or that hold no calls of the agent.
_RECORD_FIELDS = split_words("messages content request response body kwargs params tools usage")
_MESSAGE_FIELDS = split_words("content usage metrics")
_BLOCK_FIELDS = split_words("input content source")
# What identifies a block when a later request repeats it.
_KEY_FIELDS = ("text", "id", "tool_use_id", "input")
_HOLDERS = ("request", "body", "kwargs", "params")


def can_read_log(log: Log) -> bool:
    """Return whether the log has blocks of calls or results, or responses of the API."""
    has_blocks = False
    for record in log.sample:
        messages, response = find_messages(record), _find_response(record)
        if response is not None:
            messages = [*messages, response]
        for message in messages:
            if not isinstance(message, dict):
                continue
            # The messages of other clients repeat the calls of these blocks in a field.
            if message.get("tool_calls"):
                return False
            kinds = {get_kind(block) for block in iter_blocks(message)}
            is_response = message.get("type") == "message" and "stop_reason" in message
            has_blocks = has_blocks or is_response or bool(kinds & (_CALL_BLOCKS | _RESULT_BLOCKS))
    return has_blocks


def find_messages(record: JsonObject) -> list[Any]:
    """Return the messages of a record: itself, or those of a request."""
    if "role" in record and "content" in record:
        return [] if record.get("type") == "message" else [record]
    for holder in _iter_holders(record):
        if isinstance(holder.get("messages"), list):
            return list(holder["messages"])
    return []


def _iter_holders(record: JsonObject) -> Iterator[JsonObject]:
    """Yield the objects of a record that may be the body of a request."""
    yield record
    for key in _HOLDERS:
        holder = to_object(record.get(key))
        yield holder
        yield to_object(holder.get("body"))


def _find_response(record: JsonObject) -> JsonObject | None:
    """Return the message with which the API answers."""
    response = to_object(record.get("response"))
    for candidate in (record, response, to_object(response.get("body"))):
        if candidate.get("type") == "message" and "content" in candidate:
            return candidate
    return None


def get_kind(block: JsonObject) -> str:
    """Return the type of a block; an empty text if it is none."""
    return to_text(block.get("type")) or ""


def iter_blocks(message: JsonObject) -> Iterator[JsonObject]:
    """Yield the blocks of a message; a text is a block too."""
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def read_log(log: Log) -> list[Transcript]:
    """Read one conversation. A message that a later request repeats counts once."""
    conversation = AnthropicConversation()
    for record in log.iter_records():
        conversation.add_record(record)
    transcript = conversation.draft.build_transcript(
        FORMAT_NAME, skipped=log.skipped, truncated=log.truncated
    )
    return [transcript]


class AnthropicConversation:
    """A conversation while its messages are read. Other formats with these blocks build on it."""

    blocks_without_calls = _BLOCKS_WITHOUT_CALLS
    # Whether the calls that stand in texts are read.
    reads_texts = False

    def __init__(self) -> None:
        self.draft = Draft()
        self._message_count = 0
        self._seen: Counter[int] = Counter()

    def add_record(self, record: JsonObject) -> None:
        """Add a message, a request, a response, or a request with its response."""
        messages, response = find_messages(record), _find_response(record)
        for holder in (*_iter_holders(record), to_object(record.get("response"))):
            if "role" not in holder:
                self.draft.add_unread_calls(holder, _RECORD_FIELDS)
        if "role" in record:
            for message in messages:
                self._seen[_build_key(message)] += 1
                self.add_message(message)
        else:
            self._add_request(messages)
        if response is not None:
            self._seen[_build_key(response)] += 1
            self.add_message(response)
        elif record.get("response") is not None:
            self._add_other_response(to_object(record["response"]))
        elif record.get("type") == "error":
            self._add_other_response(record)
        elif not messages:
            self.draft.add_unknown_kind("record", record.get("type"))

    def _add_request(self, messages: list[Any]) -> None:
        """Add the messages of a request that no earlier record has.

        A client may drop old messages, so the messages are compared one by one.
        """
        keys = [_build_key(message) for message in messages]
        if keys and self._seen and self._seen.keys().isdisjoint(keys):
            self.draft.add_gap("the log holds several conversations")
        sent: Counter[int] = Counter()
        for message, key in zip(messages, keys, strict=True):
            sent[key] += 1
            if sent[key] > self._seen[key]:
                self._seen[key] += 1
                self.add_message(message)

    def _add_other_response(self, response: JsonObject) -> None:
        error = response.get("error") or to_object(response.get("body")).get("error")
        if error:
            self.draft.pending_gap = "the last response is an error of the API"
        else:
            self.draft.add_unknown_kind("response", response.get("type"))

    def add_message(self, message: Any) -> None:
        """Add one message."""
        if not isinstance(message, dict):
            self.draft.add_unknown_kind("message", type(message).__name__)
            return
        self._message_count += 1
        self._check_message(message)
        role, at = message.get("role"), self.parse_time(message)
        if role == "assistant":
            self.add_assistant_message(message, at)
        elif role == "user":
            self.add_user_message(list(iter_blocks(message)), at)
        elif role != "system":
            self.draft.add_unknown_kind("role", role)

    def _check_message(self, message: JsonObject) -> None:
        """Note what may hide calls: content of another type, blocks of unknown kinds, fields."""
        content = message.get("content")
        self.draft.add_unread_calls(message, _MESSAGE_FIELDS)
        if not self.reads_texts:
            self.draft.check_text_commands(to_text(message.get("role")), join_text(content))
        for block in iter_blocks(message):
            self.draft.add_unread_calls(block, _BLOCK_FIELDS)
        if not isinstance(content, str | list):
            self.draft.add_unknown_kind("content", type(content).__name__)
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else type(block).__name__
            if not isinstance(kind, str) or not self._is_known_block(kind, message.get("role")):
                self.draft.add_unknown_kind("content block", kind)

    def _is_known_block(self, kind: str, role: object) -> bool:
        if kind in _CALL_BLOCKS:
            return role == "assistant"
        return kind in _RESULT_BLOCKS or kind in self.blocks_without_calls

    def parse_time(self, message: JsonObject) -> datetime | None:
        """Return when a message was written. The API does not say it; some clients add it."""
        return parse_timestamp(message.get("timestamp"))

    def add_assistant_message(self, message: JsonObject, at: datetime | None) -> None:
        """Add the texts, calls, results, model and usage of a message of the model."""
        self.draft.add_model(message.get("model"))
        for block in iter_blocks(message):
            kind = get_kind(block)
            if kind == "text":
                self.add_text(to_text(block.get("text")) or "", at)
            elif kind in _CALL_BLOCKS:
                self.add_call_block(block, at)
            elif kind in _RESULT_BLOCKS:
                self.add_result_block(block, at)
        self.add_usage(message)
        reason = message.get("stop_reason")
        if not isinstance(reason, str | None) or reason not in _FINISHED:
            self.draft.pending_gap = f"the last response ended with `{clean_text(str(reason))}`"

    def add_text(self, text: str, at: datetime | None) -> None:
        """Add a text of the model; the texts of one message belong together."""
        self.draft.add_text(text, at, self._message_count)

    def add_user_message(self, blocks: list[JsonObject], at: datetime | None) -> None:
        """Add the results of a message of the user; without any, its text is a prompt."""
        results = [block for block in blocks if get_kind(block) in _RESULT_BLOCKS]
        for block in results:
            self.add_result_block(block, at)
        text = join_text(blocks)
        if not results and text is not None:
            self.draft.add_prompt(text, at)

    def add_call_block(self, block: JsonObject, at: datetime | None) -> DraftCall:
        """Add a call of the client, of the server or of an MCP server."""
        name = to_text(block.get("name")) or UNNAMED_TOOL
        if block.get("type") == "mcp_tool_use":
            name = f"mcp__{to_text(block.get('server_name')) or UNNAMED_TOOL}__{name}"
        if block.get("type") == "server_tool_use" and name in _CODE_TOOLS:
            self.draft.add_unknown_kind("program", name)
        return self.draft.add_call(name, block.get("input"), id_=parse_id(block.get("id")), at=at)

    def add_result_block(self, block: JsonObject, at: datetime | None) -> None:
        """Pair a result with its call."""
        if get_kind(block) in {"tool_result", "mcp_tool_result"}:
            for part in iter_objects(block.get("content")):
                # The records of some clients have no type.
                if "type" in part and get_kind(part) not in _RESULT_CONTENT:
                    self.draft.add_unknown_kind("result block", part["type"])
        id_ = parse_id(block.get("tool_use_id"))
        if self.draft.add_result(id_, self.parse_status(block), at) is None:
            self.draft.add_gap(RESULT_WITHOUT_CALL)

    def parse_status(self, block: JsonObject) -> CallStatus | None:
        """Return the status of a call: the flag of the API, or the error in a server's result."""
        content = to_object(block.get("content"))
        code = parse_count(content.get("return_code", 0))
        failed = (
            block.get("is_error") or "error_code" in content or (code is not None and code != 0)
        )
        return CallStatus.ERROR if failed else CallStatus.OK

    def add_usage(self, message: JsonObject) -> None:
        """Add the usage of a response. The cache is counted apart from the input."""
        usage = to_object(message.get("usage"))
        if usage:
            tokens = Tokens(
                input_uncached=parse_count(usage.get("input_tokens")),
                cache_read=parse_count(usage.get("cache_read_input_tokens")),
                cache_write=parse_count(usage.get("cache_creation_input_tokens")),
                output=parse_count(usage.get("output_tokens")),
            )
            self.draft.add_usage(tokens)


def _build_key(message: Any) -> int:
    """Return what identifies a message when a later request repeats it.

    Clients add marks for the cache and drop thoughts, so only texts, calls and results count.
    """
    if not isinstance(message, dict):
        return hash(repr(message))
    blocks = [
        [get_kind(block), *map(block.get, _KEY_FIELDS), *find_call_containers(block, _BLOCK_FIELDS)]
        for block in iter_blocks(message)
        if get_kind(block) not in {"thinking", "redacted_thinking"}
    ]
    unread = list(find_call_containers(message, _MESSAGE_FIELDS))
    return hash(repr((message.get("role"), blocks, unread)))


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="messages with `role` and blocks of `type` tool_use or tool_result",
    can_read_log=can_read_log,
    read_log=read_log,
)

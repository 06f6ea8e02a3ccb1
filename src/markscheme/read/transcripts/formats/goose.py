"""Goose: session files, `goose session export --format json`, `goose run --output-format …`.

A session file has a line about the session, then one message per line. An export is one document
with a `conversation`, the output of a run one with `messages`, a stream has an event per line.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    clean_text,
    iter_objects,
    join_text,
    parse_count,
    parse_epoch,
    parse_id,
    parse_json_or_raw,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import RESULT_WITHOUT_CALL, RUN_STOPPED, UNNAMED_TOOL, Draft
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "goose"
_BLOCKS_WITHOUT_CALLS = split_words(
    "text image document thinking redactedThinking reasoning systemNotification "
    "toolConfirmationRequest actionRequired conversationCompacted"
)
_RESULT_CONTENT = split_words("text image audio resource resource_link")
# Fields of a record, of a message and of a block that are read, or that hold no calls of the agent.
_RECORD_FIELDS = split_words("conversation messages message content extension_data recipe")
_BLOCK_FIELDS = split_words("toolCall toolResult _meta data")
_CALL_BLOCKS = frozenset({"toolRequest", "frontendToolRequest"})
_STREAM_EVENTS = frozenset({"message", "notification", "error", "complete"})
_SHELL_TOOLS = frozenset({"shell", "developer__shell"})
_DISPATCH_TOOLS = split_words(
    "delegate summon__delegate subagent subagent__execute_task dynamic_task__create_task"
)
# Tools whose argument is a program; what it does is not known.
_CODE_TOOLS = split_words(
    "execute_code execute_typescript code_execution__execute_code "
    "code_execution__execute_typescript computercontroller__automation_script "
    "computercontroller__computer_control"
)
_NOT_RUN = ("The user has declined", "Let the user know the tool call was skipped")
# Times beyond this number of seconds are in milliseconds.
_SECONDS_LIMIT = 10**11


def can_read_log(log: Log) -> bool:
    """Return whether the log has messages with the time and the blocks of this client."""
    return any(_is_goose_message(message) for r in log.sample for message in _iter_messages(r))


def _iter_messages(record: JsonObject) -> Iterable[JsonObject]:
    """Return the messages of a record: itself, that of an event, or those of a document."""
    if "role" in record:
        return [record]
    if record.get("type") == "message":
        return [to_object(record.get("message"))]
    return iter_objects(record.get("conversation", record.get("messages")))


def _is_goose_message(message: JsonObject) -> bool:
    kinds = [to_text(block.get("type")) for block in iter_objects(message.get("content"))]
    if any(kind in {"toolRequest", "toolResponse"} for kind in kinds):
        return True
    return bool(kinds) and message.get("role") in ("user", "assistant") and _has_time(message)


def _has_time(message: JsonObject) -> bool:
    return type(message.get("created")) is int and "model" not in message


def read_log(log: Log) -> list[Transcript]:
    """Read one session."""
    session = GooseSession()
    for record in log.iter_records():
        session.add_record(record)
    return [session.build_transcript(skipped=log.skipped, truncated=log.truncated)]


class GooseSession:
    """One session while its records are read."""

    def __init__(self) -> None:
        self._draft = Draft()
        # The parts of a text in a stream; they have the id of their message.
        self._parts: list[str] = []
        self._text_id: object = None
        self._text_at: datetime | None = None
        self._is_stream = False
        self._has_ended = False

    def add_record(self, record: JsonObject) -> None:
        """Add a message, an event of a stream, a document, or the line about a session."""
        kind = record.get("type")
        self._has_ended = False
        self._draft.add_unread_calls(record, _RECORD_FIELDS)
        if "role" in record:
            self._add_message(record)
        elif isinstance(kind, str) and kind in _STREAM_EVENTS:
            self._is_stream = True
            self._add_event(kind, record)
        elif "conversation" in record or "messages" in record:
            self._add_document(record)
        elif "working_dir" in record:
            self._add_session(record)
        else:
            self._draft.add_unknown_kind("record", kind)

    def _add_event(self, kind: str, event: JsonObject) -> None:
        if kind == "message":
            self._add_message(event.get("message"))
        elif kind == "error":
            self._draft.add_gap(f"the run had an error ({clean_text(str(event.get('error')))})")
        elif kind == "complete":
            self._has_ended = True

    def _add_document(self, document: JsonObject) -> None:
        self._add_session(document)
        messages = document.get("conversation", document.get("messages"))
        if not isinstance(messages, list):
            self._draft.add_unknown_kind("conversation", type(messages).__name__)
        for message in messages if isinstance(messages, list) else ():
            self._add_message(message)
        if "messages" in document:
            status = to_object(document.get("metadata")).get("status")
            if status != "completed":
                self._draft.add_gap(f"the run ended with the status `{clean_text(str(status))}`")

    def _add_session(self, record: JsonObject) -> None:
        """Add what is known about the session. Its input tokens include an unknown cache."""
        self._draft.session = parse_id(record.get("id")) or self._draft.session
        self._draft.add_model(to_object(record.get("model_config")).get("model_name"))
        output = parse_count(record.get("accumulated_output_tokens"))
        if output is not None:
            self._draft.tokens = Tokens(output=output)

    def _add_message(self, message: Any) -> None:
        if not isinstance(message, dict):
            self._draft.add_unknown_kind("message", type(message).__name__)
            return
        role, content, at = message.get("role"), message.get("content"), _parse_time(message)
        self._draft.add_unread_calls(message, ("content",))
        if at is None:
            self._draft.add_gap("a message has no time")
        if role not in ("user", "assistant"):
            self._draft.add_unknown_kind("role", role)
        if not isinstance(content, list):
            self._draft.add_unknown_kind("content", type(content).__name__)
            return
        for block in content:
            self._add_block(block, message, at)
        has_results = any(block.get("type") == "toolResponse" for block in iter_objects(content))
        text = join_text(content)
        is_visible = to_object(message.get("metadata")).get("userVisible") is not False
        if role == "user" and text is not None and not has_results and is_visible:
            self._end_text()
            self._draft.add_prompt(text, at)

    def _add_block(self, block: Any, message: JsonObject, at: datetime | None) -> None:
        kind = block.get("type") if isinstance(block, dict) else type(block).__name__
        self._draft.add_unread_calls(to_object(block), _BLOCK_FIELDS)
        if kind == "text" and message.get("role") == "assistant":
            self._add_text(to_text(block.get("text")) or "", message.get("id"), at)
            return
        self._end_text()
        if not isinstance(kind, str):
            self._draft.add_unknown_kind("content block", kind)
        elif kind in _CALL_BLOCKS:
            self._add_call(block, at)
        elif kind == "toolResponse":
            self._add_result(block, at)
        elif kind == "error":
            self._draft.pending_gap = "the last turn ended with an error"
        elif kind not in _BLOCKS_WITHOUT_CALLS:
            self._draft.add_unknown_kind("content block", kind)

    def _add_text(self, text: str, message_id: object, at: datetime | None) -> None:
        """Add a text; a stream has it in parts, each in a message of the same id."""
        if not self._is_stream or message_id is None or message_id != self._text_id:
            self._end_text()
        self._parts.append(text)
        self._text_id, self._text_at = message_id, at

    def _end_text(self) -> None:
        if self._parts:
            self._draft.add_text("".join(self._parts), self._text_at, self._text_id)
            self._parts = []

    def _add_call(self, block: JsonObject, at: datetime | None) -> None:
        call = to_object(block.get("toolCall"))
        details = to_object(call.get("value")) or call
        # A call that could not be parsed has no name; it was not carried out.
        unnamed = "invalid" if call.get("status") == "error" else UNNAMED_TOOL
        name = to_text(details.get("name")) or unnamed
        if name in _CODE_TOOLS:
            self._draft.add_unknown_kind("program", name)
        arguments = parse_json_or_raw(details.get("arguments"))
        drafted = self._draft.add_call(name, arguments, id_=parse_id(block.get("id")), at=at)
        if name in _DISPATCH_TOOLS:
            fields = to_object(arguments)
            kind = to_text(fields.get("source")) or to_text(fields.get("subrecipe"))
            self._draft.add_dispatch(kind, drafted, to_text(fields.get("instructions")))

    def _add_result(self, block: JsonObject, at: datetime | None) -> None:
        value = to_object(block.get("toolResult")).get("value", block.get("toolResult"))
        for part in iter_objects(to_object(value).get("content", value)):
            if (to_text(part.get("type")) or "") not in _RESULT_CONTENT:
                self._draft.add_unknown_kind("result block", part.get("type"))
            self._draft.add_unread_calls(part, ("resource", "_meta"))
        call = self._draft.add_result(parse_id(block.get("id")), None, at)
        if call is None:
            self._draft.add_gap(RESULT_WITHOUT_CALL)
        else:
            call.status = _parse_status(call.name, block.get("toolResult"))

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the transcript."""
        self._end_text()
        if self._is_stream and not self._has_ended:
            self._draft.add_gap(RUN_STOPPED)
        return self._draft.build_transcript(FORMAT_NAME, skipped=skipped, truncated=truncated)


def _parse_time(message: JsonObject) -> datetime | None:
    created = message.get("created")
    is_milliseconds = type(created) is int and created > _SECONDS_LIMIT
    return parse_epoch(created, "ms" if is_milliseconds else "s")


def _parse_status(name: str, result: Any) -> CallStatus | None:
    """Return the status of a call. Older results of commands do not say how they went."""
    details = to_object(result)
    value = details.get("value", result if isinstance(result, list) else None)
    fields = to_object(value)
    text = join_text(fields.get("content", value)) or to_text(details.get("error")) or ""
    if text.startswith(_NOT_RUN):
        return CallStatus.DENIED
    if details.get("status") == "error" or fields.get("isError"):
        return CallStatus.ERROR
    code = to_object(fields.get("structuredContent")).get("exit_code")
    if isinstance(code, int) and code != 0:
        return CallStatus.ERROR
    if details.get("status") != "success":
        return None
    return (
        None if name in _SHELL_TOOLS and "isError" not in fields and code is None else CallStatus.OK
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="messages with `role`, `created` and blocks of `type` toolRequest or toolResponse",
    can_read_log=can_read_log,
    read_log=read_log,
)

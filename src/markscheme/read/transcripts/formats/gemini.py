"""Gemini CLI sessions: `~/.gemini/tmp/…/session-*.json`; newer ones have one message a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_count,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import UNNAMED_TOOL, Draft, parse_inclusive_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "gemini"
_STATUSES = {
    "success": CallStatus.OK,
    "error": CallStatus.ERROR,
    "cancelled": CallStatus.DENIED,
}
# What the client itself tells the person.
_NOTICE_TYPES = frozenset({"info", "error", "warning"})
# The fields of a session and of a message that are read, or hold no call: `result` is the output.
_HEADER_FIELDS = split_words("memoryScratchpad directories messages $set")
_MESSAGE_FIELDS = split_words("content displayContent toolCalls thoughts tokens")
# Fields of a part that hold no call; a call is in `functionCall`.
_PART_FIELDS = split_words(
    "text thought thoughtSignature inlineData fileData functionResponse "
    "codeExecutionResult videoMetadata mediaResolution partMetadata"
)
_EXIT_CODE = re.compile(r"Exit Code: (-?\d+)")


def can_read_log(log: Log) -> bool:
    """Return whether the log has messages of type gemini, or the header of a session."""
    return any(
        ("sessionId" in record and ("projectHash" in record or "messages" in record))
        or (to_text(record.get("type")) == "gemini" and "content" in record)
        for record in log.sample
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one session."""
    draft = Draft()
    session = GeminiSession(draft)
    # A message that is written again with the same id replaces the earlier one.
    messages: dict[str | int, JsonObject] = {}
    for index, message in enumerate(_iter_messages(log, draft)):
        messages[to_text(message.get("id")) or index] = message
        session.check_places(message)
    for message in messages.values():
        session.add_message(message)
        tokens = to_object(message.get("tokens"))
        if tokens:
            draft.add_usage(_parse_usage(tokens))
    session.add_unlisted_calls()
    return [draft.build_transcript(FORMAT_NAME, skipped=log.skipped, truncated=log.truncated)]


def _iter_messages(log: Log, draft: Draft) -> Iterator[JsonObject]:
    """Yield the messages of the log; take the id of the session on the way."""
    for record in log.iter_records():
        # Lines that begin with `$` change the session: its fields, or the turn to go on from. What
        # was done in turns that were taken back was done, so it stays.
        change = record.get("$set")
        header = change if isinstance(change, dict) else record
        if "sessionId" in header:
            draft.session = to_text(header.get("sessionId")) or draft.session
        if "messages" in header:
            yield from draft.iter_blocks(header.get("messages"), "message")
        if header is change or "sessionId" in record or "messages" in record:
            for fields in (record,) if header is record else (record, header):
                draft.add_unread_calls(fields, _HEADER_FIELDS)
        elif "type" in record:
            yield record
        elif "$rewindTo" not in record:
            draft.add_unknown_kind("record", next(iter(record), None))


class GeminiSession:
    """One session while its messages are read."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        # The calls in the contents of messages, by id or name. The lists of calls hold them too.
        self._calls_in_contents: dict[str, str] = {}

    def add_message(self, message: JsonObject) -> None:
        """Add one message."""
        draft, kind = self._draft, to_text(message.get("type"))
        at = parse_timestamp(message.get("timestamp"))
        text = _join_content(message.get("content"))
        if kind == "user" and text is not None:
            draft.add_prompt(text, at)
        elif kind == "gemini":
            draft.add_model(message.get("model"))
            if text is not None:
                draft.add_text(text, at)
            for record in draft.iter_blocks(message.get("toolCalls"), "tool call"):
                self._add_call(record)
        elif kind not in _NOTICE_TYPES and kind != "user":
            draft.add_unknown_kind("message", message.get("type"))

    def check_places(self, message: JsonObject) -> None:
        """Note calls in places where the reader does not look, and parts of unknown kinds.

        Each version of a message is looked at: a later one may lack what was there.
        """
        self._draft.add_unread_calls(message, _MESSAGE_FIELDS)
        listed = message.get("toolCalls")
        if isinstance(listed, str) or (listed and message.get("type") != "gemini"):
            self._draft.add_unknown_kind("tool container", "toolCalls")
        content = message.get("content")
        parts = [content] if isinstance(content, dict) else content
        for part in self._draft.iter_blocks(parts):
            call = part.get("functionCall")
            if isinstance(call, dict):
                name = to_text(call.get("name")) or UNNAMED_TOOL
                self._calls_in_contents[to_text(call.get("id")) or name] = name
            for key in part.keys() - _PART_FIELDS - {"functionCall"}:
                self._draft.add_unknown_kind("content block", key)

    def _add_call(self, record: JsonObject) -> None:
        name = to_text(record.get("name")) or UNNAMED_TOOL
        call = self._draft.add_call(name, record.get("args"), id_=to_text(record.get("id")))
        call.set_outcome(_parse_call_status(record))
        # The log has the end of a call, not its start.
        call.ended = parse_timestamp(record.get("timestamp"))

    def add_unlisted_calls(self) -> None:
        """Note the calls in contents that are in no list of calls."""
        listed = {call.id for call in self._draft.calls} | {c.name for c in self._draft.calls}
        for id_, name in self._calls_in_contents.items():
            if id_ not in listed and name not in listed:
                self._draft.add_unknown_kind("tool container", "functionCall")


def _join_content(content: Any) -> str | None:
    content = [content] if isinstance(content, dict) else content
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str)) or None
    return to_text(content)


def _parse_call_status(call: JsonObject) -> CallStatus | None:
    """Return the status of a call. The CLI calls a failed command a success, despite its code."""
    status = _STATUSES.get(str(call.get("status")), CallStatus.NONE)
    if status is CallStatus.OK and call.get("name") == "run_shell_command":
        for part in iter_objects(call.get("result")):
            response = to_object(to_object(part.get("functionResponse")).get("response"))
            code = _EXIT_CODE.search(to_text(response.get("output")) or "")
            if code is not None and int(code.group(1)):
                return CallStatus.ERROR
    return status


def _parse_usage(tokens: JsonObject) -> Tokens:
    """Return the usage of a message. Input includes cached tokens; output excludes thoughts."""
    output, thoughts = parse_count(tokens.get("output")), parse_count(tokens.get("thoughts"))
    total = None if output is None else output + (thoughts or 0)
    return parse_inclusive_usage(tokens.get("input"), tokens.get("cached"), total, thoughts)


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="a session with `sessionId` and `messages` of `type` user and gemini",
    can_read_log=can_read_log,
    read_log=read_log,
)

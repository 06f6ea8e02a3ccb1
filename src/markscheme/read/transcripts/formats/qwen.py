"""Qwen Code: `~/.qwen/projects/…/chats/<session>.jsonl`, one record per line.

Lines look like those of Claude Code, but their messages have the parts of the Gemini API. What a
sub-agent did is in the result of its call; one in the background has a log of its own.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_count,
    parse_id,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import (
    RESULT_WITHOUT_CALL,
    UNNAMED_TOOL,
    Draft,
    DraftCall,
    DraftDispatch,
    parse_inclusive_usage,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "qwen"
_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_SYSTEM_RECORDS = split_words(
    "chat_compression slash_command ui_telemetry at_command attribution_snapshot notification "
    "cron custom_title parent_session session_source session_model rewind agent_bootstrap "
    "agent_retry file_history_snapshot user_text_elements session_artifact_event "
    "session_artifact_snapshot branch_checkpoint goal_state goal_runtime turn_result"
)
_PROMPTS = frozenset({None, "mid_turn_user_message", "agent_launch_prompt"})
# Messages of the user that the client writes.
_NOTICES = frozenset({"notification", "cron", "goal_runtime", "goal_control", "agent_retry"})
# Fields that say more about a part, and parts that hold no calls.
_PART_FIELDS = split_words("text thought thoughtSignature videoMetadata mediaResolution")
_PARTS_WITHOUT_CALLS = split_words("inlineData fileData")
_STATUSES = {
    "success": CallStatus.OK,
    "error": CallStatus.ERROR,
    "failed": CallStatus.ERROR,
    "cancelled": CallStatus.DENIED,
}
_TASK_STATUSES = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "cancelled": CallStatus.ERROR,
}
_DISPATCH_TOOLS = frozenset({"agent", "task"})
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})", re.MULTILINE)


def can_read_log(log: Log) -> bool:
    """Return whether the log has messages with parts in lines like those of Claude Code."""
    return any(
        to_text(record.get("type")) in _TYPES
        and ("sessionId" in record or "uuid" in record)
        and isinstance(to_object(record.get("message")).get("parts"), list)
        for record in log.sample
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one session, or the log of one sub-agent."""
    session = QwenSession()
    for record in log.iter_records():
        session.add_record(record)
    return [session.build_transcript(skipped=log.skipped, truncated=log.truncated)]


class QwenSession:
    """One session while its records are read."""

    def __init__(self) -> None:
        self._draft = Draft()
        self._open_calls: list[DraftCall] = []
        self._dispatches: dict[int, DraftDispatch] = {}
        self._dispatches_by_id: dict[str, DraftDispatch] = {}

    def add_record(self, record: JsonObject) -> None:
        """Add one record."""
        self._draft.add_unread_calls(record, ("message", "toolCallResult", "systemPayload"))
        kind, at = to_text(record.get("type")), parse_timestamp(record.get("timestamp"))
        self._draft.session = self._draft.session or parse_id(record.get("sessionId"))
        if record.get("isSidechain") is True:
            self._draft.agent = parse_id(record.get("agentId")) or self._draft.agent
            self._draft.kind = self._draft.kind or parse_id(record.get("agentName"))
        if kind == "user":
            self._add_user_message(record, at)
        elif kind == "assistant":
            self._add_assistant_message(record, at)
        elif kind == "tool_result":
            self._add_results(record, at)
        elif kind == "system":
            self._add_system_record(record)
        else:
            self._draft.add_unknown_kind("record", record.get("type"))

    def _list_parts(self, record: JsonObject) -> list[JsonObject]:
        """Return the parts of a message; note those that may hide calls."""
        message = to_object(record.get("message"))
        parts = message.get("parts")
        self._draft.add_unread_calls(message, ("parts",))
        if message.get("role") not in (None, "user", "model", "tool"):
            self._draft.add_unknown_kind("role", message["role"])
        if not isinstance(parts, list):
            self._draft.add_unknown_kind("content", type(parts).__name__)
            return []
        for part in parts:
            if not isinstance(part, dict):
                self._draft.add_unknown_kind("part", type(part).__name__)
                continue
            known = {"functionCall", "functionResponse", *_PART_FIELDS, *_PARTS_WITHOUT_CALLS}
            self._draft.add_unread_calls(part, ("functionCall", "functionResponse"))
            for key in part.keys() - known:
                self._draft.add_unknown_kind("part", key)
        return list(iter_objects(parts))

    def _add_user_message(self, record: JsonObject, at: datetime | None) -> None:
        parts, subtype = self._list_parts(record), record.get("subtype")
        self._add_responses(parts, record, at)
        text = _join_parts(parts)
        if not isinstance(subtype, str | None) or subtype not in _PROMPTS | _NOTICES:
            self._draft.add_unknown_kind("message", subtype)
        elif subtype in _PROMPTS and text and not any("functionResponse" in p for p in parts):
            self._draft.add_prompt(text, at)
        self._settle_task(record)

    def _add_assistant_message(self, record: JsonObject, at: datetime | None) -> None:
        draft = self._draft
        draft.add_model(record.get("model"))
        # A record without a message states the usage of one that follows or was empty.
        parts = self._list_parts(record) if "message" in record else []
        draft.add_text(_join_parts(parts), at)
        for part in parts:
            if "functionCall" in part:
                self._add_call(to_object(part["functionCall"]), at)
        usage = to_object(record.get("usageMetadata"))
        if usage:
            draft.add_usage(_parse_usage(usage))

    def _add_call(self, record: JsonObject, at: datetime | None) -> None:
        name, arguments = to_text(record.get("name")) or UNNAMED_TOOL, record.get("args")
        id_ = parse_id(record.get("id"))
        call = self._draft.add_call(name, arguments, id_=id_, at=at)
        self._open_calls.append(call)
        if name in _DISPATCH_TOOLS:
            fields = to_object(arguments)
            kind, prompt = to_text(fields.get("subagent_type")), to_text(fields.get("prompt"))
            dispatch = self._draft.add_dispatch(kind, call, prompt)
            self._dispatches[id(call)] = dispatch
            self._dispatches_by_id[id_ or ""] = dispatch

    def _add_results(self, record: JsonObject, at: datetime | None) -> None:
        """Add the results of a record; some writers leave out the message."""
        parts = self._list_parts(record) if "message" in record else []
        if not self._add_responses(parts, record, at):
            details = to_object(record.get("toolCallResult"))
            self._end_call(parse_id(details.get("callId")), details.get("name"), {}, record, at)

    def _add_responses(
        self, parts: list[JsonObject], record: JsonObject, at: datetime | None
    ) -> bool:
        """Add the results in the parts of a message; return whether there are any."""
        responses = [
            to_object(part["functionResponse"]) for part in parts if "functionResponse" in part
        ]
        for response in responses:
            id_ = parse_id(response.get("id"))
            self._end_call(id_, response.get("name"), response, record, at)
        return bool(responses)

    def _end_call(
        self,
        id_: str | None,
        name: Any,
        response: JsonObject,
        record: JsonObject,
        at: datetime | None,
    ) -> None:
        """Pair a result with the earliest open call of its id, or of its name if it has no id."""
        waiting = [
            call
            for call in self._open_calls
            if (call.id == id_ if id_ is not None and call.id is not None else call.name == name)
        ]
        if not waiting:
            self._draft.add_gap(RESULT_WITHOUT_CALL)
            return
        call, details = waiting[0], to_object(record.get("toolCallResult"))
        self._open_calls.remove(call)
        call.set_outcome(_parse_status(call.name, details, to_object(response.get("response"))))
        call.ended = at
        display = to_object(details.get("resultDisplay"))
        dispatch = self._dispatches.get(id(call))
        if dispatch is not None and display.get("type") == "task_execution":
            self._add_subagent(call, dispatch, display)
        elif dispatch is not None and display:
            self._draft.add_unknown_kind("result", display.get("type"))

    def _add_subagent(self, call: DraftCall, dispatch: DraftDispatch, display: JsonObject) -> None:
        """Add the sub-agent that the result of a call describes."""
        dispatch.kind = dispatch.kind or parse_id(display.get("subagentName"))
        if display.get("status") == "background":
            # Its outcome comes with a notification, its log is another file.
            dispatch.has_own_status, dispatch.status = True, CallStatus.NONE
            return
        dispatch.agent = call.id or f"agent {len(self._draft.children) + 1}"
        child = Draft(dispatch.agent, kind=dispatch.kind)
        child.session = self._draft.session
        child.add_prompt(to_text(display.get("taskPrompt")) or dispatch.prompt)
        for record in iter_objects(display.get("toolCalls")):
            id_, name = parse_id(record.get("callId")), to_text(record.get("name")) or UNNAMED_TOOL
            status = _STATUSES.get(to_text(record.get("status")) or "", CallStatus.NONE)
            child.add_call(name, record.get("args"), id_=id_).set_outcome(status)
        count = parse_count(to_object(display.get("executionSummary")).get("totalToolCalls"))
        if (count or 0) > len(child.calls):
            child.add_gap("calls of the sub-agent are not in the log")
        child.add_text(to_text(display.get("result")) or "")
        self._draft.children.append(child.build_transcript(FORMAT_NAME))

    def _add_system_record(self, record: JsonObject) -> None:
        subtype = record.get("subtype")
        if not isinstance(subtype, str) or subtype not in _SYSTEM_RECORDS:
            self._draft.add_unknown_kind("system record", subtype)
        elif subtype == "turn_result":
            state = to_object(record.get("systemPayload")).get("state")
            if state != "completed":
                self._draft.pending_gap = "the last turn was not finished"
        self._settle_task(record)

    def _settle_task(self, record: JsonObject) -> None:
        """Set the outcome of a sub-agent in the background from its notification."""
        task = to_object(to_object(record.get("systemPayload")).get("backgroundTask"))
        dispatch = self._dispatches_by_id.get(parse_id(task.get("toolUseId")) or "")
        status = _TASK_STATUSES.get(to_text(task.get("status")) or "")
        if dispatch is not None and status is not None:
            dispatch.has_own_status, dispatch.status = True, status

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the transcript."""
        return self._draft.build_transcript(FORMAT_NAME, skipped=skipped, truncated=truncated)


def _join_parts(parts: list[JsonObject]) -> str:
    """Return the text of a message without the thoughts."""
    texts = (part.get("text") for part in parts if not part.get("thought"))
    return "".join(text for text in texts if isinstance(text, str))


def _parse_status(name: str, details: JsonObject, response: JsonObject) -> CallStatus | None:
    """Return the status of a call. A command that failed is a success, despite its exit code."""
    status = _STATUSES.get(to_text(details.get("status")) or "")
    if details.get("errorType") == "execution_denied":
        return CallStatus.DENIED
    if status is None and "error" in response:
        return CallStatus.ERROR
    if name == "run_shell_command" and status in {None, CallStatus.OK}:
        code = _EXIT_CODE.search(to_text(response.get("output")) or "")
        if code is not None:
            return CallStatus.ERROR if int(code[1]) else CallStatus.OK
    return status


def _parse_usage(usage: JsonObject) -> Tokens:
    """Return the usage of a message. Input includes the cache; the total shows what output is."""
    input_, cached, output, thoughts, total = (
        parse_count(usage.get(f"{name}TokenCount"))
        for name in ("prompt", "cachedContent", "candidates", "thoughts", "total")
    )
    if input_ is not None and output is not None and thoughts is not None:
        output += thoughts if total == input_ + output + thoughts else 0
    return parse_inclusive_usage(input_, cached, output, thoughts)


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="lines with `type` user or assistant, `sessionId` and a `message` with `parts`",
    can_read_log=can_read_log,
    read_log=read_log,
)

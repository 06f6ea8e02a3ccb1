"""`cursor-agent -p --output-format stream-json`, also with `--stream-partial-output`."""

from __future__ import annotations

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
    parse_milliseconds,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import (
    RUN_STOPPED,
    UNNAMED_TOOL,
    Draft,
    DraftCall,
    DraftDispatch,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens, Transcript

FORMAT_NAME = "cursor-stream"
# The tools of the client, as the key of a call names them without `ToolCall`.
_TOOLS = split_words(
    "shell read edit write delete grep glob ls semSearch readLints updateTodos readTodos todo mcp "
    "getMcpTools listMcpResources readMcpResource task webSearch webFetch fetch createPlan "
    "askQuestion switchMode generateImage"
)
# What stands beside the tool in a call.
_CALL_FIELDS = split_words(
    "toolCallId startedAtMs completedAtMs hookAdditionalContexts description"
)
_OUTCOMES = {
    "success": CallStatus.OK,
    "rejected": CallStatus.DENIED,
    "permissionDenied": CallStatus.DENIED,
    "error": CallStatus.ERROR,
    "failure": CallStatus.ERROR,
    "timeout": CallStatus.ERROR,
    "spawnError": CallStatus.ERROR,
    "fileNotFound": CallStatus.ERROR,
}
_SYSTEM_EVENTS = split_words("init background_shell_timeout task_notification")
# Events of the connection, and thoughts.
_EVENTS_WITHOUT_CALLS = split_words("thinking connection retry")
# Questions of the client; the calls that they ask about are events of their own.
_QUERIES = split_words(
    "shellRequestQuery webSearchRequestQuery webFetchRequestQuery createPlanRequestQuery "
    "askQuestionRequestQuery askQuestionInteractionQuery switchModeRequestQuery mcpRequestQuery "
    "editRequestQuery writeRequestQuery deleteRequestQuery"
)


def can_read_log(log: Log) -> bool:
    """Return whether the log has events that only this client writes."""
    return any(_is_event(record) for record in log.sample)


def _is_event(record: JsonObject) -> bool:
    kind = to_text(record.get("type"))
    if kind == "tool_call":
        return "subtype" in record and isinstance(record.get("tool_call"), dict)
    if kind == "system":
        # Claude Code lists its tools too.
        return "apiKeySource" in record and "permissionMode" in record and "tools" not in record
    if kind == "result":
        usage = to_object(record.get("usage"))
        return "request_id" in record or ("inputTokens" in usage and "modelUsage" not in record)
    return kind == "interaction_query"


def read_log(log: Log) -> list[Transcript]:
    """Read one run."""
    run = CursorRun()
    for record in log.iter_records():
        run.add_event(record)
    return [run.build_transcript(skipped=log.skipped, truncated=log.truncated)]


class CursorRun:
    """One run while its events are read."""

    def __init__(self) -> None:
        self._draft = Draft()
        # The parts of a text that is not at its end.
        self._parts: list[str] = []
        self._text_at: datetime | None = None
        self._open_calls: dict[str, DraftCall] = {}
        # The last start and the last end of each id, to tell a repeated event from another call.
        self._events: dict[tuple[str, str], int] = {}
        self._dispatches: dict[int, DraftDispatch] = {}
        self._has_start = False
        self._results: list[JsonObject] = []
        self._has_ended = False

    def add_event(self, event: JsonObject) -> None:
        """Add one event."""
        kind, at = to_text(event.get("type")), parse_epoch(event.get("timestamp_ms"), "ms")
        self._has_ended = kind == "result"
        self._draft.add_unread_calls(event, ("tool_call", "message", "query", "response"))
        if kind != "assistant":
            self._end_text()
        self._draft.session = parse_id(event.get("session_id")) or self._draft.session
        if kind == "assistant":
            self._add_text(event, at)
        elif kind == "user":
            self._add_prompt(event, at)
        elif kind == "tool_call":
            self._add_call_event(event, at)
        elif kind == "system":
            self._add_system_event(event)
        elif kind == "interaction_query":
            self._check_query(event)
        elif kind == "result":
            self._results.append(event)
        elif kind is None or kind not in _EVENTS_WITHOUT_CALLS:
            self._draft.add_unknown_kind("event", event.get("type"))

    def _add_system_event(self, event: JsonObject) -> None:
        subtype = to_text(event.get("subtype"))
        if subtype == "init":
            self._has_start = True
            self._draft.add_model(event.get("model"))
        elif subtype is None or subtype not in _SYSTEM_EVENTS:
            self._draft.add_unknown_kind("system event", event.get("subtype"))

    def _check_query(self, event: JsonObject) -> None:
        kind = to_text(event.get("query_type"))
        if kind is None or kind not in _QUERIES:
            self._draft.add_unknown_kind("query", event.get("query_type"))

    def _read_message(self, event: JsonObject) -> str | None:
        """Return the text of a message; note content that may hide calls."""
        message = to_object(event.get("message"))
        content = message.get("content")
        self._draft.add_unread_calls(message, ("content",))
        if message.get("role") not in (None, event.get("type")):
            self._draft.add_unknown_kind("role", message["role"])
        if not isinstance(content, str | list):
            self._draft.add_unknown_kind("content", type(content).__name__)
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else type(block).__name__
            if kind not in ("text", "image"):
                self._draft.add_unknown_kind("content block", kind)
            self._draft.add_unread_calls(to_object(block))
        return join_text(content)

    def _add_prompt(self, event: JsonObject, at: datetime | None) -> None:
        text = self._read_message(event)
        if text is not None:
            self._draft.add_prompt(text, at)

    def _add_text(self, event: JsonObject, at: datetime | None) -> None:
        """Add a text, or a part of one. Partial output repeats the whole text after its parts."""
        text = self._read_message(event)
        if text is None:
            return
        if "timestamp_ms" in event and "model_call_id" not in event:
            self._parts.append(text)
            self._text_at = at
            return
        if not self._parts or not text.endswith("".join(self._parts)):
            self._end_text()
            self._parts, self._text_at = [text], at
        self._end_text()

    def _end_text(self) -> None:
        if self._parts:
            self._draft.add_text("".join(self._parts), self._text_at)
            self._parts = []

    def _add_call_event(self, event: JsonObject, at: datetime | None) -> None:
        """Add the start or the end of a call; each may be written twice, or be missing."""
        id_, subtype = parse_id(event.get("call_id")), to_text(event.get("subtype"))
        if subtype not in {"started", "completed"}:
            self._draft.add_unknown_kind("call event", event.get("subtype"))
            return
        if id_ is None:
            self._draft.add_gap("a call has no id")
        id_, record = id_ or "", to_object(event.get("tool_call"))
        if self._is_repeated(id_, subtype, record):
            return
        if subtype == "started" or id_ not in self._open_calls:
            call = add_tool_call(self._draft, record, id_, at if subtype == "started" else None)
            self._open_calls[id_] = call
            if self._draft.dispatches and self._draft.dispatches[-1].call is call:
                self._dispatches[id(call)] = self._draft.dispatches[-1]
        if subtype == "completed":
            call = self._open_calls.pop(id_)
            call.set_outcome(parse_outcome(record))
            call.ended = at
            self._add_subagent(call, record)

    def _is_repeated(self, id_: str, subtype: str, record: JsonObject) -> bool:
        """Return whether the last event of an id and subtype was the same."""
        content = hash(repr(record))
        previous = self._events.get((id_, subtype))
        self._events[id_, subtype] = content
        # The same call again, after its end, is another one.
        is_again = subtype == "started" and id_ not in self._open_calls
        return previous == content and not is_again

    def _add_subagent(self, call: DraftCall, record: JsonObject) -> None:
        """Add the sub-agent of a call, of which the result has the messages and calls."""
        dispatch = self._dispatches.get(id(call))
        result = to_object(to_object(record.get("taskToolCall")).get("result"))
        success = to_object(result.get("success"))
        if dispatch is None or not success:
            return
        dispatch.agent = parse_id(success.get("agentId")) or call.id
        child = Draft(dispatch.agent or MAIN_AGENT, kind=dispatch.kind)
        child.session = self._draft.session
        child.add_prompt(dispatch.prompt)
        for step in iter_objects(success.get("conversationSteps")):
            _add_step(child, step)
        if child.calls or child.final_texts:
            self._draft.children.append(child.build_transcript(FORMAT_NAME))

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the transcript."""
        self._end_text()
        draft = self._draft
        if not self._has_start:
            draft.add_gap("the start of the run is missing, so calls may be")
        if not self._has_ended:
            draft.add_gap(RUN_STOPPED)
        for result in self._results:
            self._add_result(result)
        if len(self._results) == 1:
            duration = parse_milliseconds(self._results[0].get("duration_ms"))
            draft.latency = (duration, duration)
        return draft.build_transcript(FORMAT_NAME, skipped=skipped, truncated=truncated)

    def _add_result(self, result: JsonObject) -> None:
        subtype = to_text(result.get("subtype"))
        if result.get("is_error") or subtype != "success":
            self._draft.add_gap(f"the run ended with an error ({clean_text(subtype or '?')})")
        # The result repeats all texts of the run, so it counts only if there are none.
        elif not self._draft.final_texts:
            self._draft.add_text(to_text(result.get("result")) or "")
        usage = to_object(result.get("usage"))
        if usage:
            tokens = Tokens(
                input_uncached=parse_count(usage.get("inputTokens")),
                cache_read=parse_count(usage.get("cacheReadTokens")),
                cache_write=parse_count(usage.get("cacheWriteTokens")),
                output=parse_count(usage.get("outputTokens")),
            )
            self._draft.add_usage(tokens)


def _add_step(child: Draft, step: JsonObject) -> None:
    """Add a step of a sub-agent."""
    for kind, value in step.items():
        if kind == "assistantMessage":
            child.add_text(to_text(to_object(value).get("text")) or "")
        elif kind == "toolCall":
            record = to_object(value)
            add_tool_call(child, record, parse_id(record.get("toolCallId")), None).set_outcome(
                parse_outcome(record)
            )
        elif kind != "thinkingMessage":
            child.add_unknown_kind("step", kind)


def add_tool_call(
    draft: Draft, record: JsonObject, id_: str | None, at: datetime | None
) -> DraftCall:
    """Add a call; the key of its record names the tool."""
    name, arguments = "", None
    for key, value in record.items():
        tool, fields = key.removesuffix("ToolCall"), to_object(value)
        if key == "function":
            name = to_text(fields.get("name")) or ""
            arguments = parse_json_or_raw(fields.get("arguments"))
        elif key.endswith("ToolCall"):
            name, arguments = clean_text(tool), fields.get("args")
            if tool not in _TOOLS:
                draft.add_unknown_kind("tool", tool)
        elif key not in _CALL_FIELDS:
            name = name or clean_text(key)
            draft.add_unknown_kind("tool", key)
    details = to_object(arguments)
    if name == "mcp":
        name, arguments = _parse_mcp_call(details)
    call = draft.add_call(name or UNNAMED_TOOL, arguments, id_=id_, at=at)
    if name == "task":
        draft.add_dispatch(_parse_agent_kind(details), call, to_text(details.get("prompt")))
    return call


def _parse_mcp_call(fields: JsonObject) -> tuple[str, Any]:
    """Return name and arguments of a call to a tool of an MCP server."""
    server = to_text(fields.get("providerIdentifier")) or to_text(fields.get("serverIdentifier"))
    tool = to_text(fields.get("toolName")) or to_text(fields.get("name"))
    return f"mcp__{server or UNNAMED_TOOL}__{tool or UNNAMED_TOOL}", fields.get(
        "args", fields.get("arguments")
    )


def _parse_agent_kind(fields: JsonObject) -> str | None:
    """Return the kind of a sub-agent: a name, or an object with the kind as its key."""
    kind = fields.get("subagentType", fields.get("subagent_type"))
    if isinstance(kind, dict):
        custom = to_text(to_object(kind.get("custom")).get("name"))
        kind = custom or next((key for key in kind if key != "unspecified"), None)
    return parse_id(kind)


def parse_outcome(record: JsonObject) -> CallStatus | None:
    """Return the status of a call: the key of its result names it."""
    result = next(
        (
            to_object(value).get("result")
            for key, value in record.items()
            if key.endswith("ToolCall")
        ),
        to_object(record.get("function")).get("result"),
    )
    for key, value in to_object(result).items():
        status, details = _OUTCOMES.get(key), to_object(value)
        if status is CallStatus.OK and (details.get("exitCode") or details.get("isError")):
            return CallStatus.ERROR
        if status is not None:
            # A command in the background goes on after its call.
            return None if details.get("isBackground") is True and key == "success" else status
    return None


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="events with `type` and `tool_call`, or a result with `request_id`",
    can_read_log=can_read_log,
    read_log=read_log,
)

"""`gemini --output-format stream-json`: one event per line, with times."""

from __future__ import annotations

import re
from datetime import datetime

from msgspec import structs

from markscheme.read.json_fields import (
    JsonObject,
    clean_text,
    parse_count,
    parse_id,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import (
    RESULT_WITHOUT_CALL,
    RUN_STOPPED,
    UNNAMED_TOOL,
    Draft,
    sum_tokens,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "gemini-stream"
_DISPATCH_TOOLS = frozenset({"invoke_agent", "delegate_to_agent"})
# Older versions have a tool for each sub-agent.
_AGENT_TOOLS = frozenset({"codebase_investigator", "cli_help", "generalist"})
_STATUSES = {"success": CallStatus.OK, "error": CallStatus.ERROR}
_DENIED = re.compile(r"denied by policy|requires user confirmation|User denied|cancelled by user")
_EXIT_CODE = re.compile(r"(?:Exit Code|exited with code): (-?\d{1,9})")


def can_read_log(log: Log) -> bool:
    """Return whether the log has events of the stream."""
    return any(_is_event(record) for record in log.sample)


def _is_event(record: JsonObject) -> bool:
    kind = to_text(record.get("type"))
    if kind == "init":
        return "session_id" in record and "model" in record and "timestamp" in record
    if kind in {"tool_use", "tool_result"}:
        return "tool_id" in record
    if kind == "message":
        return isinstance(record.get("content"), str) and "role" in record and "timestamp" in record
    return kind == "result" and "stats" in record and "status" in record


def read_log(log: Log) -> list[Transcript]:
    """Read one run."""
    run = GeminiStreamRun()
    for record in log.iter_records():
        run.add_event(record)
    return [run.build_transcript(skipped=log.skipped, truncated=log.truncated)]


class GeminiStreamRun:
    """One run while its events are read."""

    def __init__(self) -> None:
        self._draft = Draft()
        # The parts of a text that is not at its end.
        self._parts: list[str] = []
        self._text_at: datetime | None = None
        self._usages: list[Tokens] = []
        self._has_ended = False
        # The calls that the results of the runs count.
        self._counted_calls = 0

    def add_event(self, event: JsonObject) -> None:
        """Add one event."""
        kind, at = to_text(event.get("type")), parse_timestamp(event.get("timestamp"))
        self._draft.add_unread_calls(event, ("parameters", "output", "error"))
        is_part = kind == "message" and event.get("delta") is True
        if not is_part or event.get("role") != "assistant":
            self._end_text()
        if kind != "result":
            self._has_ended = False
        if kind == "init":
            self._draft.session = parse_id(event.get("session_id")) or self._draft.session
        elif kind == "message":
            self._add_message(event, at)
        elif kind == "tool_use":
            self._add_call(event, at)
        elif kind == "tool_result":
            self._add_result(event, at)
        elif kind == "error":
            self._add_error(event)
        elif kind == "result":
            self._add_end(event)
        else:
            self._draft.add_unknown_kind("event", event.get("type"))

    def _add_message(self, event: JsonObject, at: datetime | None) -> None:
        role, text = event.get("role"), event.get("content")
        if not isinstance(text, str):
            self._draft.add_unknown_kind("content", type(text).__name__)
        elif role == "user":
            self._draft.add_prompt(text, at)
        elif role == "assistant":
            self._parts.append(text)
            self._text_at = at
        else:
            self._draft.add_unknown_kind("role", role)

    def _end_text(self) -> None:
        if self._parts:
            self._draft.add_text("".join(self._parts), self._text_at)
            self._parts = []

    def _add_call(self, event: JsonObject, at: datetime | None) -> None:
        name, id_ = to_text(event.get("tool_name")) or UNNAMED_TOOL, parse_id(event.get("tool_id"))
        arguments = to_object(event.get("parameters"))
        call = self._draft.add_call(name, arguments, id_=id_, at=at)
        prompt = to_text(arguments.get("prompt"))
        if name in _DISPATCH_TOOLS:
            self._draft.add_dispatch(to_text(arguments.get("agent_name")), call, prompt)
        elif name in _AGENT_TOOLS:
            self._draft.add_dispatch(name, call, prompt)

    def _add_result(self, event: JsonObject, at: datetime | None) -> None:
        status = _STATUSES.get(to_text(event.get("status")) or "")
        call = self._draft.add_result(parse_id(event.get("tool_id")), status, at)
        if call is None:
            self._draft.add_gap(RESULT_WITHOUT_CALL)
            return
        error = to_object(event.get("error"))
        message = to_text(error.get("message")) or to_text(event.get("output")) or ""
        if status is CallStatus.ERROR:
            is_denied = error.get("type") == "policy_violation" or _DENIED.search(message)
            call.status = CallStatus.DENIED if is_denied else CallStatus.ERROR
        elif call.name == "run_shell_command":
            # The client calls a command that failed a success; its code is shown without output.
            code = _EXIT_CODE.search(message)
            call.status = CallStatus.ERROR if code is not None and int(code[1]) else None

    def _add_error(self, event: JsonObject) -> None:
        """Add an error of the run. After a warning the run may go on."""
        message = clean_text(to_text(event.get("message")) or "?").split("\n")[0]
        if event.get("severity") == "warning":
            self._draft.pending_gap = f"the run ended after a warning ({message})"
        else:
            self._draft.add_gap(f"the run had an error ({message})")

    def _add_end(self, event: JsonObject) -> None:
        self._has_ended = True
        if event.get("status") != "success":
            error = to_text(to_object(event.get("error")).get("type")) or to_text(
                event.get("status")
            )
            self._draft.add_gap(f"the run ended with an error ({clean_text(error or '?')})")
        stats = to_object(event.get("stats"))
        for model in to_object(stats.get("models")):
            self._draft.add_model(model)
        self._counted_calls += parse_count(stats.get("tool_calls")) or 0
        if stats:
            self._usages.append(_parse_stats(stats))

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the transcript."""
        self._end_text()
        if not self._has_ended:
            self._draft.add_gap(RUN_STOPPED)
        hidden = self._counted_calls - len(self._draft.calls)
        if hidden > 0:
            self._draft.add_gap(f"the result counts {hidden} more calls than the log shows")
        total = sum_tokens(self._usages)
        if total is not None:
            # The statistics cover the session with its sub-agents, and leave out thoughts.
            self._draft.tokens = structs.replace(
                total, with_subagents=True, output_is_lower_bound=True
            )
        return self._draft.build_transcript(FORMAT_NAME, skipped=skipped, truncated=truncated)


def _parse_stats(stats: JsonObject) -> Tokens:
    """Return the usage of a run. Its input includes cached tokens."""
    input_, cached = parse_count(stats.get("input_tokens")), parse_count(stats.get("cached"))
    return Tokens(
        input_uncached=None if input_ is None else max(input_ - (cached or 0), 0),
        cache_read=cached,
        output=parse_count(stats.get("output_tokens")),
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="events with `type` init, message, tool_use or result, and `tool_id` or `stats`",
    can_read_log=can_read_log,
    read_log=read_log,
)

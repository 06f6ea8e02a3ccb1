"""Codex: the event stream of `codex exec --json`.

It has events of threads, turns and items, one per line, without timestamps.
"""

from __future__ import annotations

from markscheme.read.json_fields import JsonObject, to_object, to_text
from markscheme.read.transcripts.draft import LOG_TRUNCATED, UNNAMED_TOOL, Draft, DraftCall
from markscheme.read.transcripts.formats.codex_outcomes import parse_codex_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Transcript

_EXEC_NAME = "codex-exec"
_EVENT_PREFIXES = ("thread.", "turn.", "item.")
_EXEC_CALL_TYPES = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}
)
# `assistant_message` is what the first versions called an answer.
_ANSWERS = frozenset({"agent_message", "assistant_message"})
# Items and fields of items that hold no calls. Those of calls hold their arguments and output.
_ITEMS_WITHOUT_CALLS = frozenset([*_ANSWERS, "reasoning", "todo_list", "error"])
_EVENT_FIELDS = ("item", "usage", "error")
_EXEC_STATUSES = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "declined": CallStatus.DENIED,
    "in_progress": CallStatus.NONE,
}


def can_read_exec(log: Log) -> bool:
    """Return whether the log has events of threads, turns or items."""
    return any(str(record.get("type")).startswith(_EVENT_PREFIXES) for record in log.sample)


def read_exec(log: Log) -> list[Transcript]:
    """Read one run."""
    run = CodexExecRun()
    for record in log.iter_records():
        run.add_event(record)
    if log.truncated:
        run.draft.add_gap(LOG_TRUNCATED)
    return [run.build_transcript(log.skipped)]


class CodexExecRun:
    """One run while its events are read. Item ids start again in each turn of a file."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._open_items: dict[str, DraftCall] = {}
        self._begun_unknown: dict[str, str] = {}
        self._turn_open = False

    def add_event(self, event: JsonObject) -> None:
        """Add one event."""
        kind = to_text(event.get("type"))
        self.draft.add_unread_calls(event, _EVENT_FIELDS)
        if kind == "thread.started":
            self.draft.session = to_text(event.get("thread_id")) or self.draft.session
            self._open_items = {}
        elif kind == "turn.started":
            self._turn_open = True
            self.draft.add_prompt(None)
        elif kind == "turn.completed":
            self._turn_open = False
            usage = to_object(event.get("usage"))
            if usage:
                self.draft.add_usage(parse_codex_usage(usage))
        elif kind == "turn.failed":
            self._turn_open = False
            self.draft.pending_gap = "the last turn failed"
        elif kind in {"item.started", "item.updated", "item.completed"}:
            self._add_item(to_object(event.get("item")), ended=kind == "item.completed")
        elif kind != "error":
            self.draft.add_unknown_kind("record", event.get("type"))

    def _add_item(self, item: JsonObject, *, ended: bool) -> None:
        kind = to_text(item.get("type")) or to_text(item.get("item_type"))
        if kind in _ANSWERS and ended:
            self.draft.add_text(to_text(item.get("text")) or "")
        if kind in _ITEMS_WITHOUT_CALLS:
            self.draft.add_unread_calls(item)
            return
        # An item of an unknown type counts once: it may have begun and gone on before.
        if kind not in _EXEC_CALL_TYPES:
            if ended:
                self._begun_unknown.pop(to_text(item.get("id")) or "", None)
                self.draft.add_unknown_kind("item", kind)
            else:
                self._begun_unknown[to_text(item.get("id")) or ""] = str(kind)
            return
        id_ = to_text(item.get("id"))
        call = self._open_items.get(id_) if id_ is not None else None
        if call is None:
            call = self._add_call(kind, item)
            if id_ is not None:
                self._open_items[id_] = call
        if ended:
            call.set_outcome(_parse_item_status(item))
            self._open_items.pop(id_ or "", None)

    def _add_call(self, name: str, item: JsonObject) -> DraftCall:
        if name == "mcp_tool_call":
            server, tool = to_text(item.get("server")), to_text(item.get("tool"))
            name = f"mcp__{server or UNNAMED_TOOL}__{tool or UNNAMED_TOOL}"
            return self.draft.add_call(name, item.get("arguments"), id_=to_text(item.get("id")))
        if name == "collab_tool_call":
            name = to_text(item.get("tool")) or name
        call = self.draft.add_call(name, item, id_=to_text(item.get("id")))
        if name == "spawn_agent":
            dispatch = self.draft.add_dispatch(None, call, to_text(item.get("prompt")))
            threads = item.get("receiver_thread_ids")
            if isinstance(threads, list) and threads and isinstance(threads[0], str):
                dispatch.agent = threads[0]
        return call

    def build_transcript(self, skipped: int) -> Transcript:
        """Return the transcript of the run."""
        for kind in self._begun_unknown.values():
            self.draft.add_unknown_kind("item", kind)
        if self._turn_open:
            self.draft.add_gap("the last turn was not completed")
        return self.draft.build_transcript(_EXEC_NAME, skipped=skipped)


def _parse_item_status(item: JsonObject) -> CallStatus | None:
    code = item.get("exit_code")
    if isinstance(code, int) and code:
        return CallStatus.ERROR
    if item.get("error"):
        return CallStatus.ERROR
    if to_text(item.get("type")) == "web_search" and "status" not in item:
        return CallStatus.OK
    return _EXEC_STATUSES.get(str(item.get("status")))


FORMAT = LogFormat(
    name=_EXEC_NAME,
    looks_for="lines with `type` thread.started, turn.started or item.completed",
    can_read_log=can_read_exec,
    read_log=read_exec,
)

"""Codex: rollouts of sessions.

A rollout (`~/.codex/sessions/…/rollout-<time>-<thread>.jsonl`, also `.jsonl.zst`) is one thread. A
thread that another has started is nested in it, found by the thread id in its file name or by the
parent that its own first line names. A forked thread begins with a copy of its parent's lines,
which are left out.
There is no error flag on calls: their status comes from exit codes in the output, and from events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import structs

from markscheme.read.json_fields import (
    JsonObject,
    clean_text,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    parse_json_or_raw,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft
from markscheme.read.transcripts.formats.codex_calls import SCRIPT_TOOLS, CodexCalls, name_tool
from markscheme.read.transcripts.formats.codex_events import name_agents, read_call_event
from markscheme.read.transcripts.formats.codex_kinds import (
    CALL_ITEMS,
    HARMLESS_BLOCKS,
    HARMLESS_EVENTS,
    HARMLESS_ITEMS,
    HARMLESS_RECORDS,
    HARMLESS_TURN_ITEMS,
    OUTPUT_ITEMS,
    TEXT_BLOCKS,
    fold_kind,
)
from markscheme.read.transcripts.formats.codex_outcomes import (
    parse_codex_usage,
    parse_output_status,
    parse_script_status,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, InputError, Transcript

_ROLLOUT_NAME = "codex-rollout"
# User messages that begin like this were written by the client, not by the user.
_CONTEXT_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<turn_aborted>",
)
_CALL_ITEMS_WITH_STATUS = CALL_ITEMS - {"function_call", "custom_tool_call"}
_ITEM_KINDS = CALL_ITEMS | OUTPUT_ITEMS | HARMLESS_ITEMS | {"message"}
# Fields about a thread or a turn that define tools.
_META_FIELDS = frozenset({"tools", "dynamic_tools"})
_LINE_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_MAX_DEPTH = 8


def can_read_rollout(log: Log) -> bool:
    """Return whether lines are wrapped with a `payload`, or bare as in the oldest versions."""
    return any(
        (to_text(record.get("type")) in _LINE_TYPES and isinstance(record.get("payload"), dict))
        or "record_type" in record
        or ("type" not in record and "instructions" in record and "timestamp" in record)
        for record in log.sample
    )


def read_rollout(log: Log) -> list[Transcript]:
    """Read a thread with the threads that it started, if their rollouts are beside it."""
    return [_read_thread(log, _RolloutFinder(log.path), {log.path})]


def _read_thread(log: Log, rollouts: _RolloutFinder, ancestors: set[Path]) -> Transcript:
    thread = CodexThread()
    for record in log.iter_records():
        thread.add_record(record)
    draft = thread.draft
    rollouts.name_children(thread.calls, log.path)
    for dispatch in draft.dispatches:
        path = rollouts.find_rollout(dispatch.agent)
        if path is not None and path not in ancestors and len(ancestors) < _MAX_DEPTH:
            child = _read_thread(Log(path), rollouts, {*ancestors, path})
            agent = clean_text(dispatch.agent or child.agent)
            calls = tuple(structs.replace(call, agent=agent) for call in child.calls)
            draft.children.append(
                structs.replace(child, agent=agent, kind=dispatch.kind, calls=calls)
            )
    return thread.build_transcript(skipped=log.skipped, truncated=log.truncated)


def _read_threads_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read the threads of a folder; leave out those that are nested in another."""
    finders: dict[Path, _RolloutFinder] = {}
    threads = []
    for log in logs:
        finder = finders.setdefault(log.path.parent, _RolloutFinder(log.path))
        threads.append((log, _read_thread(log, finder, {log.path})))
    nested = {inner.session for _, thread in threads for inner in _iter_descendants(thread)}
    yield from ((log, thread) for log, thread in threads if thread.session not in nested)


def _iter_descendants(thread: Transcript) -> Iterator[Transcript]:
    for inner in thread.subagents:
        yield inner
        yield from _iter_descendants(inner)


class _RolloutFinder:
    """Finds the rollouts of the threads that a thread has started, for the logs of one folder."""

    def __init__(self, path: Path) -> None:
        # Codex keeps rollouts in folders `2026/01/31`; a sub-agent may have started on another day.
        by_date = all(folder.name.isdigit() for folder in list(path.absolute().parents)[:3])
        self._folder = path.absolute().parents[3] if by_date else path.parent
        self._subfolders = "*/*/*/" if by_date else ""
        self._beside = path.parent
        self._paths: dict[str, Path] = {}

    def find_rollout(self, thread: str | None) -> Path | None:
        """Return the path of a thread's rollout, by its file name; `None` if there is none."""
        if thread is None:
            return None
        if thread in self._paths:
            return self._paths[thread]
        # The id becomes part of a glob pattern, so it must not hold wildcards or slashes.
        if not thread.replace("-", "").isalnum():
            return None
        paths = sorted(self._folder.glob(f"{self._subfolders}rollout-*-{thread}.jsonl*"))
        return paths[0] if paths else None

    def name_children(self, calls: CodexCalls, path: Path) -> None:
        """Say which threads in this folder name the thread of a log as their parent."""
        for child, child_path, meta in self._children.get(calls.draft.session or "", ()):
            if child_path != path:
                self._paths[child] = child_path
                spawn = _get_spawn(meta)
                agent_path = to_text(meta.get("agent_path")) or to_text(spawn.get("agent_path"))
                role = to_text(meta.get("agent_role")) or to_text(spawn.get("agent_role"))
                calls.name_agent(None, child, agent_path, role)

    @cached_property
    def _children(self) -> dict[str, list[tuple[str, Path, JsonObject]]]:
        """The spawned threads of this folder by their parent; only first lines are read."""
        children: dict[str, list[tuple[str, Path, JsonObject]]] = {}
        for path in sorted(self._beside.glob("rollout-*.jsonl*")):
            try:
                meta = to_object(next(Log(path).iter_records(), {}).get("payload"))
            except InputError:
                # It is reported where it is read itself.
                continue
            child, parent = to_text(meta.get("id")), _find_parent(meta)
            if child is not None and parent is not None and child != parent:
                children.setdefault(parent, []).append((child, path, meta))
        return children


def _get_spawn(meta: JsonObject) -> JsonObject:
    """Return what the first line of a thread says about the call that started it."""
    return to_object(to_object(to_object(meta.get("source")).get("subagent")).get("thread_spawn"))


def _find_parent(meta: JsonObject) -> str | None:
    """Return the thread that started a thread; reviews and the like are started by no call."""
    subagent = to_object(meta.get("source")).get("subagent")
    if subagent is not None and not _get_spawn(meta):
        return None
    return to_text(_get_spawn(meta).get("parent_thread_id")) or to_text(
        meta.get("parent_thread_id")
    )


class CodexThread:
    """One thread while its lines are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.calls = CodexCalls(self.draft)
        self._replay = ForkReplay()
        self._meta_count = 0
        self._last_total: Any = None
        self._has_prompt_events = False
        self._turn_open = False

    def add_record(self, record: JsonObject) -> None:
        """Add one line."""
        payload, kind = record.get("payload"), to_text(record.get("type"))
        if type(payload) is not dict:
            self._add_bare_record(record, kind)
            return
        self.draft.add_unread_calls(record, ("payload",))
        at = parse_timestamp(record.get("timestamp"))
        if kind == "session_meta":
            self._add_meta(payload, at)
        elif not self._replay.is_repeated(record, at, copied=self._meta_count > 1):
            if kind == "response_item":
                self._add_item(payload, at)
            elif kind == "event_msg":
                self._add_event(payload, at)
            elif kind == "turn_context":
                self.draft.add_model(payload.get("model"))
                self.draft.add_unread_calls(payload, _META_FIELDS)
            elif kind not in HARMLESS_RECORDS:
                self.draft.add_unknown_kind("record", kind)

    def _add_bare_record(self, record: JsonObject, kind: str | None) -> None:
        """Add a line of the oldest versions, which have no `payload`."""
        if kind in _ITEM_KINDS:
            self._add_item(record, None)
        elif kind is None and self._meta_count == 0 and "id" in record:
            self._add_meta(record, None)
        elif kind is not None or record.get("record_type") != "state":
            self.draft.add_unknown_kind("record", kind or record.get("record_type"))
        else:
            self.draft.add_unread_calls(record)

    def _add_meta(self, meta: JsonObject, at: datetime | None) -> None:
        self._meta_count += 1
        self.draft.add_unread_calls(meta, _META_FIELDS)
        if self._meta_count > 1:
            return
        self._replay.start_thread(meta, at)
        self.draft.session = to_text(meta.get("id")) or to_text(meta.get("session_id"))
        self.calls.reports_all = meta.get("history_mode") == "paginated"
        source = to_object(meta.get("source")).get("subagent")
        self.draft.internal = source in {"review", "compact"} if isinstance(source, str) else False

    def _add_item(self, item: JsonObject, at: datetime | None) -> None:
        kind = to_text(item.get("type"))
        if kind in CALL_ITEMS:
            self._add_call(item, at)
        elif kind in OUTPUT_ITEMS:
            self._add_output(item, at)
        elif kind == "message":
            self.draft.add_unread_calls(item)
            self._add_message(item, at)
        elif kind in HARMLESS_ITEMS:
            self.draft.add_unread_calls(item)
        else:
            self.draft.add_unknown_kind("item", kind)

    def _add_message(self, item: JsonObject, at: datetime | None) -> None:
        for block in iter_objects(item.get("content")):
            block_kind = to_text(block.get("type"))
            if block_kind not in TEXT_BLOCKS and block_kind not in HARMLESS_BLOCKS:
                self.draft.add_unknown_kind("content block", block_kind)
        text = join_text(item.get("content"), TEXT_BLOCKS)
        role = to_text(item.get("role"))
        if text is None:
            return
        if role == "assistant":
            self.draft.add_text(text, at)
        # User messages are prompts only in logs that have no events for prompts.
        elif (
            role == "user"
            and not self._has_prompt_events
            and not text.lstrip().startswith(_CONTEXT_PREFIXES)
        ):
            self.draft.add_prompt(text, at)

    def _add_event_prompt(self, text: str | None, at: datetime | None) -> None:
        """Add a prompt event; at the first one, drop the prompts taken from user messages."""
        if not self._has_prompt_events:
            self.draft.prompts.clear()
        self._has_prompt_events = True
        self.draft.add_prompt(text, at)

    def _add_call(self, item: JsonObject, at: datetime | None) -> None:
        kind = str(item.get("type"))
        name = to_text(item.get("name")) or kind.removesuffix("_call")
        name = name_tool(name, to_text(item.get("namespace")))
        call = self.calls.add_call(
            name,
            _parse_arguments(item),
            id_=to_text(item.get("call_id")),
            other_id=to_text(item.get("id")),
            at=at,
        )
        if call.id is None and kind in _CALL_ITEMS_WITH_STATUS:
            # Without an id no output line can follow, so the call states its own status.
            status = to_text(item.get("status"))
            if status in {"completed", "failed"}:
                call.set_outcome(CallStatus.OK if status == "completed" else CallStatus.ERROR)

    def _add_output(self, item: JsonObject, at: datetime | None) -> None:
        id_, output = to_text(item.get("call_id")), item.get("output")
        call = self.calls.find_call(id_)
        if call is None:
            self.draft.add_gap("a result belongs to no call of the log")
            return
        is_script = call.name in SCRIPT_TOOLS
        status = parse_script_status(output) if is_script else parse_output_status(output)
        if self.draft.add_result(id_, status, at) is None and status is not None:
            # Code may print before it ends; the last output says how it went.
            call.status, call.ended = status, at
        self.calls.add_result(call, output)
        dispatch = self.calls.find_dispatch(id_)
        if dispatch is not None:
            dispatch.agent = (
                to_text(to_object(parse_json(output)).get("agent_id")) or dispatch.agent
            )
            if dispatch.agent is not None:
                call.status = CallStatus.OK

    def _add_event(self, event: JsonObject, at: datetime | None) -> None:
        kind = to_text(event.get("type"))
        if kind == "user_message":
            self._add_event_prompt(to_text(event.get("message")), at)
        elif kind == "token_count":
            self._add_usage(to_object(event.get("info")))
        elif kind in {"task_complete", "turn_complete"}:
            self._turn_open = False
            self._add_new_text(to_text(event.get("last_agent_message")), at)
        elif kind in {"task_started", "turn_started"}:
            self._turn_open = True
        elif kind == "turn_aborted":
            self._turn_open = False
            self.draft.pending_gap = "the last turn was interrupted"
        elif kind in {"item_completed", "item_started"}:
            self._add_turn_item(to_object(event.get("item")), kind, at)
        elif kind in HARMLESS_EVENTS:
            self.draft.add_unread_calls(event)
        elif not self._add_call_event(event, at):
            self.draft.add_unknown_kind("event", kind)

    def _add_call_event(self, event: JsonObject, at: datetime | None) -> bool:
        """Add an event about a call or a sub-agent; return whether it is one."""
        reports = read_call_event(event, at)
        if reports is None:
            return False
        for report in reports:
            self.calls.add_report(report)
        name_agents(self.calls, event)
        return True

    def _add_turn_item(self, item: JsonObject, event: str, at: datetime | None) -> None:
        """Add an item of the paginated history: a prompt, an answer, or a call with its result."""
        kind = fold_kind(to_text(item.get("type")) or "")
        if kind == "usermessage":
            if event == "item_completed":
                self._add_event_prompt(join_text(item.get("content"), (*TEXT_BLOCKS, "Text")), at)
        elif kind == "agentmessage":
            text = join_text(item.get("content"), (*TEXT_BLOCKS, "Text"))
            self._add_new_text(text or to_text(item.get("text")), at)
        elif kind not in HARMLESS_TURN_ITEMS and not self._add_call_event(
            {**item, "type": kind, "has_ended": event == "item_completed"}, at
        ):
            self.draft.add_unknown_kind("item", item.get("type"))

    def _add_new_text(self, text: str | None, at: datetime | None) -> None:
        """Add the text of an event, unless the same message has been met as an item already."""
        if text is not None and [text] != self.draft.final_texts:
            self.draft.add_text(text, at)

    def _add_usage(self, info: JsonObject) -> None:
        """Add the usage of the last model call. The same total again is the same call again."""
        total, last = info.get("total_token_usage"), to_object(info.get("last_token_usage"))
        if not last or (total is not None and total == self._last_total):
            return
        self._last_total = total
        self.draft.add_usage(parse_codex_usage(last))

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the transcript of the thread."""
        self.calls.add_doubts()
        if self._turn_open:
            self.draft.add_gap("the last turn was not completed")
        return self.draft.build_transcript(_ROLLOUT_NAME, skipped=skipped, truncated=truncated)


class ForkReplay:
    """Recognises the lines of its parent that a forked thread repeats at its start.

    Newer logs number their lines and state the first number of their own. In older logs the
    repeated lines were written within one second after the file was created, or have an earlier
    timestamp.
    """

    def __init__(self) -> None:
        self._forked = False
        self._first_ordinal: int | None = None
        self._created_at: datetime | None = None

    def start_thread(self, meta: JsonObject, at: datetime | None) -> None:
        """Add the first `session_meta` line, which is about this thread; later ones are copies."""
        source = to_object(meta.get("source")).get("subagent")
        self._forked = any(meta.get(key) for key in ("forked_from_id", "parent_thread_id"))
        self._forked = self._forked or isinstance(source, dict)
        self._first_ordinal = parse_count(meta.get("subagent_history_start_ordinal"))
        self._created_at = at

    def is_repeated(self, record: JsonObject, at: datetime | None, *, copied: bool) -> bool:
        """Return whether a line repeats the parent's; `copied`: the parent's meta line was met."""
        if not self._forked:
            return False
        ordinal = parse_count(record.get("ordinal"))
        if self._first_ordinal is not None and ordinal is not None:
            return ordinal < self._first_ordinal
        if self._created_at is None or at is None:
            return False
        return at < self._created_at or (copied and (at - self._created_at).total_seconds() < 1)


def _parse_arguments(item: JsonObject) -> Any:
    action = item.get("action")
    if isinstance(action, dict):
        return action
    if "arguments" in item:
        return parse_json_or_raw(item["arguments"])
    return item.get("input")


FORMAT = LogFormat(
    name=_ROLLOUT_NAME,
    looks_for="lines with `type` session_meta, response_item or event_msg and `payload`",
    can_read_log=can_read_rollout,
    read_log=read_rollout,
    read_together=_read_threads_together,
)

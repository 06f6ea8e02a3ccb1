"""Codex: rollouts of sessions.

A rollout (`~/.codex/sessions/…/rollout-<time>-<thread>.jsonl`, also `.jsonl.zst`) is one thread. A
thread that another has started is nested in it, found by the thread id in its file name. A forked
thread begins with a copy of its parent's lines, which are left out.
There is no error flag on calls: their status comes from exit codes in the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import structs

from markscheme.read.json_fields import (
    JsonObject,
    join_text,
    parse_count,
    parse_json,
    parse_json_or_raw,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft, DraftCall, DraftDispatch
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

_ROLLOUT_NAME = "codex-rollout"
# The oldest versions write items without the wrapping `payload`.
_BARE_TYPES = frozenset({"message", "function_call", "function_call_output", "reasoning"})
# User messages that begin like this were written by the client, not by the user.
_CONTEXT_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<turn_aborted>",
)
_CALL_TYPES = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
)
_CALL_TYPES_WITH_STATUS = frozenset({"web_search_call", "local_shell_call", "tool_search_call"})
_TEXT_TYPES = ("input_text", "output_text", "text")
_LINE_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_MAX_DEPTH = 8
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_REJECTED_PATTERN = re.compile(
    r"(?:patch|exec command|command|tool call)? ?(?:rejected|aborted) by (?:the )?user"
)
_FAILED_PATTERN = re.compile(
    r"(?:failed in sandbox|execution error|apply_patch verification failed)"
)
# Inside a string the quotes would be escaped, so this is never a part of the output itself.
_METADATA_EXIT_CODE = re.compile(r',\s*"metadata":\s*\{\s*"exit_code":\s*(-?\d{1,9})\s*[,}]')
_HEAD_LENGTH = 2_000
_TAIL_LENGTH = 200


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
    for dispatch in draft.dispatches:
        path = rollouts.find_rollout(dispatch.agent)
        if path is not None and path not in ancestors and len(ancestors) < _MAX_DEPTH:
            child = _read_thread(Log(path), rollouts, {*ancestors, path})
            agent = dispatch.agent or child.agent
            calls = tuple(structs.replace(call, agent=agent) for call in child.calls)
            draft.children.append(
                structs.replace(child, agent=agent, kind=dispatch.kind, calls=calls)
            )
    return thread.build_transcript(skipped=log.skipped, truncated=log.truncated)


def _read_threads_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read the threads of a folder; leave out those that are nested in another."""
    threads = [(log, read_rollout(log)[0]) for log in logs]
    nested = {inner.session for _, thread in threads for inner in _iter_descendants(thread)}
    yield from ((log, thread) for log, thread in threads if thread.session not in nested)


def _iter_descendants(thread: Transcript) -> Iterator[Transcript]:
    for inner in thread.subagents:
        yield inner
        yield from _iter_descendants(inner)


class _RolloutFinder:
    """Finds the rollout of a thread by its file name, only when it is needed."""

    def __init__(self, path: Path) -> None:
        # Codex keeps rollouts in folders `2026/01/31`; a sub-agent may have started on another day.
        by_date = all(folder.name.isdigit() for folder in list(path.absolute().parents)[:3])
        self._folder = path.absolute().parents[3] if by_date else path.parent
        self._subfolders = "*/*/*/" if by_date else ""

    def find_rollout(self, thread: str | None) -> Path | None:
        """Return the path of a thread's rollout; `None` if there is none."""
        # The id becomes part of a glob pattern, so it must not hold wildcards or slashes.
        if thread is None or not thread.replace("-", "").isalnum():
            return None
        paths = sorted(self._folder.glob(f"{self._subfolders}rollout-*-{thread}.jsonl*"))
        return paths[0] if paths else None


class CodexThread:
    """One thread while its lines are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._replay = ForkReplay()
        self._meta_count = 0
        self._last_total: Any = None
        self._has_prompt_events = False
        self._turn_open = False
        self._dispatches_by_call: dict[str, DraftDispatch] = {}
        self._calls: dict[str, DraftCall] = {}

    def add_record(self, record: JsonObject) -> None:
        """Add one line."""
        payload, kind = record.get("payload"), record.get("type")
        if type(payload) is not dict:
            if to_text(kind) in _BARE_TYPES:
                self._add_item(record, None)
            elif self._meta_count == 0 and "id" in record:
                self._add_meta(record, None)
            return
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

    def _add_meta(self, meta: JsonObject, at: datetime | None) -> None:
        self._meta_count += 1
        if self._meta_count > 1:
            return
        self._replay.start_thread(meta, at)
        self.draft.session = to_text(meta.get("id")) or to_text(meta.get("session_id"))
        source = to_object(meta.get("source")).get("subagent")
        self.draft.internal = source in {"review", "compact"} if isinstance(source, str) else False

    def _add_item(self, item: JsonObject, at: datetime | None) -> None:
        kind = to_text(item.get("type"))
        if kind in _CALL_TYPES:
            self._add_call(item, at)
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            self._add_output(item, at)
        elif kind == "message":
            text = join_text(item.get("content"), _TEXT_TYPES)
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
        space = to_text(item.get("namespace"))
        if space is not None and space.startswith("mcp__"):
            name = f"{space.rstrip('_')}__{name}"
        arguments = _parse_arguments(item)
        call = self.draft.add_call(name, arguments, id_=to_text(item.get("call_id")), at=at)
        if call.id is not None:
            self._calls[call.id] = call
        elif kind in _CALL_TYPES_WITH_STATUS:
            # Without an id no output line can follow, so the call states its own status.
            status = to_text(item.get("status"))
            if status in {"completed", "failed"}:
                call.set_outcome(CallStatus.OK if status == "completed" else CallStatus.ERROR)
        if name == "spawn_agent":
            agent = to_object(arguments)
            agent_kind = to_text(agent.get("agent_type")) or to_text(agent.get("task_name"))
            dispatch = self.draft.add_dispatch(agent_kind, call, to_text(agent.get("message")))
            if call.id is not None:
                self._dispatches_by_call[call.id] = dispatch

    def _add_output(self, item: JsonObject, at: datetime | None) -> None:
        id_, output = to_text(item.get("call_id")), item.get("output")
        if self.draft.add_result(id_, _parse_output_status(output), at) is None:
            return
        dispatch = self._dispatches_by_call.get(id_ or "")
        if dispatch is None:
            return
        dispatch.agent = to_text(to_object(parse_json(output)).get("agent_id")) or dispatch.agent
        if dispatch.agent is not None and dispatch.call is not None:
            dispatch.call.status = CallStatus.OK

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
        else:
            self._add_end_event(event, at)

    def _add_end_event(self, event: JsonObject, at: datetime | None) -> None:
        """Add an event about the end of a call or the start of a sub-agent."""
        kind, id_ = to_text(event.get("type")), to_text(event.get("call_id"))
        call = self._calls.get(id_ or "")
        if kind == "item_completed":
            self._add_turn_item(to_object(event.get("item")), at)
        elif kind in {"sub_agent_activity", "collab_agent_spawn_end"}:
            thread = to_text(event.get("agent_thread_id")) or to_text(event.get("new_thread_id"))
            dispatch = self._dispatches_by_call.get(id_ or "") or next(
                (d for d in reversed(self.draft.dispatches) if d.agent is None), None
            )
            started = kind != "sub_agent_activity" or event.get("kind") == "started"
            if dispatch is not None and dispatch.agent is None and started:
                dispatch.agent = thread
        elif call is not None:
            status = _parse_event_status(event)
            if status is not None:
                call.status, call.has_result = status, True

    def _add_turn_item(self, item: JsonObject, at: datetime | None) -> None:
        """Add a prompt or an answer of the paginated history, which has no other events."""
        if to_text(item.get("type")) in {"UserMessage", "user_message"}:
            self._add_event_prompt(join_text(item.get("content"), (*_TEXT_TYPES, "Text")), at)
        elif to_text(item.get("type")) in {"AgentMessage", "agent_message"}:
            text = join_text(item.get("content"), (*_TEXT_TYPES, "Text"))
            self._add_new_text(text or to_text(item.get("text")), at)

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


def _parse_event_status(event: JsonObject) -> CallStatus | None:
    """Return the status in an end event: by exit code, `success`, or `Ok` and `Err` of a result."""
    code, success = event.get("exit_code"), event.get("success")
    result = to_object(event.get("result"))
    if isinstance(code, int):
        return CallStatus.ERROR if code else CallStatus.OK
    if isinstance(success, bool):
        return CallStatus.OK if success else CallStatus.ERROR
    if "Err" in result:
        return CallStatus.ERROR
    if "Ok" in result:
        failed = to_object(result["Ok"]).get("isError") is True
        return CallStatus.ERROR if failed else CallStatus.OK
    return None


def _parse_output_status(output: Any) -> CallStatus | None:
    """Return the status that the output of a call shows; `None` if it shows none."""
    if isinstance(output, dict):
        if isinstance(output.get("success"), bool):
            return CallStatus.OK if output["success"] else CallStatus.ERROR
        output = output.get("content")
    text = join_text(output, _TEXT_TYPES)
    if text is None:
        return None
    code = _parse_metadata_exit_code(text)
    if code is None:
        head = text[:_HEAD_LENGTH]
        if _REJECTED_PATTERN.search(head[:200]):
            return CallStatus.DENIED
        if _FAILED_PATTERN.match(head):
            return CallStatus.ERROR
        stated = _EXIT_CODE.search(head)
        if stated is None:
            return None
        code = int(stated.group(1))
    return CallStatus.ERROR if code else CallStatus.OK


def _parse_metadata_exit_code(text: str) -> int | None:
    """Return the exit code of `{"output": …, "metadata": {"exit_code": 0}}`."""
    if not text.startswith("{"):
        return None
    # Outputs may be long: search the end of the text first, and parse it only if that fails.
    match = _METADATA_EXIT_CODE.search(text, max(0, len(text) - _TAIL_LENGTH))
    if match is not None:
        return int(match.group(1))
    code = to_object(to_object(parse_json(text)).get("metadata")).get("exit_code")
    return code if isinstance(code, int) else None


def parse_codex_usage(usage: JsonObject) -> Tokens:
    """Return a usage of Codex, whose input tokens include cached ones."""
    input_ = parse_count(usage.get("input_tokens"))
    cached = parse_count(usage.get("cached_input_tokens"))
    write = parse_count(usage.get("cache_write_input_tokens"))
    uncached = None if input_ is None else max(input_ - (cached or 0) - (write or 0), 0)
    return Tokens(
        input_uncached=uncached,
        cache_read=cached,
        cache_write=write,
        output=parse_count(usage.get("output_tokens")),
        reasoning=parse_count(usage.get("reasoning_output_tokens")),
    )


ROLLOUT_FORMAT = LogFormat(
    name=_ROLLOUT_NAME,
    looks_for="lines with `type` session_meta, response_item or event_msg and `payload`",
    can_read_log=can_read_rollout,
    read_log=read_rollout,
    read_together=_read_threads_together,
)

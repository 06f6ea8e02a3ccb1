"""How a call of Codex went: there is no error flag, but exit codes in the output, in styles.

One thread of Codex while its lines are read: items, events, usage, and what it repeats.

Codex rollouts: `~/.codex/sessions/…/rollout-<time>-<thread>.jsonl`, also `.jsonl.zst`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    join_text,
    parse_count,
    parse_json,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.log import Log
from markscheme.vocabulary import CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from markscheme.read.transcripts.draft import DraftCall, DraftDispatch
    from markscheme.vocabulary import Transcript

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


def parse_output_status(output: Any) -> CallStatus | None:
    """Return how a call went, as far as its output says it; nothing where it says nothing."""
    if isinstance(output, dict):
        if isinstance(output.get("success"), bool):
            return CallStatus.OK if output["success"] else CallStatus.ERROR
        output = output.get("content")
    said = join_text(output, ("input_text", "output_text", "text"))
    if said is None:
        return None
    code = _parse_exit_code(said)
    if code is not None:
        return CallStatus.ERROR if code else CallStatus.OK
    return _parse_text_status(said[:_HEAD_LENGTH])


def _parse_exit_code(said: str) -> int | None:
    """Return the exit code of `{"output": …, "metadata": {"exit_code": 0}}`, best from its end."""
    if not said.startswith("{"):
        return None
    found = _METADATA_EXIT_CODE.search(said, max(0, len(said) - _TAIL_LENGTH))
    if found is not None:
        return int(found.group(1))
    code = to_object(to_object(parse_json(said)).get("metadata")).get("exit_code")
    return code if isinstance(code, int) else None


def _parse_text_status(said: str) -> CallStatus | None:
    if _REJECTED_PATTERN.search(said[:200]):
        return CallStatus.DENIED
    if _FAILED_PATTERN.match(said):
        return CallStatus.ERROR
    found = _EXIT_CODE.search(said)
    if found is None:
        return None
    return CallStatus.ERROR if int(found.group(1)) else CallStatus.OK


FORMAT_NAME = "codex-rollout"
_BARE_TYPES = frozenset({"message", "function_call", "function_call_output", "reasoning"})
_CONTEXT_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<turn_aborted>",
)
_CALL_TYPES = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
)
_TEXT_TYPES = ("input_text", "output_text", "text")


class ForkReplay:
    """What a forked thread repeats of its parent at its start; none of it is its own.

    Newer logs number their lines and say where their own begin. In older ones the repeated lines
    come in one burst, written in the second in which the file was made, or bear an earlier time.
    """

    def __init__(self) -> None:
        self._forked = False
        self._first_ordinal: int | None = None
        self._created_at: datetime | None = None

    def start_thread(self, meta: JsonObject, at: datetime | None) -> None:
        """Take the first meta line, which is the file's own."""
        source = to_object(meta.get("source")).get("subagent")
        self._forked = any(meta.get(key) for key in ("forked_from_id", "parent_thread_id"))
        self._forked = self._forked or isinstance(source, dict)
        self._first_ordinal = parse_count(meta.get("subagent_history_start_ordinal"))
        self._created_at = at

    def is_repeated(self, record: JsonObject, at: datetime | None, *, copied: bool) -> bool:
        """Say whether a line repeats the parent's; `copied` says that the parent's meta was met."""
        if not self._forked:
            return False
        ordinal = parse_count(record.get("ordinal"))
        if self._first_ordinal is not None and ordinal is not None:
            return ordinal < self._first_ordinal
        if self._created_at is None or at is None:
            return False
        return at < self._created_at or (copied and (at - self._created_at).total_seconds() < 1)


class CodexThread:
    """One thread while its lines are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._replay = ForkReplay()
        self._meta_count = 0
        self._last_total: Any = None
        self._usages: list[Tokens] = []
        self._has_prompt_events = False
        self._turn_open = False
        self._dispatches_by_call: dict[str, DraftDispatch] = {}
        self._calls: dict[str, DraftCall] = {}

    def add_record(self, record: JsonObject) -> None:
        """Take one line."""
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
            said = join_text(item.get("content"), _TEXT_TYPES)
            if said is None:
                return
            if to_text(item.get("role")) == "assistant":
                self.draft.add_text(said, at)
            elif to_text(item.get("role")) == "user" and not said.lstrip().startswith(
                _CONTEXT_PREFIXES
            ):
                self._add_message_prompt(said, at)

    def _add_message_prompt(self, said: str, at: datetime | None) -> None:
        """Take a message as a prompt until an event shows that this log has events for them."""
        if not self._has_prompt_events:
            self.draft.add_prompt(said, at)

    def _add_event_prompt(self, said: str | None, at: datetime | None) -> None:
        if not self._has_prompt_events:
            self.draft.prompts.clear()
        self._has_prompt_events = True
        self.draft.add_prompt(said, at)

    def _add_call(self, item: JsonObject, at: datetime | None) -> None:
        kind = str(item.get("type"))
        name = to_text(item.get("name")) or kind.removesuffix("_call")
        space = to_text(item.get("namespace"))
        if space is not None and space.startswith("mcp__"):
            name = f"{space.rstrip('_')}__{name}"
        given = _parse_arguments(item)
        made = self.draft.add_call(name, given, id_=to_text(item.get("call_id")), at=at)
        if made.id is not None:
            self._calls[made.id] = made
        if kind in {"web_search_call", "local_shell_call", "tool_search_call"}:
            self._set_own_status(made, item)
        if name == "spawn_agent":
            args = to_object(given)
            agent = to_text(args.get("agent_type")) or to_text(args.get("task_name"))
            dispatch = self.draft.add_dispatch(agent, made, to_text(args.get("message")))
            if made.id is not None:
                self._dispatches_by_call[made.id] = dispatch

    def _set_own_status(self, made: DraftCall, item: JsonObject) -> None:
        """Take the status of a call that has no line of output."""
        status = to_text(item.get("status"))
        if status in {"completed", "failed"} and made.id is None:
            made.has_result = True
            made.status = CallStatus.OK if status == "completed" else CallStatus.ERROR

    def _add_output(self, item: JsonObject, at: datetime | None) -> None:
        id_, output = to_text(item.get("call_id")), item.get("output")
        if self.draft.add_result(id_, parse_output_status(output), at) is None:
            return
        dispatch = self._dispatches_by_call.get(id_ or "")
        if dispatch is None:
            return
        told = to_object(parse_json(output))
        dispatch.agent = to_text(told.get("agent_id")) or dispatch.agent
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
            said = to_text(event.get("last_agent_message"))
            if said is not None and [said] != self.draft.final_texts:
                self.draft.add_text(said, at)
        elif kind in {"task_started", "turn_started"}:
            self._turn_open = True
        elif kind == "turn_aborted":
            self._turn_open = False
            self.draft.pending_gap = "the last turn was interrupted"
        else:
            self._add_end_event(event, at)

    def _add_end_event(self, event: JsonObject, at: datetime | None) -> None:
        """Take what an event says of a call or of an agent, where the log keeps such events."""
        kind, id_ = to_text(event.get("type")), to_text(event.get("call_id"))
        made = self._calls.get(id_ or "")
        if kind == "item_completed":
            self._add_turn_item(to_object(event.get("item")), at)
        elif kind in {"sub_agent_activity", "collab_agent_spawn_end"}:
            thread = to_text(event.get("agent_thread_id")) or to_text(event.get("new_thread_id"))
            dispatch = self._dispatches_by_call.get(id_ or "") or _find_unnamed_dispatch(
                self.draft.dispatches
            )
            started = kind != "sub_agent_activity" or event.get("kind") == "started"
            if dispatch is not None and dispatch.agent is None and started:
                dispatch.agent = thread
        elif made is not None:
            status = _parse_event_status(event)
            made.status = status if status is not None else made.status
            made.has_result = made.has_result or status is not None

    def _add_turn_item(self, item: JsonObject, at: datetime | None) -> None:
        """Take a prompt or an answer of the paginated history, which has no other events."""
        if to_text(item.get("type")) in {"UserMessage", "user_message"}:
            self._add_event_prompt(join_text(item.get("content"), (*_TEXT_TYPES, "Text")), at)
        elif to_text(item.get("type")) in {"AgentMessage", "agent_message"}:
            said = join_text(item.get("content"), (*_TEXT_TYPES, "Text")) or to_text(
                item.get("text")
            )
            if said is not None and [said] != self.draft.final_texts:
                self.draft.add_text(said, at)

    def _add_usage(self, info: JsonObject) -> None:
        """Take the usage of the last model call; the same total again is the same call again."""
        total, last = info.get("total_token_usage"), to_object(info.get("last_token_usage"))
        if not last or (total is not None and total == self._last_total):
            return
        self._last_total = total
        self._usages.append(parse_codex_usage(last))

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return what was read."""
        self.draft.tokens = sum_tokens(self._usages)
        if self._turn_open:
            self.draft.add_gap("the last turn was not completed")
        if truncated:
            self.draft.add_gap(LOG_TRUNCATED)
        return self.draft.build_transcript(FORMAT_NAME, skipped=skipped)


def parse_codex_usage(usage: JsonObject) -> Tokens:
    """Return a usage of Codex or of OpenAI: cached tokens are part of the input."""
    input_, cached = (
        parse_count(usage.get("input_tokens")),
        parse_count(usage.get("cached_input_tokens")),
    )
    write = parse_count(usage.get("cache_write_input_tokens"))
    uncached = None if input_ is None else max(input_ - (cached or 0) - (write or 0), 0)
    return Tokens(
        input_uncached=uncached,
        cache_read=cached,
        cache_write=write,
        output=parse_count(usage.get("output_tokens")),
        reasoning=parse_count(usage.get("reasoning_output_tokens")),
    )


def _parse_arguments(item: JsonObject) -> Any:
    action = item.get("action")
    if isinstance(action, dict):
        return action
    if "arguments" in item:
        raw = item["arguments"]
        found = parse_json(raw)
        return raw if found is None else found
    return item.get("input")


def _find_unnamed_dispatch(dispatches: list[DraftDispatch]) -> DraftDispatch | None:
    return next((made for made in reversed(dispatches) if made.agent is None), None)


def _parse_event_status(event: JsonObject) -> CallStatus | None:
    """Return what an end event says: an exit code, success, or the two arms of a result."""
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


_LINE_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_MAX_DEPTH = 8


def can_read_log(log: Log) -> bool:
    """Say whether lines are wrapped as a rollout's, or bare as the oldest ones'."""
    return any(
        (to_text(record.get("type")) in _LINE_TYPES and isinstance(record.get("payload"), dict))
        or "record_type" in record
        or ("type" not in record and "instructions" in record and "timestamp" in record)
        for record in log.sample
    )


def read_log(log: Log) -> list[Transcript]:
    """Read a thread with the threads that it started, where they lie beside it."""
    return [_read_thread(log, _RolloutFinder(log.path), {log.path})]


def _read_thread(log: Log, threads: _RolloutFinder, above: set[Path]) -> Transcript:
    thread = CodexThread()
    for record in log.iter_records():
        thread.add_record(record)
    draft = thread.draft
    for dispatch in draft.dispatches:
        path = threads.find_rollout(dispatch.agent)
        if path is not None and path not in above and len(above) < _MAX_DEPTH:
            child = _read_thread(Log(path), threads, {*above, path})
            found = replace(child, agent=dispatch.agent or child.agent, kind=dispatch.kind)
            draft.children.append(_set_call_agents(found))
    return thread.build_transcript(skipped=log.skipped, truncated=log.truncated)


def _read_threads_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read threads that lie together; one that another has started is part of that one."""
    found = [(log, read_log(log)[0]) for log in logs]
    started = {inner.session for _, top in found for inner in _iter_descendants(top)}
    yield from ((log, top) for log, top in found if top.session not in started)


def _iter_descendants(top: Transcript) -> Iterator[Transcript]:
    for inner in top.subagents:
        yield inner
        yield from _iter_descendants(inner)


def _set_call_agents(found: Transcript) -> Transcript:
    return replace(found, calls=tuple(replace(call, agent=found.agent) for call in found.calls))


class _RolloutFinder:
    """The rollouts beside a rollout, by the thread in their names; looked for only when needed."""

    def __init__(self, path: Path) -> None:
        by_date = all(folder.name.isdigit() for folder in list(path.absolute().parents)[:3])
        self._folder = path.absolute().parents[3] if by_date else path.parent
        self._subfolders = "*/*/*/" if by_date else ""

    def find_rollout(self, thread: str | None) -> Path | None:
        """Return the rollout of a thread: in the same folder, or in that of another day."""
        if thread is None or not thread.replace("-", "").isalnum():
            return None
        found = sorted(self._folder.glob(f"{self._subfolders}rollout-*-{thread}.jsonl*"))
        return found[0] if found else None


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="lines with `type` session_meta, response_item or event_msg and `payload`",
    can_read_log=can_read_log,
    read_log=read_log,
    read_together=_read_threads_together,
)

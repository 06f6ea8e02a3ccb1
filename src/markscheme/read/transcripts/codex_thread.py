"""One thread of Codex while its lines are read: items, events, usage, and what it repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.codex_output import status_of
from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.values import (
    Object,
    count,
    joined,
    mapping,
    moment,
    parsed,
    text,
)
from markscheme.transcript import CallStatus, Tokens

if TYPE_CHECKING:
    from datetime import datetime

    from markscheme.read.transcripts.draft import DraftCall, DraftDispatch
    from markscheme.transcript import Transcript

NAME = "codex-rollout"
_BARE = frozenset({"message", "function_call", "function_call_output", "reasoning"})
_GIVEN = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<turn_aborted>")
_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
)
_TEXTS = ("input_text", "output_text", "text")


class Replay:
    """What a forked thread repeats of its parent at its start; none of it is its own.

    Newer logs number their lines and say where their own begin. In older ones the repeated lines
    come in one burst, written in the second in which the file was made, or bear an earlier time.
    """

    def __init__(self) -> None:
        self._forked = False
        self._start: int | None = None
        self._born: datetime | None = None

    def begin(self, meta: Object, at: datetime | None) -> None:
        """Take the first meta line, which is the file's own."""
        source = mapping(meta.get("source")).get("subagent")
        self._forked = any(meta.get(key) for key in ("forked_from_id", "parent_thread_id"))
        self._forked = self._forked or isinstance(source, dict)
        self._start = count(meta.get("subagent_history_start_ordinal"))
        self._born = at

    def holds(self, record: Object, at: datetime | None, *, copied: bool) -> bool:
        """Say whether a line repeats the parent's; `copied` says that the parent's meta was met."""
        if not self._forked:
            return False
        ordinal = count(record.get("ordinal"))
        if self._start is not None and ordinal is not None:
            return ordinal < self._start
        if self._born is None or at is None:
            return False
        return at < self._born or (copied and (at - self._born).total_seconds() < 1)


class Thread:
    """One thread while its lines are read."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._replay = Replay()
        self._metas = 0
        self._total: Any = None
        self._used: list[Tokens] = []
        self._asked_by_event = False
        self._turn_open = False
        self._by_call: dict[str, DraftDispatch] = {}
        self._calls: dict[str, DraftCall] = {}

    def take(self, record: Object) -> None:
        """Take one line."""
        payload, kind = record.get("payload"), record.get("type")
        if type(payload) is not dict:
            if text(kind) in _BARE:
                self._item(record, None)
            elif self._metas == 0 and "id" in record:
                self._meta(record, None)
            return
        at = moment(record.get("timestamp"))
        if kind == "session_meta":
            self._meta(payload, at)
        elif not self._replay.holds(record, at, copied=self._metas > 1):
            if kind == "response_item":
                self._item(payload, at)
            elif kind == "event_msg":
                self._event(payload, at)
            elif kind == "turn_context":
                self.draft.model(payload.get("model"))

    def _meta(self, meta: Object, at: datetime | None) -> None:
        self._metas += 1
        if self._metas > 1:
            return
        self._replay.begin(meta, at)
        self.draft.session = text(meta.get("id")) or text(meta.get("session_id"))
        source = mapping(meta.get("source")).get("subagent")
        self.draft.internal = source in {"review", "compact"} if isinstance(source, str) else False

    def _item(self, item: Object, at: datetime | None) -> None:
        kind = text(item.get("type"))
        if kind in _CALLS:
            self._call(item, at)
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            self._output(item, at)
        elif kind == "message":
            said = joined(item.get("content"), _TEXTS)
            if said is None:
                return
            if text(item.get("role")) == "assistant":
                self.draft.say(said, at)
            elif text(item.get("role")) == "user" and not said.lstrip().startswith(_GIVEN):
                self._asked_in_message(said, at)

    def _asked_in_message(self, said: str, at: datetime | None) -> None:
        """Take a message as a prompt until an event shows that this log has events for them."""
        if not self._asked_by_event:
            self.draft.prompt(said, at)

    def _asked(self, said: str | None, at: datetime | None) -> None:
        if not self._asked_by_event:
            self.draft.prompts.clear()
        self._asked_by_event = True
        self.draft.prompt(said, at)

    def _call(self, item: Object, at: datetime | None) -> None:
        kind = str(item.get("type"))
        name = text(item.get("name")) or kind.removesuffix("_call")
        space = text(item.get("namespace"))
        if space is not None and space.startswith("mcp__"):
            name = f"{space.rstrip('_')}__{name}"
        given = _arguments(item)
        made = self.draft.call(name, given, id_=text(item.get("call_id")), at=at)
        if made.id is not None:
            self._calls[made.id] = made
        if kind in {"web_search_call", "local_shell_call", "tool_search_call"}:
            self._settled_in_itself(made, item)
        if name == "spawn_agent":
            args = mapping(given)
            agent = text(args.get("agent_type")) or text(args.get("task_name"))
            dispatch = self.draft.dispatch(agent, made, text(args.get("message")))
            if made.id is not None:
                self._by_call[made.id] = dispatch

    def _settled_in_itself(self, made: DraftCall, item: Object) -> None:
        """Take the status of a call that has no line of output."""
        status = text(item.get("status"))
        if status in {"completed", "failed"} and made.id is None:
            made.answered = True
            made.status = CallStatus.OK if status == "completed" else CallStatus.ERROR

    def _output(self, item: Object, at: datetime | None) -> None:
        id_, output = text(item.get("call_id")), item.get("output")
        if self.draft.result(id_, status_of(output), at) is None:
            return
        dispatch = self._by_call.get(id_ or "")
        if dispatch is None:
            return
        told = mapping(parsed(output))
        dispatch.agent = text(told.get("agent_id")) or dispatch.agent
        if dispatch.agent is not None and dispatch.call is not None:
            dispatch.call.status = CallStatus.OK

    def _event(self, event: Object, at: datetime | None) -> None:
        kind = text(event.get("type"))
        if kind == "user_message":
            self._asked(text(event.get("message")), at)
        elif kind == "token_count":
            self._tokens(mapping(event.get("info")))
        elif kind in {"task_complete", "turn_complete"}:
            self._turn_open = False
            said = text(event.get("last_agent_message"))
            if said is not None and [said] != self.draft.final:
                self.draft.say(said, at)
        elif kind in {"task_started", "turn_started"}:
            self._turn_open = True
        elif kind == "turn_aborted":
            self._turn_open = False
            self.draft.trouble = "the last turn was interrupted"
        else:
            self._ended(event, at)

    def _ended(self, event: Object, at: datetime | None) -> None:
        """Take what an event says of a call or of an agent, where the log keeps such events."""
        kind, id_ = text(event.get("type")), text(event.get("call_id"))
        made = self._calls.get(id_ or "")
        if kind == "item_completed":
            self._turn_item(mapping(event.get("item")), at)
        elif kind in {"sub_agent_activity", "collab_agent_spawn_end"}:
            thread = text(event.get("agent_thread_id")) or text(event.get("new_thread_id"))
            dispatch = self._by_call.get(id_ or "") or _unnamed(self.draft.dispatches)
            started = kind != "sub_agent_activity" or event.get("kind") == "started"
            if dispatch is not None and dispatch.agent is None and started:
                dispatch.agent = thread
        elif made is not None:
            status = _event_status(event)
            made.status = status if status is not None else made.status
            made.answered = made.answered or status is not None

    def _turn_item(self, item: Object, at: datetime | None) -> None:
        """Take a prompt or an answer of the paginated history, which has no other events."""
        if text(item.get("type")) in {"UserMessage", "user_message"}:
            self._asked(joined(item.get("content"), (*_TEXTS, "Text")), at)
        elif text(item.get("type")) in {"AgentMessage", "agent_message"}:
            said = joined(item.get("content"), (*_TEXTS, "Text")) or text(item.get("text"))
            if said is not None and [said] != self.draft.final:
                self.draft.say(said, at)

    def _tokens(self, info: Object) -> None:
        """Take the usage of the last model call; the same total again is the same call again."""
        total, last = info.get("total_token_usage"), mapping(info.get("last_token_usage"))
        if not last or (total is not None and total == self._total):
            return
        self._total = total
        self._used.append(tokens_of(last))

    def transcript(self, *, skipped: int, cut: bool) -> Transcript:
        """Return what was read."""
        self.draft.tokens = summed(self._used)
        if self._turn_open:
            self.draft.gap("the last turn was not completed")
        if cut:
            self.draft.gap(CUT_OFF)
        return self.draft.finish(NAME, skipped=skipped)


def tokens_of(usage: Object) -> Tokens:
    """Return a usage of Codex or of OpenAI: cached tokens are part of the input."""
    input_, cached = count(usage.get("input_tokens")), count(usage.get("cached_input_tokens"))
    write = count(usage.get("cache_write_input_tokens"))
    uncached = None if input_ is None else max(input_ - (cached or 0) - (write or 0), 0)
    return Tokens(
        input_uncached=uncached,
        cache_read=cached,
        cache_write=write,
        output=count(usage.get("output_tokens")),
        reasoning=count(usage.get("reasoning_output_tokens")),
    )


def _arguments(item: Object) -> Any:
    action = item.get("action")
    if isinstance(action, dict):
        return action
    if "arguments" in item:
        raw = item["arguments"]
        found = parsed(raw)
        return raw if found is None else found
    return item.get("input")


def _unnamed(dispatches: list[DraftDispatch]) -> DraftDispatch | None:
    return next((made for made in reversed(dispatches) if made.agent is None), None)


def _event_status(event: Object) -> CallStatus | None:
    """Return what an end event says: an exit code, success, or the two arms of a result."""
    code, success = event.get("exit_code"), event.get("success")
    result = mapping(event.get("result"))
    if isinstance(code, int):
        return CallStatus.ERROR if code else CallStatus.OK
    if isinstance(success, bool):
        return CallStatus.OK if success else CallStatus.ERROR
    if "Err" in result:
        return CallStatus.ERROR
    if "Ok" in result:
        failed = mapping(result["Ok"]).get("isError") is True
        return CallStatus.ERROR if failed else CallStatus.OK
    return None

"""GitHub Copilot CLI: `~/.copilot/session-state/…/events.jsonl`, one event per line.

Events of a sub-agent have an `agentId`, or name the call that started it (`parentToolCallId`).
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from msgspec import structs

from markscheme.read.json_fields import (
    JsonObject,
    clean_text,
    parse_count,
    parse_id,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import (
    UNNAMED_TOOL,
    Draft,
    DraftCall,
    DraftDispatch,
    sum_tokens,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "copilot"
_MAIN_EVENTS = split_words(
    "session.start session.shutdown user.message assistant.message assistant.turn_start "
    "assistant.turn_end tool.execution_start tool.execution_complete"
)
# Events that hold no calls: of the session, of the client, parts of texts, questions to the user.
_EVENTS_WITHOUT_CALLS = split_words(
    "session.resume session.remote_steerable_changed session.idle session.title_changed "
    "session.schedule_created session.schedule_cancelled session.schedule_rearmed "
    "session.autopilot_objective_changed session.info session.warning session.model_change "
    "session.mode_changed session.session_limits_changed session.permissions_changed "
    "session.plan_changed session.todos_changed session.workspace_file_changed session.truncation "
    "session.usage_checkpoint session.context_changed session.usage_info session.context_cleared "
    "session.compaction_start session.compaction_complete session.auto_mode_resolved "
    "session.managed_settings_resolved session.managed_settings_enforced session.tools_updated "
    "session.background_tasks_changed session.skills_loaded session.custom_agents_updated "
    "session.mcp_servers_loaded session.mcp_server_status_changed session.extensions_loaded "
    "session.binary_asset session.task_complete pending_messages.modified assistant.intent "
    "assistant.reasoning assistant.reasoning_delta assistant.tool_call_delta "
    "assistant.streaming_delta assistant.message_start assistant.message_delta assistant.idle "
    "assistant.usage model.call_failure tool.execution_partial_result tool.execution_progress "
    "tool_search.activated skill.invoked subagent.selected subagent.deselected hook.start hook.end "
    "hook.progress system.message system.notification permission.requested user_input.requested "
    "user_input.completed elicitation.requested elicitation.completed mcp.oauth_required "
    "mcp.oauth_completed mcp.headers_refresh_required mcp.headers_refresh_completed "
    "external_tool.completed command.queued command.execute command.completed "
    "auto_mode_switch.requested auto_mode_switch.completed session_limits_exhausted.requested "
    "session_limits_exhausted.completed commands.changed capabilities.changed "
    "exit_plan_mode.requested exit_plan_mode.completed mcp.tools.list_changed "
    "mcp.resources.list_changed mcp.prompts.list_changed"
)
_DENIED_CODES = frozenset({"denied", "rejected", "permission_denied", "user_rejected"})
_EXIT_CODE = re.compile(r"exit(?:ed with)? (?:exit )?code:? (-?\d{1,9})")


def can_read_log(log: Log) -> bool:
    """Return whether the log has events of a session."""
    return any(
        isinstance(record.get("data"), dict) and record.get("type") in _MAIN_EVENTS
        for record in log.sample
        if isinstance(record.get("type"), str)
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one session with its sub-agents."""
    session = CopilotSession()
    for record in log.iter_records():
        session.add_event(record)
    return [session.build_transcript(skipped=log.skipped, truncated=log.truncated)]


class CopilotSession:
    """One session while its events are read."""

    def __init__(self) -> None:
        self._main = Draft()
        # Sub-agents by the id of the call that started them, and these ids by that of the agent.
        self._agents: dict[str, Draft] = {}
        self._call_ids: dict[str, str] = {}
        self._calls: dict[str, tuple[Draft, DraftCall]] = {}
        self._inputs: dict[str, int] = {}
        self._dispatches: dict[str, tuple[Draft, DraftDispatch]] = {}
        # Calls that the user has made.
        self._user_calls: set[str] = set()
        self._metrics: list[JsonObject] = []
        self._has_start = False
        self._is_turn_open = False

    def add_event(self, event: JsonObject) -> None:
        """Add one event."""
        kind, data = to_text(event.get("type")) or "", to_object(event.get("data"))
        agent, at = self._get_agent(event, data), parse_timestamp(event.get("timestamp"))
        _check_event(agent, event, data)
        if kind == "session.start":
            self._has_start = True
            self._main.session = parse_id(data.get("sessionId"))
            self._main.add_model(data.get("selectedModel"))
        elif kind == "user.message":
            self._add_prompt(agent, data, at)
        elif kind == "assistant.message":
            self._add_message(agent, data, at)
        elif kind.startswith("tool."):
            self._add_tool_event(agent, kind, data, at)
        elif kind == "external_tool.requested":
            self._start_call(agent, data, at)
        elif kind.startswith("subagent."):
            self._add_subagent_event(agent, kind, data)
        elif kind == "permission.completed":
            self._add_permission(data)
        else:
            self._add_session_event(event, kind, data)
        if kind in {"assistant.turn_start", "user.message", "assistant.message"}:
            self._is_turn_open = self._is_turn_open or agent is self._main
        elif kind in {"assistant.turn_end", "session.shutdown", "result"} and agent is self._main:
            self._is_turn_open = False

    def _get_agent(self, event: JsonObject, data: JsonObject) -> Draft:
        """Return the agent of an event."""
        agent_id, parent = parse_id(event.get("agentId")), parse_id(data.get("parentToolCallId"))
        if event.get("type") == "subagent.started" and agent_id is not None:
            # The agent is that of the event; the call is of the agent that has started it.
            self._call_ids[agent_id] = parse_id(data.get("toolCallId")) or agent_id
        call = self._call_ids.get(agent_id or "", agent_id) or parent
        if call is None:
            return self._main
        if call not in self._agents:
            self._agents[call] = Draft(agent_id or call)
        return self._agents[call]

    def _add_prompt(self, agent: Draft, data: JsonObject, at: datetime | None) -> None:
        """Add a prompt; texts that the client sends by itself are none."""
        text, source = data.get("content"), data.get("source")
        if not isinstance(text, str):
            agent.add_unknown_kind("content", type(text).__name__)
        elif source in (None, "user") and not data.get("isAutopilotContinuation"):
            agent.add_prompt(text, at)

    def _add_message(self, agent: Draft, data: JsonObject, at: datetime | None) -> None:
        agent.add_model(data.get("model"))
        text = data.get("content")
        if isinstance(text, str):
            agent.add_text(text, at, parse_id(data.get("messageId")))
        else:
            agent.add_unknown_kind("content", type(text).__name__)
        requests = data.get("toolRequests")
        for request in requests if isinstance(requests, list) else [requests]:
            if isinstance(request, dict):
                if request.get("type") not in (None, "function", "custom"):
                    agent.add_unknown_kind("tool request", request["type"])
                self._start_call(agent, request, at)
            elif request is not None:
                agent.add_unknown_kind("tool request", type(request).__name__)
        server_tools = data.get("serverTools")
        if server_tools:
            agent.add_unknown_kind("server tools", to_object(server_tools).get("provider"))
        output = parse_count(data.get("outputTokens"))
        if output is not None:
            agent.add_usage(Tokens(output=output))

    def _add_tool_event(
        self, agent: Draft, kind: str, data: JsonObject, at: datetime | None
    ) -> None:
        id_ = parse_id(data.get("toolCallId")) or "?"
        if kind == "tool.user_requested":
            self._user_calls.add(id_)
        elif id_ in self._user_calls or data.get("isUserRequested") is True:
            return
        elif kind == "tool.execution_start":
            self._start_call(agent, data, at).started = at
        elif kind == "tool.execution_complete":
            self._end_call(agent, id_, data, at)
        elif kind not in _EVENTS_WITHOUT_CALLS:
            agent.add_unknown_kind("event", kind)

    def _start_call(self, agent: Draft, data: JsonObject, at: datetime | None) -> DraftCall:
        """Add a call at its request or its start, whichever comes first."""
        id_ = parse_id(data.get("toolCallId"))
        if "arguments" in data and id_ is not None:
            content = hash(repr(data["arguments"]))
            if self._inputs.setdefault(id_, content) != content:
                # A hook of the client has changed them, or an id stands for two calls.
                agent.add_gap("a call was started with other arguments than it was asked for")
        if id_ is not None and id_ in self._calls:
            return self._calls[id_][1]
        name = to_text(data.get("toolName")) or to_text(data.get("name")) or UNNAMED_TOOL
        server, arguments = to_text(data.get("mcpServerName")), data.get("arguments")
        if server is not None:
            name = f"mcp__{server}__{to_text(data.get('mcpToolName')) or name}"
        if name == "write_bash":
            # It types into a running shell.
            typed = to_text(to_object(arguments).get("input")) or ""
            arguments = {"command": typed.replace("{enter}", "\n")}
        call = agent.add_call(name, arguments, id_=id_, at=at)
        if id_ is not None:
            self._calls[id_] = agent, call
        if name == "task" and id_ is not None:
            fields = to_object(arguments)
            self._add_dispatch(
                id_, to_text(fields.get("agent_type")), to_text(fields.get("prompt"))
            )
        return call

    def _add_dispatch(self, id_: str, kind: str | None, prompt: str | None) -> DraftDispatch:
        owner, call = self._calls.get(id_, (self._main, None))
        dispatch = owner.add_dispatch(kind, call, prompt)
        self._dispatches[id_] = owner, dispatch
        return dispatch

    def _end_call(self, agent: Draft, id_: str, data: JsonObject, at: datetime | None) -> None:
        if id_ not in self._calls:
            # The event names the tool only in some versions.
            self._start_call(agent, data, None)
        if id_ not in self._calls:
            return
        _, call = self._calls[id_]
        if call.status is not CallStatus.DENIED:
            call.set_outcome(_parse_status(data))
        call.ended = at

    def _add_subagent_event(self, agent: Draft, kind: str, data: JsonObject) -> None:
        id_ = parse_id(data.get("toolCallId")) or "?"
        name = to_text(data.get("agentName"))
        if kind == "subagent.started":
            known = self._dispatches.get(id_)
            dispatch = self._add_dispatch(id_, name, None) if known is None else known[1]
            dispatch.kind = dispatch.kind or name
            # The agent may go on after its call.
            dispatch.has_own_status, dispatch.status = True, CallStatus.NONE
        elif kind in {"subagent.completed", "subagent.failed"} and id_ in self._dispatches:
            dispatch = self._dispatches[id_][1]
            is_ok = kind == "subagent.completed" and not data.get("cancelled")
            dispatch.has_own_status = True
            dispatch.status = CallStatus.OK if is_ok else CallStatus.ERROR
        elif kind not in _EVENTS_WITHOUT_CALLS:
            agent.add_unknown_kind("event", kind)

    def _add_permission(self, data: JsonObject) -> None:
        kind = to_text(to_object(data.get("result")).get("kind")) or ""
        call = self._calls.get(parse_id(data.get("toolCallId")) or "")
        if call is not None and kind.startswith("denied"):
            call[1].set_outcome(CallStatus.DENIED)

    def _add_session_event(self, event: JsonObject, kind: str, data: JsonObject) -> None:
        main = self._main
        if kind == "session.shutdown":
            if data.get("shutdownType") == "error":
                main.add_gap("the session ended with an error")
            self._metrics.append(to_object(data.get("modelMetrics")))
        elif kind == "result":
            if parse_count(event.get("exitCode")) != 0:
                main.add_gap(
                    f"the run ended with exit code {clean_text(str(event.get('exitCode')))}"
                )
        elif kind == "session.error":
            main.pending_gap = "the last turn ended with an error"
        elif kind == "abort":
            main.pending_gap = "the last turn was interrupted"
        elif kind == "session.snapshot_rewind":
            main.add_gap("events were removed from the log")
        elif kind not in _EVENTS_WITHOUT_CALLS and kind not in _MAIN_EVENTS:
            main.add_unknown_kind("event", event.get("type"))

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the session, with its sub-agents nested where they were started."""
        main = self._main
        if not self._has_start:
            main.add_gap("the start of the session is missing, so calls may be")
        if self._is_turn_open:
            main.add_gap("the last turn has no end")
        for model in (model for metrics in self._metrics for model in metrics):
            main.add_model(model)
        # Whether a resumed session adds to the numbers before it is not known.
        if len(self._metrics) == 1:
            main.tokens = _sum_metrics(self._metrics[0])
        for id_, agent in self._agents.items():
            self._describe_agent(id_, agent)
        main.children = self._finish_children(main)
        main.children += [agent.build_transcript(FORMAT_NAME) for agent in self._agents.values()]
        return main.build_transcript(FORMAT_NAME, skipped=skipped, truncated=truncated)

    def _describe_agent(self, id_: str, agent: Draft) -> None:
        agent.session = self._main.session
        if id_ in self._dispatches:
            dispatch = self._dispatches[id_][1]
            dispatch.agent, agent.kind = agent.agent, dispatch.kind
            if not agent.prompts:
                agent.add_prompt(dispatch.prompt)
                agent.prompts[0].before, agent.prompts[0].has_reply = 0, bool(agent.final_texts)

    def _finish_children(self, parent: Draft) -> list[Transcript]:
        """Return the sub-agents of an agent. Each is taken once, so a damaged log cannot loop."""
        children = []
        for id_, (owner, _) in self._dispatches.items():
            agent = self._agents.pop(id_, None) if owner is parent else None
            if agent is not None:
                agent.children = self._finish_children(agent)
                children.append(agent.build_transcript(FORMAT_NAME))
        return children


def _check_event(agent: Draft, event: JsonObject, data: JsonObject) -> None:
    """Note calls that stand in unread places of an event."""
    agent.add_unread_calls(event, ("data",))
    if event.get("type") in ("assistant.message", "user.message", "session.start"):
        agent.add_unread_calls(data, ("toolRequests", "serverTools", "attachments"))


def _parse_status(data: JsonObject) -> CallStatus | None:
    """Return the status of a call. A command that failed is a success, despite its exit code."""
    success: Any = data.get("success")
    error, result = to_object(data.get("error")), to_object(data.get("result"))
    if success is True:
        code = _EXIT_CODE.search((to_text(result.get("content")) or "")[-100:])
        return CallStatus.ERROR if code is not None and int(code[1]) else CallStatus.OK
    if success is False:
        is_denied = to_text(error.get("code")) in _DENIED_CODES
        return CallStatus.DENIED if is_denied else CallStatus.ERROR
    return None


def _sum_metrics(metrics: JsonObject) -> Tokens | None:
    """Return the usage of a session over its models. Its input includes the cache."""
    usages = []
    for model in metrics.values():
        usage = to_object(to_object(model).get("usage"))
        input_, read, write = (
            parse_count(usage.get(key))
            for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens")
        )
        tokens = Tokens(
            input_uncached=None if input_ is None else max(input_ - (read or 0) - (write or 0), 0),
            cache_read=read,
            cache_write=write,
            output=parse_count(usage.get("outputTokens")),
            reasoning=parse_count(usage.get("reasoningTokens")),
        )
        usages.append(tokens)
    total = sum_tokens(usages)
    return None if total is None else structs.replace(total, with_subagents=True)


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="events with `type` session.start, user.message or assistant.message and `data`",
    can_read_log=can_read_log,
    read_log=read_log,
)

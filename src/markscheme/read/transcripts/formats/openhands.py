"""OpenHands: trajectories, folders of events, and `output.jsonl` of evaluations.

Versions before 1.0 log actions and observations, paired by `cause`; the SDK of version 1 logs
events of a `kind`, paired by the id of the tool call. An agent of the older versions that starts
another one shares its log with it: what stands between the two events is what the other one did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import structs

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_json,
    parse_json_or_raw,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import (
    Draft,
    DraftCall,
    DraftDispatch,
    parse_inclusive_usage,
    sum_tokens,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "openhands"
_EVENT_LISTS = ("history", "trajectory", "events", "items")
# Fields that are read, or that only repeat what the model or a tool wrote.
_READ_FIELDS = split_words(
    "args extras content tool_call_metadata llm_metrics action observation tool_call llm_message "
    "tools value"
)
_EVENT_FILE = re.compile(r"(?:event-)?(\d+)(?:-[\w-]*)?\.json")
_SOURCES = frozenset({"agent", "user", "environment"})

# Actions of the older versions that are tool calls, and those that are not.
_CALLS = split_words(
    "run run_ipython read write edit browse browse_interactive call_tool_mcp delegate think finish "
    "reject task_tracking push send_pr"
)
_HARMLESS_ACTIONS = split_words(
    "system start null pause resume stop change_agent_state recall condensation "
    "condensation_request loop_recovery"
)
_RESULTS = split_words(
    "run run_ipython read write edit browse delegate error success think user_rejected mcp "
    "task_tracking download"
)
_HARMLESS_OBSERVATIONS = split_words("null chat message condense recall loop_detection")
# Names by which a model calls these tools. Behind any other name, the kind of the action counts.
_TOOL_NAMES = split_words(
    "execute_bash execute_ipython_cell think finish browser str_replace_editor edit_file "
    "task_tracker delegate_to_browsing_agent"
)
# Fields that say nothing of what a tool is asked to do.
_EVENT_KEYS = split_words("thought id source timestamp message action keep_prompt is_confirmed")
_OK_RESULTS = split_words("read write edit think success task_tracking download")

# Kinds of events of the SDK.
_RESULT_KINDS = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
_HARMLESS_KINDS = split_words(
    "SystemPromptEvent Condensation CondensationRequest CondensationSummaryEvent PauseEvent "
    "TokenEvent LLMCompletionLogEvent StreamingDeltaEvent HookExecutionEvent"
)
_HARMLESS_BLOCKS = frozenset({"text", "image", "thinking", "redacted_thinking"})
_ERROR_KINDS = frozenset({"ConversationErrorEvent", "ServerErrorEvent"})
_STATE_KIND = "ConversationStateUpdateEvent"
_KINDS = frozenset(
    {"ActionEvent", "MessageEvent", _STATE_KIND} | _RESULT_KINDS | _ERROR_KINDS | _HARMLESS_KINDS
)
# What the tool of an action is called, if the event gives it a name of its own.
_TOOLS_BY_KIND = {
    "ExecuteBashAction": ("execute_bash", "terminal"),
    "TerminalAction": ("terminal", "execute_bash"),
    "FileEditorAction": ("file_editor", "str_replace_editor"),
    "StrReplaceEditorAction": ("str_replace_editor",),
    "ApplyPatchAction": ("apply_patch",),
}
_UNFINISHED_STATES = split_words(
    "running loading init error rate_limited awaiting_user_confirmation stuck "
    "waiting_for_confirmation"
)
_STATUS_KEYS = ("execution_status", "agent_status", "agent_execution_status")

# Cells of IPython: lines for the shell, and functions of the agent that write files.
_SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|script\s+(?:ba)?sh)\b[^\n]*\n(.*)", re.DOTALL)
_FILE_CELL = re.compile(r"\s*%%writefile\s+(?:-a\s+)?(\S+)")
_SHELL_LINE = re.compile(r"^\s*(?:\w+\s*=\s*)?(?:!!?|%)(?!%)\s*(.+)$", re.MULTILINE)
_WRITING_FUNCTION = re.compile(
    r"^\s*(?:edit_file\w*|create_file|append_file|insert_content_at_line)"
    r"\(\s*(?:\w+\s*=\s*)?(?:['\"]([^'\"\n]+)['\"])?",
    re.MULTILINE,
)
_CELL_END = "END_OF_CELL"


def can_read_log(log: Log) -> bool:
    """Return whether there are events, a list of them in a record, or a folder of event files."""
    if log.is_folder:
        files = _list_event_files(log.path)
        return bool(files) and any(map(_is_event, Log(files[0][1]).sample))
    return any(
        _is_event(record) or any(map(_is_event, _iter_listed_events(record)))
        for record in log.sample
    )


def _is_event(event: JsonObject) -> bool:
    kind, source = to_text(event.get("kind")), to_text(event.get("source"))
    if kind in _KINDS:
        return source in _SOURCES or "tool_call_id" in event or "llm_message" in event
    action, observation = to_text(event.get("action")), to_text(event.get("observation"))
    # Before version 0.14, the arguments of an action stood beside it.
    has_arguments = "args" in event or "is_confirmed" in event or "confirmation_state" in event
    is_action = action in _CALLS | _HARMLESS_ACTIONS | {"message"} and has_arguments
    is_observation = observation is not None and "extras" in event and "content" in event
    return (is_action and "observation" not in event) or (is_observation and source in _SOURCES)


def _iter_listed_events(record: JsonObject) -> Iterator[JsonObject]:
    """Yield the events in a record; the oldest evaluations list pairs of them."""
    for key in _EVENT_LISTS:
        elements = record.get(key)
        for element in elements if isinstance(elements, list) else []:
            yield from iter_objects(element if isinstance(element, list) else [element])


def _list_event_files(folder: Path) -> list[tuple[int, Path]]:
    """Return the event files of a conversation with their numbers, in their order."""
    for parent in (folder / "events", folder):
        if not (parent / "0.json").is_file() and not any(parent.glob("event-*.json")):
            continue
        names = ((_EVENT_FILE.fullmatch(path.name), path) for path in parent.iterdir())
        return sorted((int(match[1]), path) for match, path in names if match is not None)
    return []


def read_log(log: Log) -> list[Transcript]:
    """Read the sessions of a log: one, or one for each record of an evaluation."""
    if log.is_folder:
        return [_read_folder(log.path)]
    sessions: list[OpenHandsSession] = []
    events = OpenHandsSession()
    for record in log.iter_records():
        if any(isinstance(record.get(key), list) for key in _EVENT_LISTS):
            sessions.append(OpenHandsSession())
            sessions[-1].add_record(record)
        else:
            events.add_event(record)
    if events.has_events or not sessions:
        sessions.append(events)
    return [session.build_transcript(log.skipped, truncated=log.truncated) for session in sessions]


def _read_folder(folder: Path) -> Transcript:
    """Read a conversation that has a file for each event."""
    session, skipped, truncated = OpenHandsSession(), 0, False
    files = _list_event_files(folder)
    for _, path in files:
        log = Log(path)
        for record in log.iter_records():
            session.add_event(record)
        skipped, truncated = skipped + log.skipped, truncated or log.truncated
    lost = {*range(files[-1][0] + 1)} - {number for number, _ in files}
    if lost:
        session.main.add_gap(f"{len(lost)} of the event files are missing")
    state = folder / "base_state.json"
    if state.is_file():
        session.add_state(to_object(Log(state).document))
    session.main.session = folder.parent.name if folder.name == "events" else folder.name
    return session.build_transcript(skipped, truncated=truncated)


class OpenHandsSession:
    """One session while its events are read. The last of the open agents is at work."""

    def __init__(self) -> None:
        self.main = Draft()
        self.has_events = False
        self._agents = [self.main]
        self._delegations: list[tuple[str | None, DraftDispatch]] = []
        self._last_call: DraftCall | None = None
        self._action_ids: set[str | None] = set()
        self._response_usages: dict[str, Tokens] = {}
        self._stated_usage: Tokens | None = None

    @property
    def _draft(self) -> Draft:
        return self._agents[-1]

    def add_record(self, record: JsonObject) -> None:
        """Add a record that holds the events of a session, as evaluations write it."""
        self.main.session = to_text(record.get("instance_id")) or to_text(record.get("id"))
        # The recorded requests repeat the calls of the events.
        self.main.add_unread_calls(record, (*_EVENT_LISTS, "llm_completions"))
        for key in _EVENT_LISTS:
            elements = record.get(key)
            for element in elements if isinstance(elements, list) else []:
                listed = element if isinstance(element, list) else [element]
                for event in self.main.iter_elements(listed, "event"):
                    self.add_event(event)
        if not self.main.prompts and to_text(record.get("instruction")) is not None:
            self.main.add_prompt(record["instruction"])
        if record.get("error"):
            self.main.add_gap("the evaluation states an error")
        if record.get("next_page_id"):
            self.main.add_gap("there are more pages of events")
        config = to_object(to_object(record.get("metadata")).get("llm_config"))
        if not self.main.models:
            self.main.add_model(config.get("model"))
        self._set_usage(record.get("metrics"))

    def add_event(self, event: JsonObject) -> None:
        """Add one event of either generation."""
        self.has_events = True
        self._draft.add_unread_calls(event, _READ_FIELDS)
        if "kind" in event:
            self._add_sdk_event(event)
        elif "action" in event:
            self._add_action(event)
        elif "observation" in event:
            self._add_observation(event)
        else:
            self._draft.add_unknown_kind("event", None)

    # Versions before 1.0: actions and observations.

    def _add_action(self, event: JsonObject) -> None:
        kind, source = to_text(event.get("action")), to_text(event.get("source"))
        arguments = to_object(event.get("args")) if "args" in event else event
        if "args" in event and not isinstance(event["args"], dict):
            self._draft.add_unknown_kind("arguments", "no object")
        self._set_usage(event.get("llm_metrics"))
        self._action_ids.add(_parse_event_id(event.get("id")))
        if source is not None and source not in _SOURCES:
            self._draft.add_unknown_kind("source", source)
        if kind == "message":
            self._add_message(event, source, to_text(arguments.get("content")))
        elif kind in _CALLS:
            # What a person or the client runs is no call of the agent.
            if source not in {"user", "environment"}:
                self._add_action_call(event, str(kind), arguments)
        elif kind not in _HARMLESS_ACTIONS:
            self._draft.add_unknown_kind("action", kind)

    def _add_message(self, event: JsonObject, source: str | None, text: str | None) -> None:
        at = parse_timestamp(event.get("timestamp"))
        is_prompt = source == "user" or (source is None and not self._draft.prompts)
        if is_prompt:
            self._draft.add_prompt(text, at)
        elif text is not None and source != "environment":
            self._draft.add_text(text, at)

    def _add_action_call(self, event: JsonObject, kind: str, arguments: JsonObject) -> None:
        at = parse_timestamp(event.get("timestamp"))
        self._add_response(to_object(event.get("tool_call_metadata")))
        thought = to_text(arguments.get("thought"))
        if thought is not None and kind not in {"think", "finish"}:
            self._draft.add_text(thought, at)
        name, given = _name_action(event, kind, arguments)
        id_ = _parse_event_id(event.get("id"))
        self._last_call = call = self._draft.add_call(name, given, id_=id_, at=at)
        if kind == "delegate":
            self._start_delegate(call, arguments, id_)
        elif kind in {"finish", "reject"}:
            # Nothing answers the action that ends a session.
            call.set_outcome(None)
            outputs = to_object(arguments.get("outputs"))
            answers = (arguments.get("final_thought"), outputs.get("content"), thought)
            answer = next(filter(None, map(to_text, answers)), None)
            self._draft.add_text(answer or to_text(event.get("message")) or "", at)

    def _add_response(self, metadata: JsonObject) -> None:
        """Add the model and the usage of the response that an action comes from."""
        response = to_object(metadata.get("model_response"))
        self._draft.add_model(response.get("model"))
        usage, id_ = to_object(response.get("usage")), to_text(response.get("id"))
        if usage and id_ is not None:
            self._response_usages[id_] = parse_inclusive_usage(
                usage.get("prompt_tokens"),
                to_object(usage.get("prompt_tokens_details")).get("cached_tokens"),
                usage.get("completion_tokens"),
                to_object(usage.get("completion_tokens_details")).get("reasoning_tokens"),
            )

    def _start_delegate(self, call: DraftCall, arguments: JsonObject, id_: str | None) -> None:
        dispatch = self._draft.add_dispatch(to_text(arguments.get("agent")), call)
        child = Draft(f"delegate {id_ or len(self._delegations)}", kind=dispatch.kind)
        self._agents.append(child)
        self._delegations.append((id_, dispatch))

    def _end_delegate(self, cause: str | None) -> None:
        """Close the agent that a delegation started; without any events it is not in the log."""
        for position in range(len(self._delegations) - 1, -1, -1):
            if self._delegations[position][0] == cause:
                self._close_agents(position)
                return

    def _close_agents(self, position: int) -> None:
        while len(self._delegations) > position:
            _, dispatch = self._delegations.pop()
            child = self._agents.pop()
            if child.calls or child.final_texts or child.prompts or child.unknown_kinds:
                dispatch.agent = child.agent
                self._draft.children.append(child.build_transcript(FORMAT_NAME))

    def _add_observation(self, event: JsonObject) -> None:
        kind = to_text(event.get("observation"))
        extras = to_object(event.get("extras")) if "extras" in event else event
        if kind == "agent_state_changed":
            self._set_state(to_text(extras.get("agent_state")))
            return
        if kind in _HARMLESS_OBSERVATIONS:
            return
        if kind not in _RESULTS:
            self._draft.add_unknown_kind("observation", kind)
            return
        cause = _parse_event_id(event.get("cause"))
        if kind == "delegate":
            self._end_delegate(cause)
        status = _parse_observation_status(str(kind), extras, event)
        at = parse_timestamp(event.get("timestamp"))
        if cause is not None:
            self._draft.add_result(cause, status, at)
            if cause not in self._action_ids:
                self._draft.add_unknown_kind("result", "without its call")
        elif self._last_call is not None and not self._last_call.has_result:
            # Logs without ids: an observation belongs to the action before it.
            self._last_call.set_outcome(status)
            self._last_call.ended = at
        elif kind == "error":
            self._draft.pending_gap = "the session ended with an error"

    def _set_state(self, state: str | None) -> None:
        """Note a state in which a session that ends is not finished."""
        is_open = state in _UNFINISHED_STATES
        self.main.pending_gap = f"the session ended in the state `{state}`" if is_open else None

    # Version 1: events of the SDK.

    def _add_sdk_event(self, event: JsonObject) -> None:
        kind, at = to_text(event.get("kind")), parse_timestamp(event.get("timestamp"))
        if kind == "ActionEvent":
            self._add_sdk_call(event)
        elif kind in _RESULT_KINDS:
            status = _parse_sdk_status(str(kind), to_object(event.get("observation")))
            if self.main.add_result(to_text(event.get("tool_call_id")), status, at) is None:
                self.main.add_unknown_kind("result", "without its call")
        elif kind == "MessageEvent":
            self._add_sdk_message(event, to_object(event.get("llm_message")))
        elif kind == _STATE_KIND:
            key, value = to_text(event.get("key")), event.get("value")
            self.add_state(to_object(value) if key == "full_state" else {str(key): value})
        elif kind in _ERROR_KINDS:
            self.main.pending_gap = "the session ended with an error"
        elif kind not in _HARMLESS_KINDS:
            self.main.add_unknown_kind("event", kind)

    def _add_sdk_message(self, event: JsonObject, message: JsonObject) -> None:
        for call in self.main.iter_elements(message.get("tool_calls"), "tool call"):
            self.main.add_unknown_kind("tool call", call.get("type"))
        text = self._read_text(message.get("content"))
        self._add_message(event, to_text(event.get("source")), text)

    def _read_text(self, content: Any) -> str | None:
        """Return the text of blocks; note those that may hold calls."""
        for block in self.main.iter_elements(content, "content block"):
            self.main.add_unread_calls(block)
            if to_text(block.get("type")) not in _HARMLESS_BLOCKS:
                self.main.add_unknown_kind("content block", block.get("type"))
        return join_text(content)

    def _add_sdk_call(self, event: JsonObject) -> None:
        at, message = parse_timestamp(event.get("timestamp")), event.get("llm_response_id")
        thought = self._read_text(event.get("thought"))
        if thought is not None:
            self.main.add_text(thought, at, message)
        name, arguments = _name_sdk_call(event)
        if not isinstance(arguments, dict):
            self.main.add_unknown_kind("arguments", "no object")
        call = self.main.add_call(name, arguments, id_=to_text(event.get("tool_call_id")), at=at)
        given = to_object(arguments)
        if name == "delegate" and given.get("command") == "delegate":
            for agent in to_object(given.get("tasks")):
                self.main.add_dispatch(agent, call)
        elif name == "task":
            self.main.add_dispatch(to_text(given.get("subagent_type")), call)
        elif name == "finish":
            self.main.add_text(to_text(given.get("message")) or "", at)

    def add_state(self, state: JsonObject) -> None:
        """Add what the state of the conversation says: how it ended, its model, its tokens."""
        for key in _STATUS_KEYS:
            if key in state:
                self._set_state(to_text(state[key]))
        self.main.add_model(to_object(to_object(state.get("agent")).get("llm")).get("model"))
        metrics = to_object(to_object(state.get("stats")).get("usage_to_metrics"))
        usages = [usage for usage in map(_parse_metrics, metrics.values()) if usage is not None]
        self._stated_usage = sum_tokens(usages) or self._stated_usage

    # Both.

    def _set_usage(self, metrics: Any) -> None:
        """Take the usage that metrics have accumulated; later ones replace earlier ones."""
        self._stated_usage = _parse_metrics(metrics) or self._stated_usage

    def build_transcript(self, skipped: int, *, truncated: bool) -> Transcript:
        """Return the transcript. Agents that are still open have no end in the log."""
        self._close_agents(0)
        usage = self._stated_usage or sum_tokens(self._response_usages.values())
        if usage is not None:
            self.main.tokens = structs.replace(usage, with_subagents=bool(self.main.children))
        return self.main.build_transcript(FORMAT_NAME, skipped=skipped, truncated=truncated)


def _parse_event_id(value: Any) -> str | None:
    """Return the id of an event as text; ids are numbers."""
    return str(value) if type(value) is int else to_text(value)


def _name_action(event: JsonObject, kind: str, arguments: JsonObject) -> tuple[str, JsonObject]:
    """Return the name and the arguments of the call that an action is."""
    metadata = to_object(event.get("tool_call_metadata"))
    function = to_text(metadata.get("function_name"))
    given = {key: value for key, value in arguments.items() if key not in _EVENT_KEYS}
    if kind == "call_tool_mcp":
        return to_text(given.get("name")) or "?", to_object(given.get("arguments"))
    if kind == "run_ipython":
        called = _find_called_arguments(metadata)
        if called and function == "str_replace_editor":
            return function, called
        code = to_text(given.get("code")) or ""
        written = _WRITING_FUNCTION.search(code)
        if written is not None:
            return "edit_file", {"path": written[1], "code": code}
        name = function if function == "execute_ipython_cell" else kind
        return name, {"code": code, "command": render_cell(code)}
    if function == "str_replace_editor":
        # Some versions keep the command of the editor only in what the model called.
        commands = ("view" if kind == "read" else None, given.get("command"))
        asked = _find_called_arguments(metadata).get("command")
        command = next(filter(None, map(to_text, (*commands, asked))), None)
        return (kind, given) if command is None else (function, {**given, "command": command})
    return (function if function in _TOOL_NAMES else kind), given


def _find_called_arguments(metadata: JsonObject) -> JsonObject:
    """Return the arguments that the model gave to the call with the id of the metadata."""
    response = to_object(metadata.get("model_response"))
    for choice in iter_objects(response.get("choices")):
        for call in iter_objects(to_object(choice.get("message")).get("tool_calls")):
            if call.get("id") == metadata.get("tool_call_id"):
                return to_object(parse_json(to_object(call.get("function")).get("arguments")))
    return {}


def render_cell(code: str) -> str:
    """Return a cell of IPython as a shell script, so that it is judged as any other command."""
    shell = _SHELL_CELL.match(code)
    if shell is not None:
        return shell[1]
    lines = [match.strip() for match in _SHELL_LINE.findall(code)]
    file = _FILE_CELL.match(code)
    if file is not None:
        return f": > {file[1]}"
    python = _SHELL_LINE.sub("", code)
    return "\n".join([*lines, f"python3 - <<'{_CELL_END}'", python, _CELL_END])


def _parse_observation_status(
    kind: str, extras: JsonObject, event: JsonObject
) -> CallStatus | None:
    if kind == "error":
        return CallStatus.ERROR
    if kind == "user_rejected":
        return CallStatus.DENIED
    if kind == "run":
        code = to_object(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
        return _parse_exit_code(code)
    if kind == "mcp":
        is_error = to_object(parse_json(event.get("content"))).get("isError")
    elif kind == "browse":
        is_error = extras.get("error")
    else:
        return CallStatus.OK if kind in _OK_RESULTS else None
    if not isinstance(is_error, bool):
        return None
    return CallStatus.ERROR if is_error else CallStatus.OK


def _parse_exit_code(code: Any) -> CallStatus | None:
    """Return the status that an exit code means; -1 stands for a command that still runs."""
    if type(code) is not int or code == -1:
        return None
    return CallStatus.ERROR if code else CallStatus.OK


def _name_sdk_call(event: JsonObject) -> tuple[str, Any]:
    """Return the name and the arguments of a call. Only the model's words show a refused one."""
    tool_call = to_object(event.get("tool_call"))
    action, name = event.get("action"), to_text(event.get("tool_name"))
    name = name or to_text(tool_call.get("name"))
    if action is None:
        return name or "?", parse_json_or_raw(tool_call.get("arguments")) or {}
    if not isinstance(action, dict):
        return name or "?", action
    kind = to_text(action.get("kind"))
    names = _TOOLS_BY_KIND.get(kind or "", ())
    if names and name not in names:
        name = names[0]
    if isinstance(action.get("data"), dict) and kind == "MCPToolAction":
        return name or "?", action["data"]
    return name or "?", {key: value for key, value in action.items() if key != "kind"}


def _parse_sdk_status(kind: str, observation: JsonObject) -> CallStatus | None:
    if kind != "ObservationEvent":
        return CallStatus.DENIED if kind == "UserRejectObservation" else CallStatus.ERROR
    if observation.get("is_error") is True or observation.get("error"):
        return CallStatus.ERROR
    code = observation.get("exit_code", to_object(observation.get("metadata")).get("exit_code"))
    if "exit_code" in observation or code is not None:
        return _parse_exit_code(code)
    has_flag = observation.get("is_error") is False or "error" in observation
    return CallStatus.OK if has_flag else None


def _parse_metrics(metrics: Any) -> Tokens | None:
    """Return the usage that metrics have accumulated; its input includes the cache."""
    usage = to_object(to_object(metrics).get("accumulated_token_usage"))
    if not usage.get("prompt_tokens"):
        return None
    return parse_inclusive_usage(
        usage.get("prompt_tokens"),
        usage.get("cache_read_tokens"),
        usage.get("completion_tokens"),
        usage.get("reasoning_tokens"),
        usage.get("cache_write_tokens"),
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="events with `source` and `action` or `observation`, events of `kind` ActionEvent, "
    "or records with a `history` of them",
    can_read_log=can_read_log,
    read_log=read_log,
)

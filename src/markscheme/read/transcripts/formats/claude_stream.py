"""`claude -p --output-format stream-json` or `json`: lines, one array, or a single result."""

from __future__ import annotations

import orjson
from msgspec import structs

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_milliseconds,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import (
    LOG_TRUNCATED,
    UNNAMED_TOOL,
    Draft,
    DraftDispatch,
    DraftPrompt,
    sum_tokens,
)
from markscheme.read.transcripts.formats.claude_code import (
    READ_LINE_FIELDS,
    READ_MESSAGE_FIELDS,
    SYNTHETIC_MODEL,
    ClaudeUsage,
    LineKey,
    add_message_blocks,
    add_other_block,
    build_line_key,
    parse_result_status,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CALLS_NOT_SHOWN, MAIN_AGENT, CallStatus, Tokens, Transcript

FORMAT_NAME = "claude-stream"
_MESSAGE_TYPES = frozenset({"system", "assistant", "user", "result"})
# Objects of other types that hold no calls, or only repeat those of messages. A stream in which
# `streamlined_tool_use_summary` stands in for the calls is not among them.
_KNOWN_TYPES = split_words(
    "system stream_event rate_limit_event tool_progress tool_use_summary auth_status "
    "prompt_suggestion control_request control_response control_cancel_request keep_alive "
    "update_environment_variables transcript_mirror"
)
# Parts of a message as it is written, and requests for permission: the message follows.
_REPEATING_TYPES = frozenset({"stream_event", "control_request", "transcript_mirror"})
# The fields of a result line that are read.
_READ_RESULT_FIELDS = ("usage", "modelUsage", "permission_denials", "structured_output")
_NOTIFIED_STATUSES = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "stopped": CallStatus.ERROR,
}


def can_read_log(log: Log) -> bool:
    """Return whether the log has messages of the stream."""
    return any(
        to_text(record.get("type")) in _MESSAGE_TYPES
        and ("session_id" in record or "parent_tool_use_id" in record or "duration_ms" in record)
        for record in log.sample
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one run."""
    run = ClaudeStreamRun()
    for record in log.iter_records():
        run.add_record(record)
    return [run.build_transcript(skipped=log.skipped, truncated=log.truncated)]


class ClaudeStreamAgent(Draft):
    """A draft with the usage of its messages."""

    def __init__(self, agent: str = MAIN_AGENT) -> None:
        super().__init__(agent)
        self.usage = ClaudeUsage()


class ClaudeStreamRun:
    """One run while its objects are read. A sub-agent has the id of the call that started it."""

    def __init__(self) -> None:
        self.main = ClaudeStreamAgent()
        self._agents: dict[str, ClaudeStreamAgent] = {}
        self._dispatches: dict[str, DraftDispatch] = {}
        self._seen_lines: set[LineKey] = set()
        # Calls of which a part of a message or a question tells, by id; the message comes too.
        self._streamed_calls: dict[str | None, str] = {}
        self._result: JsonObject | None = None
        self._line_count = 0
        # Whether a message that is no prompt came back to the model.
        self._has_answers = False

    def add_record(self, record: JsonObject) -> None:
        """Add one object of the stream."""
        self._line_count += 1
        if self.main.session is None:
            self.main.session = to_text(record.get("session_id"))
        kind, line = to_text(record.get("type")), build_line_key(record)
        if line is not None and kind in {"assistant", "user"}:
            if line in self._seen_lines:
                return
            self._seen_lines.add(line)
        if kind == "assistant":
            self._add_assistant_message(record)
        elif kind == "user":
            self._add_user_message(record)
        elif kind == "result":
            self._result = record
            self.main.add_unread_calls(record, _READ_RESULT_FIELDS)
        else:
            self._add_other_record(record, kind)

    def _add_other_record(self, record: JsonObject, kind: str | None) -> None:
        if kind not in _KNOWN_TYPES:
            self.main.add_unknown_kind("record", record.get("type"))
        elif kind in {"stream_event", "control_request"}:
            self._note_streamed_call(record)
        elif kind not in _REPEATING_TYPES:
            self.main.add_unread_calls({"record": record})
            self._note_named_calls(record)
            if to_text(record.get("subtype")) == "task_notification":
                self._settle_dispatch(record)

    def _note_streamed_call(self, record: JsonObject) -> None:
        block = to_object(to_object(record.get("event")).get("content_block"))
        if to_text(block.get("type")) in {"tool_use", "server_tool_use", "mcp_tool_use"}:
            self._streamed_calls[to_text(block.get("id"))] = to_text(block.get("name")) or "?"
        request = to_object(record.get("request"))
        asked, id_ = to_text(request.get("tool_name")), to_text(request.get("tool_use_id"))
        if asked is not None and id_ is not None:
            self._streamed_calls[id_] = asked

    def _note_named_calls(self, record: JsonObject) -> None:
        """Note the ids of calls that a task or a summary names; their messages come too."""
        summarised = record.get("preceding_tool_use_ids")
        ids = summarised if isinstance(summarised, list) else []
        if to_text(record.get("subtype")) == "task_started":
            ids = [*ids, record.get("tool_use_id")]
        for id_ in filter(None, map(to_text, ids)):
            name = to_text(record.get("task_type")) or to_text(record.get("type"))
            self._streamed_calls.setdefault(id_, name or UNNAMED_TOOL)

    def _add_unfinished_calls(self) -> None:
        """Note calls that are named, but whose message is not in the log as a whole."""
        agents = (self.main, *self._agents.values())
        known = {call.id for agent in agents for call in agent.calls}
        for id_, name in self._streamed_calls.items():
            if id_ not in known:
                self.main.add_unknown_kind("part of a call", name)

    def _find_message(self, record: JsonObject, agent: ClaudeStreamAgent) -> JsonObject:
        """Return the message of a line; note calls beside it, and one that is no message."""
        agent.add_unread_calls(record, READ_LINE_FIELDS)
        message = to_object(record.get("message"))
        if "content" not in message:
            agent.add_unknown_kind("message", record.get("type"))
        agent.add_unread_calls(message, READ_MESSAGE_FIELDS)
        return message

    def _get_agent(self, record: JsonObject) -> ClaudeStreamAgent:
        parent = to_text(record.get("parent_tool_use_id"))
        # An id in angle brackets has been redacted.
        if parent is None or parent.startswith("<"):
            return self.main
        if parent not in self._agents:
            agent = self._agents[parent] = ClaudeStreamAgent(parent)
            agent.session = self.main.session
            if parent in self._dispatches:
                agent.kind = self._dispatches[parent].kind
                self._dispatches[parent].agent = parent
        return self._agents[parent]

    def _add_assistant_message(self, record: JsonObject) -> None:
        agent = self._get_agent(record)
        message = self._find_message(record, agent)
        if message.get("model") == SYNTHETIC_MODEL:
            agent.add_unread_calls(message, ("usage",))
            return
        agent.add_model(message.get("model"))
        id_ = to_text(message.get("id")) or f"line {self._line_count}"
        agent.usage.add_usage(id_, message.get("usage"))
        at = parse_timestamp(record.get("timestamp"))
        for dispatch in add_message_blocks(agent, message.get("content"), at, id_):
            if dispatch.call is not None and dispatch.call.id is not None:
                self._dispatches[dispatch.call.id] = dispatch

    def _add_user_message(self, record: JsonObject) -> None:
        agent, at = self._get_agent(record), parse_timestamp(record.get("timestamp"))
        message = self._find_message(record, agent)
        results = []
        for block in agent.iter_blocks(message.get("content")):
            if block.get("type") == "tool_result":
                results.append(block)
            else:
                add_other_block(agent, block)
        for block in results:
            id_ = to_text(block.get("tool_use_id"))
            agent.add_result(id_, parse_result_status(block), at)
            agent.check_result(id_)
            details = to_object(record.get("tool_use_result"))
            dispatch = self._dispatches.get(id_ or "")
            # A background agent goes on after its call; a notification states its outcome.
            if dispatch is not None and to_text(details.get("status")) == "async_launched":
                dispatch.has_own_status, dispatch.status = True, CallStatus.NONE
        text = join_text(message.get("content"))
        is_prompt = record.get("isReplay") is True or agent is not self.main
        self._has_answers = self._has_answers or bool(results) or not is_prompt
        if not results and text is not None and is_prompt and not agent.prompts:
            agent.add_prompt(text, at)

    def _settle_dispatch(self, record: JsonObject) -> None:
        """Set the outcome of a background agent from its notification."""
        dispatch = self._dispatches.get(to_text(record.get("tool_use_id")) or "")
        status = _NOTIFIED_STATUSES.get(to_text(record.get("status")) or "")
        if dispatch is not None and dispatch.has_own_status and status is not None:
            dispatch.status = status

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the transcript. What the result line states replaces sums over the messages."""
        main = self.main
        self._add_unfinished_calls()
        main.tokens = main.usage.sum_usage()
        main.latency = (None, None)
        if truncated:
            main.add_gap(LOG_TRUNCATED)
        if self._result is None:
            main.add_gap("there is no result line, so the run was stopped")
        else:
            self._add_run_result(self._result)
            # The output format `json` has the result only. One turn has no calls, and each further
            # turn answers the results of calls or a hook.
            if not self._has_answers and self._result.get("num_turns") != 1:
                main.add_gap(CALLS_NOT_SHOWN)
        if not main.prompts:
            main.prompts.insert(0, DraftPrompt(None, 0, None, has_reply=bool(main.final_texts)))
        main.children = self._finish_children(main)
        # The calls that started the remaining agents are not in the log.
        while self._agents:
            main.children.append(self._finish_agent(self._agents.popitem()[1]))
        return main.build_transcript(FORMAT_NAME, skipped=skipped)

    def _finish_children(self, parent: ClaudeStreamAgent) -> list[Transcript]:
        """Return the sub-agents of an agent. Each is taken once, so a damaged log cannot loop."""
        children = []
        for dispatch in parent.dispatches:
            agent = self._agents.pop(dispatch.agent, None) if dispatch.agent is not None else None
            if agent is not None:
                children.append(self._finish_agent(agent))
        return children

    def _finish_agent(self, agent: ClaudeStreamAgent) -> Transcript:
        agent.tokens = agent.usage.sum_usage()
        agent.children = self._finish_children(agent)
        return agent.build_transcript(FORMAT_NAME)

    def _add_run_result(self, result: JsonObject) -> None:
        """Add the result line: the answer, the duration, the tokens, the denied calls."""
        main, duration = self.main, parse_milliseconds(result.get("duration_ms"))
        main.latency = (duration, duration)
        main.session = to_text(result.get("session_id")) or main.session
        self._mark_denied_calls(result)
        main.tokens = _sum_model_usage(result) or _parse_result_usage(result) or main.tokens
        for name in to_object(result.get("modelUsage")):
            main.add_model(name)
        if result.get("is_error") or to_text(result.get("subtype")) not in {None, "success"}:
            main.add_gap(f"the run ended with an error ({to_text(result.get('subtype')) or '?'})")
        answer = to_text(result.get("result"))
        if answer is None and result.get("structured_output") is not None:
            answer = orjson.dumps(result["structured_output"]).decode()
        if answer is not None and not result.get("is_error"):
            main.add_text(answer, None)

    def _mark_denied_calls(self, result: JsonObject) -> None:
        """Set the status of the denied calls; add those that are in no message."""
        denied = {
            to_text(denial.get("tool_use_id")): denial
            for denial in iter_objects(result.get("permission_denials"))
        }
        for agent in (self.main, *self._agents.values()):
            for call in agent.calls:
                if call.id is not None and call.id in denied:
                    call.set_outcome(CallStatus.DENIED)
                    denied[call.id] = {}
        for id_, denial in denied.items():
            if denial:
                name = to_text(denial.get("tool_name")) or UNNAMED_TOOL
                call = self.main.add_call(name, denial.get("tool_input"), id_=id_)
                call.set_outcome(CallStatus.DENIED)


def _sum_model_usage(result: JsonObject) -> Tokens | None:
    """Return the sum over the models, which covers the session with its sub-agents."""
    models = [to_object(usage) for usage in to_object(result.get("modelUsage")).values()]
    total = sum_tokens(
        Tokens(
            input_uncached=parse_count(usage.get("inputTokens")),
            output=parse_count(usage.get("outputTokens")),
            cache_read=parse_count(usage.get("cacheReadInputTokens")),
            cache_write=parse_count(usage.get("cacheCreationInputTokens")),
        )
        for usage in models
    )
    return None if total is None else structs.replace(total, with_subagents=True)


def _parse_result_usage(result: JsonObject) -> Tokens | None:
    usage = ClaudeUsage()
    usage.add_usage("result", result.get("usage"))
    total = usage.sum_usage()
    return None if total is None else structs.replace(total, output_is_lower_bound=False)


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="objects with `type` system, assistant, user or result and `session_id`",
    can_read_log=can_read_log,
    read_log=read_log,
)

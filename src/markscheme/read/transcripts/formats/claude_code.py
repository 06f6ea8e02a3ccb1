"""Claude Code transcripts: `~/.claude/projects/…/<session>.jsonl` and the logs of its sub-agents.

The lines of a sub-agent are inline (`isSidechain`), in `agent-*.jsonl` beside the session, or in
`<session>/subagents/`. They are nested where a call has started them. A forked session repeats the
lines of another session, and these count once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    join_text,
    parse_count,
    parse_json,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.containers import find_call_containers
from markscheme.read.transcripts.draft import UNNAMED_TOOL, Draft, DraftDispatch
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens, Transcript

FORMAT_NAME = "claude-code"
_METADATA_TYPES = frozenset({"file-history-snapshot", "queue-operation", "permission-mode"})
# Records of other types that the client writes. They are about the session or its files, and no
# call stands only in them.
_KNOWN_TYPES = split_words(
    "system summary attachment progress file-history-snapshot file-history-delta queue-operation "
    "last-prompt ai-title custom-title task-summary tag agent-name agent-color agent-setting mode "
    "permission-mode cost-state pr-link worktree-state relocated continued-in ended-by-model "
    "attribution-snapshot content-replacement speculation-accept fork-context-ref frame-link "
    "observer-ref bridge-session history-suppression isolation-latch atis-latch saved_hook_context "
    "marble-origami-commit marble-origami-snapshot marble-origami-reset artifact-comment-monitor "
    "artifact-autoreact-ledger started result"
)
# Blocks of messages in which no call can stand.
_BLOCKS_WITHOUT_CALLS = split_words(
    "text thinking redacted_thinking image document search_result container_upload tool_reference "
    "connector_text compaction fallback"
)
# Fields of a line that are read, or hold the output of a tool.
READ_LINE_FIELDS = ("message", "toolUseResult", "tool_use_result", "mcpMeta")
READ_MESSAGE_FIELDS = ("content", "usage")
_INTERRUPTED_PREFIX = "[Request interrupted by user"
# User messages that begin like this were written by the client, not by the user.
_NO_PROMPT_PREFIXES = (
    "<local-command-",
    "Caveat:",
    _INTERRUPTED_PREFIX,
    "<task-notification>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<user-memory-input>",
    "<system-reminder>",
    "This session is being continued from a previous conversation",
)
_COMMAND_PREFIXES = ("<command-name>", "<command-message>")
_INTERNAL_AGENT = re.compile(r"a(compact|side_question|prompt_suggestion)")
_CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_DISPATCH_TOOLS = frozenset({"Task", "Agent", "Workflow"})
_USAGE_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_DENIED_PATTERN = re.compile(
    r"(Error: )?(The user doesn't want to (proceed|take)|Claude requested permissions"
    r"|User rejected|Permission to use .{1,200} (has been )?denied|[^\n]{0,200}requires? approval)"
)
_TASK_STATUSES = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "error": CallStatus.ERROR,
    "killed": CallStatus.ERROR,
    "stopped": CallStatus.ERROR,
}
# Progress of something that has messages of its own.
_AGENT_PROGRESS = frozenset({"agent_progress", "skill_progress"})
_TAG_PATTERNS = {
    name: re.compile(f"<{name}>([^<]*)</{name}>") for name in ("task-id", "tool-use-id", "status")
}
_AGENT_ID_PATTERN = re.compile(r"\bagentId: ([\w-]+)")
# The client writes messages of its own, such as API errors, under this model name.
SYNTHETIC_MODEL = "<synthetic>"

LineKey = tuple[str, int]
"""Identifies a line: its id, and a hash of its time and message."""


def build_line_key(record: JsonObject) -> LineKey | None:
    """Return the key by which a repeated line is recognised; `None` if the line has no id.

    The id alone is not enough: some logs have their ids redacted, so that many are equal.
    """
    uuid = record.get("uuid")
    if not isinstance(uuid, str):
        return None
    return uuid, hash(repr((record.get("timestamp"), record.get("message"))))


class ClaudeUsage:
    """The usage of one agent's messages.

    One message is written in several lines, each with a usage; the largest counts.
    """

    def __init__(self) -> None:
        self._messages: dict[Any, list[int]] = {}
        self._last_line: Any = None
        # Whether any message states its input tokens, and its output tokens.
        self._reported = (False, False)

    def add_usage(self, message: Any, usage: Any) -> None:
        """Add the usage that one line states for a message."""
        if type(usage) is not dict or (message, usage) == self._last_line:
            return
        self._last_line = message, usage
        stated = [parse_count(usage.get(name)) for name in _USAGE_FIELDS]
        counts = [count or 0 for count in stated]
        some_input, some_output = self._reported
        self._reported = (some_input or stated[0] is not None, some_output or stated[1] is not None)
        known = self._messages.get(message)
        if known is None:
            self._messages[message] = counts
        elif known != counts:
            self._messages[message] = list(map(max, known, counts))

    def sum_usage(self) -> Tokens | None:
        """Return the sum over the messages; `None` if all counts are zero.

        Every model call has input, so zeros mean that nothing was reported.
        """
        totals = [sum(column) for column in zip(*self._messages.values(), strict=True)]
        if not any(totals):
            return None
        return Tokens(
            input_uncached=totals[0] if self._reported[0] else None,
            output=totals[1] if self._reported[1] else None,
            cache_write=totals[2],
            cache_read=totals[3],
            output_is_lower_bound=True,
        )


def add_message_blocks(
    draft: Draft, content: Any, at: datetime | None, message: object
) -> Iterator[DraftDispatch]:
    """Add the blocks of an assistant's message; yield the dispatches among them."""
    if isinstance(content, str):
        draft.add_text(content, at, message)
        return
    for block in draft.iter_blocks(content):
        kind = to_text(block.get("type"))
        if kind == "text":
            draft.add_text(to_text(block.get("text")) or "", at, message)
            draft.add_unread_calls(block)
        elif kind in _CALL_BLOCKS:
            name, id_ = _build_tool_name(block), to_text(block.get("id"))
            draft.add_unread_calls(block, ("input",))
            call = draft.add_call(name, block.get("input"), id_=id_, at=at)
            if name in _DISPATCH_TOOLS:
                arguments = to_object(block.get("input"))
                agent_kind = to_text(arguments.get("subagent_type"))
                if agent_kind is None and name == "Workflow":
                    agent_kind = "workflow"
                yield draft.add_dispatch(agent_kind, call, to_text(arguments.get("prompt")))
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            id_ = to_text(block.get("tool_use_id"))
            draft.add_result(id_, CallStatus.OK, at)
            draft.check_result(id_)
        else:
            add_other_block(draft, block)


def add_other_block(draft: Draft, block: JsonObject) -> None:
    """Note a block of an unknown type, and calls within one in which none can stand."""
    kind = block.get("type")
    if isinstance(kind, str) and kind in _BLOCKS_WITHOUT_CALLS:
        draft.add_unread_calls(block)
    else:
        draft.add_unknown_kind("content block", kind)


def _build_tool_name(block: JsonObject) -> str:
    """Return the name of the tool; one of a server that the API itself calls names the server."""
    name = to_text(block.get("name")) or UNNAMED_TOOL
    if block.get("type") != "mcp_tool_use":
        return name
    return f"mcp__{to_text(block.get('server_name')) or UNNAMED_TOOL}__{name}"


def parse_result_status(block: JsonObject) -> CallStatus:
    """Return the status of a call. Only its text tells a refusal from an error of the tool."""
    if not block.get("is_error"):
        return CallStatus.OK
    text = join_text(block.get("content")) or ""
    return CallStatus.DENIED if _DENIED_PATTERN.match(text) else CallStatus.ERROR


def can_read_log(log: Log) -> bool:
    """Return whether the log has lines of a Claude Code transcript."""
    return any(_is_transcript_line(record) for record in log.sample)


def _is_transcript_line(record: JsonObject) -> bool:
    kind = to_text(record.get("type"))
    if kind in {"user", "assistant"}:
        return "parentUuid" in record or "isSidechain" in record or "sessionId" in record
    return kind in _METADATA_TYPES or (kind == "summary" and "leafUuid" in record)


def read_log(log: Log) -> list[Transcript]:
    """Read a session with its sub-agents."""
    return [_read_session(log).build_transcript(log.skipped)]


def _read_sessions_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read the sessions of a folder, the oldest first: a fork repeats the lines of an older one."""
    read_by: dict[LineKey, str | None] = {}
    agent_logs = {
        path for log in logs for path in _find_agent_logs(log.path, _find_session_id(log))
    }
    for log in sorted(logs, key=_build_age_key):
        if log.path not in agent_logs:
            session = _read_session(log, read_by if _is_fork(log, read_by) else ())
            yield log, session.build_transcript(log.skipped)
            read_by |= dict.fromkeys(session.seen_lines, session.id)


def _build_age_key(log: Log) -> tuple[bool, str, str]:
    """Return a sort key for the age of a session. Marked forks come after all other sessions."""
    is_marked_fork = any("forkedFrom" in record for record in log.sample)
    times = (to_text(record.get("timestamp")) for record in log.sample)
    return is_marked_fork, next(filter(None, times), ""), log.path.name


def _is_fork(log: Log, read_by: Mapping[LineKey, str | None]) -> bool:
    """Return whether a log repeats assistant messages of another session, not just its ids."""
    own_id = _find_session_id(log)
    lines = (
        build_line_key(record)
        for record in log.sample
        if to_text(record.get("type")) == "assistant"
    )
    return any(line in read_by and read_by[line] != own_id for line in lines if line is not None)


def _find_session_id(log: Log) -> str | None:
    return next(filter(None, (to_text(record.get("sessionId")) for record in log.sample)), None)


def _read_session(log: Log, copied_lines: Collection[LineKey] = ()) -> ClaudeCodeSession:
    session = ClaudeCodeSession(copied_lines)
    for record in log.iter_records():
        session.add_record(record)
    session.main.truncated = log.truncated
    for path in _find_agent_logs(log.path, session.id):
        agent_log = Log(path)
        session.add_agent_metadata(path)
        for record in agent_log.iter_records():
            session.add_record(record, path)
        agent = session.get_agent(_parse_agent_id(path))
        agent.truncated, agent.skipped = agent_log.truncated, agent_log.skipped
    return session


def _find_agent_logs(path: Path, session: str | None) -> Iterator[Path]:
    """Yield the logs of a session's sub-agents: in its own folder, or beside the session."""
    yield from sorted((path.parent / path.stem / "subagents").rglob("agent-*.jsonl"))
    if path.name.startswith("agent-") or session is None:
        return
    for agent_path in sorted(path.parent.glob("agent-*.jsonl")):
        if any(record.get("sessionId") == session for record in Log(agent_path).sample[:3]):
            yield agent_path


def _parse_agent_id(path: Path) -> str:
    return path.stem.removeprefix("agent-")


class ClaudeCodeAgent(Draft):
    """A draft with the usage of its messages, and a slash command that may become a prompt."""

    def __init__(self, agent: str = MAIN_AGENT) -> None:
        super().__init__(agent)
        self.usage = ClaudeUsage()
        self.pending_command: tuple[str, datetime | None] | None = None
        self.parent: ClaudeCodeAgent | None = None
        self.skipped = 0
        self.truncated = False
        self.line_count = 0

    def confirm_command(self) -> None:
        """Add the pending slash command as a prompt: the model answers it."""
        if self.pending_command is not None:
            text, at = self.pending_command
            self.pending_command = None
            self.add_prompt(text, at)


class ClaudeCodeSession:
    """One session with its agents, while its lines are read."""

    def __init__(self, copied_lines: Collection[LineKey] = ()) -> None:
        self.main = ClaudeCodeAgent()
        self.id: str | None = None
        self.seen_lines: set[LineKey] = set()
        self._copied_lines = copied_lines
        self._agents: dict[str, ClaudeCodeAgent] = {}
        self._roots: dict[str, str] = {}
        self._dispatches: dict[str, tuple[ClaudeCodeAgent, DraftDispatch]] = {}
        self._agents_by_call: dict[str, str] = {}
        self._outcomes: dict[str, CallStatus] = {}
        self._kinds: dict[str, str] = {}
        # The sub-agents whose calls the log repeats while they run, with the number of its lines.
        self._agents_in_progress: Counter[str] = Counter()

    def add_record(self, record: JsonObject, agent_file: Path | None = None) -> None:
        """Add one line of the session's log, or of the log of a sub-agent."""
        kind = to_text(record.get("type"))
        if kind in {"assistant", "user"}:
            line = build_line_key(record)
            if line is not None:
                if line in self.seen_lines or line in self._copied_lines:
                    return
                self.seen_lines.add(line)
            message = record.get("message")
            agent = self._find_agent(record, agent_file)
            agent.add_unread_calls(record, READ_LINE_FIELDS)
            if type(message) is not dict or "content" not in message:
                agent.add_unknown_kind("message", kind)
                return
            agent.add_unread_calls(message, READ_MESSAGE_FIELDS)
            agent.line_count += 1
            if kind == "assistant":
                self._add_assistant_message(agent, record, message)
            else:
                self._add_user_message(agent, record, message)
        elif kind == "progress" and to_text(to_object(record.get("data")).get("type")) in (
            _AGENT_PROGRESS
        ):
            self._add_agent_progress(record)
        else:
            self._add_other_record(record, agent_file)

    def _add_agent_progress(self, record: JsonObject) -> None:
        """Link a sub-agent to its call. Its log is read, so its messages here are copies."""
        data = to_object(record.get("data"))
        agent = to_text(data.get("agentId"))
        self._link_agent(record.get("parentToolUseID"), agent)
        if any(find_call_containers(data)):
            self._agents_in_progress[agent or ""] += 1

    def _add_other_record(self, record: JsonObject, agent_file: Path | None) -> None:
        """Add a line that is no message; note the calls in it and unknown types."""
        kind = to_text(record.get("type"))
        agent = self.main if agent_file is None else self.get_agent(_parse_agent_id(agent_file))
        if kind not in _KNOWN_TYPES:
            agent.add_unknown_kind("record", record.get("type"))
        else:
            agent.add_unread_calls({"record": record})
        if kind == "queue-operation":
            self._add_notification(record.get("content"))
        elif record.get("isSidechain") is True:
            # Lines of other types may be links in the chain of an inline sub-agent.
            self._find_root(record)

    def add_agent_metadata(self, path: Path) -> None:
        """Add the metadata file beside the log of a sub-agent, if there is one."""
        try:
            text = path.with_suffix(".meta.json").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        metadata = to_object(parse_json(text))
        agent, kind = _parse_agent_id(path), to_text(metadata.get("agentType"))
        self._link_agent(metadata.get("toolUseId"), agent)
        if kind is not None:
            self._kinds[agent] = kind

    def get_agent(self, id_: str) -> ClaudeCodeAgent:
        """Return the sub-agent of this id; create it at its first line."""
        if id_ not in self._agents:
            self._agents[id_] = ClaudeCodeAgent(id_)
        return self._agents[id_]

    def _find_agent(self, record: JsonObject, agent_file: Path | None) -> ClaudeCodeAgent:
        if self.id is None:
            self.id = to_text(record.get("sessionId"))
        if agent_file is not None:
            return self.get_agent(_parse_agent_id(agent_file))
        if record.get("isSidechain") is not True:
            return self.main
        return self.get_agent(to_text(record.get("agentId")) or self._find_root(record))

    def _find_root(self, record: JsonObject) -> str:
        """Return the id of the first line in the chain that an inline sub-agent's line is in."""
        uuid, parent = to_text(record.get("uuid")) or "?", to_text(record.get("parentUuid"))
        root = self._roots[uuid] = self._roots.get(parent or "", uuid)
        return root

    def _add_assistant_message(
        self, agent: ClaudeCodeAgent, record: JsonObject, message: JsonObject
    ) -> None:
        agent.confirm_command()
        model = message.get("model")
        if model == SYNTHETIC_MODEL:
            if record.get("isApiErrorMessage"):
                agent.pending_gap = "the last message is an error of the API"
            agent.add_unread_calls(message, ("usage",))
            return
        agent.add_model(model)
        id_ = message.get("id") or record.get("uuid")
        if type(id_) is not str:
            id_ = str(agent.line_count)
        agent.usage.add_usage(id_, message.get("usage"))
        at = parse_timestamp(record.get("timestamp"))
        for dispatch in add_message_blocks(agent, message.get("content"), at, id_):
            if dispatch.call is not None and dispatch.call.id is not None:
                self._dispatches[dispatch.call.id] = (agent, dispatch)

    def _add_user_message(
        self, agent: ClaudeCodeAgent, record: JsonObject, message: JsonObject
    ) -> None:
        content = message.get("content")
        blocks = list(agent.iter_blocks(content))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in blocks:
            if block.get("type") != "tool_result":
                add_other_block(agent, block)
        if results:
            at = parse_timestamp(record.get("timestamp"))
            for block in results:
                self._add_tool_result(agent, block, to_object(record.get("toolUseResult")), at)
            return
        text = join_text(content)
        if text is not None:
            self._add_user_text(agent, record, text)

    def _add_tool_result(
        self, agent: ClaudeCodeAgent, block: JsonObject, details: JsonObject, at: datetime | None
    ) -> None:
        id_ = to_text(block.get("tool_use_id"))
        call = agent.add_result(id_, parse_result_status(block), at)
        agent.check_result(id_)
        if call is None or id_ not in self._dispatches:
            return
        _, dispatch = self._dispatches[id_]
        self._link_agent(id_, details.get("agentId"))
        # A background agent goes on after its call; a notification states its outcome.
        if details.get("isAsync") is True or to_text(details.get("status")) == "async_launched":
            dispatch.has_own_status, dispatch.status = True, CallStatus.NONE
        if id_ not in self._agents_by_call:
            named = _AGENT_ID_PATTERN.search(join_text(block.get("content")) or "")
            self._link_agent(id_, named.group(1) if named else None)

    def _add_user_text(self, agent: ClaudeCodeAgent, record: JsonObject, text: str) -> None:
        if record.get("isMeta"):
            if not text.startswith(_NO_PROMPT_PREFIXES):
                agent.confirm_command()
            return
        self._add_notification(text)
        if _is_not_prompt(record, text):
            # The output of a local command: the client ran it without asking the model.
            if text.startswith("<local-command-"):
                agent.pending_command = None
            elif text.startswith(_INTERRUPTED_PREFIX):
                agent.pending_gap = "the last turn was interrupted"
            return
        at = parse_timestamp(record.get("timestamp"))
        if text.startswith(_COMMAND_PREFIXES):
            agent.pending_command = (text, at)
        else:
            agent.pending_command = None
            agent.add_prompt(text, at)

    def _add_notification(self, text: Any) -> None:
        """Keep the outcome of a background agent, by the ids of its task and of its call."""
        if not isinstance(text, str) or "<task-notification>" not in text:
            return
        matches = [pattern.search(text) for pattern in _TAG_PATTERNS.values()]
        task, call, word = (match.group(1).strip() if match else None for match in matches)
        status = _TASK_STATUSES.get(word or "")
        if status is not None:
            self._outcomes.update(dict.fromkeys(filter(None, (task, call)), status))

    def _link_agent(self, call: Any, agent: Any) -> None:
        if isinstance(call, str) and isinstance(agent, str) and call and agent:
            self._agents_by_call[call] = agent

    def build_transcript(self, skipped: int) -> Transcript:
        """Return the session, with its sub-agents nested where they were started."""
        self._connect_agents()
        for id_ in self._agents_in_progress.keys() - self._agents.keys():
            for _ in range(self._agents_in_progress[id_]):
                self.main.add_unknown_kind("tool container", "progress")
        agents = list(self._agents.values())
        if not self.main.line_count and len(agents) == 1:
            # The log of a sub-agent, given on its own.
            agents[0].truncated = agents[0].truncated or self.main.truncated
            agents[0].unknown_kinds.update(self.main.unknown_kinds)
            return self._finish_agent(agents[0], skipped)
        for agent in agents:
            if not _is_descendant(agent, self.main):
                agent.parent = self.main
        return self._finish_agent(self.main, skipped)

    def _connect_agents(self) -> None:
        """Find the sub-agent of each dispatch and the parent of each sub-agent.

        Older logs do not name the sub-agent of a call; then an unclaimed one with the same prompt
        is taken.
        """
        linked = set(self._agents_by_call.values())
        unclaimed: dict[str | None, list[ClaudeCodeAgent]] = {}
        for agent in reversed(self._agents.values()):
            if agent.prompts and agent.agent not in linked:
                unclaimed.setdefault(agent.prompts[0].text, []).append(agent)
        for id_, (owner, dispatch) in self._dispatches.items():
            named = self._agents_by_call.get(id_)
            child = self._agents.get(named) if named is not None else None
            if child is None and dispatch.prompt is not None and unclaimed.get(dispatch.prompt):
                child = unclaimed[dispatch.prompt].pop()
            dispatch.agent = named if child is None else child.agent
            if child is not None and child is not owner:
                child.parent, child.kind = owner, dispatch.kind
            outcome = self._outcomes.get(id_) or self._outcomes.get(dispatch.agent or "")
            if dispatch.has_own_status and outcome is not None:
                dispatch.status = outcome

    def _finish_agent(self, agent: ClaudeCodeAgent, skipped: int) -> Transcript:
        agent.session = self.id
        agent.tokens = agent.usage.sum_usage()
        agent.kind = agent.kind or self._kinds.get(agent.agent)
        if agent is not self.main and agent.parent in {None, self.main}:
            agent.internal = _INTERNAL_AGENT.match(agent.agent) is not None
            agent.kind = "compaction" if agent.agent.startswith("acompact") else agent.kind
        agent.children = [
            self._finish_agent(child, child.skipped)
            for child in self._agents.values()
            if child.parent is agent and child is not agent
        ]
        return agent.build_transcript(FORMAT_NAME, skipped=skipped, truncated=agent.truncated)


def _is_not_prompt(record: JsonObject, text: str) -> bool:
    if record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
        return True
    origin = to_object(record.get("origin")).get("kind")
    return text.startswith(_NO_PROMPT_PREFIXES) or (isinstance(origin, str) and origin != "human")


def _is_descendant(agent: ClaudeCodeAgent, main: ClaudeCodeAgent) -> bool:
    """Return whether the parents of an agent lead to the main agent; a damaged log may loop."""
    seen: set[int] = set()
    ancestor: ClaudeCodeAgent | None = agent
    while ancestor is not None and id(ancestor) not in seen:
        if ancestor is main:
            return True
        seen.add(id(ancestor))
        ancestor = ancestor.parent
    return False


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="lines with `type` user or assistant and `sessionId` or `parentUuid`",
    can_read_log=can_read_log,
    read_log=read_log,
    read_together=_read_sessions_together,
)

"""One session of Claude Code while its lines are read: agents, links between them, prompts.

Claude Code transcripts: `~/.claude/projects/…/<session>.jsonl` and the agents beside it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_json,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft
from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.formats.claude_messages import (
    AGENT_ID_PATTERN,
    SYNTHETIC_MODEL,
    ClaudeUsage,
    LineKey,
    add_message_blocks,
    build_line_key,
    parse_notification,
    parse_result_status,
)
from markscheme.read.transcripts.log import Log
from markscheme.vocabulary import MAIN_AGENT, CallStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from markscheme.read.transcripts.draft import DraftDispatch
    from markscheme.vocabulary import Transcript

FORMAT_NAME = "claude-code"
_INTERRUPTED_PREFIX = "[Request interrupted by user"
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
_API_ERROR_GAP = "the last message is an error of the API"


class ClaudeCodeAgent(Draft):
    """A draft with the usage of its messages and the slash command that may be a prompt."""

    def __init__(self, agent: str = MAIN_AGENT) -> None:
        super().__init__(agent)
        self.usage = ClaudeUsage()
        self.pending_command: tuple[str, datetime | None] | None = None
        self.parent: ClaudeCodeAgent | None = None
        self.skipped = 0
        self.truncated = False
        self.line_count = 0

    def confirm_command(self) -> None:
        """Take a slash command as a prompt after all: the model answers it."""
        if self.pending_command is not None:
            said, at = self.pending_command
            self.pending_command = None
            self.add_prompt(said, at)


class ClaudeCodeSession:
    """One session with its agents, while its lines are read."""

    def __init__(self, copied: Collection[LineKey] = ()) -> None:
        self.main = ClaudeCodeAgent()
        self.id: str | None = None
        self._agents: dict[str, ClaudeCodeAgent] = {}
        self._roots: dict[str, str] = {}
        self._copied_lines = copied
        self.seen_lines: set[LineKey] = set()
        self._dispatches: dict[str, tuple[ClaudeCodeAgent, DraftDispatch]] = {}
        self._agents_by_call: dict[str, str] = {}
        self._outcomes: dict[str, CallStatus] = {}
        self._kinds: dict[str, str] = {}

    def add_record(self, record: JsonObject, file: Path | None = None) -> None:
        """Take one line of the session's log, or of an agent's."""
        kind = to_text(record.get("type"))
        if kind in {"assistant", "user"}:
            line = build_line_key(record)
            if line is not None:
                if line in self.seen_lines or line in self._copied_lines:
                    return
                self.seen_lines.add(line)
            message = record.get("message")
            if type(message) is not dict:
                return
            agent = self._find_agent(record, file)
            agent.line_count += 1
            if kind == "assistant":
                self._add_assistant_message(agent, record, message)
            else:
                self._add_user_message(agent, record, message)
        elif kind == "progress":
            data = to_object(record.get("data"))
            if to_text(data.get("type")) == "agent_progress":
                self._link_agent(record.get("parentToolUseID"), data.get("agentId"))
        elif kind == "queue-operation":
            self._add_notification(record.get("content"))
        elif record.get("isSidechain") is True:
            self._find_root(record)  # other lines may stand between those of a conversation

    def add_agent_metadata(self, path: Path) -> None:
        """Take what the file beside an agent's log says of it."""
        try:
            told = path.with_suffix(".meta.json").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        meta = to_object(parse_json(told))
        agent, kind = _parse_agent_id(path), to_text(meta.get("agentType"))
        self._link_agent(meta.get("toolUseId"), agent)
        if kind is not None:
            self._kinds[agent] = kind

    def get_agent_for_file(self, path: Path) -> ClaudeCodeAgent:
        """Return the agent whose log this is."""
        return self._get_agent(_parse_agent_id(path))

    def _find_agent(self, record: JsonObject, file: Path | None) -> ClaudeCodeAgent:
        if self.id is None:
            self.id = to_text(record.get("sessionId"))
        if file is None and record.get("isSidechain") is not True:
            return self.main
        if file is not None:
            return self._get_agent(_parse_agent_id(file))
        return self._get_agent(to_text(record.get("agentId")) or self._find_root(record))

    def _get_agent(self, id_: str) -> ClaudeCodeAgent:
        if id_ not in self._agents:
            self._agents[id_] = ClaudeCodeAgent(id_)
        return self._agents[id_]

    def _find_root(self, record: JsonObject) -> str:
        """Return the first line of the chain that a line of an inline sub-agent belongs to."""
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
                agent.pending_gap = _API_ERROR_GAP
            return
        agent.add_model(model)
        id_ = message.get("id") or record.get("uuid")
        if type(id_) is not str:
            id_ = str(agent.line_count)
        agent.usage.add_usage(id_, message.get("usage"))
        at = parse_timestamp(record.get("timestamp"))
        for made in add_message_blocks(agent, message.get("content"), at, id_):
            if made.call is not None and made.call.id is not None:
                self._dispatches[made.call.id] = (agent, made)

    def _add_user_message(
        self, agent: ClaudeCodeAgent, record: JsonObject, message: JsonObject
    ) -> None:
        content = message.get("content")
        results = [b for b in iter_objects(content) if b.get("type") == "tool_result"]
        if results:
            at = parse_timestamp(record.get("timestamp"))
            for block in results:
                self._add_tool_result(agent, block, record.get("toolUseResult"), at)
            return
        said = join_text(content)
        if said is not None:
            self._add_user_text(agent, record, said)

    def _add_tool_result(
        self, agent: ClaudeCodeAgent, block: JsonObject, told: Any, at: datetime | None
    ) -> None:
        id_ = to_text(block.get("tool_use_id"))
        made = agent.add_result(id_, parse_result_status(block), at)
        if made is None or id_ not in self._dispatches:
            return
        _, dispatch = self._dispatches[id_]
        details = to_object(told)
        self._link_agent(id_, details.get("agentId"))
        if details.get("isAsync") is True or to_text(details.get("status")) == "async_launched":
            dispatch.has_own_status, dispatch.status = True, CallStatus.NONE
        if id_ not in self._agents_by_call:
            named = AGENT_ID_PATTERN.search(join_text(block.get("content")) or "")
            self._link_agent(id_, named.group(1) if named else None)

    def _add_user_text(self, agent: ClaudeCodeAgent, record: JsonObject, said: str) -> None:
        if record.get("isMeta"):
            if not said.startswith(_NO_PROMPT_PREFIXES):
                agent.confirm_command()
            return
        if "<task-notification>" in said:
            self._add_notification(said)
        if _is_not_prompt(record, said):
            if said.startswith("<local-command-"):
                agent.pending_command = None
            elif said.startswith(_INTERRUPTED_PREFIX):
                agent.pending_gap = "the last turn was interrupted"
            return
        at = parse_timestamp(record.get("timestamp"))
        if said.startswith(_COMMAND_PREFIXES):
            agent.pending_command = (said, at)
        else:
            agent.pending_command = None
            agent.add_prompt(said, at)

    def _add_notification(self, said: Any) -> None:
        if not isinstance(said, str) or "<task-notification>" not in said:
            return
        task, call, status = parse_notification(said)
        if status is not None:
            self._outcomes.update(dict.fromkeys(filter(None, (task, call)), status))

    def _link_agent(self, call: Any, agent: Any) -> None:
        if isinstance(call, str) and isinstance(agent, str) and call and agent:
            self._agents_by_call[call] = agent

    def build_transcript(self, skipped: int) -> Transcript:
        """Return the session, its agents nested where they were started."""
        self._connect_agents()
        alone = list(self._agents.values())
        if not self.main.line_count and len(alone) == 1:
            alone[0].truncated = alone[0].truncated or self.main.truncated
            return self._finish_agent(alone[0], skipped)
        for agent in alone:
            if not _is_descendant(agent, self.main):
                agent.parent = self.main
        return self._finish_agent(self.main, skipped)

    def _connect_agents(self) -> None:
        """Find for every dispatch the agent that it started, and for every agent its parent."""
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
            settled = self._outcomes.get(id_) or self._outcomes.get(dispatch.agent or "")
            if dispatch.has_own_status and settled is not None:
                dispatch.status = settled

    def _finish_agent(self, agent: ClaudeCodeAgent, skipped: int) -> Transcript:
        agent.session = self.id
        agent.tokens = agent.usage.sum_usage()
        agent.kind = agent.kind or self._kinds.get(agent.agent)
        if agent is not self.main and agent.parent in {None, self.main}:
            agent.internal = _INTERNAL_AGENT.match(agent.agent) is not None
            agent.kind = "compaction" if agent.agent.startswith("acompact") else agent.kind
        if agent.truncated:
            agent.add_gap(LOG_TRUNCATED)
        agent.children = [
            self._finish_agent(child, child.skipped)
            for child in self._agents.values()
            if child.parent is agent and child is not agent
        ]
        return agent.build_transcript(FORMAT_NAME, skipped=skipped)


def _parse_agent_id(path: Path) -> str:
    return path.stem.removeprefix("agent-")


def _is_not_prompt(record: JsonObject, said: str) -> bool:
    if record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
        return True
    kind = to_object(record.get("origin")).get("kind")
    return said.startswith(_NO_PROMPT_PREFIXES) or (isinstance(kind, str) and kind != "human")


def _is_descendant(agent: ClaudeCodeAgent, main: ClaudeCodeAgent) -> bool:
    """Say whether an agent's parents end at the main agent; a damaged log may have a circle."""
    seen: set[int] = set()
    at: ClaudeCodeAgent | None = agent
    while at is not None and id(at) not in seen:
        if at is main:
            return True
        seen.add(id(at))
        at = at.parent
    return False


_METADATA_TYPES = frozenset({"file-history-snapshot", "queue-operation", "permission-mode"})


def can_read_log(log: Log) -> bool:
    """Say whether lines look like those of a transcript."""
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
    """Read sessions that lie together. A fork repeats another's lines; the older keeps them."""
    read_by: dict[LineKey, str | None] = {}
    beside = {path for log in logs for path in find_agent_logs(log.path, _find_session_id(log))}
    for log in sorted(logs, key=_build_age_key):
        if log.path not in beside:
            session = _read_session(log, read_by if _is_fork(log, read_by) else ())
            yield log, session.build_transcript(log.skipped)
            read_by |= dict.fromkeys(session.seen_lines, session.id)


def _is_fork(log: Log, read_by: Mapping[LineKey, str | None]) -> bool:
    """Say whether a log repeats what was said in another session, not just its ids."""
    own = _find_session_id(log)
    said = (
        build_line_key(record)
        for record in log.sample
        if to_text(record.get("type")) == "assistant"
    )
    return any(line in read_by and read_by[line] != own for line in said if line is not None)


def _find_session_id(log: Log) -> str | None:
    return next(filter(None, (to_text(record.get("sessionId")) for record in log.sample)), None)


def _build_age_key(log: Log) -> tuple[bool, str, str]:
    """Return what sorts sessions by age; copied lines have a mark or a newer file's name."""
    forked = any("forkedFrom" in record for record in log.sample)
    times = (to_text(record.get("timestamp")) for record in log.sample)
    return forked, next(filter(None, times), ""), log.path.name


def _read_session(log: Log, copied: Collection[LineKey] = ()) -> ClaudeCodeSession:
    session = ClaudeCodeSession(copied)
    for record in log.iter_records():
        session.add_record(record)
    cut = log.truncated
    for path in find_agent_logs(log.path, session.id):
        beside = Log(path)
        session.add_agent_metadata(path)
        for record in beside.iter_records():
            session.add_record(record, path)
        session.get_agent_for_file(path).truncated = beside.truncated
        session.get_agent_for_file(path).skipped = beside.skipped
    session.main.truncated = cut
    return session


def find_agent_logs(path: Path, session: str | None) -> Iterator[Path]:
    """Yield the logs of the sub-agents of a session: below its folder, or beside it."""
    yield from sorted((path.parent / path.stem / "subagents").rglob("agent-*.jsonl"))
    if path.name.startswith("agent-") or session is None:
        return
    for beside in sorted(path.parent.glob("agent-*.jsonl")):
        if any(record.get("sessionId") == session for record in Log(beside).sample[:3]):
            yield beside


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="lines with `type` user or assistant and `sessionId` or `parentUuid`",
    can_read_log=can_read_log,
    read_log=read_log,
    read_together=_read_sessions_together,
)

"""One session of Claude Code while its lines are read: agents, links between them, prompts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.claude_messages import (
    AGENT_ID,
    SYNTHETIC,
    Line,
    Usage,
    line_of,
    notified,
    status_of,
    take_blocks,
)
from markscheme.read.transcripts.draft import CUT_OFF, Draft
from markscheme.read.transcripts.values import (
    Object,
    joined,
    mapping,
    moment,
    objects,
    parsed,
    text,
)
from markscheme.transcript import MAIN, CallStatus

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from pathlib import Path

    from markscheme.read.transcripts.draft import DraftDispatch
    from markscheme.transcript import Transcript

NAME = "claude-code"
_INTERRUPTED = "[Request interrupted by user"
_NO_PROMPT = (
    "<local-command-",
    "Caveat:",
    _INTERRUPTED,
    "<task-notification>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<user-memory-input>",
    "<system-reminder>",
    "This session is being continued from a previous conversation",
)
_COMMAND = ("<command-name>", "<command-message>")
_INTERNAL = re.compile(r"a(compact|side_question|prompt_suggestion)")
_API_ERROR = "the last message is an error of the API"


class Agent(Draft):
    """A draft with the usage of its messages and the slash command that may be a prompt."""

    def __init__(self, agent: str = MAIN) -> None:
        super().__init__(agent)
        self.usage = Usage()
        self.command: tuple[str, datetime | None] | None = None
        self.parent: Agent | None = None
        self.skipped = 0
        self.cut = False
        self.lines = 0

    def confirm(self) -> None:
        """Take a slash command as a prompt after all: the model answers it."""
        if self.command is not None:
            said, at = self.command
            self.command = None
            self.prompt(said, at)


class Session:
    """One session with its agents, while its lines are read."""

    def __init__(self, copied: Collection[Line] = ()) -> None:
        self.main = Agent()
        self.id: str | None = None
        self._agents: dict[str, Agent] = {}
        self._root_of: dict[str, str] = {}
        self._copied = copied
        self.lines: set[Line] = set()
        self._dispatches: dict[str, tuple[Agent, DraftDispatch]] = {}
        self._agent_of_call: dict[str, str] = {}
        self._settled: dict[str, CallStatus] = {}
        self._kind_of: dict[str, str] = {}

    def take(self, record: Object, file: Path | None = None) -> None:
        """Take one line of the session's log, or of an agent's."""
        kind = text(record.get("type"))
        if kind in {"assistant", "user"}:
            line = line_of(record)
            if line is not None:
                if line in self.lines or line in self._copied:
                    return
                self.lines.add(line)
            message = record.get("message")
            if type(message) is not dict:
                return
            agent = self._agent(record, file)
            agent.lines += 1
            if kind == "assistant":
                self._assistant(agent, record, message)
            else:
                self._user(agent, record, message)
        elif kind == "progress":
            data = mapping(record.get("data"))
            if text(data.get("type")) == "agent_progress":
                self._link(record.get("parentToolUseID"), data.get("agentId"))
        elif kind == "queue-operation":
            self._notified(record.get("content"))
        elif record.get("isSidechain") is True:
            self._root(record)  # other lines may stand between those of a conversation

    def take_companion(self, path: Path) -> None:
        """Take what the file beside an agent's log says of it."""
        try:
            told = path.with_suffix(".meta.json").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        meta = mapping(parsed(told))
        agent, kind = _id_of(path), text(meta.get("agentType"))
        self._link(meta.get("toolUseId"), agent)
        if kind is not None:
            self._kind_of[agent] = kind

    def of_file(self, path: Path) -> Agent:
        """Return the agent whose log this is."""
        return self._named(_id_of(path))

    def _agent(self, record: Object, file: Path | None) -> Agent:
        if self.id is None:
            self.id = text(record.get("sessionId"))
        if file is None and record.get("isSidechain") is not True:
            return self.main
        if file is not None:
            return self._named(_id_of(file))
        return self._named(text(record.get("agentId")) or self._root(record))

    def _named(self, id_: str) -> Agent:
        if id_ not in self._agents:
            self._agents[id_] = Agent(id_)
        return self._agents[id_]

    def _root(self, record: Object) -> str:
        """Return the first line of the chain that a line of an inline sub-agent belongs to."""
        uuid, parent = text(record.get("uuid")) or "?", text(record.get("parentUuid"))
        root = self._root_of[uuid] = self._root_of.get(parent or "", uuid)
        return root

    def _assistant(self, agent: Agent, record: Object, message: Object) -> None:
        agent.confirm()
        model = message.get("model")
        if model == SYNTHETIC:
            if record.get("isApiErrorMessage"):
                agent.trouble = _API_ERROR
            return
        agent.model(model)
        id_ = message.get("id") or record.get("uuid")
        if type(id_) is not str:
            id_ = str(agent.lines)
        agent.usage.take(id_, message.get("usage"))
        at = moment(record.get("timestamp"))
        for made in take_blocks(agent, message.get("content"), at, id_):
            if made.call is not None and made.call.id is not None:
                self._dispatches[made.call.id] = (agent, made)

    def _user(self, agent: Agent, record: Object, message: Object) -> None:
        content = message.get("content")
        results = [b for b in objects(content) if b.get("type") == "tool_result"]
        if results:
            at = moment(record.get("timestamp"))
            for block in results:
                self._result(agent, block, record.get("toolUseResult"), at)
            return
        said = joined(content)
        if said is not None:
            self._said(agent, record, said)

    def _result(self, agent: Agent, block: Object, told: Any, at: datetime | None) -> None:
        id_ = text(block.get("tool_use_id"))
        made = agent.result(id_, status_of(block), at)
        if made is None or id_ not in self._dispatches:
            return
        _, dispatch = self._dispatches[id_]
        details = mapping(told)
        self._link(id_, details.get("agentId"))
        if details.get("isAsync") is True or text(details.get("status")) == "async_launched":
            dispatch.settled, dispatch.status = True, CallStatus.NONE
        if id_ not in self._agent_of_call:
            named = AGENT_ID.search(joined(block.get("content")) or "")
            self._link(id_, named.group(1) if named else None)

    def _said(self, agent: Agent, record: Object, said: str) -> None:
        if record.get("isMeta"):
            if not said.startswith(_NO_PROMPT):
                agent.confirm()
            return
        if "<task-notification>" in said:
            self._notified(said)
        if _is_no_prompt(record, said):
            if said.startswith("<local-command-"):
                agent.command = None
            elif said.startswith(_INTERRUPTED):
                agent.trouble = "the last turn was interrupted"
            return
        at = moment(record.get("timestamp"))
        if said.startswith(_COMMAND):
            agent.command = (said, at)
        else:
            agent.command = None
            agent.prompt(said, at)

    def _notified(self, said: Any) -> None:
        if not isinstance(said, str) or "<task-notification>" not in said:
            return
        task, call, status = notified(said)
        if status is not None:
            self._settled.update(dict.fromkeys(filter(None, (task, call)), status))

    def _link(self, call: Any, agent: Any) -> None:
        if isinstance(call, str) and isinstance(agent, str) and call and agent:
            self._agent_of_call[call] = agent

    def transcript(self, skipped: int) -> Transcript:
        """Return the session, its agents nested where they were started."""
        self._connect()
        alone = list(self._agents.values())
        if not self.main.lines and len(alone) == 1:
            alone[0].cut = alone[0].cut or self.main.cut
            return self._finished(alone[0], skipped)
        for agent in alone:
            if not _leads_to(agent, self.main):
                agent.parent = self.main
        return self._finished(self.main, skipped)

    def _connect(self) -> None:
        """Find for every dispatch the agent that it started, and for every agent its parent."""
        linked = set(self._agent_of_call.values())
        unclaimed: dict[str | None, list[Agent]] = {}
        for agent in reversed(self._agents.values()):
            if agent.prompts and agent.agent not in linked:
                unclaimed.setdefault(agent.prompts[0].text, []).append(agent)
        for id_, (owner, dispatch) in self._dispatches.items():
            named = self._agent_of_call.get(id_)
            child = self._agents.get(named) if named is not None else None
            if child is None and dispatch.prompt is not None and unclaimed.get(dispatch.prompt):
                child = unclaimed[dispatch.prompt].pop()
            dispatch.agent = named if child is None else child.agent
            if child is not None and child is not owner:
                child.parent, child.kind = owner, dispatch.kind
            settled = self._settled.get(id_) or self._settled.get(dispatch.agent or "")
            if dispatch.settled and settled is not None:
                dispatch.status = settled

    def _finished(self, agent: Agent, skipped: int) -> Transcript:
        agent.session = self.id
        agent.tokens = agent.usage.total()
        agent.kind = agent.kind or self._kind_of.get(agent.agent)
        if agent is not self.main and agent.parent in {None, self.main}:
            agent.internal = _INTERNAL.match(agent.agent) is not None
            agent.kind = "compaction" if agent.agent.startswith("acompact") else agent.kind
        if agent.cut:
            agent.gap(CUT_OFF)
        agent.children = [
            self._finished(child, child.skipped)
            for child in self._agents.values()
            if child.parent is agent and child is not agent
        ]
        return agent.finish(NAME, skipped=skipped)


def _id_of(path: Path) -> str:
    return path.stem.removeprefix("agent-")


def _is_no_prompt(record: Object, said: str) -> bool:
    if record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
        return True
    kind = mapping(record.get("origin")).get("kind")
    return said.startswith(_NO_PROMPT) or (isinstance(kind, str) and kind != "human")


def _leads_to(agent: Agent, main: Agent) -> bool:
    """Say whether an agent's parents end at the main agent; a damaged log may have a circle."""
    seen: set[int] = set()
    at: Agent | None = agent
    while at is not None and id(at) not in seen:
        if at is main:
            return True
        seen.add(id(at))
        at = at.parent
    return False

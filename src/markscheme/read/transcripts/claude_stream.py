"""`claude -p --output-format stream-json` and `json`: objects in lines, an array, or a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from markscheme.read.transcripts.claude_messages import (
    SYNTHETIC,
    Line,
    Usage,
    line_of,
    status_of,
    take_blocks,
)
from markscheme.read.transcripts.draft import CUT_OFF, Draft, DraftPrompt, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.values import (
    Object,
    count,
    joined,
    mapping,
    milliseconds,
    moment,
    objects,
    text,
)
from markscheme.transcript import MAIN, CallStatus, Tokens

if TYPE_CHECKING:
    from markscheme.read.transcripts.draft import DraftDispatch
    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

NAME = "claude-stream"
_TYPES = frozenset({"system", "assistant", "user", "result"})
_NO_RESULT = "there is no result line, so the run was stopped"
_SETTLED = {"completed": CallStatus.OK, "failed": CallStatus.ERROR, "stopped": CallStatus.ERROR}


def recognises(log: Log) -> bool:
    """Say whether objects look like messages of the stream."""
    return any(
        text(record.get("type")) in _TYPES
        and ("session_id" in record or "parent_tool_use_id" in record or "duration_ms" in record)
        for record in log.sample
    )


def read(log: Log) -> list[Transcript]:
    """Read one run."""
    run = Run()
    for record in log.records():
        run.take(record)
    return [run.transcript(skipped=log.skipped, cut=log.cut)]


class Agent(Draft):
    """A draft with the usage of its messages."""

    def __init__(self, agent: str = MAIN) -> None:
        super().__init__(agent)
        self.usage = Usage()


class Run:
    """One run while its objects are read. Agents are named by the call that started them."""

    def __init__(self) -> None:
        self.main = Agent()
        self._agents: dict[str, Agent] = {}
        self._dispatches: dict[str, DraftDispatch] = {}
        self._seen: set[Line] = set()
        self._result: Object | None = None
        self._lines = 0

    def take(self, record: Object) -> None:
        """Take one object of the stream."""
        self._lines += 1
        if self.main.session is None:
            self.main.session = text(record.get("session_id"))
        kind, line = text(record.get("type")), line_of(record)
        if line is not None and kind in {"assistant", "user"}:
            if line in self._seen:
                return
            self._seen.add(line)
        if kind == "assistant":
            self._assistant(record, mapping(record.get("message")))
        elif kind == "user":
            self._user(record, mapping(record.get("message")))
        elif kind == "result":
            self._result = record
        elif kind == "system" and text(record.get("subtype")) == "task_notification":
            self._settle(record)

    def _agent(self, record: Object) -> Agent:
        parent = text(record.get("parent_tool_use_id"))
        if parent is None or parent.startswith("<"):  # redacted
            return self.main
        if parent not in self._agents:
            made = self._agents[parent] = Agent(parent)
            made.session = self.main.session
            if parent in self._dispatches:
                made.kind = self._dispatches[parent].kind
                self._dispatches[parent].agent = parent
        return self._agents[parent]

    def _assistant(self, record: Object, message: Object) -> None:
        agent = self._agent(record)
        if message.get("model") == SYNTHETIC:
            return
        agent.model(message.get("model"))
        id_ = text(message.get("id")) or f"line {self._lines}"
        agent.usage.take(id_, message.get("usage"))
        at = moment(record.get("timestamp"))
        for made in take_blocks(agent, message.get("content"), at, id_):
            if made.call is not None and made.call.id is not None:
                self._dispatches[made.call.id] = made

    def _user(self, record: Object, message: Object) -> None:
        agent, at = self._agent(record), moment(record.get("timestamp"))
        results = [b for b in objects(message.get("content")) if b.get("type") == "tool_result"]
        for block in results:
            id_ = text(block.get("tool_use_id"))
            agent.result(id_, status_of(block), at)
            told = mapping(record.get("tool_use_result"))
            dispatch = self._dispatches.get(id_ or "")
            if dispatch is not None and text(told.get("status")) == "async_launched":
                dispatch.settled, dispatch.status = True, CallStatus.NONE
        said = joined(message.get("content"))
        asked = record.get("isReplay") is True or agent is not self.main
        if not results and said is not None and asked and not agent.prompts:
            agent.prompt(said, at)

    def _settle(self, record: Object) -> None:
        dispatch = self._dispatches.get(text(record.get("tool_use_id")) or "")
        status = _SETTLED.get(text(record.get("status")) or "")
        if dispatch is not None and dispatch.settled and status is not None:
            dispatch.status = status

    def transcript(self, *, skipped: int, cut: bool) -> Transcript:
        """Return the run; what its result says goes before what its messages add up to."""
        main = self.main
        main.tokens = main.usage.total()
        main.latency = (None, None)
        if cut:
            main.gap(CUT_OFF)
        if self._result is None:
            main.gap(_NO_RESULT)
        else:
            self._conclude(self._result)
        if not main.prompts:
            main.prompts.insert(0, DraftPrompt(None, 0, None, replied=bool(main.final)))
        main.children = self._children(main)
        while self._agents:  # the calls that started these are not in the log
            main.children.append(self._finished(self._agents.popitem()[1]))
        return main.finish(NAME, skipped=skipped)

    def _children(self, parent: Agent) -> list[Transcript]:
        """Return the agents that this one started; each is taken once, so there is no circle."""
        found = []
        for made in parent.dispatches:
            agent = self._agents.pop(made.agent, None) if made.agent is not None else None
            if agent is not None:
                found.append(self._finished(agent))
        return found

    def _finished(self, agent: Agent) -> Transcript:
        agent.tokens = agent.usage.total()
        agent.children = self._children(agent)
        return agent.finish(NAME)

    def _conclude(self, result: Object) -> None:
        """Take the result: the answer, how long the run took, the tokens, what was denied."""
        main, took = self.main, milliseconds(result.get("duration_ms"))
        main.latency = (took, took)
        main.session = text(result.get("session_id")) or main.session
        self._denials(result)
        main.tokens = _model_usage(result) or _usage(result) or main.tokens
        for name in mapping(result.get("modelUsage")):
            main.model(name)
        if result.get("is_error") or text(result.get("subtype")) not in {None, "success"}:
            main.gap(f"the run ended with an error ({text(result.get('subtype')) or '?'})")
        answer = text(result.get("result"))
        if answer is None and result.get("structured_output") is not None:
            answer = orjson.dumps(result["structured_output"]).decode()
        if answer is not None and not result.get("is_error"):
            main.say(answer, None)

    def _denials(self, result: Object) -> None:
        denied = {
            text(found.get("tool_use_id")) for found in objects(result.get("permission_denials"))
        }
        for agent in (self.main, *self._agents.values()):
            for made in agent.calls:
                if made.id is not None and made.id in denied:
                    made.status = CallStatus.DENIED
                    made.answered = True


def _model_usage(result: Object) -> Tokens | None:
    """Return the sum over the models: the whole session, sub-agents included."""
    models = [mapping(found) for found in mapping(result.get("modelUsage")).values()]
    total = summed(
        Tokens(
            input_uncached=count(found.get("inputTokens")),
            output=count(found.get("outputTokens")),
            cache_read=count(found.get("cacheReadInputTokens")),
            cache_write=count(found.get("cacheCreationInputTokens")),
        )
        for found in models
    )
    return None if total is None else replace(total, with_subagents=True)


def _usage(result: Object) -> Tokens | None:
    found = Usage()
    found.take("result", result.get("usage"))
    total = found.total()
    return None if total is None else replace(total, output_is_lower_bound=False)


FORMAT = Format(
    name=NAME,
    looks_for="objects with `type` system, assistant, user or result and `session_id`",
    recognises=recognises,
    read=read,
)

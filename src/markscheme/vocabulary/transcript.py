"""What an agent did in a session, in one form for all log formats.

A transcript has prompts, tool calls and a final text. A call may be a dispatch of a sub-agent,
which has a transcript of its own, or a mutation: an attempt to change something. A field is `None`
if the log does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct, field

MAIN_AGENT = "main"
NO_RESULT = "a call has no result"
CALLS_NOT_SHOWN = "the log holds the answer only, not the calls before it"


class CallStatus(StrEnum):
    """How a call ended; `NONE` means that the log has no result for it.

    If the log has a result but does not say whether it succeeded, the call has no status (`None`).
    """

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    NONE = "none"


class Call(Struct, frozen=True, kw_only=True):
    """One tool call, with as much of its arguments as is needed to classify it.

    `index` counts the calls of its agent in the order of the log. `paths` are the files that it
    names, `command` is its shell command, or the code or SQL that it runs, `arguments` are its
    other short text arguments.
    """

    name: str
    status: CallStatus | None
    agent: str = MAIN_AGENT
    index: int
    id: str | None = None
    started: datetime | None = None
    seconds: Decimal | None = None
    paths: tuple[str, ...] = ()
    command: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)


class Dispatch(Struct, frozen=True, kw_only=True):
    """An attempt to start a sub-agent: its kind, the call that started it, and how that ended.

    `agent` is the id of the sub-agent, if the log names one.
    """

    kind: str | None
    status: CallStatus | None
    call: int | None = None
    agent: str | None = None


class Mutation(Struct, frozen=True, kw_only=True):
    """An attempt to change something, whether it succeeded, failed or was denied."""

    name: str
    target: str | None
    status: CallStatus | None
    call: int


class Prompt(Struct, frozen=True, kw_only=True):
    """A request of a person or a program, and how long the answer took.

    `before` is the index of the first call after it. `text` is `None` if the log shows that there
    was a prompt but not its text.
    """

    text: str | None
    before: int
    at: datetime | None = None
    latency_s: Decimal | None = None


class Tokens(Struct, frozen=True, kw_only=True):
    """The tokens that one agent used. `output` includes `reasoning`.

    `with_subagents` is true if the log gives one sum for the whole session.
    """

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    output_is_lower_bound: bool | None = None
    reasoning: int | None = None
    with_subagents: bool = False


class Transcript(Struct, frozen=True, kw_only=True):
    """One agent's session. `gaps` lists why the log is incomplete; it is empty if it is complete.

    - `unread_code` are the gaps for calls whose command or code cannot be read. They make the log
      incomplete as to what was done; the answer is in it all the same.
    - `agent` is `main`, or the id of a sub-agent of the given `kind`.
    - `internal` marks work that the client did by itself, such as compaction. Its tokens count,
      but it is not a dispatch.
    - `calls` are the agent's own calls; those of a sub-agent are in its own transcript.
    - `sample` and `attempt` say which question this was, and which time it was asked, if known.
    """

    format: str
    session: str | None
    agent: str
    final_text: str | None
    calls: tuple[Call, ...]
    dispatches: tuple[Dispatch, ...]
    mutations: tuple[Mutation, ...]
    prompts: tuple[Prompt, ...]
    latency_s: Decimal | None
    last_turn_latency_s: Decimal | None
    tokens: Tokens
    subagents: tuple[Transcript, ...] = ()
    gaps: tuple[str, ...] = ()
    unread_code: tuple[str, ...] = ()
    skipped_lines: int = 0
    kind: str | None = None
    internal: bool = False
    models: tuple[str, ...] = ()
    sample: str | None = None
    attempt: int | None = None

    @property
    def complete(self) -> bool:
        """Whether the log holds everything up to an answer, and every command can be read."""
        return not self.gaps

    @property
    def doubts(self) -> tuple[str, ...]:
        """The gaps that may hide calls, or what a call did. A call without a result hides none."""
        return tuple(gap for gap in self.gaps if gap != NO_RESULT)

    @property
    def answer_doubts(self) -> tuple[str, ...]:
        """The gaps that make it doubtful whether the last text is the answer."""
        certain = {CALLS_NOT_SHOWN, *self.unread_code}
        return tuple(gap for gap in self.doubts if gap not in certain)

    @property
    def unseen(self) -> int:
        """The number of dispatches that started a sub-agent whose calls are not in the log."""
        failed = {CallStatus.ERROR, CallStatus.DENIED}
        started = sum(dispatch.status not in failed for dispatch in self.dispatches)
        return max(0, started - sum(not agent.internal for agent in self.subagents))

    def agents(self) -> Iterator[Transcript]:
        """Yield this transcript, then those of all sub-agents, at any depth."""
        yield self
        for agent in self.subagents:
            if not agent.internal:
                yield from agent.agents()


class SessionMetrics(Struct, frozen=True, kw_only=True):
    """The operational metrics of one session. A metric is `None` if the log does not say.

    - `tool_calls` counts the calls of all agents in the log; `subagent_calls` counts those of
      sub-agents only.
    - `tokens` is the input (cached or not) and output of all agents.
    - `lower_bounds` names the metrics whose true value may be higher.
    """

    latency_s: Decimal | None
    last_turn_latency_s: Decimal | None
    tool_calls: int
    subagent_calls: int
    dispatches: int
    tokens_in: int | None
    tokens_out: int | None
    lower_bounds: tuple[str, ...] = ()

    @property
    def tokens(self) -> int | None:
        """Input and output tokens together, if both are known."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return self.tokens_in + self.tokens_out

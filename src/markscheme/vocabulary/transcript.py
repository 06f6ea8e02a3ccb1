"""What an agent did, as plain types, whatever tool wrote the log. Standard library only.

A transcript has prompts, calls and a final text. A call may be a dispatch of a sub-agent, which has
a transcript of its own, or an attempt to change something. What a log does not say is `None`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

MAIN_AGENT = "main"
NO_RESULT = "a call has no result"


class CallStatus(StrEnum):
    """What became of a call. An answer of which the log does not say how it went has no status."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call, with as much of its arguments as is needed to tell what kind of call it is.

    `index` counts the calls of its agent in the order of the log. `paths` are the files it names,
    `command` is what it gives to a shell, `arguments` are its other short texts.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """An attempt to start a sub-agent: of which kind, by which call, and how it ended.

    `agent` is the id of the sub-agent, where the log names one.
    """

    kind: str | None
    status: CallStatus | None
    call: int | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """An attempt to change something, whether it succeeded, failed or was denied."""

    name: str
    target: str | None
    status: CallStatus | None
    call: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a person or a program asked, before which call, and how long the answer took.

    `text` is `None` where the log shows that there was a prompt and not what it said.
    """

    text: str | None
    before: int
    at: datetime | None = None
    latency_s: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What the model calls of one agent used; `output` includes `reasoning`.

    `with_subagents` says that the log gives one sum for the whole session.
    """

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    output_is_lower_bound: bool | None = None
    reasoning: int | None = None
    with_subagents: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One agent's session. `gaps` say why it is not complete; a complete one has none.

    `agent` is `main`, or the id of a sub-agent of the given `kind`; `internal` marks what the
    client did on its own account, such as compaction: its tokens are real, a dispatch it is not.
    `calls` are the agent's own; those of its sub-agents are in theirs.
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
    skipped_lines: int = 0
    kind: str | None = None
    internal: bool = False
    models: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the log holds everything up to an answer."""
        return not self.gaps

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why there may have been more than it says; a call without a result hides nothing."""
        return tuple(gap for gap in self.gaps if gap != NO_RESULT)

    @property
    def unseen(self) -> int:
        """How many dispatches started a sub-agent whose calls the log does not hold."""
        failed = {CallStatus.ERROR, CallStatus.DENIED}
        started = sum(made.status not in failed for made in self.dispatches)
        return max(0, started - sum(not inner.internal for inner in self.subagents))

    def agents(self) -> Iterator[Transcript]:
        """Yield the transcript of the agent itself, then those of its sub-agents, all of them."""
        yield self
        for inner in self.subagents:
            if not inner.internal:
                yield from inner.agents()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMetrics:
    """The operational metrics of one session; what the log does not say is `None`.

    `tool_calls` are those of all agents in the log, `subagent_calls` of which not the main agent's.
    `tokens` are input (cached or not) and output of all of them. `lower_bounds` names the metrics
    whose true value may be higher.
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
        """Input and output together, where both are known."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return self.tokens_in + self.tokens_out

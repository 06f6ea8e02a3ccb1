"""What is measured in a session and never scored: latency, calls, dispatches, tokens."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from markscheme.read.attempts import attempts_of
from markscheme.read.families import DISPATCH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.transcript import Tokens, Transcript

METRICS = ("latency_s", "tool_calls", "dispatches", "tokens")
"""OP-01 to OP-04, in this order. OP-05 is a note of the rater."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
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


def measured(transcript: Transcript) -> Measured:
    """Return what can be measured; a session without an answer has no latency."""
    agents = list(transcript.agents())
    own = len(transcript.calls)
    calls = sum(len(agent.calls) for agent in agents)
    counted = [transcript.tokens] if transcript.tokens.with_subagents else _all_tokens(transcript)
    known = [tokens for tokens in counted if _input(tokens) is not None]
    return Measured(
        latency_s=None if transcript.doubts else transcript.latency_s,
        last_turn_latency_s=None if transcript.doubts else transcript.last_turn_latency_s,
        tool_calls=calls,
        subagent_calls=calls - own,
        dispatches=sum(len(attempts_of(agent, (DISPATCH,), {})) for agent in agents),
        tokens_in=_sum(map(_input, known)),
        tokens_out=_sum(tokens.output for tokens in known),
        lower_bounds=tuple(_lower_bounds(agents, counted)),
    )


def _all_tokens(transcript: Transcript) -> list[Tokens]:
    """Return the tokens of every agent, those included that the client started by itself."""
    inner = [tokens for agent in transcript.subagents for tokens in _all_tokens(agent)]
    return [transcript.tokens, *inner]


def _input(tokens: Tokens) -> int | None:
    if tokens.input_uncached is None:
        return None
    return tokens.input_uncached + (tokens.cache_read or 0) + (tokens.cache_write or 0)


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _lower_bounds(agents: list[Transcript], counted: list[Tokens]) -> Iterable[str]:
    """Yield the metrics of which the log may not show all."""
    incomplete = any(agent.doubts for agent in agents)
    unseen = any(len(agent.subagents) < len(agent.dispatches) for agent in agents)
    if incomplete or unseen:
        yield "tool_calls"
    if incomplete:
        yield "dispatches"
    whole = len(counted) == 1 and counted[0].with_subagents
    vague = any(tokens.output_is_lower_bound or _input(tokens) is None for tokens in counted)
    if incomplete or vague or (unseen and not whole):
        yield "tokens"

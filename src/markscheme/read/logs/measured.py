"""What is measured in a session and never scored: latency, calls, dispatches, tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.attempts import find_attempts
from markscheme.read.families import DISPATCH
from markscheme.transcript import SessionMetrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markscheme.transcript import Tokens, Transcript


def measure_transcript(transcript: Transcript) -> SessionMetrics:
    """Return what can be measured; a session without an answer has no latency."""
    agents = list(transcript.agents())
    own = len(transcript.calls)
    calls = sum(len(agent.calls) for agent in agents)
    counted = (
        [transcript.tokens] if transcript.tokens.with_subagents else _collect_tokens(transcript)
    )
    known = [tokens for tokens in counted if _sum_input_tokens(tokens) is not None]
    return SessionMetrics(
        latency_s=None if transcript.doubts else transcript.latency_s,
        last_turn_latency_s=None if transcript.doubts else transcript.last_turn_latency_s,
        tool_calls=calls,
        subagent_calls=calls - own,
        dispatches=sum(len(find_attempts(agent, (DISPATCH,), {})) for agent in agents),
        tokens_in=_sum_known(map(_sum_input_tokens, known)),
        tokens_out=_sum_known(tokens.output for tokens in known),
        lower_bounds=tuple(_find_lower_bounds(agents, counted)),
    )


def _collect_tokens(transcript: Transcript) -> list[Tokens]:
    """Return the tokens of every agent, those included that the client started by itself."""
    inner = [tokens for agent in transcript.subagents for tokens in _collect_tokens(agent)]
    return [transcript.tokens, *inner]


def _sum_input_tokens(tokens: Tokens) -> int | None:
    if tokens.input_uncached is None:
        return None
    return tokens.input_uncached + (tokens.cache_read or 0) + (tokens.cache_write or 0)


def _sum_known(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _find_lower_bounds(agents: list[Transcript], counted: list[Tokens]) -> Iterable[str]:
    """Yield the metrics of which the log may not show all."""
    incomplete = any(agent.doubts for agent in agents)
    unseen = any(agent.unseen for agent in agents)
    if incomplete or unseen:
        yield "tool_calls"
    if incomplete:
        yield "dispatches"
    whole = len(counted) == 1 and counted[0].with_subagents
    vague = any(
        tokens.output_is_lower_bound or _sum_input_tokens(tokens) is None for tokens in counted
    )
    if incomplete or vague or (unseen and not whole):
        yield "tokens"

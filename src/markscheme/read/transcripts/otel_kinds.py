"""Which spans are agents, calls and model calls, by either convention, and what they used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.values import count
from markscheme.transcript import Tokens

if TYPE_CHECKING:
    from markscheme.read.transcripts.otel_spans import Span

_MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion", "call_llm"})


def _operation(span: Span) -> str | None:
    return span.text("gen_ai.operation.name")


def _kind(span: Span) -> str | None:
    return span.text("openinference.span.kind")


def is_agent(span: Span) -> bool:
    """Say whether a span is the work of an agent."""
    return _operation(span) == "invoke_agent" or _kind(span) == "AGENT"


def is_tool(span: Span) -> bool:
    """Say whether a span is a call of a tool."""
    called = span.text("mcp.method.name") == "tools/call"
    return _operation(span) == "execute_tool" or _kind(span) == "TOOL" or called


def is_model(span: Span) -> bool:
    """Say whether a span is a call of a model."""
    return (
        _operation(span) in _MODEL_CALLS
        or _kind(span) == "LLM"
        or (span.name == "call_llm" or span.text("llm.request.type") is not None)
        or (tokens_of(span) is not None and not is_agent(span))
    )


def is_of_agent(span: Span) -> bool:
    """Say whether a span is any of the three."""
    return is_agent(span) or is_tool(span) or is_model(span)


def agent_name(span: Span) -> str:
    """Return an agent's name in one spelling: gateways write `a-b` where runtimes write `a_b`."""
    name = span.text("gen_ai.agent.name", "agent.name", "graph.node.id") or span.name
    return name.lower().replace("-", "_")


def tokens_of(span: Span) -> Tokens | None:
    """Return the usage that a span carries. The input should include what came from the cache."""
    input_ = count(
        span.first(
            "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        )
    )
    output = count(
        span.first(
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        )
    )
    if input_ is None and output is None:
        return None
    read = count(
        span.first(
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
        )
    )
    write = count(
        span.first(
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "llm.token_count.prompt_details.cache_write",
        )
    )
    reasoning = count(
        span.first(
            "gen_ai.usage.reasoning.output_tokens",
            "llm.token_count.completion_details.reasoning",
        )
    )
    cached = (read or 0) + (write or 0)
    included = input_ is not None and cached <= input_
    return Tokens(
        input_uncached=input_ - cached if included and input_ is not None else input_,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=reasoning,
    )

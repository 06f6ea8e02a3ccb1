"""Which spans are agents, calls and model calls, by either convention, and what they used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.values import parse_count
from markscheme.transcript import Tokens

if TYPE_CHECKING:
    from markscheme.read.transcripts.otel_spans import OtelSpan

_MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion", "call_llm"})


def _get_operation(span: OtelSpan) -> str | None:
    return span.get_text("gen_ai.operation.name")


def _get_span_kind(span: OtelSpan) -> str | None:
    return span.get_text("openinference.span.kind")


def is_agent_span(span: OtelSpan) -> bool:
    """Say whether a span is the work of an agent."""
    return _get_operation(span) == "invoke_agent" or _get_span_kind(span) == "AGENT"


def is_tool_span(span: OtelSpan) -> bool:
    """Say whether a span is a call of a tool."""
    called = span.get_text("mcp.method.name") == "tools/call"
    return _get_operation(span) == "execute_tool" or _get_span_kind(span) == "TOOL" or called


def is_model_span(span: OtelSpan) -> bool:
    """Say whether a span is a call of a model."""
    return (
        _get_operation(span) in _MODEL_OPERATIONS
        or _get_span_kind(span) == "LLM"
        or (span.name == "call_llm" or span.get_text("llm.request.type") is not None)
        or (parse_span_usage(span) is not None and not is_agent_span(span))
    )


def is_session_span(span: OtelSpan) -> bool:
    """Say whether a span is any of the three."""
    return is_agent_span(span) or is_tool_span(span) or is_model_span(span)


def normalise_agent_name(span: OtelSpan) -> str:
    """Return an agent's name in one spelling: gateways write `a-b` where runtimes write `a_b`."""
    name = span.get_text("gen_ai.agent.name", "agent.name", "graph.node.id") or span.name
    return name.lower().replace("-", "_")


def parse_span_usage(span: OtelSpan) -> Tokens | None:
    """Return the usage that a span carries. The input should include what came from the cache."""
    input_ = parse_count(
        span.get_first(
            "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        )
    )
    output = parse_count(
        span.get_first(
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        )
    )
    if input_ is None and output is None:
        return None
    read = parse_count(
        span.get_first(
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
        )
    )
    write = parse_count(
        span.get_first(
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "llm.token_count.prompt_details.cache_write",
        )
    )
    reasoning = parse_count(
        span.get_first(
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

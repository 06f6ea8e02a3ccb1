"""Transcripts as plain data, for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from markscheme.transcript import Call, Tokens, Transcript


def record_of(transcript: Transcript) -> dict[str, Any]:
    """Return a transcript as plain data: the keys that scripts rely on, then what else is known."""
    return {
        "format": transcript.format,
        "complete": transcript.complete,
        "final_text": transcript.final_text,
        "calls": [_call(call) for call in transcript.calls],
        "dispatches": [
            {"kind": made.kind, "status": made.status, "call": made.call, "agent": made.agent}
            for made in transcript.dispatches
        ],
        "mutations": [
            {"name": made.name, "target": made.target, "status": made.status, "call": made.call}
            for made in transcript.mutations
        ],
        "latency_s": _float(transcript.latency_s),
        "last_turn_latency_s": _float(transcript.last_turn_latency_s),
        "tokens": _tokens(transcript.tokens),
        "prompts": len(transcript.prompts),
        "subagents": [record_of(inner) for inner in transcript.subagents],
        "agent": transcript.agent,
        "kind": transcript.kind,
        "internal": transcript.internal,
        "session": transcript.session,
        "models": list(transcript.models),
        "gaps": list(transcript.gaps),
        "skipped_lines": transcript.skipped_lines,
        "turns": [
            {
                "prompt": prompt.text,
                "at": _iso(prompt.at),
                "before_call": prompt.before,
                "latency_s": _float(prompt.latency_s),
            }
            for prompt in transcript.prompts
        ],
    }


def _call(call: Call) -> dict[str, Any]:
    return {
        "name": call.name,
        "status": call.status,
        "agent": call.agent,
        "index": call.index,
        "id": call.id,
        "started": _iso(call.started),
        "seconds": _float(call.seconds),
        "paths": list(call.paths),
        "command": call.command,
        "arguments": dict(call.arguments),
    }


def _tokens(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_uncached": tokens.input_uncached,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "output": tokens.output,
        "output_is_lower_bound": tokens.output_is_lower_bound,
        "reasoning": tokens.reasoning,
        "with_subagents": tokens.with_subagents,
    }


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _iso(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat().replace("+00:00", "Z")

"""Every log format that can be read, in the order in which a log is tried."""

from __future__ import annotations

from markscheme.read.transcripts.formats import (
    claude_code,
    claude_stream,
    codex_exec,
    codex_rollout,
    gemini,
    inspect_ai,
    openai_messages,
    openai_responses,
    opencode,
    otel,
)

FORMATS = (
    *opencode.FORMATS,
    inspect_ai.FORMAT,
    otel.FORMAT,
    gemini.FORMAT,
    claude_code.FORMAT,
    claude_stream.FORMAT,
    codex_rollout.FORMAT,
    codex_exec.FORMAT,
    openai_responses.FORMAT,
    openai_messages.FORMAT,
)

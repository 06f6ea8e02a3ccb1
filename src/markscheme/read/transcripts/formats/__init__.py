"""The registry of log formats, and one module for each format.

A module here turns the records of a log into calls of `Draft` methods. It does not open files by
itself where `Log` can, and it does not know the other formats; the two of Claude Code share the
records in `claude_code`, those of OpenCode the sessions in `opencode_sessions`; `otel` reads the
spans of `otel_spans`.
"""

from markscheme.read.transcripts.formats import (
    anthropic,
    atif,
    claude_code,
    claude_stream,
    cline,
    codex,
    codex_exec,
    copilot,
    cursor,
    gemini,
    gemini_stream,
    goose,
    inspect_ai,
    langchain,
    mini_swe_agent,
    openai,
    opencode,
    openhands,
    otel,
    qwen,
    swe_agent,
    vercel_ai,
)

__all__ = ["FORMATS"]

# The first format that recognises a log reads it, so specific formats come before general ones:
# many logs hold messages with a role, which is all that the last format asks for.
FORMATS = (
    *opencode.FORMATS,
    atif.FORMAT,
    openhands.FORMAT,
    mini_swe_agent.FORMAT,
    swe_agent.FORMAT,
    inspect_ai.FORMAT,
    otel.FORMAT,
    cline.FORMAT,
    gemini.FORMAT,
    gemini_stream.FORMAT,
    copilot.FORMAT,
    qwen.FORMAT,
    claude_code.FORMAT,
    cursor.FORMAT,
    claude_stream.FORMAT,
    codex.FORMAT,
    codex_exec.FORMAT,
    anthropic.FORMAT,
    goose.FORMAT,
    vercel_ai.FORMAT,
    langchain.FORMAT,
    openai.RESPONSES_FORMAT,
    openai.CHAT_FORMAT,
)

"""The registry of log formats, and one module for each format.

A module here turns the records of a log into calls of `Draft` methods. It does not open files by
itself where `Log` can, and it does not know the other formats; the two of Claude Code share the
records in `claude_code`, those of OpenCode the sessions in `opencode_sessions`; `otel` reads the
spans of `otel_spans`.
"""

from markscheme.read.transcripts.formats import (
    anthropic,
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
    openai,
    opencode,
    otel,
    qwen,
)

__all__ = ["FORMATS"]

# The first format that recognises a log reads it, so specific formats come before general ones:
# many logs hold messages with a role, which is all that the last format asks for.
FORMATS = (
    *opencode.FORMATS,
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
    openai.RESPONSES_FORMAT,
    openai.CHAT_FORMAT,
)

"""The registry of log formats, and one module for each format.

A module here turns the records of a log into calls of `Draft` methods. It does not open files by
itself where `Log` can, and it does not know the other formats; the two of Claude Code share the
records in `claude_code`.
"""

from markscheme.read.transcripts.formats import (
    claude_code,
    claude_stream,
    codex,
    codex_exec,
    gemini,
    inspect_ai,
    openai,
    opencode,
    otel,
)

__all__ = ["FORMATS"]

# The first format that recognises a log reads it, so specific formats come before general ones:
# many logs hold messages with a role, which is all that the last format asks for.
FORMATS = (
    *opencode.FORMATS,
    inspect_ai.FORMAT,
    otel.FORMAT,
    gemini.FORMAT,
    claude_code.FORMAT,
    claude_stream.FORMAT,
    codex.FORMAT,
    codex_exec.FORMAT,
    openai.RESPONSES_FORMAT,
    openai.CHAT_FORMAT,
)

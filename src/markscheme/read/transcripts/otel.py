"""OpenTelemetry: spans of the GenAI conventions and of OpenInference, as agents' sessions.

A session is a conversation, or a trace where no conversation is named. Only spans without a span
below them that has a usage too are counted: the spans above repeat what these say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.otel_kinds import is_session_span
from markscheme.read.transcripts.otel_session import FORMAT_NAME, OtelSession
from markscheme.read.transcripts.otel_spans import OtelSpan, iter_spans

if TYPE_CHECKING:
    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

_CONVERSATION_KEYS = ("gen_ai.conversation.id", "session.id")


def can_read_log(log: Log) -> bool:
    """Say whether there are spans."""
    return any(next(iter_spans(record), None) is not None for record in log.sample)


def read_log(log: Log) -> list[Transcript]:
    """Read every session among the spans."""
    sessions: dict[str, list[OtelSpan]] = {}
    conversations: dict[str, str] = {}
    known: dict[tuple[str, str], OtelSpan] = {}
    for record in log.iter_records():
        for span in iter_spans(record):
            known[span.trace, span.id] = span
            named = span.get_text(*_CONVERSATION_KEYS)
            if named is not None:
                conversations.setdefault(span.trace, named)
    for span in known.values():
        sessions.setdefault(conversations.get(span.trace, span.trace), []).append(span)
    told = {id_: spans for id_, spans in sessions.items() if any(map(is_session_span, spans))}
    return [
        OtelSession(id_, spans).build_transcript(skipped=log.skipped, truncated=log.truncated)
        for id_, spans in (told or sessions).items()
    ]


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="spans in `resourceSpans`, `batches` or `data` (OTLP JSON, Tempo, Jaeger)",
    can_read_log=can_read_log,
    read_log=read_log,
)

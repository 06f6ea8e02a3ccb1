"""OpenTelemetry: spans of the GenAI conventions and of OpenInference, as agents' sessions.

A session is a conversation, or a trace where no conversation is named. Only spans without a span
below them that has a usage too are counted: the spans above repeat what these say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.otel_kinds import is_of_agent
from markscheme.read.transcripts.otel_session import NAME, Session
from markscheme.read.transcripts.otel_spans import Span, spans_in

if TYPE_CHECKING:
    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

_CONVERSATION = ("gen_ai.conversation.id", "session.id")


def recognises(log: Log) -> bool:
    """Say whether there are spans."""
    return any(next(spans_in(record), None) is not None for record in log.sample)


def read(log: Log) -> list[Transcript]:
    """Read every session among the spans."""
    sessions: dict[str, list[Span]] = {}
    conversations: dict[str, str] = {}
    known: dict[tuple[str, str], Span] = {}
    for record in log.records():
        for span in spans_in(record):
            known[span.trace, span.id] = span
            named = span.text(*_CONVERSATION)
            if named is not None:
                conversations.setdefault(span.trace, named)
    for span in known.values():
        sessions.setdefault(conversations.get(span.trace, span.trace), []).append(span)
    told = {id_: spans for id_, spans in sessions.items() if any(map(is_of_agent, spans))}
    return [
        Session(id_, spans).transcript(skipped=log.skipped, cut=log.cut)
        for id_, spans in (told or sessions).items()
    ]


FORMAT = Format(
    name=NAME,
    looks_for="spans in `resourceSpans`, `batches` or `data` (OTLP JSON, Tempo, Jaeger)",
    recognises=recognises,
    read=read,
)

"""What was asked and answered in a span. Content is opt-in there, so often there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.values import (
    iter_objects,
    join_text,
    parse_json,
    to_object,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.read.transcripts.otel_spans import OtelSpan

_NUMBERED_KEY = re.compile(
    r"(gen_ai\.prompt|gen_ai\.completion|llm\.input_messages|llm\.output_messages)\.(\d{1,6})\."
)
_INPUT_PREFIXES = ("gen_ai.prompt", "llm.input_messages")
_OUTPUT_PREFIXES = ("gen_ai.completion", "llm.output_messages")


def find_prompt(spans: Iterable[OtelSpan]) -> str | None:
    """Return the last thing that a user asked in the first of the spans that tells it."""
    for span in spans:
        asked = [
            said
            for role, said in _iter_span_messages(span, "gen_ai.input.messages", _INPUT_PREFIXES)
            if role == "user"
        ]
        if asked:
            return asked[-1]
        value = span.get_text("input.value")
        if value is not None and not value.lstrip().startswith(("{", "[")):
            return value
    return None


def find_answer(span: OtelSpan) -> str | None:
    """Return what the model or the agent answered."""
    said = [
        said for _, said in _iter_span_messages(span, "gen_ai.output.messages", _OUTPUT_PREFIXES)
    ]
    if said:
        return said[-1]
    value = span.get_text("output.value")
    if value is not None and not value.lstrip().startswith(("{", "[")):
        return value
    return _find_vertex_answer(span)


def _iter_span_messages(
    span: OtelSpan, whole: str, numbered: tuple[str, str]
) -> Iterator[tuple[str | None, str]]:
    """Yield role and text of messages: a list in one attribute, or one attribute for each field."""
    for message in iter_objects(parse_json(span.get_first(whole))):
        said = _join_parts(message.get("parts")) or join_text(message.get("content"))
        if said is not None:
            yield to_text(message.get("role")), said
    for index in sorted(_find_message_indices(span, numbered)):
        for prefix in numbered:
            start = f"{prefix}.{index}"
            said = span.get_text(f"{start}.content", f"{start}.message.content")
            if said is not None:
                yield span.get_text(f"{start}.role", f"{start}.message.role"), said


def _find_message_indices(span: OtelSpan, prefixes: tuple[str, str]) -> set[int]:
    found = (_NUMBERED_KEY.match(key) for key in span.attributes)
    return {int(match[2]) for match in found if match is not None and match[1] in prefixes}


def _join_parts(parts: Any) -> str | None:
    texts = [
        p.get("content", p.get("text"))
        for p in iter_objects(parts)
        if p.get("type", "text") == "text"
    ]
    return "".join(found for found in texts if isinstance(found, str)) or None


def _find_vertex_answer(span: OtelSpan) -> str | None:
    """Return the answer where Google's agent kit has put it."""
    response = to_object(parse_json(span.get_first("gcp.vertex.agent.llm_response")))
    return _join_parts(to_object(response.get("content")).get("parts"))

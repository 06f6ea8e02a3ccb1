"""What was asked and answered in a span. Content is opt-in there, so often there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.values import joined, mapping, objects, parsed, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.read.transcripts.otel_spans import Span

_NUMBERED = re.compile(
    r"(gen_ai\.prompt|gen_ai\.completion|llm\.input_messages|llm\.output_messages)\.(\d{1,6})\."
)
_INPUT = ("gen_ai.prompt", "llm.input_messages")
_OUTPUT = ("gen_ai.completion", "llm.output_messages")


def prompt_of(spans: Iterable[Span]) -> str | None:
    """Return the last thing that a user asked in the first of the spans that tells it."""
    for span in spans:
        asked = [
            said
            for role, said in _messages(span, "gen_ai.input.messages", _INPUT)
            if role == "user"
        ]
        if asked:
            return asked[-1]
        value = span.text("input.value")
        if value is not None and not value.lstrip().startswith(("{", "[")):
            return value
    return None


def answer_of(span: Span) -> str | None:
    """Return what the model or the agent answered."""
    said = [said for _, said in _messages(span, "gen_ai.output.messages", _OUTPUT)]
    if said:
        return said[-1]
    value = span.text("output.value")
    if value is not None and not value.lstrip().startswith(("{", "[")):
        return value
    return _vertex(span)


def _messages(
    span: Span, whole: str, numbered: tuple[str, str]
) -> Iterator[tuple[str | None, str]]:
    """Yield role and text of messages: a list in one attribute, or one attribute for each field."""
    for message in objects(parsed(span.first(whole))):
        said = _parts(message.get("parts")) or joined(message.get("content"))
        if said is not None:
            yield text(message.get("role")), said
    for index in sorted(_indices(span, numbered)):
        for prefix in numbered:
            start = f"{prefix}.{index}"
            said = span.text(f"{start}.content", f"{start}.message.content")
            if said is not None:
                yield span.text(f"{start}.role", f"{start}.message.role"), said


def _indices(span: Span, prefixes: tuple[str, str]) -> set[int]:
    found = (_NUMBERED.match(key) for key in span.attributes)
    return {int(match[2]) for match in found if match is not None and match[1] in prefixes}


def _parts(parts: Any) -> str | None:
    texts = [
        p.get("content", p.get("text")) for p in objects(parts) if p.get("type", "text") == "text"
    ]
    return "".join(found for found in texts if isinstance(found, str)) or None


def _vertex(span: Span) -> str | None:
    """Return the answer where Google's agent kit has put it."""
    response = mapping(parsed(span.first("gcp.vertex.agent.llm_response")))
    return _parts(mapping(response.get("content")).get("parts"))

"""Spans, whatever exported them: OTLP JSON, Tempo, Jaeger. Attributes become one flat mapping.

Which spans are agents, calls and model calls, by either convention, and what they used.

What was asked and answered in a span. Content is opt-in there, so often there is none.

One session of spans: a tree of agents, calls and model calls, as a transcript.

OpenTelemetry: spans of the GenAI conventions and of OpenInference, as agents' sessions.

A session is a conversation, or a trace where no conversation is named. Only spans without a span
below them that has a usage too are counted: the spans above repeat what these say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    compute_seconds,
    iter_objects,
    join_text,
    parse_count,
    parse_epoch_microseconds,
    parse_json,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.format import LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markscheme.read.transcripts.draft import DraftCall
    from markscheme.read.transcripts.log import Log
    from markscheme.vocabulary import Transcript

_VALUE_KEYS = ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value")
_SCOPE_KEYS = ("scopeSpans", "instrumentationLibrarySpans", "scope_spans")
_RESOURCE_KEYS = ("resourceSpans", "batches", "resource_spans")


@dataclass(slots=True, kw_only=True)
class OtelSpan:
    """One span with what it is under and when it was."""

    id: str
    parent: str | None
    trace: str
    name: str
    attributes: JsonObject = field(default_factory=dict)
    start: datetime | None = None
    end: datetime | None = None
    failed: bool = False

    def get_first(self, *names: str) -> Any:
        """Return the first of these attributes that there is."""
        for name in names:
            if name in self.attributes:
                return self.attributes[name]
        return None

    def get_text(self, *names: str) -> str | None:
        """Return the first of these attributes that is there, as text."""
        return to_text(self.get_first(*names))


def iter_spans(record: JsonObject) -> Iterator[OtelSpan]:
    """Yield the spans of one document or one line."""
    for key in _RESOURCE_KEYS:
        for resource in iter_objects(record.get(key)):
            for scope in _SCOPE_KEYS:
                for scoped in iter_objects(resource.get(scope)):
                    yield from map(_parse_otlp_span, iter_objects(scoped.get("spans")))
    trace = record.get("trace")
    if isinstance(trace, dict):
        yield from iter_spans(trace)
    for found in iter_objects(record.get("data")):
        yield from map(_parse_jaeger_span, iter_objects(found.get("spans")))
    if "traceID" in record:
        yield from map(_parse_jaeger_span, iter_objects(record.get("spans")))


def _parse_otlp_span(span: JsonObject) -> OtelSpan:
    attributes = _parse_attributes(span.get("attributes"))
    status = to_object(span.get("status")).get("code")
    failed = str(status) in {"2", "STATUS_CODE_ERROR"} or "error.type" in attributes
    return OtelSpan(
        id=to_text(span.get("spanId")) or to_text(span.get("span_id")) or "",
        parent=to_text(span.get("parentSpanId")) or to_text(span.get("parent_span_id")),
        trace=to_text(span.get("traceId")) or to_text(span.get("trace_id")) or "",
        name=to_text(span.get("name")) or "",
        attributes=attributes,
        start=_parse_nanoseconds(span.get("startTimeUnixNano") or span.get("start_time_unix_nano")),
        end=_parse_nanoseconds(span.get("endTimeUnixNano") or span.get("end_time_unix_nano")),
        failed=failed,
    )


def _parse_jaeger_span(span: JsonObject) -> OtelSpan:
    tags = {
        to_text(tag.get("key")) or "": tag.get("value") for tag in iter_objects(span.get("tags"))
    }
    parents = [r for r in iter_objects(span.get("references")) if r.get("refType") == "CHILD_OF"]
    start, took = parse_count(span.get("startTime")), parse_count(span.get("duration"))
    failed = str(tags.get("error")).lower() == "true" or tags.get("otel.status_code") == "ERROR"
    return OtelSpan(
        id=to_text(span.get("spanID")) or "",
        parent=to_text(parents[0].get("spanID")) if parents else None,
        trace=to_text(span.get("traceID")) or "",
        name=to_text(span.get("operationName")) or "",
        attributes=tags,
        start=parse_epoch_microseconds(start),
        end=parse_epoch_microseconds(start + took)
        if start is not None and took is not None
        else None,
        failed=failed or "error.type" in tags,
    )


def _parse_nanoseconds(value: Any) -> datetime | None:
    found = parse_count(value)
    return parse_epoch_microseconds(found // 1000) if found else None


def _parse_attributes(value: Any) -> JsonObject:
    if isinstance(value, dict):
        return value
    return {
        to_text(a.get("key")) or "": _parse_attribute_value(a.get("value"))
        for a in iter_objects(value)
    }


def _parse_attribute_value(value: Any, depth: int = 0) -> Any:
    """Return a value of an attribute as plain data."""
    if not isinstance(value, dict):
        return value
    for key in _VALUE_KEYS:
        if key in value:
            return value[key]
    if depth > 8:  # noqa: PLR2004 - no attribute is nested this deep
        return None
    if "arrayValue" in value:
        listed = to_object(value["arrayValue"]).get("values")
        return (
            [_parse_attribute_value(v, depth + 1) for v in listed]
            if isinstance(listed, list)
            else []
        )
    if "kvlistValue" in value:
        pairs = iter_objects(to_object(value["kvlistValue"]).get("values"))
        return {
            to_text(p.get("key")) or "": _parse_attribute_value(p.get("value"), depth + 1)
            for p in pairs
        }
    return None


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


FORMAT_NAME = "otel"
_ARGUMENT_KEYS = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.args",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "tool.parameters",
)


class OtelSession:
    """The spans of one session, as a tree."""

    def __init__(self, id_: str, spans: list[OtelSpan]) -> None:
        self.id = id_
        self._spans = sorted(spans, key=_build_time_key)
        self._spans_by_id = {span.id: span for span in spans}
        self._drafts: dict[str, Draft] = {MAIN_AGENT: Draft()}
        self._parents: dict[str, str] = {}
        self._calls: dict[str, DraftCall] = {}
        self._usages: dict[str, list[Tokens]] = {}

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the session, sub-agents nested."""
        main = self._drafts[MAIN_AGENT]
        turns = self._find_turns()
        self._create_agent_drafts()
        self._add_prompts(main, turns)
        for at, span, begins in sorted(self._iter_moments(), key=lambda found: found[0]):
            self._add_span(span, at, begins=begins)
        self._add_outcome(main, turns)
        self._collect_usages()
        if truncated:
            main.add_gap(LOG_TRUNCATED)
        return self._finish_agent(MAIN_AGENT, skipped)

    def _iter_ancestors(self, span: OtelSpan) -> Iterator[OtelSpan]:
        """Yield what a span is under, from near to far; damaged ids may form a circle."""
        seen = {span.id}
        at = self._spans_by_id.get(span.parent or "")
        while at is not None and at.id not in seen:
            yield at
            seen.add(at.id)
            at = self._spans_by_id.get(at.parent or "")

    def _find_owner(self, span: OtelSpan) -> str:
        """Return the agent that a span belongs to."""
        for at in (span, *self._iter_ancestors(span)):
            if is_agent_span(at):
                return self._find_agent_id(at)
        return MAIN_AGENT

    def _find_agent_id(self, span: OtelSpan) -> str:
        """Return the agent of an agent's span: another one than above, or the same again."""
        top = span
        for at in filter(is_agent_span, self._iter_ancestors(span)):
            if normalise_agent_name(at) != normalise_agent_name(top):
                return top.id
            top = at
        return MAIN_AGENT

    def _find_turns(self) -> list[OtelSpan]:
        """Return the spans of the main agent that no other contains: one for each prompt."""
        agents = [
            s for s in self._spans if is_agent_span(s) and self._find_agent_id(s) == MAIN_AGENT
        ]
        tops = agents or [s for s in self._spans if s.parent not in self._spans_by_id and s.end]
        outer: list[OtelSpan] = []
        for span in tops:
            if not any(_contains_span(other, span) for other in outer):
                outer = [other for other in outer if not _contains_span(span, other)]
                outer.append(span)
        return outer

    def _create_agent_drafts(self) -> None:
        for span in self._spans:
            if is_agent_span(span) and self._find_agent_id(span) == span.id:
                self._drafts[span.id] = Draft(span.id, kind=_get_agent_label(span))

    def _iter_moments(self) -> Iterator[tuple[Any, OtelSpan, bool]]:
        """Yield when calls begin and model calls end; what has no time comes last."""
        for order, span in enumerate(self._spans):
            if is_tool_span(span) or is_agent_span(span):
                yield (span.start is None, span.start or _LATEST_TIME, order), span, True
            elif is_model_span(span):
                yield (span.end is None, span.end or _LATEST_TIME, order), span, False

    def _add_span(self, span: OtelSpan, _at: Any, *, begins: bool) -> None:
        if not begins:
            draft = self._drafts[self._find_owner(span)]
            draft.add_model(
                span.get_first("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
            )
            draft.add_text(find_answer(span) or "", span.end)
        elif is_agent_span(span):
            if span.id in self._drafts:
                self._add_dispatch(span)
        elif not self._is_inside_call(span):
            self._add_call(span)

    def _is_inside_call(self, span: OtelSpan) -> bool:
        """Say whether a call's span only repeats the call above it."""
        for at in self._iter_ancestors(span):
            if is_agent_span(at):
                return False
            if is_tool_span(at):
                return True
        return False

    def _add_call(self, span: OtelSpan) -> None:
        name = span.get_text("gen_ai.tool.name", "tool.name", "mcp.tool.name") or span.name
        given = parse_json(span.get_first(*_ARGUMENT_KEYS))
        draft = self._drafts[self._find_owner(span)]
        made = draft.add_call(name, given, id_=span.get_text("gen_ai.tool.call.id"), at=span.start)
        made.ended = span.end
        if span.end is not None:
            made.has_result = True
            made.status = CallStatus.ERROR if span.failed else CallStatus.OK
        self._calls[span.id] = made

    def _add_dispatch(self, span: OtelSpan) -> None:
        above = next((at for at in self._iter_ancestors(span) if is_agent_span(at)), None)
        owner = MAIN_AGENT if above is None else self._find_agent_id(above)
        wrapping = next(
            (self._calls[at.id] for at in self._iter_ancestors(span) if at.id in self._calls), None
        )
        made = self._drafts[owner].add_dispatch(_get_agent_label(span), wrapping)
        made.agent, made.has_own_status = span.id, True
        made.status = CallStatus.ERROR if span.failed else CallStatus.OK
        if span.end is None:
            made.status = CallStatus.NONE
        self._parents[span.id] = owner
        self._drafts[span.id].add_prompt(find_prompt([span]), span.start)
        self._drafts[span.id].latency = (compute_seconds(span.start, span.end),) * 2

    def _add_prompts(self, main: Draft, turns: list[OtelSpan]) -> None:
        for turn in turns:
            inside = [
                s
                for s in self._spans
                if s is turn or any(at is turn for at in self._iter_ancestors(s))
            ]
            main.add_prompt(find_prompt(inside) or find_prompt(self._spans), turn.start)

    def _add_outcome(self, main: Draft, turns: list[OtelSpan]) -> None:
        """Take the answer and the latency from the spans of the turns."""
        if not turns:
            return
        said = find_answer(turns[-1])
        if said is not None:
            main.add_text(said, turns[-1].end)
        if main.final_texts and main.prompts:
            main.prompts[-1].has_reply = True
        ends = [turn.end for turn in turns if turn.end is not None]
        first = compute_seconds(turns[0].start, max(ends)) if ends else None
        main.latency = (first, compute_seconds(turns[-1].start, turns[-1].end))
        for prompt, turn in zip(main.prompts, turns, strict=False):
            prompt.answered_at = turn.end

    def _collect_usages(self) -> None:
        """Sum the usage of the spans that no span with a usage is below."""
        used = {span.id: parse_span_usage(span) for span in self._spans}
        repeated = {
            at.id
            for span in self._spans
            if used[span.id] is not None
            for at in self._iter_ancestors(span)
        }
        for span in self._spans:
            found = used[span.id]
            if found is not None and span.id not in repeated:
                self._usages.setdefault(self._find_owner(span), []).append(found)

    def _finish_agent(self, agent: str, skipped: int = 0) -> Transcript:
        draft = self._drafts[agent]
        draft.session = self.id
        draft.tokens = sum_tokens(self._usages.get(agent, ()))
        draft.children = [
            self._finish_agent(child) for child, parent in self._parents.items() if parent == agent
        ]
        return draft.build_transcript(FORMAT_NAME, skipped=skipped)


_LATEST_TIME = datetime.max.replace(tzinfo=UTC)


def _build_time_key(span: OtelSpan) -> tuple[datetime, str]:
    return span.start or span.end or _LATEST_TIME, span.id


def _get_agent_label(span: OtelSpan) -> str:
    return span.get_text("gen_ai.agent.name", "agent.name") or span.name


def _contains_span(outer: OtelSpan, inner: OtelSpan) -> bool:
    if outer.start is None or outer.end is None or inner.start is None or inner.end is None:
        return False
    return outer.start <= inner.start and inner.end <= outer.end


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

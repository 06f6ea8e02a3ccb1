"""OpenTelemetry: spans of the GenAI conventions and of OpenInference, as agents' sessions.

Spans come as OTLP JSON, Tempo or Jaeger. A session is a conversation, or a trace if no conversation
is named. Within it, spans form a tree of agents, tool calls and model calls. Spans with a usage may
be nested; only the lowest are counted, because those above repeat their tokens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from markscheme.read.json_fields import (
    compute_seconds,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    parse_json_or_raw,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.containers import find_call_containers
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, DraftCall
from markscheme.read.transcripts.formats.otel_spans import (
    EVENT_CALLS_KEY,
    RESOURCE_KEYS,
    OtelSpan,
    iter_spans,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import MAIN_AGENT, Tokens, Transcript

FORMAT_NAME = "otel"
_CONVERSATION_KEYS = ("gen_ai.conversation.id", "session.id")
_MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion", "call_llm"})
# Operations that are neither a model call nor a tool call nor the work of an agent. Those on the
# memory of an agent are not here: they change something.
_HARMLESS_OPERATIONS = split_words(
    "chat generate_content text_completion call_llm embeddings create_agent invoke_agent "
    "execute_tool invoke_workflow fetch_response retrieval plan search_memory invocation "
    "agent_run rerank"
)
_HARMLESS_SPAN_KINDS = split_words(
    "LLM TOOL AGENT CHAIN RETRIEVER EMBEDDING RERANKER GUARDRAIL EVALUATOR PROMPT UNKNOWN"
)
# Attributes by which emitters of other conventions say what a span is.
_OTHER_KIND_KEYS = (
    "traceloop.span.kind",
    "mlflow.spanType",
    "langfuse.observation.type",
    "langsmith.span.kind",
    "ai.operationId",
    "logfire.span_kind",
    "span.type",
)
_TOOL_NAME_KEYS = ("gen_ai.tool.name", "tool.name", "mcp.tool.name", "ai.toolCall.name")
# `gen_ai.completion.0.tool_calls.0.name`, and with the longer keys of OpenInference.
_STATED_CALL_KEY = re.compile(
    r"(?:gen_ai\.completion|llm\.output_messages)\.\d{1,6}\.(?:message\.)?tool_calls\.\d{1,6}\."
    r"(?:tool_call\.function\.)?name"
)
_STATED_LIST_KEYS = (
    "gen_ai.output.messages",
    "gen_ai.input.messages",
    "ai.response.toolCalls",
    EVENT_CALLS_KEY,
)
_CALL_REASONS = frozenset({"tool_calls", "tool_call", "tool_use", "tool-calls", "function_call"})
# Tools that a framework makes up for its own use: nothing is executed.
_OUTPUT_TOOLS = frozenset({"final_result"})
# Keys of a record that are neither spans nor calls.
_RECORD_KEYS = (*RESOURCE_KEYS, "trace", "data", "spans", "resourceMetrics", "resource_metrics")
_ARGUMENT_KEYS = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.args",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "tool.parameters",
)
_NUMBERED_KEY = re.compile(
    r"(gen_ai\.prompt|gen_ai\.completion|llm\.input_messages|llm\.output_messages)\.(\d{1,6})\."
)
_INPUT_PREFIXES = ("gen_ai.prompt", "llm.input_messages")
_OUTPUT_PREFIXES = ("gen_ai.completion", "llm.output_messages")
_USAGE_KEYS = {
    "input": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
    ),
    "output": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    ),
    "cache read": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
    "cache write": (
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ),
    "reasoning": (
        "gen_ai.usage.reasoning.output_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
}
_LATEST_TIME = datetime.max.replace(tzinfo=UTC)


def can_read_log(log: Log) -> bool:
    """Return whether the log has spans."""
    return any(next(iter_spans(record), None) is not None for record in log.sample)


def read_log(log: Log) -> list[Transcript]:
    """Read every session among the spans."""
    spans: dict[tuple[str, str], OtelSpan] = {}
    conversations: dict[str, str] = {}
    unknown: list[str] = []
    for record in log.iter_records():
        if not any(key in record for key in _RECORD_KEYS):
            unknown.append(next(iter(record), "(none)"))
        unknown.extend(find_call_containers(record, _RECORD_KEYS))
        for span in iter_spans(record):
            spans[span.trace, span.id] = span
            conversation = span.get_text(*_CONVERSATION_KEYS)
            if conversation is not None:
                conversations.setdefault(span.trace, conversation)
    sessions: dict[str, list[OtelSpan]] = {}
    for span in spans.values():
        sessions.setdefault(conversations.get(span.trace, span.trace), []).append(span)
    # Traces of other software may be in the same log. They are left out if there is any session.
    of_agents = {id_: spans for id_, spans in sessions.items() if any(map(_shows_work, spans))}
    return [
        OtelSession(id_, spans, unknown).build_transcript(
            skipped=log.skipped, truncated=log.truncated
        )
        for id_, spans in (of_agents or sessions).items()
    ]


class OtelSession:
    """The spans of one session, as a tree."""

    def __init__(self, id_: str, spans: list[OtelSpan], unknown: Sequence[str] = ()) -> None:
        self.id = id_
        self._unknown = unknown
        self._spans = sorted(spans, key=_build_time_key)
        self._spans_by_id = {span.id: span for span in spans}
        self._drafts: dict[str, Draft] = {MAIN_AGENT: Draft()}
        self._parents: dict[str, str] = {}
        self._calls: dict[str, DraftCall] = {}

    def build_transcript(self, *, skipped: int, truncated: bool) -> Transcript:
        """Return the transcript of the session, with sub-agents nested."""
        main = self._drafts[MAIN_AGENT]
        turns = self._find_turns()
        for span in self._spans:
            if _is_agent_span(span) and self._find_agent_id(span) == span.id:
                self._drafts[span.id] = Draft(span.id, kind=_get_agent_label(span))
        self._add_prompts(main, turns)
        for _, span in sorted(self._iter_moments(), key=lambda moment: moment[0]):
            self._add_span(span)
        self._add_outcome(main, turns)
        self._add_usages()
        for kind in self._unknown:
            main.add_unknown_kind("record", kind)
        self._check_spans()
        self._check_stated_calls()
        if truncated:
            main.add_gap(LOG_TRUNCATED)
        return self._finish_agent(MAIN_AGENT, skipped)

    def _iter_ancestors(self, span: OtelSpan) -> Iterator[OtelSpan]:
        """Yield the spans above a span, the nearest first; damaged ids may form a loop."""
        seen = {span.id}
        ancestor = self._spans_by_id.get(span.parent or "")
        while ancestor is not None and ancestor.id not in seen:
            yield ancestor
            seen.add(ancestor.id)
            ancestor = self._spans_by_id.get(ancestor.parent or "")

    def _find_owner(self, span: OtelSpan) -> str:
        """Return the id of the agent that a span belongs to."""
        for ancestor in (span, *self._iter_ancestors(span)):
            if _is_agent_span(ancestor):
                return self._find_agent_id(ancestor)
        return MAIN_AGENT

    def _find_agent_id(self, span: OtelSpan) -> str:
        """Return the id of the agent of an agent span.

        Nested spans with the same name are one agent, such as a gateway's span around its own
        agent; the id is that of the outermost of them. The outermost agent is the main agent.
        """
        top = span
        for ancestor in filter(_is_agent_span, self._iter_ancestors(span)):
            if _normalise_agent_name(ancestor) != _normalise_agent_name(top):
                return top.id
            top = ancestor
        return MAIN_AGENT

    def _find_turns(self) -> list[OtelSpan]:
        """Return the spans of the main agent that no other contains: one for each prompt."""
        agents = [
            s for s in self._spans if _is_agent_span(s) and self._find_agent_id(s) == MAIN_AGENT
        ]
        tops = agents or [s for s in self._spans if s.parent not in self._spans_by_id and s.end]
        outer: list[OtelSpan] = []
        for span in tops:
            if not any(_contains_span(other, span) for other in outer):
                outer = [other for other in outer if not _contains_span(span, other)]
                outer.append(span)
        return outer

    def _iter_moments(self) -> Iterator[tuple[tuple[bool, datetime, int], OtelSpan]]:
        """Yield spans with the key that sorts them by time.

        Agents and tool calls count when they begin, model calls when they end, because only then is
        their text there. Spans without a time come last.
        """
        for order, span in enumerate(self._spans):
            if _is_tool_span(span) or _is_agent_span(span):
                yield (span.start is None, span.start or _LATEST_TIME, order), span
            elif _is_model_span(span):
                yield (span.end is None, span.end or _LATEST_TIME, order), span

    def _add_span(self, span: OtelSpan) -> None:
        if _is_agent_span(span):
            if span.id in self._drafts:
                self._add_dispatch(span)
        elif _is_tool_span(span):
            if not self._is_inside_call(span):
                self._add_call(span)
        else:
            draft = self._drafts[self._find_owner(span)]
            draft.add_model(
                span.get_first("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
            )
            draft.add_text(_find_answer(span) or "", span.end)

    def _check_spans(self) -> None:
        """Note spans of unknown operations, and calls of tools in the words of another emitter."""
        executed = {
            ancestor.id
            for span in self._spans
            if _is_tool_span(span)
            for ancestor in (span, *self._iter_ancestors(span))
        }
        for span in self._spans:
            operation, kind = _get_operation(span), _get_span_kind(span)
            draft = self._drafts[self._find_owner(span)]
            if operation is not None and operation not in _HARMLESS_OPERATIONS:
                draft.add_unknown_kind("span operation", operation)
            elif kind is not None and kind not in _HARMLESS_SPAN_KINDS:
                draft.add_unknown_kind("span kind", kind)
            # A span around or inside that of a call repeats it.
            elif span.id not in executed and not self._is_inside_call(span):
                name = _find_other_tool(span)
                if name is not None:
                    draft.add_unknown_kind("tool span", name)

    def _check_stated_calls(self) -> None:
        """Note calls in the answers of models for which there is no span of a tool."""
        calls = [call for draft in self._drafts.values() for call in draft.calls]
        ids = {call.id for call in calls}
        # Spans without the id of their call: each stands for one call of that name.
        unnamed = Counter(call.name for call in calls if call.id is None)
        names = {call.name for call in calls}
        agents = {_normalise_agent_name(span) for span in self._spans if _is_agent_span(span)}
        for span in self._spans:
            draft = self._drafts[self._find_owner(span)]
            stated = list(_iter_stated_calls(span))
            for name, id_ in stated:
                executed = name in names if id_ is None else id_ in ids or unnamed[name] > 0
                if executed and id_ is not None and id_ not in ids:
                    unnamed[name] -= 1
                    ids.add(id_)
                elif not executed and name.lower().replace("-", "_") not in agents:
                    draft.add_unknown_kind("tool call without a span", name)
            if _ended_to_call_tools(span) and not stated and not calls:
                draft.add_unknown_kind("tool call without a span", None)

    def _is_inside_call(self, span: OtelSpan) -> bool:
        """Return whether the span of a call only repeats the call above it."""
        for ancestor in self._iter_ancestors(span):
            if _is_agent_span(ancestor):
                return False
            if _is_tool_span(ancestor):
                return True
        return False

    def _add_call(self, span: OtelSpan) -> None:
        name = span.get_text(*_TOOL_NAME_KEYS) or span.name
        arguments = parse_json(span.get_first(*_ARGUMENT_KEYS))
        id_ = span.get_text("gen_ai.tool.call.id")
        draft = self._drafts[self._find_owner(span)]
        call = draft.add_call(name, arguments, id_=id_, at=span.start)
        call.ended = span.end
        call.set_outcome(span.status)
        self._calls[span.id] = call

    def _add_dispatch(self, span: OtelSpan) -> None:
        ancestors = list(self._iter_ancestors(span))
        parent = next(filter(_is_agent_span, ancestors), None)
        owner = MAIN_AGENT if parent is None else self._find_agent_id(parent)
        call = next((self._calls[a.id] for a in ancestors if a.id in self._calls), None)
        dispatch = self._drafts[owner].add_dispatch(_get_agent_label(span), call)
        dispatch.agent, dispatch.has_own_status, dispatch.status = span.id, True, span.status
        self._parents[span.id] = owner
        self._drafts[span.id].add_prompt(_find_prompt([span]), span.start)
        self._drafts[span.id].latency = (compute_seconds(span.start, span.end),) * 2

    def _add_prompts(self, main: Draft, turns: list[OtelSpan]) -> None:
        for turn in turns:
            inside = [
                s
                for s in self._spans
                if s is turn or any(a is turn for a in self._iter_ancestors(s))
            ]
            main.add_prompt(_find_prompt(inside) or _find_prompt(self._spans), turn.start)

    def _add_outcome(self, main: Draft, turns: list[OtelSpan]) -> None:
        """Add the answer and the latency from the spans of the turns."""
        if not turns:
            return
        answer = _find_answer(turns[-1])
        if answer is not None:
            main.add_text(answer, turns[-1].end)
        if main.final_texts and main.prompts:
            main.prompts[-1].has_reply = True
        ends = [turn.end for turn in turns if turn.end is not None]
        first = compute_seconds(turns[0].start, max(ends)) if ends else None
        main.latency = (first, compute_seconds(turns[-1].start, turns[-1].end))
        for prompt, turn in zip(main.prompts, turns, strict=False):
            prompt.answered_at = turn.end

    def _add_usages(self) -> None:
        """Add the usage of each span that has no span with a usage below it."""
        usages = {span.id: _parse_usage(span) for span in self._spans}
        with_usage_below = {
            ancestor.id
            for span in self._spans
            if usages[span.id] is not None
            for ancestor in self._iter_ancestors(span)
        }
        for span in self._spans:
            usage = usages[span.id]
            if usage is not None and span.id not in with_usage_below:
                self._drafts[self._find_owner(span)].add_usage(usage)

    def _finish_agent(self, agent: str, skipped: int = 0) -> Transcript:
        draft = self._drafts[agent]
        draft.session = self.id
        draft.children = [
            self._finish_agent(child) for child, parent in self._parents.items() if parent == agent
        ]
        return draft.build_transcript(FORMAT_NAME, skipped=skipped)


def _build_time_key(span: OtelSpan) -> tuple[datetime, str]:
    return span.start or span.end or _LATEST_TIME, span.id


def _contains_span(outer: OtelSpan, inner: OtelSpan) -> bool:
    if outer.start is None or outer.end is None or inner.start is None or inner.end is None:
        return False
    return outer.start <= inner.start and inner.end <= outer.end


def _is_session_span(span: OtelSpan) -> bool:
    """Return whether a span is the work of an agent, a tool call or a model call."""
    return _is_agent_span(span) or _is_tool_span(span) or _is_model_span(span)


def _shows_work(span: OtelSpan) -> bool:
    """Return whether a span belongs to a session, perhaps in words that are not known."""
    return (
        _is_session_span(span)
        or _get_operation(span) not in {None, *_HARMLESS_OPERATIONS}
        or _find_other_tool(span) is not None
    )


def _is_agent_span(span: OtelSpan) -> bool:
    """Return whether a span is the work of an agent."""
    return _get_operation(span) == "invoke_agent" or _get_span_kind(span) == "AGENT"


def _is_tool_span(span: OtelSpan) -> bool:
    """Return whether a span is a call of a tool."""
    return (
        _get_operation(span) == "execute_tool"
        or _get_span_kind(span) == "TOOL"
        or span.get_text("mcp.method.name") == "tools/call"
    )


def _is_model_span(span: OtelSpan) -> bool:
    """Return whether a span is a call of a model."""
    return (
        _get_operation(span) in _MODEL_OPERATIONS
        or _get_span_kind(span) == "LLM"
        or span.name == "call_llm"
        or span.get_text("llm.request.type") is not None
        or (_parse_usage(span) is not None and not _is_agent_span(span))
    )


def _find_other_tool(span: OtelSpan) -> str | None:
    """Return what shows that a span is a call of a tool, though no known convention says so."""
    for key in _OTHER_KIND_KEYS:
        kind = span.get_text(key)
        if kind is not None and "tool" in kind.lower():
            return kind
    named = span.get_text(*_TOOL_NAME_KEYS)
    return named if named is not None and not _is_session_span(span) else None


def _ended_to_call_tools(span: OtelSpan) -> bool:
    """Return whether a model stopped to call tools; what it asked for may not be recorded."""
    stated = span.get_first("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason")
    reasons = parse_json_or_raw(stated)
    return any(
        to_text(reason) in _CALL_REASONS
        for reason in (reasons if isinstance(reasons, list) else [reasons])
    )


def _iter_stated_calls(span: OtelSpan) -> Iterator[tuple[str, str | None]]:
    """Yield name and id of each call that a model asks for, or has asked for before."""
    for key, value in span.attributes.items():
        name = to_text(value)
        if name is not None and _STATED_CALL_KEY.fullmatch(key) and name not in _OUTPUT_TOOLS:
            stem = key.removesuffix(".name").removesuffix(".function")
            yield name, span.get_text(f"{stem}.id")
    for key in _STATED_LIST_KEYS:
        for message in iter_objects(parse_json(span.get_first(key))):
            for part in (message, *iter_objects(message.get("parts"))):
                name = to_text(part.get("name")) or to_text(part.get("toolName"))
                is_call = part.get("type") == "tool_call" or "toolName" in part
                if name is not None and is_call and name not in _OUTPUT_TOOLS:
                    yield name, to_text(part.get("id")) or to_text(part.get("toolCallId"))


def _get_operation(span: OtelSpan) -> str | None:
    return span.get_text("gen_ai.operation.name")


def _get_span_kind(span: OtelSpan) -> str | None:
    return span.get_text("openinference.span.kind")


def _normalise_agent_name(span: OtelSpan) -> str:
    """Return an agent's name for comparing: gateways write `a-b` where runtimes write `a_b`."""
    name = span.get_text("gen_ai.agent.name", "agent.name", "graph.node.id") or span.name
    return name.lower().replace("-", "_")


def _get_agent_label(span: OtelSpan) -> str:
    return span.get_text("gen_ai.agent.name", "agent.name") or span.name


def _find_prompt(spans: Iterable[OtelSpan]) -> str | None:
    """Return the last user message of the first span that has any.

    Recording of content is opt-in, so often there is none.
    """
    for span in spans:
        prompts = [
            text
            for role, text in _iter_span_messages(span, "gen_ai.input.messages", _INPUT_PREFIXES)
            if role == "user"
        ]
        if prompts:
            return prompts[-1]
        value = span.get_text("input.value")
        if value is not None and not value.lstrip().startswith(("{", "[")):
            return value
    return None


def _find_answer(span: OtelSpan) -> str | None:
    """Return what the model or the agent answered."""
    texts = [
        text for _, text in _iter_span_messages(span, "gen_ai.output.messages", _OUTPUT_PREFIXES)
    ]
    if texts:
        return texts[-1]
    value = span.get_text("output.value")
    if value is not None and not value.lstrip().startswith(("{", "[")):
        return value
    # Google's Agent Development Kit has an attribute of its own.
    response = to_object(parse_json(span.get_first("gcp.vertex.agent.llm_response")))
    return _join_parts(to_object(response.get("content")).get("parts"))


def _iter_span_messages(
    span: OtelSpan, list_key: str, prefixes: tuple[str, str]
) -> Iterator[tuple[str | None, str]]:
    """Yield role and text of messages: a list in one attribute, or numbered attributes."""
    for message in iter_objects(parse_json(span.get_first(list_key))):
        text = _join_parts(message.get("parts")) or join_text(message.get("content"))
        if text is not None:
            yield to_text(message.get("role")), text
    keys = (_NUMBERED_KEY.match(key) for key in span.attributes)
    indices = {int(match[2]) for match in keys if match is not None and match[1] in prefixes}
    for index in sorted(indices):
        for prefix in prefixes:
            start = f"{prefix}.{index}"
            text = span.get_text(f"{start}.content", f"{start}.message.content")
            if text is not None:
                yield span.get_text(f"{start}.role", f"{start}.message.role"), text


def _join_parts(parts: Any) -> str | None:
    texts = [
        p.get("content", p.get("text"))
        for p in iter_objects(parts)
        if p.get("type", "text") == "text"
    ]
    return "".join(text for text in texts if isinstance(text, str)) or None


def _parse_usage(span: OtelSpan) -> Tokens | None:
    """Return the usage of a span; `None` if it has none.

    The conventions include cached tokens in the input. Some emitters do not; that shows where the
    cache is larger than the input.
    """
    counts = (parse_count(span.get_first(*keys)) for keys in _USAGE_KEYS.values())
    input_, output, read, write, reasoning = counts
    if input_ is None and output is None:
        return None
    cached = (read or 0) + (write or 0)
    included = input_ is not None and cached <= input_
    return Tokens(
        input_uncached=input_ - cached if included and input_ is not None else input_,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=reasoning,
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="spans in `resourceSpans`, `batches` or `data` (OTLP JSON, Tempo, Jaeger)",
    can_read_log=can_read_log,
    read_log=read_log,
)

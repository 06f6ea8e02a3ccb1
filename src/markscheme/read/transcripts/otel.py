"""OpenTelemetry: spans of the GenAI conventions and of OpenInference, as agents' sessions.

A session is a conversation, or a trace where no conversation is named. Only spans without a span
below them that has a usage too are counted: the spans above repeat what these say.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.otel_spans import Span, spans_in
from markscheme.read.transcripts.otel_texts import answer_of, prompt_of
from markscheme.read.transcripts.values import count, parsed, seconds
from markscheme.transcript import MAIN, CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.draft import DraftCall
    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

NAME = "otel"
_MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion", "call_llm"})
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.args",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "tool.parameters",
)
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
    told = {id_: spans for id_, spans in sessions.items() if any(map(_is_of_agent, spans))}
    return [
        Session(id_, spans).transcript(skipped=log.skipped, cut=log.cut)
        for id_, spans in (told or sessions).items()
    ]


def _operation(span: Span) -> str | None:
    return span.text("gen_ai.operation.name")


def _kind(span: Span) -> str | None:
    return span.text("openinference.span.kind")


def _is_agent(span: Span) -> bool:
    return _operation(span) == "invoke_agent" or _kind(span) == "AGENT"


def _is_tool(span: Span) -> bool:
    called = span.text("mcp.method.name") == "tools/call"
    return _operation(span) == "execute_tool" or _kind(span) == "TOOL" or called


def _is_model(span: Span) -> bool:
    return (
        _operation(span) in _MODEL_CALLS
        or _kind(span) == "LLM"
        or (span.name == "call_llm" or span.text("llm.request.type") is not None)
        or (tokens_of(span) is not None and not _is_agent(span))
    )


def _is_of_agent(span: Span) -> bool:
    return _is_agent(span) or _is_tool(span) or _is_model(span)


def _agent_name(span: Span) -> str:
    """Return an agent's name in one spelling: gateways write `a-b` where runtimes write `a_b`."""
    name = span.text("gen_ai.agent.name", "agent.name", "graph.node.id") or span.name
    return name.lower().replace("-", "_")


class Session:
    """The spans of one session, as a tree."""

    def __init__(self, id_: str, spans: list[Span]) -> None:
        self.id = id_
        self._spans = sorted(spans, key=_when)
        self._by_id = {span.id: span for span in spans}
        self._drafts: dict[str, Draft] = {MAIN: Draft()}
        self._parents: dict[str, str] = {}
        self._calls: dict[str, DraftCall] = {}
        self._used: dict[str, list[Tokens]] = {}

    def transcript(self, *, skipped: int, cut: bool) -> Transcript:
        """Return the session, sub-agents nested."""
        main = self._drafts[MAIN]
        turns = self._turns()
        self._agents()
        self._ask(main, turns)
        for at, span, begins in sorted(self._moments(), key=lambda found: found[0]):
            self._take(span, at, begins=begins)
        self._conclude(main, turns)
        self._count()
        if cut:
            main.gap(CUT_OFF)
        return self._finish(MAIN, skipped)

    def _above(self, span: Span) -> Iterator[Span]:
        """Yield what a span is under, from near to far; damaged ids may form a circle."""
        seen = {span.id}
        at = self._by_id.get(span.parent or "")
        while at is not None and at.id not in seen:
            yield at
            seen.add(at.id)
            at = self._by_id.get(at.parent or "")

    def _owner(self, span: Span) -> str:
        """Return the agent that a span belongs to."""
        for at in (span, *self._above(span)):
            if _is_agent(at):
                return self._agent_of(at)
        return MAIN

    def _agent_of(self, span: Span) -> str:
        """Return the agent of an agent's span: another one than above, or the same again."""
        above = next((at for at in self._above(span) if _is_agent(at)), None)
        if above is None:
            return MAIN
        if _agent_name(above) == _agent_name(span):
            return self._agent_of(above)
        return span.id

    def _turns(self) -> list[Span]:
        """Return the spans of the main agent that no other contains: one for each prompt."""
        agents = [s for s in self._spans if _is_agent(s) and self._agent_of(s) == MAIN]
        tops = agents or [s for s in self._spans if s.parent not in self._by_id and s.end]
        outer: list[Span] = []
        for span in tops:
            if not any(_contains(other, span) for other in outer):
                outer = [other for other in outer if not _contains(span, other)]
                outer.append(span)
        return outer

    def _agents(self) -> None:
        for span in self._spans:
            if _is_agent(span) and self._agent_of(span) == span.id:
                self._drafts[span.id] = Draft(span.id, kind=_shown(span))

    def _moments(self) -> Iterator[tuple[Any, Span, bool]]:
        """Yield when calls begin and model calls end; what has no time comes last."""
        for order, span in enumerate(self._spans):
            if _is_tool(span) or _is_agent(span):
                yield (span.start is None, span.start or _LATE, order), span, True
            elif _is_model(span):
                yield (span.end is None, span.end or _LATE, order), span, False

    def _take(self, span: Span, _at: Any, *, begins: bool) -> None:
        if not begins:
            draft = self._drafts[self._owner(span)]
            draft.model(
                span.first("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
            )
            draft.say(answer_of(span) or "", span.end)
        elif _is_agent(span):
            if span.id in self._drafts:
                self._dispatch(span)
        elif not self._inside_call(span):
            self._call(span)

    def _inside_call(self, span: Span) -> bool:
        """Say whether a call's span only repeats the call above it."""
        for at in self._above(span):
            if _is_agent(at):
                return False
            if _is_tool(at):
                return True
        return False

    def _call(self, span: Span) -> None:
        name = span.text("gen_ai.tool.name", "tool.name", "mcp.tool.name") or span.name
        given = parsed(span.first(*_ARGUMENTS))
        draft = self._drafts[self._owner(span)]
        made = draft.call(name, given, id_=span.text("gen_ai.tool.call.id"), at=span.start)
        made.ended = span.end
        if span.end is not None:
            made.answered = True
            made.status = CallStatus.ERROR if span.failed else CallStatus.OK
        self._calls[span.id] = made

    def _dispatch(self, span: Span) -> None:
        above = next((at for at in self._above(span) if _is_agent(at)), None)
        owner = MAIN if above is None else self._agent_of(above)
        wrapping = next(
            (self._calls[at.id] for at in self._above(span) if at.id in self._calls), None
        )
        made = self._drafts[owner].dispatch(_shown(span), wrapping)
        made.agent, made.settled = span.id, True
        made.status = CallStatus.ERROR if span.failed else CallStatus.OK
        if span.end is None:
            made.status = CallStatus.NONE
        self._parents[span.id] = owner
        self._drafts[span.id].prompt(prompt_of([span]), span.start)
        self._drafts[span.id].latency = (seconds(span.start, span.end),) * 2

    def _ask(self, main: Draft, turns: list[Span]) -> None:
        for turn in turns:
            inside = [s for s in self._spans if s is turn or turn in self._above(s)]
            main.prompt(prompt_of(inside) or prompt_of(self._spans), turn.start)

    def _conclude(self, main: Draft, turns: list[Span]) -> None:
        """Take the answer and the latency from the spans of the turns."""
        if not turns:
            return
        said = answer_of(turns[-1])
        if said is not None:
            main.say(said, turns[-1].end)
        if main.final and main.prompts:
            main.prompts[-1].replied = True
        ends = [turn.end for turn in turns if turn.end is not None]
        first = seconds(turns[0].start, max(ends)) if ends else None
        main.latency = (first, seconds(turns[-1].start, turns[-1].end))
        for prompt, turn in zip(main.prompts, turns, strict=False):
            prompt.answered = turn.end

    def _count(self) -> None:
        """Sum the usage of the spans that no span with a usage is below."""
        used = {span.id: tokens_of(span) for span in self._spans}
        repeated = {
            at.id for span in self._spans if used[span.id] is not None for at in self._above(span)
        }
        for span in self._spans:
            found = used[span.id]
            if found is not None and span.id not in repeated:
                self._used.setdefault(self._owner(span), []).append(found)

    def _finish(self, agent: str, skipped: int = 0) -> Transcript:
        draft = self._drafts[agent]
        draft.session = self.id
        draft.tokens = summed(self._used.get(agent, ()))
        draft.children = [
            self._finish(child) for child, parent in self._parents.items() if parent == agent
        ]
        return draft.finish(NAME, skipped=skipped)


_LATE = datetime.max.replace(tzinfo=UTC)


def _when(span: Span) -> tuple[datetime, str]:
    return span.start or span.end or _LATE, span.id


def _shown(span: Span) -> str:
    return span.text("gen_ai.agent.name", "agent.name") or span.name


def _contains(outer: Span, inner: Span) -> bool:
    if outer.start is None or outer.end is None or inner.start is None or inner.end is None:
        return False
    return outer.start <= inner.start and inner.end <= outer.end


def tokens_of(span: Span) -> Tokens | None:
    """Return the usage that a span carries. The input should include what came from the cache."""
    input_ = count(
        span.first(
            "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        )
    )
    output = count(
        span.first(
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        )
    )
    if input_ is None and output is None:
        return None
    read = count(
        span.first(
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
        )
    )
    write = count(
        span.first(
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "llm.token_count.prompt_details.cache_write",
        )
    )
    reasoning = count(
        span.first(
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


FORMAT = Format(
    name=NAME,
    looks_for="spans in `resourceSpans`, `batches` or `data` (OTLP JSON, Tempo, Jaeger)",
    recognises=recognises,
    read=read,
)

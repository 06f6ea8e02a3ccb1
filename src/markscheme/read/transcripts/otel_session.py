"""One session of spans: a tree of agents, calls and model calls, as a transcript."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.otel_kinds import (
    is_agent_span,
    is_model_span,
    is_tool_span,
    normalise_agent_name,
    parse_span_usage,
)
from markscheme.read.transcripts.otel_texts import find_answer, find_prompt
from markscheme.read.transcripts.values import compute_seconds, parse_json
from markscheme.transcript import MAIN_AGENT, CallStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.draft import DraftCall
    from markscheme.read.transcripts.otel_spans import OtelSpan
    from markscheme.transcript import Tokens, Transcript

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

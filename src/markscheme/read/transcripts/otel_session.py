"""One session of spans: a tree of agents, calls and model calls, as a transcript."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.otel_kinds import (
    agent_name,
    is_agent,
    is_model,
    is_tool,
    tokens_of,
)
from markscheme.read.transcripts.otel_texts import answer_of, prompt_of
from markscheme.read.transcripts.values import parsed, seconds
from markscheme.transcript import MAIN, CallStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.draft import DraftCall
    from markscheme.read.transcripts.otel_spans import Span
    from markscheme.transcript import Tokens, Transcript

NAME = "otel"
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.args",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "tool.parameters",
)


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
            if is_agent(at):
                return self._agent_of(at)
        return MAIN

    def _agent_of(self, span: Span) -> str:
        """Return the agent of an agent's span: another one than above, or the same again."""
        top = span
        for at in filter(is_agent, self._above(span)):
            if agent_name(at) != agent_name(top):
                return top.id
            top = at
        return MAIN

    def _turns(self) -> list[Span]:
        """Return the spans of the main agent that no other contains: one for each prompt."""
        agents = [s for s in self._spans if is_agent(s) and self._agent_of(s) == MAIN]
        tops = agents or [s for s in self._spans if s.parent not in self._by_id and s.end]
        outer: list[Span] = []
        for span in tops:
            if not any(_contains(other, span) for other in outer):
                outer = [other for other in outer if not _contains(span, other)]
                outer.append(span)
        return outer

    def _agents(self) -> None:
        for span in self._spans:
            if is_agent(span) and self._agent_of(span) == span.id:
                self._drafts[span.id] = Draft(span.id, kind=_shown(span))

    def _moments(self) -> Iterator[tuple[Any, Span, bool]]:
        """Yield when calls begin and model calls end; what has no time comes last."""
        for order, span in enumerate(self._spans):
            if is_tool(span) or is_agent(span):
                yield (span.start is None, span.start or _LATE, order), span, True
            elif is_model(span):
                yield (span.end is None, span.end or _LATE, order), span, False

    def _take(self, span: Span, _at: Any, *, begins: bool) -> None:
        if not begins:
            draft = self._drafts[self._owner(span)]
            draft.model(
                span.first("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
            )
            draft.say(answer_of(span) or "", span.end)
        elif is_agent(span):
            if span.id in self._drafts:
                self._dispatch(span)
        elif not self._inside_call(span):
            self._call(span)

    def _inside_call(self, span: Span) -> bool:
        """Say whether a call's span only repeats the call above it."""
        for at in self._above(span):
            if is_agent(at):
                return False
            if is_tool(at):
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
        above = next((at for at in self._above(span) if is_agent(at)), None)
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
            inside = [
                s for s in self._spans if s is turn or any(at is turn for at in self._above(s))
            ]
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

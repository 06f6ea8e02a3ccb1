"""A transcript in the making: readers tell it what they meet, in the order of the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import clean_text, compute_seconds
from markscheme.read.tools import CallDetails, extract_call_details, find_mutation
from markscheme.vocabulary import (
    MAIN_AGENT,
    NO_RESULT,
    Call,
    CallStatus,
    Dispatch,
    Prompt,
    Tokens,
    Transcript,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from markscheme.vocabulary import Mutation

PROMPT_UNANSWERED = "the last prompt has no answer"
NO_FINAL_TEXT = "there is no final text"
CALLS_AFTER_TEXT = "calls follow the last text, so it is no answer"
LOG_TRUNCATED = "the log is cut off"


@dataclass(slots=True)
class DraftCall:
    """A call whose result may still come."""

    name: str
    id: str | None
    started: datetime | None
    details: CallDetails
    ended: datetime | None = None
    status: CallStatus | None = CallStatus.NONE
    has_result: bool = False


@dataclass(slots=True)
class DraftDispatch:
    """A dispatch whose sub-agent may still be found."""

    kind: str | None
    call: DraftCall | None
    prompt: str | None = None
    agent: str | None = None
    status: CallStatus | None = None
    has_own_status: bool = False


@dataclass(slots=True)
class DraftPrompt:
    """A prompt, and when the last text before the next prompt ended."""

    text: str | None
    before: int
    at: datetime | None
    answered_at: datetime | None = None
    has_reply: bool = False


class Draft:
    """One agent's session while its log is read."""

    def __init__(self, agent: str = MAIN_AGENT, *, kind: str | None = None) -> None:
        self.agent = agent
        self.kind = kind
        self.session: str | None = None
        self.internal = False
        self.calls: list[DraftCall] = []
        self.dispatches: list[DraftDispatch] = []
        self.prompts: list[DraftPrompt] = []
        self.children: list[Transcript] = []
        self.models: dict[str, None] = {}
        self.gaps: dict[str, None] = {}
        self.pending_gap: str | None = None  # a gap, unless the agent goes on after it
        self.tokens: Tokens | None = None
        self.final_texts: list[str] = []
        self.final_at: datetime | None = None
        self.latency: tuple[Decimal | None, Decimal | None] | None = None
        self._last_message: object = None
        self._calls_at_final = 0
        self._open_calls: dict[str, list[DraftCall]] = {}

    def add_prompt(self, text: str | None, at: datetime | None = None) -> None:
        """Take what the agent was asked."""
        self.prompts.append(DraftPrompt(text, len(self.calls), at))

    def add_text(self, text: str, at: datetime | None = None, message: object = None) -> None:
        """Take text of the agent; parts of one message belong together."""
        if not text.strip():
            return
        self.pending_gap = None
        if message is None or message != self._last_message:
            self.final_texts = []
        self._last_message = message
        self.final_texts.append(text)
        self.final_at = at
        self._calls_at_final = len(self.calls)
        if self.prompts:
            self.prompts[-1].answered_at, self.prompts[-1].has_reply = at, True

    def add_call(
        self, name: str, given: Any, *, id_: str | None = None, at: datetime | None = None
    ) -> DraftCall:
        """Take a tool call with its arguments; its result may come later."""
        self.pending_gap = None
        kept = extract_call_details(name, given)
        made = DraftCall(name, id_, at, kept)
        self.calls.append(made)
        if id_ is not None:
            self._open_calls.setdefault(id_, []).append(made)
        return made

    def add_result(
        self, id_: str | None, status: CallStatus | None, at: datetime | None = None
    ) -> DraftCall | None:
        """Pair a result with the nearest earlier call of that id that has none yet."""
        waiting = self._open_calls.get(id_) if id_ is not None else None
        if not waiting:
            return None
        made = waiting.pop()
        if not waiting:
            del self._open_calls[id_]  # type: ignore[arg-type]
        if status is not None or not made.has_result:  # an earlier event may have told more
            made.status = status
        made.ended, made.has_result = at, True
        return made

    def add_dispatch(
        self, kind: str | None, call: DraftCall | None, prompt: str | None = None
    ) -> DraftDispatch:
        """Take an attempt to start a sub-agent."""
        made = DraftDispatch(kind, call, prompt)
        self.dispatches.append(made)
        return made

    def add_model(self, name: Any) -> None:
        """Take the name of a model that answered."""
        if isinstance(name, str) and name:
            self.models[clean_text(name)] = None

    def add_gap(self, reason: str) -> None:
        """Say that something is missing."""
        self.gaps[reason] = None

    def build_transcript(self, format_: str, *, skipped: int = 0) -> Transcript:
        """Return what was read, frozen."""
        self._add_final_gaps(skipped)
        calls = tuple(self._freeze_call(index, made) for index, made in enumerate(self.calls))
        first, last = self.latency if self.latency is not None else self._compute_latencies()
        final = "\n".join(self.final_texts)
        return Transcript(
            format=format_,
            session=self.session,
            agent=self.agent,
            final_text=clean_text(final) if final else None,
            calls=calls,
            dispatches=tuple(self._build_dispatches()),
            mutations=tuple(_find_mutations(calls)),
            prompts=tuple(
                Prompt(
                    text=None if made.text is None else clean_text(made.text),
                    before=made.before,
                    at=made.at,
                    latency_s=compute_seconds(made.at, made.answered_at),
                )
                for made in self.prompts
            ),
            latency_s=first,
            last_turn_latency_s=last,
            tokens=self.tokens or Tokens(),
            subagents=tuple(self.children),
            gaps=tuple(self.gaps),
            skipped_lines=skipped,
            kind=self.kind,
            internal=self.internal,
            models=tuple(self.models),
        )

    def _add_final_gaps(self, skipped: int) -> None:
        """Say what is missing, as far as it can be seen from what was read."""
        if self.pending_gap is not None:
            self.add_gap(self.pending_gap)
        if skipped:
            self.add_gap(f"{skipped} line{'' if skipped == 1 else 's'} could not be read")
        if not self.final_texts:
            self.add_gap(NO_FINAL_TEXT)
        elif self._calls_at_final < len(self.calls):
            self.add_gap(CALLS_AFTER_TEXT)
        if any(not made.has_result for made in self.calls):
            self.add_gap(NO_RESULT)
        if self.final_texts and self.prompts and not self.prompts[-1].has_reply:
            self.add_gap(PROMPT_UNANSWERED)

    def _compute_latencies(self) -> tuple[Decimal | None, Decimal | None]:
        if not self.prompts or not self.final_texts:
            return None, None
        first, last = self.prompts[0], self.prompts[-1]
        return compute_seconds(first.at, self.final_at), compute_seconds(last.at, last.answered_at)

    def _freeze_call(self, index: int, made: DraftCall) -> Call:
        return Call(
            index=index,
            name=clean_text(made.name),
            status=made.status,
            agent=self.agent,
            id=made.id,
            started=made.started,
            seconds=compute_seconds(made.started, made.ended),
            paths=made.details.paths,
            command=made.details.command,
            arguments=made.details.arguments,
        )

    def _build_dispatches(self) -> Iterable[Dispatch]:
        places = {id(made): index for index, made in enumerate(self.calls)}
        for made in self.dispatches:
            status = made.status if made.has_own_status or made.call is None else made.call.status
            yield Dispatch(
                kind=made.kind,
                status=status,
                call=None if made.call is None else places.get(id(made.call)),
                agent=made.agent,
            )


def _find_mutations(calls: Iterable[Call]) -> Iterable[Mutation]:
    for call in calls:
        found = find_mutation(call)
        if found is not None:
            yield found


def sum_tokens(parts: Iterable[Tokens]) -> Tokens | None:
    """Return the sum of the parts, field by field; a field that no part has stays unknown."""
    found = list(parts)
    fields = {
        name: [value for part in found if (value := getattr(part, name)) is not None]
        for name in ("input_uncached", "cache_read", "cache_write", "output", "reasoning")
    }
    if not any(fields.values()):
        return None
    totals: dict[str, Any] = {name: sum(of) if of else None for name, of in fields.items()}
    return Tokens(**totals, output_is_lower_bound=False)

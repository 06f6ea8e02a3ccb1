"""A transcript in the making: readers tell it what they meet, in the order of the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.arguments import Described, described
from markscheme.read.transcripts.mutations import mutation_of
from markscheme.read.transcripts.values import clean, seconds
from markscheme.transcript import (
    MAIN,
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

    from markscheme.transcript import Mutation

UNANSWERED = "the last prompt has no answer"
NO_ANSWER = "there is no final text"
WENT_ON = "calls follow the last text, so it is no answer"
CUT_OFF = "the log is cut off"


@dataclass(slots=True)
class DraftCall:
    """A call whose result may still come."""

    name: str
    id: str | None
    started: datetime | None
    given: Described
    ended: datetime | None = None
    status: CallStatus | None = CallStatus.NONE
    answered: bool = False


@dataclass(slots=True)
class DraftDispatch:
    """A dispatch whose sub-agent may still be found."""

    kind: str | None
    call: DraftCall | None
    prompt: str | None = None
    agent: str | None = None
    status: CallStatus | None = None
    settled: bool = False


@dataclass(slots=True)
class DraftPrompt:
    """A prompt, and when the last text before the next prompt ended."""

    text: str | None
    before: int
    at: datetime | None
    answered: datetime | None = None
    replied: bool = False


class Draft:
    """One agent's session while its log is read."""

    def __init__(self, agent: str = MAIN, *, kind: str | None = None) -> None:
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
        self.trouble: str | None = None  # a gap, unless the agent goes on after it
        self.tokens: Tokens | None = None
        self.final: list[str] = []
        self.final_end: datetime | None = None
        self.latency: tuple[Decimal | None, Decimal | None] | None = None
        self._message: object = None
        self._calls_at_final = 0
        self._open: dict[str, list[DraftCall]] = {}

    def prompt(self, text: str | None, at: datetime | None = None) -> None:
        """Take what the agent was asked."""
        self.prompts.append(DraftPrompt(text, len(self.calls), at))

    def say(self, text: str, at: datetime | None = None, message: object = None) -> None:
        """Take text of the agent; parts of one message belong together."""
        if not text.strip():
            return
        self.trouble = None
        if message is None or message != self._message:
            self.final = []
        self._message = message
        self.final.append(text)
        self.final_end = at
        self._calls_at_final = len(self.calls)
        if self.prompts:
            self.prompts[-1].answered, self.prompts[-1].replied = at, True

    def call(
        self, name: str, given: Any, *, id_: str | None = None, at: datetime | None = None
    ) -> DraftCall:
        """Take a tool call with its arguments; its result may come later."""
        self.trouble = None
        kept = described(name, given)
        made = DraftCall(name, id_, at, kept)
        self.calls.append(made)
        if id_ is not None:
            self._open.setdefault(id_, []).append(made)
        return made

    def result(
        self, id_: str | None, status: CallStatus | None, at: datetime | None = None
    ) -> DraftCall | None:
        """Pair a result with the nearest earlier call of that id that has none yet."""
        waiting = self._open.get(id_) if id_ is not None else None
        if not waiting:
            return None
        made = waiting.pop()
        if not waiting:
            del self._open[id_]  # type: ignore[arg-type]
        if status is not None or not made.answered:  # an earlier event may have told more
            made.status = status
        made.ended, made.answered = at, True
        return made

    def dispatch(
        self, kind: str | None, call: DraftCall | None, prompt: str | None = None
    ) -> DraftDispatch:
        """Take an attempt to start a sub-agent."""
        made = DraftDispatch(kind, call, prompt)
        self.dispatches.append(made)
        return made

    def model(self, name: Any) -> None:
        """Take the name of a model that answered."""
        if isinstance(name, str) and name:
            self.models[clean(name)] = None

    def gap(self, reason: str) -> None:
        """Say that something is missing."""
        self.gaps[reason] = None

    def finish(self, format_: str, *, skipped: int = 0) -> Transcript:
        """Return what was read, frozen."""
        self._judge(skipped)
        calls = tuple(self._frozen(index, made) for index, made in enumerate(self.calls))
        first, last = self.latency if self.latency is not None else self._latencies()
        final = "\n".join(self.final)
        return Transcript(
            format=format_,
            session=self.session,
            agent=self.agent,
            final_text=clean(final) if final else None,
            calls=calls,
            dispatches=tuple(self._dispatches()),
            mutations=tuple(_mutations(calls)),
            prompts=tuple(
                Prompt(
                    text=None if made.text is None else clean(made.text),
                    before=made.before,
                    at=made.at,
                    latency_s=seconds(made.at, made.answered),
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

    def _judge(self, skipped: int) -> None:
        """Say what is missing, as far as it can be seen from what was read."""
        if self.trouble is not None:
            self.gap(self.trouble)
        if skipped:
            self.gap(f"{skipped} line{'' if skipped == 1 else 's'} could not be read")
        if not self.final:
            self.gap(NO_ANSWER)
        elif self._calls_at_final < len(self.calls):
            self.gap(WENT_ON)
        if any(not made.answered for made in self.calls):
            self.gap(NO_RESULT)
        if self.final and self.prompts and not self.prompts[-1].replied:
            self.gap(UNANSWERED)

    def _latencies(self) -> tuple[Decimal | None, Decimal | None]:
        if not self.prompts or not self.final:
            return None, None
        first, last = self.prompts[0], self.prompts[-1]
        return seconds(first.at, self.final_end), seconds(last.at, last.answered)

    def _frozen(self, index: int, made: DraftCall) -> Call:
        return Call(
            index=index,
            name=clean(made.name),
            status=made.status,
            agent=self.agent,
            id=made.id,
            started=made.started,
            seconds=seconds(made.started, made.ended),
            paths=made.given.paths,
            command=made.given.command,
            arguments=made.given.arguments,
        )

    def _dispatches(self) -> Iterable[Dispatch]:
        places = {id(made): index for index, made in enumerate(self.calls)}
        for made in self.dispatches:
            status = made.status if made.settled or made.call is None else made.call.status
            yield Dispatch(
                kind=made.kind,
                status=status,
                call=None if made.call is None else places.get(id(made.call)),
                agent=made.agent,
            )


def _mutations(calls: Iterable[Call]) -> Iterable[Mutation]:
    for call in calls:
        found = mutation_of(call)
        if found is not None:
            yield found


def summed(parts: Iterable[Tokens]) -> Tokens | None:
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

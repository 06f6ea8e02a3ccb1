"""What an agent attempted, by family of tools: calls, dispatches and mutations alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markscheme.read.tools.families import DISPATCH, MUTATION, is_in_family
from markscheme.vocabulary import MAIN_AGENT, CallStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markscheme.vocabulary import Call, Transcript

_MAX_LINE_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAttempt:
    """One thing that was attempted: what, on what, how it went, and by which call of which agent.

    As text it is the evidence that a cell quotes; calls are counted from 1, as in the timeline.
    """

    name: str
    target: str | None = None
    status: CallStatus | None = None
    call: int | None = None
    agent: str = MAIN_AGENT
    at: datetime | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" {_shorten_line(self.target)}"
        known = [
            None if self.call is None else f"call {self.call + 1}",
            None if self.at is None else f"at {self.at:%H:%M:%S}",
            "status unknown" if self.status is None else self.status.value,
            None if self.agent == MAIN_AGENT else f"agent {self.agent}",
        ]
        return f"{_shorten_line(self.name)}{target} ({', '.join(filter(None, known))})"


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[: _MAX_LINE_LENGTH - 1]}…"


def iter_calls(transcript: Transcript, *, nested: bool) -> Iterator[Call]:
    """Yield the calls of an agent in order; `nested`, those of a sub-agent after its dispatch."""
    inner = {one.agent: one for one in transcript.subagents} if nested else {}
    started = {made.call: made.agent for made in transcript.dispatches}
    for call in transcript.calls:
        yield call
        child = inner.pop(started.get(call.index) or "", None)
        if child is not None:
            yield from iter_calls(child, nested=True)
    for child in inner.values():
        yield from iter_calls(child, nested=True)


def build_attempt(call: Call) -> ToolAttempt:
    """Return a call as an attempt."""
    target = ", ".join(call.paths) or call.command
    return _build_call_attempt(call, call.name, target)


def find_attempts(
    transcript: Transcript, families: Sequence[str], given: Mapping[str, Any]
) -> list[ToolAttempt]:
    """Return what an agent attempted of some families, in the order of its calls.

    Dispatches and mutations are those that the log shows; the family adds calls by their names.
    """
    found: dict[object, ToolAttempt] = {}
    if DISPATCH in families:
        for place, made in enumerate(transcript.dispatches):
            key = ("dispatch", place) if made.call is None else made.call
            found[key] = _build_dispatch_attempt(transcript, made.call, made.kind, made.status)
    if MUTATION in families:
        for change in transcript.mutations:
            call = transcript.calls[change.call]
            found.setdefault(change.call, _build_call_attempt(call, change.name, change.target))
    for call in transcript.calls:
        if call.index not in found and any(
            is_in_family(family, given, call) for family in families
        ):
            found[call.index] = build_attempt(call)
    return sorted(found.values(), key=lambda attempt: -1 if attempt.call is None else attempt.call)


def _build_dispatch_attempt(
    transcript: Transcript, index: int | None, kind: str | None, status: CallStatus | None
) -> ToolAttempt:
    if index is None:
        return ToolAttempt(name=kind or "sub-agent", status=status, agent=transcript.agent)
    call = transcript.calls[index]
    return ToolAttempt(
        name=call.name,
        target=kind,
        status=status,
        call=index,
        agent=transcript.agent,
        at=call.started,
    )


def _build_call_attempt(call: Call, name: str, target: str | None) -> ToolAttempt:
    return ToolAttempt(
        name=name,
        target=target,
        status=call.status,
        call=call.index,
        agent=call.agent,
        at=call.started,
    )

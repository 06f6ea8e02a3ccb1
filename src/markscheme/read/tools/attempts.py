"""What an agent attempted with the tools of some families: its calls, dispatches and mutations.

Every attempt counts, whatever came of it. They are listed in the order of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from markscheme.read.tools.default_families import DISPATCH, MUTATION
from markscheme.read.tools.families import is_in_family
from markscheme.vocabulary import MAIN_AGENT, Call, CallStatus, Dispatch, Transcript

_MAX_LINE_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAttempt:
    """One attempt: the tool, its target, the status, and the call and agent that made it.

    Its text is the evidence that a cell quotes; there, calls are counted from 1 as in the timeline.
    """

    name: str
    target: str | None = None
    status: CallStatus | None = None
    call: int | None = None
    agent: str = MAIN_AGENT
    at: datetime | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" {_shorten_line(self.target)}"
        details = [
            None if self.call is None else f"call {self.call + 1}",
            None if self.at is None else f"at {self.at:%H:%M:%S}",
            "status unknown" if self.status is None else self.status.value,
            None if self.agent == MAIN_AGENT else f"agent {self.agent}",
        ]
        return f"{_shorten_line(self.name)}{target} ({', '.join(filter(None, details))})"


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[: _MAX_LINE_LENGTH - 1]}…"


def iter_calls(transcript: Transcript, *, nested: bool) -> Iterator[Call]:
    """Yield the calls of an agent in order; `nested`: those of a sub-agent after its dispatch."""
    inner = {child.agent: child for child in transcript.subagents} if nested else {}
    started = {dispatch.call: dispatch.agent for dispatch in transcript.dispatches}
    for call in transcript.calls:
        yield call
        child = inner.pop(started.get(call.index) or "", None)
        if child is not None:
            yield from iter_calls(child, nested=True)
    # Sub-agents that no call of the log has started come last.
    for child in inner.values():
        yield from iter_calls(child, nested=True)


def build_attempt(call: Call) -> ToolAttempt:
    """Return a call as an attempt."""
    target = ", ".join(call.paths) or call.command or None
    return _build_call_attempt(call, call.name, target)


def find_attempts(
    transcript: Transcript, families: Sequence[str], overrides: Mapping[str, Any]
) -> list[ToolAttempt]:
    """Return what an agent attempted with tools of these families, in the order of its calls.

    The families `dispatch` and `mutation` hold the dispatches and mutations of the transcript, and
    the calls whose tool is in the family. `overrides` is what the rubric says about families.
    """
    attempts: dict[object, ToolAttempt] = {}
    if DISPATCH in families:
        for position, dispatch in enumerate(transcript.dispatches):
            key = ("dispatch", position) if dispatch.call is None else dispatch.call
            attempts[key] = _build_dispatch_attempt(transcript, dispatch)
    if MUTATION in families:
        for change in transcript.mutations:
            call = transcript.calls[change.call]
            attempts.setdefault(change.call, _build_call_attempt(call, change.name, change.target))
    for call in transcript.calls:
        if call.index not in attempts and any(
            is_in_family(family, overrides, call) for family in families
        ):
            attempts[call.index] = build_attempt(call)
    return sorted(
        attempts.values(), key=lambda attempt: -1 if attempt.call is None else attempt.call
    )


def _build_dispatch_attempt(transcript: Transcript, dispatch: Dispatch) -> ToolAttempt:
    agent, status = transcript.agent, dispatch.status
    if dispatch.call is None:
        return ToolAttempt(name=dispatch.kind or "sub-agent", status=status, agent=agent)
    call = transcript.calls[dispatch.call]
    return ToolAttempt(
        name=call.name,
        target=dispatch.kind,
        status=status,
        call=dispatch.call,
        agent=agent,
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

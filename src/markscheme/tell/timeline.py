"""A transcript as a timeline that a person can follow."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from markscheme.tell.terminal import console
from markscheme.transcript import CallStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from decimal import Decimal

    from rich.console import Console

    from markscheme.transcript import Call, Prompt, Tokens, Transcript

_STYLES = {
    CallStatus.OK: "green",
    CallStatus.ERROR: "red",
    CallStatus.DENIED: "yellow",
    CallStatus.NONE: "magenta",
}
_UNKNOWN = "?"
_PROMPT_LINES = 4
_TARGET = 100
_ABOUT = ("pattern", "query", "url", "description", "skill")


def print_timeline(transcript: Transcript, file: str, out: Console | None = None) -> None:
    """Print what happened, in the order of the log, sub-agents where they were started."""
    out = out or console()
    for line in _head(transcript, file):
        out.print(line, soft_wrap=True, highlight=False)
    for line in _events(transcript, ""):
        out.print(line, no_wrap=True, overflow="ellipsis", crop=False, highlight=False)
    for line in _tail(transcript):
        out.print(line, soft_wrap=True, highlight=False)


def _head(transcript: Transcript, file: str) -> Iterator[Text]:
    line = Text(_line(file), style="bold")
    session = f", session {transcript.session}" if transcript.session else ""
    line.append(_line(f"  {transcript.format}{session}"), style="not bold")
    yield line
    if transcript.models:
        yield Text(_line(f"models: {', '.join(transcript.models)}"))
    if transcript.complete:
        yield Text("complete", style="green")
    for gap in transcript.gaps:
        yield Text(f"incomplete: {gap}", style="magenta")
    yield Text()


def _events(transcript: Transcript, indent: str) -> Iterator[Text]:
    prompts = list(transcript.prompts)
    inner = {found.agent: found for found in transcript.subagents}
    started = {made.call: made for made in transcript.dispatches if made.call is not None}
    changing = {made.call for made in transcript.mutations}
    for call in transcript.calls:
        while prompts and prompts[0].before <= call.index:
            yield from _prompt(prompts.pop(0), indent)
        yield _called(call, indent, changes=call.index in changing)
        made = started.get(call.index)
        found = inner.pop(made.agent, None) if made is not None and made.agent is not None else None
        if found is not None:
            yield from _subagent(found, indent)
    for prompt in prompts:
        yield from _prompt(prompt, indent)
    for found in inner.values():
        yield from _subagent(found, indent)


def _prompt(prompt: Prompt, indent: str) -> Iterator[Text]:
    said = "(a prompt that the log does not show)" if prompt.text is None else prompt.text
    lines = [line for line in said.splitlines() if line.strip()] or [""]
    for number, line in enumerate(lines[:_PROMPT_LINES]):
        begin = f"{_clock(prompt.at)}  " if number == 0 else " " * 10
        yield Text(f"{indent}{begin}> {_line(line)}", style="bold")
    if len(lines) > _PROMPT_LINES:
        yield Text(f"{indent}{' ' * 10}> … {len(lines) - _PROMPT_LINES} more lines", style="bold")


def _called(call: Call, indent: str, *, changes: bool) -> Text:
    line = Text(f"{indent}{_clock(call.started)}  {call.index + 1:>4}  ")
    line.append(
        "unknown" if call.status is None else f"{call.status.value:<7}", _style(call.status)
    )
    took = "" if call.seconds is None else f"{float(call.seconds):.1f} s"
    line.append(f" {took:>9}  ")
    line.append(_line(call.name), "bold red" if changes else "bold")
    line.append(f"  {_line(_target(call))}")
    return line


def _style(status: CallStatus | None) -> str:
    return "magenta" if status is None else _STYLES[status]


def _target(call: Call) -> str:
    """Return what a call is about, in one line."""
    if call.command is not None:
        found = " ".join(call.command.split())
    else:
        told = [call.arguments[key] for key in _ABOUT if key in call.arguments]
        found = "  ".join((*told, ", ".join(call.paths)))
    return found if len(found) <= _TARGET else f"{found[: _TARGET - 1]}…"


def _subagent(transcript: Transcript, indent: str) -> Iterator[Text]:
    inner = f"{indent}    "
    kind = f" ({transcript.kind})" if transcript.kind else ""
    told = "client's own" if transcript.internal else "sub-agent"
    yield Text(_line(f"{inner}{told} {transcript.agent}{kind}"), style="cyan")
    yield from _events(transcript, inner)
    for line in (*_gaps(transcript), *_sums(transcript)):
        yield Text(f"{inner}{line}", style="cyan")


def _gaps(transcript: Transcript) -> Iterator[str]:
    yield from (f"incomplete: {gap}" for gap in transcript.gaps)


def _tail(transcript: Transcript) -> Iterator[Text]:
    yield Text()
    if transcript.final_text is None:
        yield Text("no final text", style="magenta")
    else:
        told = "answer" if transcript.complete else "last text"
        yield Text(told, style="bold")
        for line in transcript.final_text.strip().splitlines():
            yield Text(f"  {_line(line)}")
    yield Text()
    yield from map(Text, _sums(transcript))


def _sums(transcript: Transcript) -> Iterator[str]:
    """Yield the metrics of one agent: calls, dispatches, changes, time, tokens."""
    statuses = Counter("unknown" if c.status is None else c.status.value for c in transcript.calls)
    states = ", ".join(f"{n} {name}" for name, n in statuses.items() if name != "none")
    none = f", {statuses['none']} without result" if statuses["none"] else ""
    calls = f"{_many(transcript.calls, 'call')}{f' ({states}{none})' if statuses else ''}"
    dispatched = _many(transcript.dispatches, "dispatch", "dispatches")
    changed = _many(
        transcript.mutations, "attempt to change something", "attempts to change things"
    )
    yield f"{calls}; {dispatched}; {changed}"
    took, last = transcript.latency_s, transcript.last_turn_latency_s
    turns = f", last turn {_seconds(last)}" if len(transcript.prompts) > 1 else ""
    yield f"latency {_seconds(took)}{turns}; {_many(transcript.prompts, 'prompt')}"
    yield _used(transcript.tokens)


def _used(tokens: Tokens) -> str:
    least = "at least " if tokens.output_is_lower_bound else ""
    sums = " (with sub-agents)" if tokens.with_subagents else ""
    return (
        f"tokens: input {_number(tokens.input_uncached)}, cache read {_number(tokens.cache_read)}, "
        f"cache write {_number(tokens.cache_write)}, output {least}{_number(tokens.output)}{sums}"
    )


def _many(found: Sequence[object], one: str, several: str | None = None) -> str:
    return f"{len(found)} {one if len(found) == 1 else several or f'{one}s'}"


def _number(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def _seconds(value: Decimal | None) -> str:
    return _UNKNOWN if value is None else f"{float(value):,.1f} s"


def _clock(value: datetime | None) -> str:
    return "   –    " if value is None else value.strftime("%H:%M:%S")


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)

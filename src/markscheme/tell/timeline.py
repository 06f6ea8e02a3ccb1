"""A transcript as a timeline that a person can follow."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from markscheme.sentences import sentence
from markscheme.tell.language import say, say_many, told
from markscheme.tell.terminal import console
from markscheme.transcript import CallStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
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
_STATUSES = {
    None: sentence("unknown"),
    CallStatus.OK: sentence("ok"),
    CallStatus.ERROR: sentence("error"),
    CallStatus.DENIED: sentence("denied"),
    CallStatus.NONE: sentence("none"),
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
    named = say("session {session}", session=transcript.session)
    session = f", {named}" if transcript.session else ""
    line.append(_line(f"  {transcript.format}{session}"), style="not bold")
    yield line
    if transcript.models:
        yield Text(_line(say("models: {models}", models=", ".join(transcript.models))))
    if transcript.complete:
        yield Text(say("complete"), style="green")
    for gap in transcript.gaps:
        yield Text(say("incomplete: {gap}", gap=gap), style="magenta")
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
    unseen = say("(a prompt that the log does not show)")
    said = unseen if prompt.text is None else prompt.text
    lines = [line for line in said.splitlines() if line.strip()] or [""]
    for number, line in enumerate(lines[:_PROMPT_LINES]):
        begin = f"{_clock(prompt.at)}  " if number == 0 else " " * 10
        yield Text(f"{indent}{begin}> {_line(line)}", style="bold")
    if len(lines) > _PROMPT_LINES:
        more = say("… {n} more lines", n=len(lines) - _PROMPT_LINES)
        yield Text(f"{indent}{' ' * 10}> {more}", style="bold")


def _called(call: Call, indent: str, *, changes: bool) -> Text:
    line = Text(f"{indent}{_clock(call.started)}  {call.index + 1:>4}  ")
    line.append(f"{told(_STATUSES[call.status]):<7}", _style(call.status))
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
    what = say("client's own") if transcript.internal else say("sub-agent")
    yield Text(_line(f"{inner}{what} {transcript.agent}{kind}"), style="cyan")
    yield from _events(transcript, inner)
    for line in (*_gaps(transcript), *_sums(transcript)):
        yield Text(f"{inner}{line}", style="cyan")


def _gaps(transcript: Transcript) -> Iterator[str]:
    yield from (say("incomplete: {gap}", gap=gap) for gap in transcript.gaps)


def _tail(transcript: Transcript) -> Iterator[Text]:
    yield Text()
    if transcript.final_text is None:
        yield Text(say("no final text"), style="magenta")
    else:
        yield Text(say("answer") if transcript.complete else say("last text"), style="bold")
        for line in transcript.final_text.strip().splitlines():
            yield Text(f"  {_line(line)}")
    yield Text()
    yield from map(Text, _sums(transcript))


def _sums(transcript: Transcript) -> Iterator[str]:
    """Yield the metrics of one agent: calls, dispatches, changes, time, tokens."""
    statuses = Counter(call.status for call in transcript.calls)
    without = statuses.pop(CallStatus.NONE, 0)
    states = ", ".join(f"{n} {told(_STATUSES[status])}" for status, n in statuses.items())
    none = f", {say('{n} without result', n=without)}" if without else ""
    calls = say_many("{n} call", "{n} calls", len(transcript.calls))
    dispatched = say_many("{n} dispatch", "{n} dispatches", len(transcript.dispatches))
    changed = say_many(
        "{n} attempt to change something",
        "{n} attempts to change things",
        len(transcript.mutations),
    )
    yield f"{calls}{f' ({states}{none})' if transcript.calls else ''}; {dispatched}; {changed}"
    took, last = transcript.latency_s, transcript.last_turn_latency_s
    turn = say("last turn {seconds}", seconds=_seconds(last))
    turns = f", {turn}" if len(transcript.prompts) > 1 else ""
    latency = say("latency {seconds}", seconds=_seconds(took))
    prompts = say_many("{n} prompt", "{n} prompts", len(transcript.prompts))
    yield f"{latency}{turns}; {prompts}"
    yield _used(transcript.tokens)


def _used(tokens: Tokens) -> str:
    output = _number(tokens.output)
    if tokens.output_is_lower_bound:
        output = say("at least {n}", n=output)
    sums = f" ({say('with sub-agents')})" if tokens.with_subagents else ""
    return (
        say(
            "tokens: input {input}, cache read {read}, cache write {write}, output {output}",
            input=_number(tokens.input_uncached),
            read=_number(tokens.cache_read),
            write=_number(tokens.cache_write),
            output=output,
        )
        + sums
    )


def _number(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def _seconds(value: Decimal | None) -> str:
    return _UNKNOWN if value is None else f"{float(value):,.1f} s"


def _clock(value: datetime | None) -> str:
    return "   –    " if value is None else value.strftime("%H:%M:%S")


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)

"""Transcripts for the user: as one JSON document for scripts, or as a timeline in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from msgspec import Struct, structs

from markscheme.read.tools import DISPATCH, MUTATION, find_attempts
from markscheme.tell.language import translate, translate_plural, translate_stored
from markscheme.vocabulary import Call, CallStatus, Dispatch, Prompt, Tokens, Transcript, sentence

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text as RichText

_JSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z


def dump_transcripts(transcripts: Sequence[tuple[Path, Transcript]]) -> str:
    """Return one transcript as a JSON document, several as a document with a list."""
    records = [
        {**_build_transcript_record(transcript), "file": str(file)}
        for file, transcript in transcripts
    ]
    document = records[0] if len(records) == 1 else {"transcripts": records}
    return orjson.dumps(document, default=_encode_value, option=_JSON_OPTIONS).decode()


def _build_transcript_record(transcript: Transcript) -> dict[str, Any]:
    """Return the keys that scripts rely on, then the others."""
    return {
        "format": transcript.format,
        "complete": transcript.complete,
        "final_text": transcript.final_text,
        "calls": transcript.calls,
        "dispatches": transcript.dispatches,
        "mutations": transcript.mutations,
        "latency_s": transcript.latency_s,
        "last_turn_latency_s": transcript.last_turn_latency_s,
        "tokens": transcript.tokens,
        "prompts": len(transcript.prompts),
        "subagents": [_build_transcript_record(inner) for inner in transcript.subagents],
        "agent": transcript.agent,
        "kind": transcript.kind,
        "internal": transcript.internal,
        "session": transcript.session,
        "models": transcript.models,
        "gaps": transcript.gaps,
        "doubts": transcript.doubts,
        "skipped_lines": transcript.skipped_lines,
        "turns": transcript.prompts,
    }


def _encode_value(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Struct):
        return structs.asdict(value)
    raise TypeError(f"`{type(value).__name__}` is no part of a transcript")


_CALL_STYLES = {
    CallStatus.OK: "green",
    CallStatus.ERROR: "red",
    CallStatus.DENIED: "yellow",
    CallStatus.NONE: "magenta",
}
_CALL_STATUS_WORDS = {
    None: sentence("unknown"),
    CallStatus.OK: sentence("ok"),
    CallStatus.ERROR: sentence("error"),
    CallStatus.DENIED: sentence("denied"),
    CallStatus.NONE: sentence("none"),
}
_UNKNOWN = "?"
_PROMPT_LINES_SHOWN = 4
_TARGET_LENGTH = 100
_PROMPT_LENGTH = 240
_CALLS_SHOWN_FIRST, _CALLS_SHOWN_LAST = 40, 20
_PROMPT_ARGUMENTS = ("prompt", "message", "task", "instructions", "description", "input")
_TARGET_ARGUMENTS = ("pattern", "query", "url", "description", "skill")


class TimelineLine(NamedTuple):
    """One line of the timeline, or the first part of it; `rest` are further parts with styles."""

    text: str = ""
    style: str = ""
    rest: tuple[tuple[str, str], ...] = ()

    def to_rich(self) -> RichText:
        """Return the line as rich prints it."""
        from rich.text import Text

        line = Text(self.text, style=self.style)
        for part, style in self.rest:
            line.append(part, style)
        return line


def print_timeline(transcript: Transcript, file: str, out: Console | None = None) -> None:
    """Print calls and prompts in the order of the log, sub-agents where they were started."""
    # Imported late: the JSON document needs neither rich nor the console.
    from markscheme.tell.console import create_console

    out = out or create_console()
    for line in _format_timeline_head(transcript, file):
        out.print(line.to_rich(), soft_wrap=True, highlight=False)
    for line in _format_events(transcript, ""):
        out.print(line.to_rich(), no_wrap=True, overflow="ellipsis", crop=False, highlight=False)
    for line in _format_timeline_tail(transcript):
        out.print(line.to_rich(), soft_wrap=True, highlight=False)


def _format_timeline_head(transcript: Transcript, file: str) -> Iterator[TimelineLine]:
    named = translate("session {session}", session=transcript.session)
    session = f", {named}" if transcript.session else ""
    details = _to_printable_line(f"  {transcript.format}{session}")
    yield TimelineLine(_to_printable_line(file), "bold", ((details, "not bold"),))
    if transcript.models:
        yield TimelineLine(
            _to_printable_line(translate("models: {models}", models=", ".join(transcript.models)))
        )
    if transcript.complete:
        yield TimelineLine(translate("complete"), style="green")
    for gap in transcript.gaps:
        yield TimelineLine(translate("incomplete: {gap}", gap=gap), style="magenta")
    yield TimelineLine()


def _format_events(transcript: Transcript, indent: str) -> Iterator[TimelineLine]:
    prompts = list(transcript.prompts)
    subagents = {inner.agent: inner for inner in transcript.subagents}
    started_by_call = {d.call: d.agent for d in transcript.dispatches if d.call is not None}
    changing_calls = {mutation.call for mutation in transcript.mutations}
    for call in transcript.calls:
        while prompts and prompts[0].before <= call.index:
            yield from _format_prompt(prompts.pop(0), indent)
        yield _format_call(call, indent, changes=call.index in changing_calls)
        agent = started_by_call.get(call.index)
        subagent = None if agent is None else subagents.pop(agent, None)
        if subagent is not None:
            yield from _format_subagent(subagent, indent)
    for prompt in prompts:
        yield from _format_prompt(prompt, indent)
    # Sub-agents that no call of the log has started come last.
    for subagent in subagents.values():
        yield from _format_subagent(subagent, indent)


def _format_prompt(prompt: Prompt, indent: str) -> Iterator[TimelineLine]:
    unseen = translate("(a prompt that the log does not show)")
    text = unseen if prompt.text is None else prompt.text
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    for number, line in enumerate(lines[:_PROMPT_LINES_SHOWN]):
        begin = f"{_format_clock(prompt.at)}  " if number == 0 else " " * 10
        yield TimelineLine(f"{indent}{begin}> {_to_printable_line(line)}", style="bold")
    if len(lines) > _PROMPT_LINES_SHOWN:
        more = translate_plural(
            "… {n} more line", "… {n} more lines", len(lines) - _PROMPT_LINES_SHOWN
        )
        yield TimelineLine(f"{indent}{' ' * 10}> {more}", style="bold")


def _format_call(call: Call, indent: str, *, changes: bool) -> TimelineLine:
    style = "magenta" if call.status is None else _CALL_STYLES[call.status]
    status = f"{translate_stored(_CALL_STATUS_WORDS[call.status]):<7}"
    duration = "" if call.seconds is None else f"{float(call.seconds):.1f} s"
    return TimelineLine(
        f"{indent}{_format_clock(call.started)}  {call.index + 1:>4}  ",
        rest=(
            (status, style),
            (f" {duration:>9}  ", ""),
            (_to_printable_line(call.name), "bold red" if changes else "bold"),
            (f"  {_to_printable_line(_describe_call(call))}", ""),
        ),
    )


def _describe_call(call: Call) -> str:
    """Return the command, or the telling arguments and files of a call, in one short line."""
    if call.command is not None:
        target = " ".join(call.command.split())
    else:
        arguments = [call.arguments[key] for key in _TARGET_ARGUMENTS if key in call.arguments]
        target = "  ".join((*arguments, ", ".join(call.paths)))
    return _shorten(target, _TARGET_LENGTH)


def _format_subagent(transcript: Transcript, indent: str) -> Iterator[TimelineLine]:
    inner = f"{indent}    "
    kind = f" ({transcript.kind})" if transcript.kind else ""
    role = translate("client's own") if transcript.internal else translate("sub-agent")
    yield TimelineLine(_to_printable_line(f"{inner}{role} {transcript.agent}{kind}"), style="cyan")
    yield from _format_events(transcript, inner)
    gaps = [translate("incomplete: {gap}", gap=gap) for gap in transcript.gaps]
    for line in (*gaps, *_format_agent_totals(transcript)):
        yield TimelineLine(f"{inner}{line}", style="cyan")


def _format_timeline_tail(transcript: Transcript) -> Iterator[TimelineLine]:
    yield TimelineLine()
    if transcript.final_text is None:
        yield TimelineLine(translate("no final text"), style="magenta")
    else:
        yield TimelineLine(
            translate("answer") if transcript.complete else translate("last text"), style="bold"
        )
        for line in transcript.final_text.strip().splitlines():
            yield TimelineLine(f"  {_to_printable_line(line)}")
    yield TimelineLine()
    yield from map(TimelineLine, _format_agent_totals(transcript))


def _format_agent_totals(transcript: Transcript) -> Iterator[str]:
    """Yield the metrics of one agent: calls, dispatches, changes, time, tokens."""
    statuses = Counter(call.status for call in transcript.calls)
    without_result = statuses.pop(CallStatus.NONE, 0)
    states = ", ".join(
        f"{n} {translate_stored(_CALL_STATUS_WORDS[status])}" for status, n in statuses.items()
    )
    none = f", {translate('{n} without result', n=without_result)}" if without_result else ""
    calls = translate_plural("{n} call", "{n} calls", len(transcript.calls))
    dispatched = translate_plural("{n} dispatch", "{n} dispatches", len(transcript.dispatches))
    changed = translate_plural(
        "{n} attempt to change something",
        "{n} attempts to change things",
        len(transcript.mutations),
    )
    yield f"{calls}{f' ({states}{none})' if transcript.calls else ''}; {dispatched}; {changed}"
    last_seconds = _format_seconds(transcript.last_turn_latency_s)
    last_turn = translate("last turn {seconds}", seconds=last_seconds)
    turns = f", {last_turn}" if len(transcript.prompts) > 1 else ""
    latency = translate("latency {seconds}", seconds=_format_seconds(transcript.latency_s))
    prompts = translate_plural("{n} prompt", "{n} prompts", len(transcript.prompts))
    yield f"{latency}{turns}; {prompts}"
    yield _format_tokens(transcript.tokens)


def list_activity(transcript: Transcript) -> list[str]:
    """Return what an agent did, for somebody who judges it blind: no model, session or file name.

    What makes the log incomplete comes first, then each dispatch with the beginning of its prompt,
    then the calls; of a long log the first and the last ones.
    """
    lines = [translate("the log is not complete: {gap}", gap=gap) for gap in transcript.gaps]
    dispatches = _find_dispatches(transcript)
    lines += [
        translate_plural("{n} dispatch", "{n} dispatches", len(dispatches)),
        *_list_dispatch_lines(transcript, dispatches),
        "",
        translate_plural("{n} call", "{n} calls", len(transcript.calls)),
    ]
    # As in the checks, a tool may be known for what it does by its name alone.
    changing = {attempt.call for attempt in find_attempts(transcript, (MUTATION,), {})}
    calls = [
        _format_activity_call(call, changes=call.index in changing) for call in transcript.calls
    ]
    hidden = len(calls) - _CALLS_SHOWN_FIRST - _CALLS_SHOWN_LAST
    if hidden > 1:
        more = translate_plural("  … {n} more call …", "  … {n} more calls …", hidden)
        calls[_CALLS_SHOWN_FIRST:-_CALLS_SHOWN_LAST] = [more]
    return [*lines, *calls, "", *_format_latency_lines(transcript, changes=bool(changing))]


def _find_dispatches(transcript: Transcript) -> list[Dispatch]:
    """Return the dispatches that the log shows, and the calls of tools that are named for one."""
    shown = {dispatch.call for dispatch in transcript.dispatches}
    named = [
        transcript.calls[attempt.call]
        for attempt in find_attempts(transcript, (DISPATCH,), {})
        if attempt.call is not None and attempt.call not in shown
    ]
    return [
        *transcript.dispatches,
        *(
            Dispatch(
                kind=call.arguments.get("subagent_type", call.name),
                status=call.status,
                call=call.index,
            )
            for call in named
        ),
    ]


def _list_dispatch_lines(transcript: Transcript, dispatches: Sequence[Dispatch]) -> Iterator[str]:
    calls = {call.index: call for call in transcript.calls}
    subagents = {inner.agent: inner for inner in transcript.subagents}
    for number, dispatch in enumerate(dispatches, start=1):
        call = None if dispatch.call is None else calls.get(dispatch.call)
        inner = None if dispatch.agent is None else subagents.get(dispatch.agent)
        seconds = call.seconds if call is not None else None
        if seconds is None and inner is not None:
            seconds = inner.latency_s
        facts = [
            dispatch.kind or _UNKNOWN,
            translate_stored(_CALL_STATUS_WORDS[dispatch.status]),
            _format_seconds(seconds),
        ]
        if inner is not None:
            facts.append(translate_plural("{n} call", "{n} calls", len(inner.calls)))
        yield _to_printable_line(f"  {number}. {' · '.join(facts)}")
        prompt = " ".join(_find_dispatch_prompt(call, inner).split())
        if prompt:
            yield _to_printable_line(f"     “{_shorten(prompt, _PROMPT_LENGTH)}”")
        for gap in () if inner is None else inner.gaps:
            yield f"     {translate('the log is not complete: {gap}', gap=gap)}"


def _find_dispatch_prompt(call: Call | None, inner: Transcript | None) -> str:
    """Return what a sub-agent was asked: from its own log, else from the call that started it."""
    if inner is not None and inner.prompts and inner.prompts[0].text:
        return inner.prompts[0].text
    arguments = {} if call is None else call.arguments
    return next((arguments[key] for key in _PROMPT_ARGUMENTS if arguments.get(key)), "")


def _format_activity_call(call: Call, *, changes: bool) -> str:
    status = translate_stored(_CALL_STATUS_WORDS[call.status])
    mark = "!" if changes else " "
    # A call that ended well needs no word.
    ending = "" if call.status is CallStatus.OK else f" ({status})"
    line = f"{mark}{call.index + 1:>4}  {call.name}{ending}  {_describe_call(call)}"
    return _to_printable_line(line.rstrip())


def _format_latency_lines(transcript: Transcript, *, changes: bool) -> Iterator[str]:
    yield translate("latency {seconds}", seconds=_format_seconds(transcript.latency_s))
    if changes:
        yield translate("! marks an attempt to change something")


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _format_tokens(tokens: Tokens) -> str:
    output = _format_optional_number(tokens.output)
    if tokens.output_is_lower_bound:
        output = translate("at least {n}", n=output)
    line = translate(
        "tokens: input {input}, cache read {read}, cache write {write}, output {output}",
        input=_format_optional_number(tokens.input_uncached),
        read=_format_optional_number(tokens.cache_read),
        write=_format_optional_number(tokens.cache_write),
        output=output,
    )
    return f"{line} ({translate('with sub-agents')})" if tokens.with_subagents else line


def _format_optional_number(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def _format_seconds(value: Decimal | None) -> str:
    return _UNKNOWN if value is None else f"{float(value):,.1f} s"


def _format_clock(value: datetime | None) -> str:
    return "   –    " if value is None else value.strftime("%H:%M:%S")


def _to_printable_line(text: str) -> str:
    """Replace control characters: a log must not move the cursor or colour the terminal."""
    return "".join(c if c.isprintable() else " " for c in text)

"""`Draft`: collects what a reader meets in a log, then builds the frozen `Transcript`.

A reader calls the `add_…` methods in the order of the log. The draft pairs results with calls,
finds the final text, computes latencies, and notes the gaps that make a transcript incomplete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from markscheme.read.json_fields import JsonObject, clean_text, compute_seconds, parse_count
from markscheme.read.tools import (
    CallDetails,
    extract_call_details,
    find_mutation,
    find_unreadable_code,
)
from markscheme.read.transcripts.containers import find_call_containers
from markscheme.read.transcripts.text_commands import find_command_block, find_text_command
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

RESULT_WITHOUT_CALL = "a result belongs to no call"
RUN_STOPPED = "there is no result line, so the run was stopped"
PROMPT_UNANSWERED = "the last prompt has no answer"
NO_FINAL_TEXT = "there is no final text"
CALLS_AFTER_TEXT = "calls follow the last text, so it is no answer"
LOG_TRUNCATED = "the log is cut off"
# The name that readers give to a call without one: nobody knows what it did.
UNNAMED_TOOL = "?"
_MAX_KIND_LENGTH = 60
_MAX_SHOWN_KINDS = 4
_JSON_TYPE_NAMES = {dict: "object", list: "list", bool: "boolean", int: "number", float: "number"}


@dataclass(slots=True)
class DraftCall:
    """A call whose result may still follow in the log."""

    name: str
    id: str | None
    started: datetime | None
    details: CallDetails
    ended: datetime | None = None
    status: CallStatus | None = CallStatus.NONE
    has_result: bool = False

    def set_outcome(self, status: CallStatus | None) -> None:
        """Set the status of a call whose record holds its result; `NONE` means no result yet."""
        self.status = status
        self.has_result = status is not CallStatus.NONE


@dataclass(slots=True)
class DraftDispatch:
    """A dispatch whose sub-agent may still follow in the log.

    Its status is that of its call, unless `has_own_status` is set: a background agent goes on after
    its call has returned.
    """

    kind: str | None
    call: DraftCall | None
    prompt: str | None = None
    agent: str | None = None
    status: CallStatus | None = None
    has_own_status: bool = False


@dataclass(slots=True)
class DraftPrompt:
    """A prompt, the number of calls before it, and the end of the last text that answers it."""

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
        self.sample: str | None = None
        self.attempt: int | None = None
        self.internal = False
        self.calls: list[DraftCall] = []
        self.dispatches: list[DraftDispatch] = []
        self.prompts: list[DraftPrompt] = []
        self.children: list[Transcript] = []
        self.models: dict[str, None] = {}
        self.gaps: dict[str, None] = {}
        self.unknown_kinds: Counter[tuple[str, str]] = Counter()
        # Becomes a gap at the end of the log, unless the agent goes on after it.
        self.pending_gap: str | None = None
        self.usages: list[Tokens] = []
        # Set by readers of logs that state a total; otherwise the usages are summed.
        self.tokens: Tokens | None = None
        self.final_texts: list[str] = []
        self.final_at: datetime | None = None
        # Set by readers of logs that state the latency; otherwise it is computed from the prompts.
        self.latency: tuple[Decimal | None, Decimal | None] | None = None
        self._last_message: object = None
        # The last text of the agent, and the earlier ones after which somebody said something.
        self._last_text: str | None = None
        self._answered_texts: list[str] = []
        self._calls_at_final = 0
        self._open_calls: dict[str, list[DraftCall]] = {}
        self._call_ids: set[str] = set()

    def add_prompt(self, text: str | None, at: datetime | None = None) -> None:
        """Add what the agent was asked; `None` if the log does not show the text."""
        self.prompts.append(DraftPrompt(text, len(self.calls), at))

    def add_text(self, text: str, at: datetime | None = None, message: object = None) -> None:
        """Add text of the agent. Texts with the same `message` id are parts of one final text."""
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
        self, name: str, arguments: Any, *, id_: str | None = None, at: datetime | None = None
    ) -> DraftCall:
        """Add a tool call with its arguments; its result may come later."""
        self.pending_gap = None
        if name == UNNAMED_TOOL or name.endswith(f"__{UNNAMED_TOOL}"):
            self.add_unknown_kind("tool call", None)
        call = DraftCall(name, id_, at, extract_call_details(name, arguments))
        self.calls.append(call)
        if id_ is not None:
            self._open_calls.setdefault(id_, []).append(call)
            self._call_ids.add(id_)
        return call

    def add_result(
        self, id_: str | None, status: CallStatus | None, at: datetime | None = None
    ) -> DraftCall | None:
        """Pair a result with the nearest earlier call of that id that has none yet."""
        waiting = self._open_calls.get(id_) if id_ is not None else None
        if not waiting:
            return None
        call = waiting.pop()
        if not waiting:
            del self._open_calls[id_]  # type: ignore[arg-type]
        # A status that an earlier event has set is kept where this result states none.
        if status is not None or not call.has_result:
            call.status = status
        call.ended, call.has_result = at, True
        return call

    def check_result(self, id_: str | None) -> None:
        """Note a result whose call the log does not show; a result may come twice."""
        if id_ not in self._call_ids:
            self.add_gap(RESULT_WITHOUT_CALL)

    def add_dispatch(
        self, kind: str | None, call: DraftCall | None, prompt: str | None = None
    ) -> DraftDispatch:
        """Add an attempt to start a sub-agent."""
        dispatch = DraftDispatch(kind, call, prompt)
        self.dispatches.append(dispatch)
        return dispatch

    def add_model(self, name: Any) -> None:
        """Add the name of a model that answered."""
        if isinstance(name, str) and name:
            self.models[clean_text(name)] = None

    def add_usage(self, tokens: Tokens) -> None:
        """Add the tokens of one model call."""
        self.usages.append(tokens)

    def add_gap(self, reason: str) -> None:
        """Note why the transcript is not complete."""
        self.gaps[clean_text(reason)] = None

    def add_unknown_kind(self, what: str, kind: object) -> None:
        """Note a record, content block or tool call of a kind that the reader does not know.

        It may hide calls, so it makes the transcript incomplete. `what` names in the singular what
        was met ("record", "content block"); `kind` is the type that the log gives it.
        """
        shown = "(none)" if kind is None else str(kind)[:_MAX_KIND_LENGTH]
        printable = (c if c.isprintable() and c != "`" else "?" for c in clean_text(shown))
        self.unknown_kinds[what, "".join(printable)] += 1

    def iter_blocks(self, content: Any, what: str = "content block") -> Iterator[JsonObject]:
        """Yield the objects in the content of a message; what is neither object nor text is noted.

        A content that is text has no blocks.
        """
        blocks = content if isinstance(content, list) else [content]
        for block in blocks:
            if isinstance(block, dict) and blocks is content:
                yield block
            elif block is not None and not isinstance(block, str):
                self.add_unknown_kind(what, _JSON_TYPE_NAMES.get(type(block), "?"))

    def add_unread_calls(self, record: JsonObject, read: Collection[str] = ()) -> None:
        """Note the calls in a record that stand outside the fields which the reader reads.

        `read` also names the fields with the output of a tool, which may quote anything.
        """
        for name in find_call_containers(record, read):
            self.add_unknown_kind("tool container", name)

    def check_text_commands(self, role: str | None, text: str | None) -> None:
        """Note a command that stands in a text, for a program around the agent to run."""
        mark = find_text_command(role, text)
        if mark is not None:
            self.add_unknown_kind("text command", mark)
        if role == "user" and self._last_text is not None:
            self._answered_texts.append(self._last_text)
        if role in {"user", "assistant"}:
            self._last_text = text if role == "assistant" and mark is None else None

    def _add_command_blocks(self) -> None:
        """Note blocks of code in texts that are no answer, unless the agent has calls for them."""
        if not self.calls:
            for mark in filter(None, map(find_command_block, self._answered_texts)):
                self.add_unknown_kind("text command", mark)

    def iter_elements(self, value: Any, what: str) -> Iterator[JsonObject]:
        """Yield the objects of a list that may hold calls; everything else in it is a doubt.

        No list at all is no doubt. `what` names one element, as in `add_unknown_kind`.
        """
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, dict) and isinstance(value, list):
                yield element
            elif value is not None:
                self.add_unknown_kind(what, _JSON_TYPE_NAMES.get(type(element), "text"))

    def build_transcript(
        self, format_: str, *, skipped: int = 0, truncated: bool = False
    ) -> Transcript:
        """Build the transcript. `skipped` lines and a `truncated` log are gaps."""
        if truncated:
            self.add_gap(LOG_TRUNCATED)
        self._add_final_gaps(skipped)
        calls = tuple(self._build_call(index, call) for index, call in enumerate(self.calls))
        unread_code = tuple(filter(None, map(find_unreadable_code, calls)))
        latency, last_turn_latency = self.latency or self._compute_latencies()
        final_text = "\n".join(self.final_texts)
        return Transcript(
            format=format_,
            session=_clean_id(self.session),
            agent=clean_text(self.agent),
            final_text=clean_text(final_text) if final_text else None,
            calls=calls,
            dispatches=tuple(self._build_dispatches()),
            mutations=tuple(filter(None, map(find_mutation, calls))),
            prompts=tuple(
                Prompt(
                    text=None if prompt.text is None else clean_text(prompt.text),
                    before=prompt.before,
                    at=prompt.at,
                    latency_s=compute_seconds(prompt.at, prompt.answered_at),
                )
                for prompt in self.prompts
            ),
            latency_s=latency,
            last_turn_latency_s=last_turn_latency,
            tokens=self.tokens or sum_tokens(self.usages) or Tokens(),
            subagents=tuple(self.children),
            gaps=(*self.gaps, *unread_code),
            unread_code=unread_code,
            skipped_lines=skipped,
            kind=_clean_id(self.kind),
            internal=self.internal,
            models=tuple(self.models),
            sample=self.sample,
            attempt=self.attempt,
        )

    def _add_final_gaps(self, skipped: int) -> None:
        """Add the gaps that can only be seen at the end of the log."""
        if self.pending_gap is not None:
            self.add_gap(self.pending_gap)
        self._add_command_blocks()
        for gap in self._describe_unknown_kinds():
            self.add_gap(gap)
        if skipped:
            self.add_gap(f"{skipped} line{'' if skipped == 1 else 's'} could not be read")
        if not self.final_texts:
            self.add_gap(NO_FINAL_TEXT)
        elif self._calls_at_final < len(self.calls):
            self.add_gap(CALLS_AFTER_TEXT)
        if any(not call.has_result for call in self.calls):
            self.add_gap(NO_RESULT)
        if self.final_texts and self.prompts and not self.prompts[-1].has_reply:
            self.add_gap(PROMPT_UNANSWERED)

    def _describe_unknown_kinds(self) -> Iterator[str]:
        """Yield one sentence for each sort of thing, with its kinds, the most frequent first."""
        for what in dict.fromkeys(what for what, _ in self.unknown_kinds):
            kinds = Counter({k: n for (w, k), n in self.unknown_kinds.items() if w == what})
            total = kinds.total()
            things = f"{total} {what}{'' if total == 1 else 's'}"
            if len(kinds) == 1:
                yield f"{things} of the unknown kind `{next(iter(kinds))}`"
                continue
            shown = ", ".join(f"`{kind}`" for kind, _ in kinds.most_common(_MAX_SHOWN_KINDS))
            more = len(kinds) - _MAX_SHOWN_KINDS
            rest = f" and {more} more" if more > 0 else ""
            yield f"{things} of {len(kinds)} unknown kinds: {shown}{rest}"

    def _compute_latencies(self) -> tuple[Decimal | None, Decimal | None]:
        """Return the seconds to the final text from the first prompt, and from the last one."""
        if not self.prompts or not self.final_texts:
            return None, None
        first, last = self.prompts[0], self.prompts[-1]
        return compute_seconds(first.at, self.final_at), compute_seconds(last.at, last.answered_at)

    def _build_call(self, index: int, call: DraftCall) -> Call:
        return Call(
            index=index,
            name=clean_text(call.name),
            status=call.status,
            agent=clean_text(self.agent),
            id=_clean_id(call.id),
            started=call.started,
            seconds=compute_seconds(call.started, call.ended),
            paths=call.details.paths,
            command=call.details.command,
            arguments=call.details.arguments,
        )

    def _build_dispatches(self) -> Iterator[Dispatch]:
        indices = {id(call): index for index, call in enumerate(self.calls)}
        for dispatch in self.dispatches:
            call = dispatch.call
            yield Dispatch(
                kind=_clean_id(dispatch.kind),
                status=dispatch.status if dispatch.has_own_status or call is None else call.status,
                call=None if call is None else indices.get(id(call)),
                agent=_clean_id(dispatch.agent),
            )


def _clean_id(value: str | None) -> str | None:
    return None if value is None else clean_text(value)


def sum_tokens(parts: Iterable[Tokens]) -> Tokens | None:
    """Return the sum of the parts, field by field; a field that no part has stays unknown."""
    usages = list(parts)
    fields = {
        name: [value for usage in usages if (value := getattr(usage, name)) is not None]
        for name in ("input_uncached", "cache_read", "cache_write", "output", "reasoning")
    }
    if not any(fields.values()):
        return None
    totals: dict[str, Any] = {name: sum(of) if of else None for name, of in fields.items()}
    return Tokens(**totals, output_is_lower_bound=False)


def parse_inclusive_usage(
    input_: Any, cached: Any, output: Any, reasoning: Any = None, written: Any = None
) -> Tokens:
    """Return the tokens of a model call whose input includes the tokens of the cache."""
    total, read, write = parse_count(input_), parse_count(cached), parse_count(written)
    return Tokens(
        input_uncached=None if total is None else max(total - (read or 0) - (write or 0), 0),
        cache_read=read,
        cache_write=write,
        output=parse_count(output),
        reasoning=parse_count(reasoning),
    )

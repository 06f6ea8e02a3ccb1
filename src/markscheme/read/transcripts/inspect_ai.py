"""Inspect AI logs: `.json` as a whole, `.eval` as an archive with one member for each sample."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.draft import CUT_OFF, WENT_ON, Draft, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.values import (
    Object,
    count,
    joined,
    mapping,
    moment,
    objects,
    parsed,
    text,
)
from markscheme.transcript import MAIN, CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.archive import Archive
    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

NAME = "inspect"
_ATTACHMENT = "attachment://"
_SCORERS = frozenset({"scorer", "scorers"})


def recognises(log: Log) -> bool:
    """Say whether this is an evaluation's document or an archive of samples."""
    if log.is_archive:
        return any(name.startswith(("samples/", "_journal/")) for name in _archive(log).names)
    document = mapping(log.document)
    return isinstance(document.get("eval"), dict) and ("samples" in document or "plan" in document)


def read(log: Log) -> list[Transcript]:
    """Read every sample."""
    if log.is_archive:
        return _read_archive(log)
    for _ in log.records():
        pass  # counts what could not be read
    document = mapping(log.document)
    gap = _status_gap(document)
    found = [_transcript(sample, gap, log) for sample in objects(document.get("samples"))]
    if not found:
        raise log.refusal("this log of Inspect holds no samples")
    return found


def _archive(log: Log) -> Archive:
    from markscheme.read.transcripts.archive import Archive  # noqa: PLC0415 - zipfile is heavy

    return Archive(log)


def _read_archive(log: Log) -> list[Transcript]:
    archive = _archive(log)
    header = mapping(parsed(archive.text("header.json")))
    gap = _status_gap(header) if header else "the run was not finished: there is no header"
    names = [n for n in archive.names if n.startswith("samples/") and n.endswith(".json")]
    found = []
    for name in names:
        sample = mapping(parsed(archive.text(name)))
        if sample:
            found.append(_transcript(sample, gap, log))
        else:
            log.skipped += 1
    if not found:
        raise log.refusal("this archive of Inspect holds no samples that can be read")
    return found


def _status_gap(header: Object) -> str | None:
    status = text(header.get("status"))
    return None if status in {None, "success"} else f"the status of the run is {status}"


def _transcript(sample: Object, gap: str | None, log: Log) -> Transcript:
    reading = Sample(sample)
    if gap is not None:
        reading.main.gap(gap)
    if log.cut:
        reading.main.gap(CUT_OFF)
    return reading.transcript(log.skipped)


class Sample:
    """One sample while it is read. Spans say which agent an event belongs to."""

    def __init__(self, sample: Object) -> None:
        self.main = Draft()
        self._sample = sample
        self._events = list(objects(sample.get("events")))
        self._spans = {
            text(e.get("id")) or "": e for e in self._events if e.get("event") == "span_begin"
        }
        self._drafts: dict[str, Draft] = {MAIN: self.main}
        self._parents: dict[str, str] = {}
        self._used: dict[str, list[Tokens]] = {}

    def transcript(self, skipped: int) -> Transcript:
        """Return the sample as the session of its agent."""
        self._ask()
        self._find_agents()
        for event in self._events:
            self._take(event)
        if not self.main.calls:
            self._take_messages()
        self._conclude()
        return self._finish(MAIN, skipped)

    def _ask(self) -> None:
        self.main.session = f"{self._sample.get('id')}/{self._sample.get('epoch')}"
        asked = self._sample.get("input")
        if isinstance(asked, list):
            users = [m for m in objects(asked) if text(m.get("role")) == "user"]
            asked = joined(users[-1].get("content")) if users else None
        self.main.prompt(self._resolved(text(asked)))

    def _above(self, span: Any) -> Iterator[Object]:
        """Yield the spans that a span is in, itself first; damaged ids may form a circle."""
        seen: set[str] = set()
        at = text(span)
        while at is not None and at in self._spans and at not in seen:
            seen.add(at)
            yield self._spans[at]
            at = text(self._spans[at].get("parent_id"))

    def _find_agents(self) -> None:
        """Make a draft for every agent that a call or another agent has started."""
        by_call = {
            text(event.get("agent_span_id")): text(event.get("agent"))
            for event in self._events
            if event.get("event") == "tool"
        }
        for id_, span in self._spans.items():
            if text(span.get("type")) != "agent":
                continue
            outer = [s for s in self._above(span.get("parent_id")) if s.get("type") == "agent"]
            if id_ in by_call or outer:
                kind = by_call.get(id_) or text(span.get("name"))
                self._drafts[id_] = Draft(id_, kind=kind)
        for id_ in self._drafts:
            if id_ != MAIN:
                self._parents[id_] = self._owner(self._spans[id_].get("parent_id"))
                if id_ not in by_call:
                    made = self._drafts[self._parents[id_]].dispatch(self._drafts[id_].kind, None)
                    made.agent, made.settled = id_, True

    def _owner(self, span: Any) -> str:
        for at in self._above(span):
            id_ = text(at.get("id"))
            if id_ in self._drafts and id_ is not None:
                return id_
        return MAIN

    def _take(self, event: Object) -> None:
        kind = text(event.get("event"))
        if kind == "tool":
            self._call(event)
        elif kind == "model":
            self._model(event)
        elif kind == "subtask" and text(event.get("type")) != "fork":
            self.main.dispatch(text(event.get("name")), None)

    def _call(self, event: Object) -> None:
        draft = self._drafts[self._owner(event.get("span_id"))]
        name = text(event.get("function")) or "?"
        at = moment(event.get("timestamp"))
        made = draft.call(name, event.get("arguments"), id_=text(event.get("id")), at=at)
        made.status, made.ended = _status(event), moment(event.get("completed"))
        made.answered = made.status is not CallStatus.NONE
        agent = text(event.get("agent"))
        if agent is not None or event.get("agent_span_id"):
            dispatch = draft.dispatch(agent, made)
            dispatch.agent = text(event.get("agent_span_id"))

    def _model(self, event: Object) -> None:
        if any(text(span.get("type")) in _SCORERS for span in self._above(event.get("span_id"))):
            self._used.setdefault("scorer", [])
            return
        owner = self._owner(event.get("span_id"))
        draft, output = self._drafts[owner], mapping(event.get("output"))
        draft.model(event.get("model"))
        usage = mapping(output.get("usage"))
        if usage and event.get("cache") != "read":
            self._used.setdefault(owner, []).append(tokens_of(usage))
        message = _message(output)
        said = self._resolved(joined(message.get("content")))
        if said is not None:
            draft.say(said, moment(event.get("completed")))

    def _take_messages(self) -> None:
        """Take the calls from the messages, where the log has no events for them."""
        for message in objects(self._sample.get("messages")):
            if text(message.get("role")) == "assistant":
                for call in objects(message.get("tool_calls")):
                    name = text(call.get("function")) or "?"
                    self.main.call(name, call.get("arguments"), id_=text(call.get("id")))
            elif text(message.get("role")) == "tool":
                self.main.result(text(message.get("tool_call_id")), _status(message))

    def _conclude(self) -> None:
        sample, main = self._sample, self.main
        message = _message(mapping(sample.get("output")))
        said = self._resolved(joined(message.get("content")))
        if said is not None:
            main.say(said, main.final_end)
            if message.get("tool_calls"):
                main.gap(WENT_ON)
        took = sample.get("total_time")
        wall = Decimal(str(took)) if isinstance(took, int | float) and 0 <= took < 10**9 else None
        main.latency = (wall, wall)
        error = mapping(sample.get("error"))
        if error:
            main.gap("the sample ended with an error")
        if sample.get("limit"):
            main.gap("the sample ran into a limit")
        if set(self._used) <= {MAIN}:
            usage = mapping(sample.get("model_usage")).values()
            whole = [tokens_of(mapping(found)) for found in usage]
            self._used[MAIN] = whole or self._used.get(MAIN, [])

    def _resolved(self, said: str | None) -> str | None:
        """Return a text, from the attachments where it was put there."""
        if said is None or not said.startswith(_ATTACHMENT):
            return said
        found = mapping(self._sample.get("attachments")).get(said.removeprefix(_ATTACHMENT))
        return text(found)

    def _finish(self, agent: str, skipped: int = 0) -> Transcript:
        draft = self._drafts[agent]
        draft.session = self.main.session
        draft.tokens = summed(self._used.get(agent, ()))
        draft.children = [
            self._finish(child) for child, parent in self._parents.items() if parent == agent
        ]
        return draft.finish(NAME, skipped=skipped)


def _message(output: Object) -> Object:
    first = next(objects(output.get("choices")), {})
    return mapping(first.get("message"))


def _status(told: Object) -> CallStatus:
    """Return how a call went: an error, an approver's refusal, or not ended."""
    error = mapping(told.get("error"))
    if error:
        return CallStatus.DENIED if text(error.get("type")) == "approval" else CallStatus.ERROR
    if told.get("pending") is True:
        return CallStatus.NONE
    return CallStatus.ERROR if told.get("failed") is True else CallStatus.OK


def tokens_of(usage: Object) -> Tokens:
    """Return one usage; whether the input includes the cache is shown by the total."""
    input_, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    read, write = (count(usage.get(f"input_tokens_cache_{side}")) for side in ("read", "write"))
    total, cached = count(usage.get("total_tokens")), (read or 0) + (write or 0)
    included = None not in {input_, output} and (input_ or 0) + (output or 0) == total
    if included and input_ is not None and cached <= input_:
        input_ -= cached
    return Tokens(
        input_uncached=input_,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=count(usage.get("reasoning_tokens")),
    )


FORMAT = Format(
    name=NAME,
    looks_for="a document with `eval` and `samples`, or an archive with `samples/`",
    recognises=recognises,
    read=read,
)

"""Inspect AI logs: `.json` as one document, `.eval` as a ZIP archive with one file per sample.

Each sample is one transcript. Spans state which agent an event belongs to. What the scorer did is
left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    parse_json_or_raw,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import CALLS_AFTER_TEXT, LOG_TRUNCATED, UNNAMED_TOOL, Draft
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens, Transcript

if TYPE_CHECKING:
    from markscheme.read.unpacking import ZipArchive

FORMAT_NAME = "inspect"
_ATTACHMENT_PREFIX = "attachment://"
_SCORER_SPANS = frozenset({"scorer", "scorers"})
# Events that hold no call of an agent. What a tool does in its sandbox is a part of its call.
_EVENTS_WITHOUT_CALLS = split_words(
    "anchor approval branch checkpoint compaction error info input interrupt logger sample_init "
    "sample_limit sandbox score score_edit span_begin span_end state step store"
)
_BLOCKS_WITHOUT_CALLS = split_words("text reasoning image audio video document data")
_ROLES = frozenset({"system", "user", "assistant", "tool"})
# The fields of a sample that are read, or hold no calls of an agent. What a task keeps in `store`
# and `metadata` is its own, and `events_data` and `timelines` refer to the events.
_SAMPLE_FIELDS = split_words(
    "events messages output input attachments store metadata scores model_usage role_usage "
    "events_data timelines error error_retries limit sandbox target choices files "
    "model_fallbacks invalidation message_pool transcript"
)
_MESSAGE_FIELDS = ("content", "tool_calls", "metadata")


def can_read_log(log: Log) -> bool:
    """Return whether the log is the document of an evaluation, or an archive of samples."""
    if log.is_archive:
        with _open_archive(log) as archive:
            return any(name.startswith(("samples/", "_journal/")) for name in archive.names)
    document = to_object(log.document)
    return isinstance(document.get("eval"), dict) and ("samples" in document or "plan" in document)


def read_log(log: Log) -> list[Transcript]:
    """Read every sample."""
    if log.is_archive:
        return _read_archive(log)
    # `log.document` holds the content; this pass sets `log.skipped` and `log.truncated`.
    for _ in log.iter_records():
        pass
    document = to_object(log.document)
    gap = _describe_status_gap(document)
    transcripts = [
        _build_sample_transcript(sample, gap, log)
        for sample in iter_objects(document.get("samples"))
    ]
    if not transcripts:
        raise log.build_error("this log of Inspect holds no samples")
    return transcripts


def _read_archive(log: Log) -> list[Transcript]:
    with _open_archive(log) as archive:
        transcripts = _read_samples(archive, log)
    if not transcripts:
        raise log.build_error("this archive of Inspect holds no samples that can be read")
    return transcripts


def _open_archive(log: Log) -> ZipArchive:
    # Few logs are archives, and the modules for them take time to load.
    from markscheme.read.unpacking import ZipArchive

    return ZipArchive(log.path, log.build_error)


def _read_samples(archive: ZipArchive, log: Log) -> list[Transcript]:
    header = to_object(parse_json(archive.read_text("header.json")))
    gap = _describe_status_gap(header) if header else "the run was not finished: there is no header"
    names = [n for n in archive.names if n.startswith("samples/") and n.endswith(".json")]
    transcripts = []
    for name in names:
        sample = to_object(parse_json(archive.read_text(name)))
        if sample:
            transcripts.append(_build_sample_transcript(sample, gap, log))
        else:
            log.skipped += 1
    return transcripts


def _describe_status_gap(header: JsonObject) -> str | None:
    status = to_text(header.get("status"))
    return None if status in {None, "success"} else f"the status of the run is {status}"


def _build_sample_transcript(sample: JsonObject, gap: str | None, log: Log) -> Transcript:
    reading = InspectSample(sample)
    if gap is not None:
        reading.main.add_gap(gap)
    if log.truncated:
        reading.main.add_gap(LOG_TRUNCATED)
    return reading.build_transcript(log.skipped)


class InspectSample:
    """One sample while it is read, with a draft for each of its agents."""

    def __init__(self, sample: JsonObject) -> None:
        self.main = Draft()
        self._sample = sample
        # The first versions wrote the events into `transcript`.
        events = sample.get("events", to_object(sample.get("transcript")).get("events"))
        self._events = list(self.main.iter_blocks(events, "event"))
        self._spans = {
            to_text(e.get("id")) or "": e for e in self._events if e.get("event") == "span_begin"
        }
        self._drafts: dict[str, Draft] = {MAIN_AGENT: self.main}
        self._parents: dict[str, str] = {}
        self._has_scorer_calls = False
        # The calls that messages state, by id or name; each has an event of its own.
        self._stated_calls: dict[str, str] = {}
        self._server_calls: set[str] = set()

    def build_transcript(self, skipped: int) -> Transcript:
        """Return the sample as one session."""
        self._add_input_prompt()
        self._find_agents()
        for event in self._events:
            self._add_event(event)
        if not self.main.calls:
            self._add_messages()
        self._check_messages()
        self._add_outcome()
        return self._finish_agent(MAIN_AGENT, skipped)

    def _add_input_prompt(self) -> None:
        sample, epoch = self._sample.get("id"), self._sample.get("epoch")
        self.main.session = f"{sample}/{epoch}"
        self.main.sample = str(sample) if type(sample) in {str, int} else None
        self.main.attempt = parse_count(epoch)
        prompt = self._sample.get("input")
        if isinstance(prompt, list):
            users = [m for m in iter_objects(prompt) if to_text(m.get("role")) == "user"]
            prompt = join_text(users[-1].get("content")) if users else None
        self.main.add_prompt(self._resolve_attachment(to_text(prompt)))

    def _iter_ancestors(self, span: Any) -> Iterator[JsonObject]:
        """Yield a span, then those around it, the nearest first; damaged ids may form a loop."""
        seen: set[str] = set()
        id_ = to_text(span)
        while id_ is not None and id_ in self._spans and id_ not in seen:
            seen.add(id_)
            yield self._spans[id_]
            id_ = to_text(self._spans[id_].get("parent_id"))

    def _find_agents(self) -> None:
        """Create a draft for each agent that a call or another agent has started."""
        by_call = {
            to_text(event.get("agent_span_id")): to_text(event.get("agent"))
            for event in self._events
            if event.get("event") == "tool"
        }
        for id_, span in self._spans.items():
            if to_text(span.get("type")) != "agent":
                continue
            outer = [
                s for s in self._iter_ancestors(span.get("parent_id")) if s.get("type") == "agent"
            ]
            if id_ in by_call or outer:
                kind = by_call.get(id_) or to_text(span.get("name"))
                self._drafts[id_] = Draft(id_, kind=kind)
        for id_ in self._drafts:
            if id_ != MAIN_AGENT:
                self._parents[id_] = self._find_owner(self._spans[id_].get("parent_id"))
                if id_ not in by_call:
                    parent = self._drafts[self._parents[id_]]
                    dispatch = parent.add_dispatch(self._drafts[id_].kind, None)
                    dispatch.agent, dispatch.has_own_status = id_, True

    def _find_owner(self, span: Any) -> str:
        """Return the id of the agent whose span a span is in."""
        for ancestor in self._iter_ancestors(span):
            id_ = to_text(ancestor.get("id"))
            if id_ in self._drafts and id_ is not None:
                return id_
        return MAIN_AGENT

    def _add_event(self, event: JsonObject) -> None:
        kind = to_text(event.get("event"))
        if kind == "tool":
            self._add_call(event)
        elif kind == "model":
            self._add_model_event(event)
        elif kind == "subtask":
            if to_text(event.get("type")) != "fork":
                self.main.add_dispatch(to_text(event.get("name")), None)
        elif kind not in _EVENTS_WITHOUT_CALLS:
            self.main.add_unknown_kind("event", event.get("event"))
        # Old logs keep the events inside a call or subtask with it, where nothing reads them.
        if any(inner.get("event") == "tool" for inner in iter_objects(event.get("events"))):
            self.main.add_unknown_kind("tool container", "events")

    def _add_call(self, event: JsonObject) -> None:
        draft = self._drafts[self._find_owner(event.get("span_id"))]
        name = to_text(event.get("function")) or UNNAMED_TOOL
        at = parse_timestamp(event.get("timestamp"))
        call = draft.add_call(name, event.get("arguments"), id_=to_text(event.get("id")), at=at)
        call.set_outcome(_parse_call_status(event))
        call.ended = parse_timestamp(event.get("completed"))
        agent = to_text(event.get("agent"))
        if agent is not None or event.get("agent_span_id"):
            dispatch = draft.add_dispatch(agent, call)
            dispatch.agent = to_text(event.get("agent_span_id"))

    def _add_model_event(self, event: JsonObject) -> None:
        if any(
            to_text(span.get("type")) in _SCORER_SPANS
            for span in self._iter_ancestors(event.get("span_id"))
        ):
            self._has_scorer_calls = True
            return
        draft = self._drafts[self._find_owner(event.get("span_id"))]
        output = to_object(event.get("output"))
        draft.add_model(event.get("model"))
        usage = to_object(output.get("usage"))
        if usage and event.get("cache") != "read":
            draft.add_usage(_parse_usage(usage))
        message = _get_first_message(output)
        self._add_stated_calls(draft, message)
        text = self._resolve_attachment(join_text(message.get("content")))
        if text is not None:
            draft.add_text(text, parse_timestamp(event.get("completed")))

    def _add_stated_calls(self, draft: Draft, message: JsonObject) -> None:
        """Add the calls that a server carried out; keep the others, which have events."""
        for call in draft.iter_blocks(message.get("tool_calls"), "tool call"):
            name = to_text(call.get("function")) or UNNAMED_TOOL
            self._stated_calls[to_text(call.get("id")) or name] = name
        for block in draft.iter_blocks(message.get("content")):
            kind = to_text(block.get("type"))
            if kind == "tool_use":
                self._add_server_call(draft, block)
            elif kind not in _BLOCKS_WITHOUT_CALLS:
                draft.add_unknown_kind("content block", block.get("type"))
            else:
                draft.add_unread_calls(block, ("data", "internal"))

    def _add_server_call(self, draft: Draft, block: JsonObject) -> None:
        id_, name = to_text(block.get("id")), to_text(block.get("name")) or UNNAMED_TOOL
        if id_ is not None and id_ in self._server_calls:
            return
        self._server_calls.add(id_ or "")
        if block.get("tool_type") == "mcp_call":
            name = f"mcp__{to_text(block.get('context')) or UNNAMED_TOOL}__{name}"
        call = draft.add_call(name, parse_json_or_raw(block.get("arguments")), id_=id_)
        call.set_outcome(CallStatus.ERROR if block.get("error") else CallStatus.OK)

    def _check_messages(self) -> None:
        """Note what the messages hold and the events do not."""
        sample, main = self._sample, self.main
        main.add_unread_calls(sample, _SAMPLE_FIELDS)
        given = [(m.get("role"), m.get("content")) for m in iter_objects(sample.get("input"))]
        for number, message in enumerate(main.iter_blocks(sample.get("messages"), "message")):
            # The task may begin with messages that somebody else wrote.
            said = message.get("role"), message.get("content")
            if number < len(given) and said == given[number]:
                continue
            role = to_text(message.get("role"))
            if role not in _ROLES:
                main.add_unknown_kind("message", message.get("role"))
            if role != "tool":
                main.add_unread_calls(message, _MESSAGE_FIELDS)
                self._add_stated_calls(main, message)
        calls = [call for draft in self._drafts.values() for call in draft.calls]
        known = {call.id for call in calls} | {call.name for call in calls if call.id is None}
        for id_ in self._stated_calls.keys() - known:
            main.add_unknown_kind("tool call without an event", self._stated_calls[id_])

    def _add_messages(self) -> None:
        """Add the calls from the messages, for logs that have no events for them."""
        for message in iter_objects(self._sample.get("messages")):
            if to_text(message.get("role")) == "assistant":
                for call in iter_objects(message.get("tool_calls")):
                    name = to_text(call.get("function")) or UNNAMED_TOOL
                    self.main.add_call(name, call.get("arguments"), id_=to_text(call.get("id")))
            elif to_text(message.get("role")) == "tool":
                id_ = to_text(message.get("tool_call_id"))
                self.main.add_result(id_, _parse_call_status(message))
                self.main.check_result(id_)

    def _add_outcome(self) -> None:
        """Add the answer, the latency, the gaps and the tokens that the sample itself states."""
        sample, main = self._sample, self.main
        message = _get_first_message(to_object(sample.get("output")))
        text = self._resolve_attachment(join_text(message.get("content")))
        if text is not None:
            main.add_text(text, main.final_at)
            if message.get("tool_calls"):
                main.add_gap(CALLS_AFTER_TEXT)
        total = sample.get("total_time")
        total = None if isinstance(total, bool) else total
        is_duration = isinstance(total, int | float) and 0 <= total < 10**9
        latency = Decimal(str(total)) if is_duration else None
        main.latency = (latency, latency)
        if to_object(sample.get("error")):
            main.add_gap("the sample ended with an error")
        if sample.get("limit"):
            main.add_gap("the sample ran into a limit")
        # The sample's own sum is exact, but covers all agents and the scorer: use it if the main
        # agent is the only one that called a model.
        others = (draft for id_, draft in self._drafts.items() if id_ != MAIN_AGENT)
        if not self._has_scorer_calls and not any(draft.usages for draft in others):
            model_usage = to_object(sample.get("model_usage")).values()
            totals = [_parse_usage(to_object(usage)) for usage in model_usage]
            main.usages = totals or main.usages

    def _resolve_attachment(self, text: str | None) -> str | None:
        """Return a text, or the attachment that it refers to."""
        if text is None or not text.startswith(_ATTACHMENT_PREFIX):
            return text
        attachments = to_object(self._sample.get("attachments"))
        return to_text(attachments.get(text.removeprefix(_ATTACHMENT_PREFIX)))

    def _finish_agent(self, agent: str, skipped: int = 0) -> Transcript:
        draft = self._drafts[agent]
        draft.session = self.main.session
        draft.children = [
            self._finish_agent(child) for child, parent in self._parents.items() if parent == agent
        ]
        return draft.build_transcript(FORMAT_NAME, skipped=skipped)


def _get_first_message(output: JsonObject) -> JsonObject:
    first = next(iter_objects(output.get("choices")), {})
    return to_object(first.get("message"))


def _parse_call_status(record: JsonObject) -> CallStatus:
    """Return the status of a call, from its event or from the message with its result."""
    error = to_object(record.get("error"))
    if error:
        return CallStatus.DENIED if to_text(error.get("type")) == "approval" else CallStatus.ERROR
    if record.get("pending") is True:
        return CallStatus.NONE
    return CallStatus.ERROR if record.get("failed") is True else CallStatus.OK


def _parse_usage(usage: JsonObject) -> Tokens:
    """Return one usage. The total shows whether the input includes cached tokens."""
    input_, output = parse_count(usage.get("input_tokens")), parse_count(usage.get("output_tokens"))
    read, write = (
        parse_count(usage.get(f"input_tokens_cache_{side}")) for side in ("read", "write")
    )
    total, cached = parse_count(usage.get("total_tokens")), (read or 0) + (write or 0)
    included = None not in {input_, output} and (input_ or 0) + (output or 0) == total
    if included and input_ is not None and cached <= input_:
        input_ -= cached
    return Tokens(
        input_uncached=input_,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=parse_count(usage.get("reasoning_tokens")),
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="a document with `eval` and `samples`, or an archive with `samples/`",
    can_read_log=can_read_log,
    read_log=read_log,
)

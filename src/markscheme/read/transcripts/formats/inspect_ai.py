"""ZIP archives, also with members packed by zstandard, which Python before 3.14 cannot unpack.

Inspect AI logs: `.json` as a whole, `.eval` as an archive with one member for each sample.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import CALLS_AFTER_TEXT, LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.format import LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.log import Log
    from markscheme.vocabulary import Transcript

_ZSTANDARD_METHOD = 93
_LOCAL_HEADER_BYTES = 30
_MAX_MEMBER_BYTES = 2**31


class ZipArchive:
    """The members of an archive, by name."""

    def __init__(self, log: Log) -> None:
        self._log = log
        try:
            with zipfile.ZipFile(log.path) as found:
                self._members = {member.filename: member for member in found.infolist()}
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise log.build_error(f"cannot be read as an archive: {error}") from None

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return list(self._members)

    def read_text(self, name: str) -> str | None:
        """Return a member as text; nothing where it is not there or damaged."""
        member = self._members.get(name)
        if member is None or member.file_size > _MAX_MEMBER_BYTES:
            return None
        try:
            raw = (
                self._read_zstandard_member(member)
                if member.compress_type == _ZSTANDARD_METHOD
                else self._read_member(member)
            )
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, struct.error):
            return None
        except (NotImplementedError, RuntimeError):  # a packing or an encryption nobody can undo
            return None
        return None if raw is None else raw.decode("utf-8", "replace")

    def _read_member(self, member: zipfile.ZipInfo) -> bytes:
        with zipfile.ZipFile(self._log.path) as found:
            return found.read(member)

    def _read_zstandard_member(self, member: zipfile.ZipInfo) -> bytes | None:
        from zstandard import ZstdDecompressor, ZstdError

        with self._log.path.open("rb") as file:
            file.seek(member.header_offset)
            head = file.read(_LOCAL_HEADER_BYTES)
            name, extra = struct.unpack("<HH", head[26:30])
            file.seek(member.header_offset + _LOCAL_HEADER_BYTES + name + extra)
            packed = file.read(member.compress_size)
        try:
            return ZstdDecompressor().decompress(packed, max_output_size=member.file_size or 1)
        except ZstdError:
            return None


FORMAT_NAME = "inspect"
_ATTACHMENT_PREFIX = "attachment://"
_SCORER_SPANS = frozenset({"scorer", "scorers"})


def can_read_log(log: Log) -> bool:
    """Say whether this is an evaluation's document or an archive of samples."""
    if log.is_archive:
        return any(name.startswith(("samples/", "_journal/")) for name in _open_archive(log).names)
    document = to_object(log.document)
    return isinstance(document.get("eval"), dict) and ("samples" in document or "plan" in document)


def read_log(log: Log) -> list[Transcript]:
    """Read every sample."""
    if log.is_archive:
        return _read_archive(log)
    for _ in log.iter_records():
        pass  # counts what could not be read
    document = to_object(log.document)
    gap = _describe_status_gap(document)
    found = [
        _build_sample_transcript(sample, gap, log)
        for sample in iter_objects(document.get("samples"))
    ]
    if not found:
        raise log.build_error("this log of Inspect holds no samples")
    return found


def _open_archive(log: Log) -> ZipArchive:

    return ZipArchive(log)


def _read_archive(log: Log) -> list[Transcript]:
    archive = _open_archive(log)
    header = to_object(parse_json(archive.read_text("header.json")))
    gap = _describe_status_gap(header) if header else "the run was not finished: there is no header"
    names = [n for n in archive.names if n.startswith("samples/") and n.endswith(".json")]
    found = []
    for name in names:
        sample = to_object(parse_json(archive.read_text(name)))
        if sample:
            found.append(_build_sample_transcript(sample, gap, log))
        else:
            log.skipped += 1
    if not found:
        raise log.build_error("this archive of Inspect holds no samples that can be read")
    return found


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
    """One sample while it is read. Spans say which agent an event belongs to."""

    def __init__(self, sample: JsonObject) -> None:
        self.main = Draft()
        self._sample = sample
        self._events = list(iter_objects(sample.get("events")))
        self._spans = {
            to_text(e.get("id")) or "": e for e in self._events if e.get("event") == "span_begin"
        }
        self._drafts: dict[str, Draft] = {MAIN_AGENT: self.main}
        self._parents: dict[str, str] = {}
        self._usages: dict[str, list[Tokens]] = {}

    def build_transcript(self, skipped: int) -> Transcript:
        """Return the sample as the session of its agent."""
        self._add_input_prompt()
        self._find_agents()
        for event in self._events:
            self._add_event(event)
        if not self.main.calls:
            self._add_messages()
        self._add_outcome()
        return self._finish_agent(MAIN_AGENT, skipped)

    def _add_input_prompt(self) -> None:
        self.main.session = f"{self._sample.get('id')}/{self._sample.get('epoch')}"
        asked = self._sample.get("input")
        if isinstance(asked, list):
            users = [m for m in iter_objects(asked) if to_text(m.get("role")) == "user"]
            asked = join_text(users[-1].get("content")) if users else None
        self.main.add_prompt(self._resolve_attachment(to_text(asked)))

    def _iter_ancestors(self, span: Any) -> Iterator[JsonObject]:
        """Yield the spans that a span is in, itself first; damaged ids may form a circle."""
        seen: set[str] = set()
        at = to_text(span)
        while at is not None and at in self._spans and at not in seen:
            seen.add(at)
            yield self._spans[at]
            at = to_text(self._spans[at].get("parent_id"))

    def _find_agents(self) -> None:
        """Make a draft for every agent that a call or another agent has started."""
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
                    made = self._drafts[self._parents[id_]].add_dispatch(
                        self._drafts[id_].kind, None
                    )
                    made.agent, made.has_own_status = id_, True

    def _find_owner(self, span: Any) -> str:
        for at in self._iter_ancestors(span):
            id_ = to_text(at.get("id"))
            if id_ in self._drafts and id_ is not None:
                return id_
        return MAIN_AGENT

    def _add_event(self, event: JsonObject) -> None:
        kind = to_text(event.get("event"))
        if kind == "tool":
            self._add_call(event)
        elif kind == "model":
            self._add_model_event(event)
        elif kind == "subtask" and to_text(event.get("type")) != "fork":
            self.main.add_dispatch(to_text(event.get("name")), None)

    def _add_call(self, event: JsonObject) -> None:
        draft = self._drafts[self._find_owner(event.get("span_id"))]
        name = to_text(event.get("function")) or "?"
        at = parse_timestamp(event.get("timestamp"))
        made = draft.add_call(name, event.get("arguments"), id_=to_text(event.get("id")), at=at)
        made.status, made.ended = _parse_call_status(event), parse_timestamp(event.get("completed"))
        made.has_result = made.status is not CallStatus.NONE
        agent = to_text(event.get("agent"))
        if agent is not None or event.get("agent_span_id"):
            dispatch = draft.add_dispatch(agent, made)
            dispatch.agent = to_text(event.get("agent_span_id"))

    def _add_model_event(self, event: JsonObject) -> None:
        if any(
            to_text(span.get("type")) in _SCORER_SPANS
            for span in self._iter_ancestors(event.get("span_id"))
        ):
            self._usages.setdefault("scorer", [])
            return
        owner = self._find_owner(event.get("span_id"))
        draft, output = self._drafts[owner], to_object(event.get("output"))
        draft.add_model(event.get("model"))
        usage = to_object(output.get("usage"))
        if usage and event.get("cache") != "read":
            self._usages.setdefault(owner, []).append(parse_inspect_usage(usage))
        message = _get_first_message(output)
        said = self._resolve_attachment(join_text(message.get("content")))
        if said is not None:
            draft.add_text(said, parse_timestamp(event.get("completed")))

    def _add_messages(self) -> None:
        """Take the calls from the messages, where the log has no events for them."""
        for message in iter_objects(self._sample.get("messages")):
            if to_text(message.get("role")) == "assistant":
                for call in iter_objects(message.get("tool_calls")):
                    name = to_text(call.get("function")) or "?"
                    self.main.add_call(name, call.get("arguments"), id_=to_text(call.get("id")))
            elif to_text(message.get("role")) == "tool":
                self.main.add_result(
                    to_text(message.get("tool_call_id")), _parse_call_status(message)
                )

    def _add_outcome(self) -> None:
        sample, main = self._sample, self.main
        message = _get_first_message(to_object(sample.get("output")))
        said = self._resolve_attachment(join_text(message.get("content")))
        if said is not None:
            main.add_text(said, main.final_at)
            if message.get("tool_calls"):
                main.add_gap(CALLS_AFTER_TEXT)
        took = sample.get("total_time")
        wall = Decimal(str(took)) if isinstance(took, int | float) and 0 <= took < 10**9 else None
        main.latency = (wall, wall)
        error = to_object(sample.get("error"))
        if error:
            main.add_gap("the sample ended with an error")
        if sample.get("limit"):
            main.add_gap("the sample ran into a limit")
        if set(self._usages) <= {MAIN_AGENT}:
            usage = to_object(sample.get("model_usage")).values()
            whole = [parse_inspect_usage(to_object(found)) for found in usage]
            self._usages[MAIN_AGENT] = whole or self._usages.get(MAIN_AGENT, [])

    def _resolve_attachment(self, said: str | None) -> str | None:
        """Return a text, from the attachments where it was put there."""
        if said is None or not said.startswith(_ATTACHMENT_PREFIX):
            return said
        found = to_object(self._sample.get("attachments")).get(
            said.removeprefix(_ATTACHMENT_PREFIX)
        )
        return to_text(found)

    def _finish_agent(self, agent: str, skipped: int = 0) -> Transcript:
        draft = self._drafts[agent]
        draft.session = self.main.session
        draft.tokens = sum_tokens(self._usages.get(agent, ()))
        draft.children = [
            self._finish_agent(child) for child, parent in self._parents.items() if parent == agent
        ]
        return draft.build_transcript(FORMAT_NAME, skipped=skipped)


def _get_first_message(output: JsonObject) -> JsonObject:
    first = next(iter_objects(output.get("choices")), {})
    return to_object(first.get("message"))


def _parse_call_status(told: JsonObject) -> CallStatus:
    """Return how a call went: an error, an approver's refusal, or not ended."""
    error = to_object(told.get("error"))
    if error:
        return CallStatus.DENIED if to_text(error.get("type")) == "approval" else CallStatus.ERROR
    if told.get("pending") is True:
        return CallStatus.NONE
    return CallStatus.ERROR if told.get("failed") is True else CallStatus.OK


def parse_inspect_usage(usage: JsonObject) -> Tokens:
    """Return one usage; whether the input includes the cache is shown by the total."""
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

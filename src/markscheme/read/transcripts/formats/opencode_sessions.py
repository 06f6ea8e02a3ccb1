"""The sessions of OpenCode with their messages and parts, as every format but `run` holds them.

The readers in `opencode` put them into an `OpencodeSessionIndex`, which builds the transcripts with
child sessions nested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from markscheme.read.json_fields import (
    JsonObject,
    parse_count,
    parse_epoch,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.tools import CallDetails, extract_call_details
from markscheme.read.transcripts.draft import UNNAMED_TOOL, Draft, DraftDispatch
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens, Transcript

if TYPE_CHECKING:
    import sqlite3

# Parts in which no call can stand. A patch lists what the calls of a step have changed.
_PARTS_WITHOUT_CALLS = split_words(
    "text reasoning file agent step-start step-finish snapshot patch retry compaction"
)
# The fields of a part that are read, or hold the output of a tool.
PART_FIELDS = ("state", "metadata", "source", "time", "tokens", "model")
_STATUSES = {
    "completed": CallStatus.OK,
    "error": CallStatus.ERROR,
    "pending": CallStatus.NONE,
    "running": CallStatus.NONE,
}
_ENDED_STATUSES = frozenset({"completed", "error"})
_DENIED_PREFIXES = ("The user rejected permission", "The user has specified a rule which prevents")
_MAX_DEPTH = 16


@dataclass(slots=True)
class OpencodeMessage:
    """A message with its parts by id, in the order in which they were met."""

    info: JsonObject = field(default_factory=dict)
    parts: dict[str, JsonObject] = field(default_factory=dict)


@dataclass(slots=True)
class OpencodeSession:
    """A session with its messages by id, in the order in which they were met."""

    id: str
    info: JsonObject = field(default_factory=dict)
    messages: dict[str, OpencodeMessage] = field(default_factory=dict)

    def get_message(self, id_: str) -> OpencodeMessage:
        """Return the message of this id; create it if it is new."""
        return self.messages.setdefault(id_, OpencodeMessage())


class OpencodeSessionIndex:
    """Every session of a source by id. A record replaces an earlier one of the same id."""

    def __init__(self) -> None:
        self._sessions: dict[str, OpencodeSession] = {}
        # Records and places of calls that are in no message: every session may lack something.
        self.unknown: list[str] = []
        # The calls that events of the next version tell of.
        self.next_calls: list[str] = []

    def iter_listed(self, value: Any, name: str) -> Iterator[JsonObject]:
        """Yield the objects in a list of messages or parts; note what else is there."""
        elements = value if isinstance(value, list) else [value] if value else []
        for element in elements:
            if isinstance(element, dict) and elements is value:
                yield element
            else:
                self.unknown.append(name)

    def add_other_messages(self, connection: sqlite3.Connection) -> None:
        """Note sessions whose messages are only in the table of the next version."""
        import sqlite3

        query = (
            "SELECT count(DISTINCT session_id) FROM session_message"
            " WHERE session_id NOT IN (SELECT session_id FROM message)"
        )
        try:
            (count,) = connection.execute(query).fetchone()
        except sqlite3.Error:
            return
        self.unknown.extend(["session_message"] * count)

    def get_session(self, id_: str) -> OpencodeSession:
        """Return the session of this id; create it if it is new."""
        return self._sessions.setdefault(id_, OpencodeSession(id_))

    def add_info(self, info: JsonObject) -> None:
        """Add the record of a session."""
        id_ = to_text(info.get("id"))
        if id_ is not None:
            self.get_session(id_).info = info

    def add_message(self, info: JsonObject, parts: list[JsonObject]) -> None:
        """Add a message with its parts."""
        session, id_ = to_text(info.get("sessionID")), to_text(info.get("id"))
        if session is None or id_ is None:
            self.unknown.append("message without an id")
            return
        message = self.get_session(session).get_message(id_)
        message.info = info
        for part in parts:
            message.parts[to_text(part.get("id")) or str(len(message.parts))] = _trim_part(part)

    def add_part(self, part: JsonObject) -> None:
        """Add the newest state of a part."""
        session, message = to_text(part.get("sessionID")), to_text(part.get("messageID"))
        if session is None or message is None:
            self.unknown.append("part without an id")
        else:
            parts = self.get_session(session).get_message(message).parts
            parts[to_text(part.get("id")) or str(len(parts))] = _trim_part(part)

    def append_delta(self, event: JsonObject) -> None:
        """Append to the text of a part."""
        session, message = to_text(event.get("sessionID")), to_text(event.get("messageID"))
        part, delta = to_text(event.get("partID")), to_text(event.get("delta"))
        if None in {session, message, part, delta} or event.get("field") != "text":
            return
        parts = self.get_session(str(session)).get_message(str(message)).parts
        if str(part) in parts:
            parts[str(part)]["text"] = f"{parts[str(part)].get('text') or ''}{delta}"

    def remove_entry(self, event: JsonObject) -> None:
        """Remove a message, or one part of it."""
        session = self._sessions.get(to_text(event.get("sessionID")) or "")
        message, part = to_text(event.get("messageID")), to_text(event.get("partID"))
        if session is None or message is None:
            return
        if part is None:
            session.messages.pop(message, None)
        elif message in session.messages:
            session.messages[message].parts.pop(part, None)

    def build_transcripts(
        self, format_: str, *, skipped: int = 0, truncated: bool = False
    ) -> list[Transcript]:
        """Return the sessions that no other has started, each with its child sessions nested."""
        children: dict[str, list[str]] = {}
        nested: set[str] = set()
        for session in self._sessions.values():
            for id_ in self._find_started_sessions(session):
                if id_ not in nested and id_ != session.id:
                    nested.add(id_)
                    children.setdefault(session.id, []).append(id_)
        with_messages = [s for s in self._sessions.values() if s.messages]
        # In a damaged source all sessions may be each other's children; then the first is taken.
        roots = [s for s in with_messages if s.id not in nested] or with_messages[:1]
        builder = _OpencodeTranscriptBuilder(self._sessions, children, format_)
        calls = {
            to_text(part.get("callID"))
            for session in with_messages
            for message in session.messages.values()
            for part in message.parts.values()
        }
        builder.unknown = self.unknown + [
            "session.next" for call in self.next_calls if call not in calls
        ]
        return [
            builder.build_transcript(root, skipped=skipped, truncated=truncated) for root in roots
        ]

    def _find_started_sessions(self, session: OpencodeSession) -> list[str]:
        """Return the ids of the child sessions: named by a call, or by the child itself."""
        named_by_call = [
            _get_tool_state(part).session
            for message in session.messages.values()
            for part in message.parts.values()
            if part.get("tool") == "task"
        ]
        naming_parent = [
            other.id
            for other in self._sessions.values()
            if other.info.get("parentID") == session.id
        ]
        ids = dict.fromkeys((*named_by_call, *naming_parent))
        return [id_ for id_ in ids if id_ is not None and id_ in self._sessions]


class OpencodeToolState(NamedTuple):
    """What is kept of the state of a call."""

    status: CallStatus
    details: CallDetails
    start: datetime | None
    end: datetime | None
    session: str | None

    @classmethod
    def from_part(cls, part: JsonObject, state: JsonObject) -> OpencodeToolState:
        """Return what is kept of a part's state; the output of the tool is not."""
        name, time = str(part.get("tool")), to_object(state.get("time"))
        return cls(
            status=_parse_call_status(name, state),
            details=extract_call_details(name, state.get("input")),
            start=parse_epoch(time.get("start"), "ms"),
            end=parse_epoch(time.get("end"), "ms"),
            session=to_text(to_object(state.get("metadata")).get("sessionId")),
        )


def _trim_part(part: JsonObject) -> JsonObject:
    """Drop the output of a call that has ended: it can be large, and nothing reads it."""
    state = part.get("state")
    if isinstance(state, dict) and to_text(state.get("status")) in _ENDED_STATUSES:
        kept = {key: part.get(key) for key in ("type", "tool", "callID")}
        return {**kept, "state": OpencodeToolState.from_part(part, state)}
    return part


def _get_tool_state(part: JsonObject) -> OpencodeToolState:
    state = part.get("state")
    if isinstance(state, OpencodeToolState):
        return state
    return OpencodeToolState.from_part(part, to_object(state))


class _OpencodeTranscriptBuilder:
    """Builds the transcript of a session, with its child sessions."""

    def __init__(
        self, sessions: dict[str, OpencodeSession], children: dict[str, list[str]], format_: str
    ) -> None:
        self._sessions = sessions
        self._children = children
        self._format = format_
        self._kinds: dict[str, str | None] = {}
        self.unknown: list[str] = []

    def build_transcript(
        self, session: OpencodeSession, *, skipped: int = 0, truncated: bool = False, depth: int = 0
    ) -> Transcript:
        draft = Draft(session.id if depth else MAIN_AGENT, kind=self._kinds.get(session.id))
        draft.session = session.id
        for kind in () if depth else self.unknown:
            draft.add_unknown_kind("record", kind)
        for id_, message in session.messages.items():
            if to_text(message.info.get("role")) == "user":
                _check_parts(draft, message, calls_known=False)
                _add_user_message(draft, message)
            else:
                if to_text(message.info.get("role")) not in {"assistant", None}:
                    draft.add_unknown_kind("message", message.info.get("role"))
                _check_parts(draft, message, calls_known=True)
                self._add_assistant_message(draft, id_, message)
                _add_usages(draft, message)
        if depth < _MAX_DEPTH:
            draft.children = [
                self.build_transcript(self._sessions[child], depth=depth + 1)
                for child in self._children.get(session.id, ())
            ]
        return draft.build_transcript(self._format, skipped=skipped, truncated=truncated)

    def _add_assistant_message(self, draft: Draft, id_: str, message: OpencodeMessage) -> None:
        info = message.info
        draft.add_model(info.get("modelID"))
        is_summary = info.get("summary") is True or info.get("agent") == "compaction"
        is_answer = to_text(info.get("role")) == "assistant" and not is_summary
        completed = parse_epoch(to_object(info.get("time")).get("completed"), "ms")
        for part in message.parts.values():
            kind = to_text(part.get("type"))
            if kind == "text" and is_answer and not part.get("ignored"):
                end = parse_epoch(to_object(part.get("time")).get("end"), "ms")
                draft.add_text(to_text(part.get("text")) or "", end or completed, id_)
            elif kind == "tool":
                dispatch = add_tool_call(draft, part)
                if dispatch is not None and dispatch.agent is not None:
                    self._kinds[dispatch.agent] = dispatch.kind
            elif kind == "subtask":
                draft.add_dispatch(to_text(part.get("agent")), None, to_text(part.get("prompt")))
        error = to_text(to_object(info.get("error")).get("name"))
        if error is not None:
            draft.pending_gap = f"the last message ended with {error}"
        if info and completed is None and "time" in info:
            draft.pending_gap = "the last message was not finished"


def _check_parts(draft: Draft, message: OpencodeMessage, *, calls_known: bool) -> None:
    """Note parts of unknown types, and calls in parts in which none can stand."""
    draft.add_unread_calls(message.info)
    for part in message.parts.values():
        kind = part.get("type")
        if kind == "subtask" or (kind == "tool" and calls_known):
            continue
        if isinstance(kind, str) and kind in _PARTS_WITHOUT_CALLS:
            draft.add_unread_calls(part, PART_FIELDS)
        else:
            draft.add_unknown_kind("part", kind)


def _add_user_message(draft: Draft, message: OpencodeMessage) -> None:
    """Add what the person wrote, without the parts that the client added."""
    parts = list(message.parts.values())
    if any(part.get("type") == "compaction" for part in parts):
        return
    for part in parts:
        if part.get("type") == "subtask":
            draft.add_dispatch(to_text(part.get("agent")), None, to_text(part.get("prompt")))
    texts = [
        to_text(part.get("text")) or ""
        for part in parts
        if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
    ]
    at = parse_epoch(to_object(message.info.get("time")).get("created"), "ms")
    draft.add_prompt("\n".join(texts) or None, at)


def add_tool_call(draft: Draft, part: JsonObject) -> DraftDispatch | None:
    """Add a call with its newest state; return its dispatch if it starts a sub-agent."""
    state, name = _get_tool_state(part), to_text(part.get("tool")) or UNNAMED_TOOL
    call = draft.add_call(name, state.details, id_=to_text(part.get("callID")), at=state.start)
    call.set_outcome(state.status)
    call.ended = state.end
    if name != "task":
        return None
    dispatch = draft.add_dispatch(call.details.arguments.get("subagent_type"), call)
    dispatch.agent = state.session
    return dispatch


def _parse_call_status(name: str, state: JsonObject) -> CallStatus:
    """Return the status of a call.

    OpenCode calls a command with a bad exit code `completed`, and the tool `invalid` too, which it
    calls in place of one that does not exist. Both are errors here.
    """
    status = _STATUSES.get(str(state.get("status")), CallStatus.NONE)
    if status is CallStatus.ERROR:
        denied = (to_text(state.get("error")) or "").startswith(_DENIED_PREFIXES)
        return CallStatus.DENIED if denied else status
    if status is CallStatus.OK:
        code = to_object(state.get("metadata")).get("exit")
        failed = name == "invalid" or (isinstance(code, int) and code != 0)
        return CallStatus.ERROR if failed else status
    return status


def _add_usages(draft: Draft, message: OpencodeMessage) -> None:
    """Add the usage of each step of a message, or that of the message if it has no steps."""
    steps = [
        to_object(part.get("tokens"))
        for part in message.parts.values()
        if part.get("type") == "step-finish"
    ]
    for step in filter(None, steps):
        draft.add_usage(parse_opencode_usage(step))
    if not steps:
        usage = parse_opencode_usage(to_object(message.info.get("tokens")))
        if any((usage.input_uncached, usage.output, usage.cache_read)):
            draft.add_usage(usage)


def parse_opencode_usage(tokens: JsonObject) -> Tokens:
    """Return one usage. Add reasoning to the output, unless the total shows that it is included."""
    cache = to_object(tokens.get("cache"))
    input_, output = parse_count(tokens.get("input")), parse_count(tokens.get("output"))
    reasoning = parse_count(tokens.get("reasoning"))
    read, write = parse_count(cache.get("read")), parse_count(cache.get("write"))
    sum_without_reasoning = sum(part or 0 for part in (input_, output, read, write))
    is_included = parse_count(tokens.get("total")) == sum_without_reasoning
    if output is not None and not is_included:
        output += reasoning or 0
    return Tokens(
        input_uncached=input_,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=reasoning,
    )

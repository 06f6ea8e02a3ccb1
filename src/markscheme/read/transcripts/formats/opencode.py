"""OpenCode: exports, storage folders, its SQLite database, recorded events, `run --format json`.

The first four hold the same sessions, messages and parts. Each reader puts them into an
`OpencodeSessionIndex`, which builds the transcripts with child sessions nested. The output of
`opencode run` holds finished parts only and is read by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_count,
    parse_epoch,
    parse_json,
    to_object,
    to_text,
)
from markscheme.read.tools import CallDetails, extract_call_details
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, DraftDispatch
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens, Transcript

if TYPE_CHECKING:
    import sqlite3

EXPORT_FORMAT = "opencode-export"
STORAGE_FORMAT = "opencode-storage"
DATABASE_FORMAT = "opencode-db"
EVENTS_FORMAT = "opencode-events"
RUN_FORMAT = "opencode-run"
_SESSION_TABLES = ("session", "message", "part")
_BUS_EVENT_PREFIXES = ("message.", "session.")
_RUN_EVENT_TYPES = frozenset(
    {"tool_use", "text", "step_start", "step_finish", "reasoning", "error"}
)
_STATUSES = {
    "completed": CallStatus.OK,
    "error": CallStatus.ERROR,
    "pending": CallStatus.NONE,
    "running": CallStatus.NONE,
}
_ENDED_STATUSES = frozenset({"completed", "error"})
_DENIED_PREFIXES = ("The user rejected permission", "The user has specified a rule which prevents")
_MAX_DEPTH = 16


# Exports: one document for each session.


def _is_export(log: Log) -> bool:
    document = to_object(log.document)
    return any("info" in m and "parts" in m for m in iter_objects(document.get("messages")))


def _read_export(log: Log) -> list[Transcript]:
    index = OpencodeSessionIndex()
    _add_export(index, log)
    return index.build_transcripts(EXPORT_FORMAT, skipped=log.skipped, truncated=log.truncated)


def _read_exports(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read the exports of a folder together: a sub-agent's session is an export of its own."""
    index = OpencodeSessionIndex()
    logs_by_session = {_add_export(index, log): log for log in logs}
    for transcript in index.build_transcripts(EXPORT_FORMAT):
        log = logs_by_session[transcript.session or ""]
        # A damaged export is read again by itself, so that only its own transcript has the gap.
        yield log, (_read_export(log)[0] if log.truncated or log.skipped else transcript)


def _add_export(index: OpencodeSessionIndex, log: Log) -> str:
    """Add one exported session to the index; return its id."""
    document = next(log.iter_records(), {})
    info = to_object(document.get("info"))
    id_ = to_text(info.get("id")) or log.path.stem
    index.add_info({**info, "id": id_})
    for message in iter_objects(document.get("messages")):
        message_info = {**to_object(message.get("info")), "sessionID": id_}
        index.add_message(message_info, list(iter_objects(message.get("parts"))))
    return id_


# Storage folders: one small file for each session, message and part.


def _is_storage(log: Log) -> bool:
    return (log.path / "message").is_dir() and (log.path / "part").is_dir()


def _read_storage(log: Log) -> list[Transcript]:
    index, skipped, folder = OpencodeSessionIndex(), 0, log.path
    for path in sorted((folder / "session").rglob("ses_*.json")):
        index.add_info(_read_json_file(path))
    for path in sorted((folder / "message").rglob("msg_*.json")):
        info = _read_json_file(path)
        skipped += not info
        index.add_message({"id": path.stem, "sessionID": path.parent.name, **info}, [])
    for path in sorted((folder / "part").rglob("prt_*.json")):
        part = _read_json_file(path)
        skipped += not part
        index.add_part({"id": path.stem, "messageID": path.parent.name, **part})
    return index.build_transcripts(STORAGE_FORMAT, skipped=skipped)


def _read_json_file(path: Path) -> JsonObject:
    try:
        return to_object(parse_json(path.read_text(encoding="utf-8-sig", errors="replace")))
    except OSError:
        return {}


# The database. `sqlite3` is imported only when a log is an SQLite file.


def _is_database(log: Log) -> bool:
    if not log.is_database:
        return False
    import sqlite3

    try:
        with closing(_connect_database(log.path)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return set(_SESSION_TABLES) <= {row[0] for row in rows}
    except sqlite3.Error:
        return False


def _read_database(log: Log) -> list[Transcript]:
    import sqlite3

    index = OpencodeSessionIndex()
    try:
        with closing(_connect_database(log.path)) as connection:
            for row in _iter_rows(connection, "session"):
                index.add_info({**row, "parentID": row.get("parent_id") or row.get("parentID")})
            for row in _iter_rows(connection, "message"):
                index.add_message({**row, "sessionID": row.get("session_id")}, [])
            for row in _iter_rows(connection, "part"):
                ids = {"sessionID": row.get("session_id"), "messageID": row.get("message_id")}
                index.add_part({**row, **ids})
    except sqlite3.Error as error:
        raise log.build_error(f"cannot be read as a database of OpenCode: {error}") from None
    return index.build_transcripts(DATABASE_FORMAT)


def _connect_database(path: Path) -> sqlite3.Connection:
    """Open a database read-only."""
    import sqlite3

    # With `immutable`, SQLite takes no lock and writes no file beside the database. It would miss
    # what stands only in the write-ahead log, so it is used only where that is missing or empty.
    wal = path.with_name(f"{path.name}-wal")
    has_no_wal = not wal.exists() or wal.stat().st_size == 0
    mode = "mode=ro&immutable=1" if has_no_wal else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def _iter_rows(connection: sqlite3.Connection, table: str) -> Iterator[JsonObject]:
    """Yield the rows of a table, each merged with the JSON in its `data` column."""
    for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):  # noqa: S608 - our own names
        columns: dict[str, Any] = dict(row)
        yield {**to_object(parse_json(columns.pop("data", None))), **columns}


# Recorded events of the server.


def _is_events(log: Log) -> bool:
    events = map(_unwrap_event, log.sample)
    return any(
        str(e.get("type")).startswith(_BUS_EVENT_PREFIXES) and "properties" in e for e in events
    )


def _read_events(log: Log) -> list[Transcript]:
    index = OpencodeSessionIndex()
    for record in log.iter_records():
        event = _unwrap_event(record)
        kind, properties = to_text(event.get("type")), to_object(event.get("properties"))
        if kind == "message.part.updated":
            index.add_part(to_object(properties.get("part")))
        elif kind == "message.part.delta":
            index.append_delta(properties)
        elif kind == "message.updated":
            index.add_message(to_object(properties.get("info")), [])
        elif kind in {"message.removed", "message.part.removed"}:
            index.remove_entry(properties)
        elif kind in {"session.created", "session.updated"}:
            index.add_info(to_object(properties.get("info")))
    return index.build_transcripts(EVENTS_FORMAT, skipped=log.skipped, truncated=log.truncated)


def _unwrap_event(record: JsonObject) -> JsonObject:
    """Return the event in a record: the record itself, or what it wraps."""
    if "properties" in record:
        return record
    for key in ("event", "payload"):
        inner = record.get(key)
        if isinstance(inner, dict) and "properties" in inner:
            return inner
    return record


# `opencode run --format json`: finished parts, with the time at which each was printed.


def _is_run(log: Log) -> bool:
    return any(to_text(r.get("type")) in _RUN_EVENT_TYPES and "sessionID" in r for r in log.sample)


def _read_run(log: Log) -> list[Transcript]:
    draft = Draft()
    # The prompt is not in the log, nor are the sessions of sub-agents.
    draft.add_prompt(None)
    finish_reason: str | None = None
    for record in log.iter_records():
        draft.session = to_text(record.get("sessionID")) or draft.session
        kind, part = to_text(record.get("type")), to_object(record.get("part"))
        if kind == "text":
            end = to_object(part.get("time")).get("end") or record.get("timestamp")
            text, message = to_text(part.get("text")) or "", to_text(part.get("messageID"))
            draft.add_text(text, parse_epoch(end, "ms"), message)
        elif kind == "tool_use":
            _add_tool_call(draft, part)
        elif kind == "step_finish":
            finish_reason = to_text(part.get("reason"))
            if to_object(part.get("tokens")):
                draft.add_usage(_parse_usage(to_object(part.get("tokens"))))
        elif kind == "error":
            draft.add_gap("the run ended with an error")
    if log.truncated:
        draft.add_gap(LOG_TRUNCATED)
    if finish_reason != "stop":
        draft.add_gap("the last step was not the end of an answer")
    return [draft.build_transcript(RUN_FORMAT, skipped=log.skipped)]


# Sessions, messages and parts, as the first four formats hold them.


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
            return
        message = self.get_session(session).get_message(id_)
        message.info = info
        for part in parts:
            message.parts[to_text(part.get("id")) or str(len(message.parts))] = _trim_part(part)

    def add_part(self, part: JsonObject) -> None:
        """Add the newest state of a part."""
        session, message = to_text(part.get("sessionID")), to_text(part.get("messageID"))
        if session is not None and message is not None:
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

    def build_transcript(
        self, session: OpencodeSession, *, skipped: int = 0, truncated: bool = False, depth: int = 0
    ) -> Transcript:
        draft = Draft(session.id if depth else MAIN_AGENT, kind=self._kinds.get(session.id))
        draft.session = session.id
        for id_, message in session.messages.items():
            if to_text(message.info.get("role")) == "user":
                _add_user_message(draft, message)
            else:
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
                dispatch = _add_tool_call(draft, part)
                if dispatch is not None and dispatch.agent is not None:
                    self._kinds[dispatch.agent] = dispatch.kind
            elif kind == "subtask":
                draft.add_dispatch(to_text(part.get("agent")), None, to_text(part.get("prompt")))
        error = to_text(to_object(info.get("error")).get("name"))
        if error is not None:
            draft.pending_gap = f"the last message ended with {error}"
        if info and completed is None and "time" in info:
            draft.pending_gap = "the last message was not finished"


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


def _add_tool_call(draft: Draft, part: JsonObject) -> DraftDispatch | None:
    """Add a call with its newest state; return its dispatch if it starts a sub-agent."""
    state, name = _get_tool_state(part), to_text(part.get("tool")) or "?"
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
        draft.add_usage(_parse_usage(step))
    if not steps:
        usage = _parse_usage(to_object(message.info.get("tokens")))
        if any((usage.input_uncached, usage.output, usage.cache_read)):
            draft.add_usage(usage)


def _parse_usage(tokens: JsonObject) -> Tokens:
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


FORMATS = (
    LogFormat(
        name=EXPORT_FORMAT,
        looks_for="a document with `info` and `messages`, each with `info` and `parts`",
        can_read_log=_is_export,
        read_log=_read_export,
        read_together=_read_exports,
    ),
    LogFormat(
        name=STORAGE_FORMAT,
        looks_for="a folder with the folders `message` and `part`",
        can_read_log=_is_storage,
        read_log=_read_storage,
    ),
    LogFormat(
        name=DATABASE_FORMAT,
        looks_for="an SQLite database with the tables session, message and part",
        can_read_log=_is_database,
        read_log=_read_database,
    ),
    LogFormat(
        name=EVENTS_FORMAT,
        looks_for="events with `type` message.updated or message.part.updated and `properties`",
        can_read_log=_is_events,
        read_log=_read_events,
    ),
    LogFormat(
        name=RUN_FORMAT,
        looks_for="lines with `type` tool_use, text or step_finish, `sessionID` and `part`",
        can_read_log=_is_run,
        read_log=_read_run,
    ),
)

"""OpenCode's messages and parts, whichever of its five shapes they come in, as transcripts.

The SQLite database in which OpenCode keeps its sessions.

OpenCode: exports, storage folders, the SQLite database, event streams, `run --format json`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
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
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.format import LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from markscheme.read.transcripts.draft import DraftDispatch
    from markscheme.read.transcripts.log import Log
    from markscheme.vocabulary import Transcript

_STATUSES = {
    "completed": CallStatus.OK,
    "error": CallStatus.ERROR,
    "pending": CallStatus.NONE,
    "running": CallStatus.NONE,
}
_DENIED_PREFIXES = ("The user rejected permission", "The user has specified a rule which prevents")
_MAX_DEPTH = 16
_ENDED_STATUSES = frozenset({"completed", "error"})


@dataclass(slots=True)
class OpencodeMessage:
    """A message with its parts, in the order in which they were met."""

    info: JsonObject = field(default_factory=dict)
    parts: dict[str, JsonObject] = field(default_factory=dict)


@dataclass(slots=True)
class OpencodeSession:
    """A session with its messages, in the order in which they were met."""

    id: str
    info: JsonObject = field(default_factory=dict)
    messages: dict[str, OpencodeMessage] = field(default_factory=dict)

    def get_message(self, id_: str) -> OpencodeMessage:
        """Return a message by its id; a new one where there is none."""
        found = self.messages.get(id_)
        if found is None:
            found = self.messages[id_] = OpencodeMessage()
        return found


class OpencodeSessionIndex:
    """Every session that a source holds, folded by id."""

    def __init__(self) -> None:
        self._sessions: dict[str, OpencodeSession] = {}

    def get_session(self, id_: str) -> OpencodeSession:
        """Return a session by its id; a new one where there is none."""
        found = self._sessions.get(id_)
        if found is None:
            found = self._sessions[id_] = OpencodeSession(id_)
        return found

    def add_info(self, info: JsonObject) -> None:
        """Take what is said of a session."""
        id_ = to_text(info.get("id"))
        if id_ is not None:
            self.get_session(id_).info = info

    def add_message(self, info: JsonObject, parts: list[JsonObject]) -> None:
        """Take a message with its parts."""
        session, id_ = to_text(info.get("sessionID")), to_text(info.get("id"))
        if session is None or id_ is None:
            return
        message = self.get_session(session).get_message(id_)
        message.info = info
        for part in parts:
            message.parts[to_text(part.get("id")) or str(len(message.parts))] = trim_part(part)

    def add_part(self, part: JsonObject) -> None:
        """Take the newest state of a part."""
        session, message = to_text(part.get("sessionID")), to_text(part.get("messageID"))
        if session is not None and message is not None:
            parts = self.get_session(session).get_message(message).parts
            parts[to_text(part.get("id")) or str(len(parts))] = trim_part(part)

    def append_delta(self, event: JsonObject) -> None:
        """Append to a field of a part."""
        session, message = to_text(event.get("sessionID")), to_text(event.get("messageID"))
        part, delta = to_text(event.get("partID")), to_text(event.get("delta"))
        if None in {session, message, part, delta} or event.get("field") != "text":
            return
        parts = self.get_session(str(session)).get_message(str(message)).parts
        if str(part) in parts:
            parts[str(part)]["text"] = f"{parts[str(part)].get('text') or ''}{delta}"

    def remove_entry(self, event: JsonObject) -> None:
        """Take away a message or a part."""
        session, message = to_text(event.get("sessionID")), to_text(event.get("messageID"))
        found = self._sessions.get(session or "")
        if found is None or message is None:
            return
        part = to_text(event.get("partID"))
        if part is None:
            found.messages.pop(message, None)
        elif message in found.messages:
            found.messages[message].parts.pop(part, None)

    def build_transcripts(
        self, format_: str, *, skipped: int = 0, truncated: bool = False
    ) -> list[Transcript]:
        """Return the sessions that no other has started, each with those that it started."""
        children: dict[str, list[str]] = {}
        started: set[str] = set()
        for session in self._sessions.values():
            for id_ in _find_started_sessions(session, self._sessions):
                if id_ not in started and id_ != session.id:
                    started.add(id_)
                    children.setdefault(session.id, []).append(id_)
        roots = [s for s in self._sessions.values() if s.id not in started and s.messages]
        roots = roots or [s for s in self._sessions.values() if s.messages][:1]
        build = _OpencodeTranscriptBuilder(self._sessions, children, format_)
        return [
            build.build_transcript(root, skipped=skipped, truncated=truncated) for root in roots
        ]


def trim_part(part: JsonObject) -> JsonObject:
    """Return a part; of a call that has ended, without its bulk."""
    state = part.get("state")
    if isinstance(state, dict) and to_text(state.get("status")) in _ENDED_STATUSES:
        kept = {key: part.get(key) for key in ("type", "tool", "callID")}
        return {**kept, "state": OpencodeToolState.from_part(part, state)}
    return part


class OpencodeToolState(NamedTuple):
    """What is kept of the state of a call."""

    status: CallStatus
    details: CallDetails
    start: datetime | None
    end: datetime | None
    session: str | None

    @classmethod
    def from_part(cls, part: JsonObject, state: JsonObject) -> OpencodeToolState:
        """Return what is kept, without what the tool put out."""
        name, time = str(part.get("tool")), to_object(state.get("time"))
        return cls(
            status=_parse_call_status(name, state),
            details=extract_call_details(name, state.get("input")),
            start=parse_epoch(time.get("start"), "ms"),
            end=parse_epoch(time.get("end"), "ms"),
            session=to_text(to_object(state.get("metadata")).get("sessionId")),
        )


def _get_tool_state(part: JsonObject) -> OpencodeToolState:
    state = part.get("state")
    return (
        state
        if isinstance(state, OpencodeToolState)
        else OpencodeToolState.from_part(part, to_object(state))
    )


def _find_started_sessions(
    session: OpencodeSession, known: dict[str, OpencodeSession]
) -> list[str]:
    """Return the ids of the sessions that this one started."""
    named = [
        _get_tool_state(part).session
        for message in session.messages.values()
        for part in message.parts.values()
        if part.get("tool") == "task"
    ]
    parents = [other.id for other in known.values() if other.info.get("parentID") == session.id]
    return [id_ for id_ in dict.fromkeys((*named, *parents)) if id_ is not None and id_ in known]


class _OpencodeTranscriptBuilder:
    """Makes transcripts of sessions."""

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
        used: list[Tokens] = []
        for id_, message in session.messages.items():
            if to_text(message.info.get("role")) == "user":
                _add_user_message(draft, message)
            else:
                self._add_assistant_message(draft, id_, message)
                used.extend(_collect_usages(message))
        draft.tokens = sum_tokens(used)
        if truncated:
            draft.add_gap(LOG_TRUNCATED)
        if depth < _MAX_DEPTH:
            draft.children = [
                self.build_transcript(self._sessions[child], depth=depth + 1)
                for child in self._children.get(session.id, ())
            ]
        return draft.build_transcript(self._format, skipped=skipped)

    def _add_assistant_message(self, draft: Draft, id_: str, message: OpencodeMessage) -> None:
        info = message.info
        draft.add_model(info.get("modelID"))
        summary = info.get("summary") is True or info.get("agent") == "compaction"
        spoken = to_text(info.get("role")) == "assistant" and not summary
        completed = parse_epoch(to_object(info.get("time")).get("completed"), "ms")
        for part in message.parts.values():
            kind = to_text(part.get("type"))
            if kind == "text" and spoken and not part.get("ignored"):
                end = parse_epoch(to_object(part.get("time")).get("end"), "ms")
                draft.add_text(to_text(part.get("text")) or "", end or completed, id_)
            elif kind == "tool":
                started = add_tool_call(draft, part)
                if started is not None and started.agent is not None:
                    self._kinds[started.agent] = started.kind
            elif kind == "subtask":
                draft.add_dispatch(to_text(part.get("agent")), None, to_text(part.get("prompt")))
        name = to_text(to_object(info.get("error")).get("name"))
        if name is not None:
            draft.pending_gap = f"the last message ended with {name}"
        if info and completed is None and "time" in info:
            draft.pending_gap = "the last message was not finished"


def add_tool_call(draft: Draft, part: JsonObject) -> DraftDispatch | None:
    """Take a call with its newest state; return the dispatch that it is, if it is one."""
    state, name = _get_tool_state(part), to_text(part.get("tool")) or "?"
    made = draft.add_call(name, state.details, id_=to_text(part.get("callID")), at=state.start)
    made.status, made.ended = state.status, state.end
    made.has_result = made.status is not CallStatus.NONE
    if name != "task":
        return None
    dispatch = draft.add_dispatch(made.details.arguments.get("subagent_type"), made)
    dispatch.agent = state.session
    return dispatch


def _add_user_message(draft: Draft, message: OpencodeMessage) -> None:
    """Take a user's message: what the person wrote, without what the client added."""
    parts = list(message.parts.values())
    if any(part.get("type") == "compaction" for part in parts):
        return
    for part in parts:
        if part.get("type") == "subtask":
            draft.add_dispatch(to_text(part.get("agent")), None, to_text(part.get("prompt")))
    written = [
        to_text(part.get("text")) or ""
        for part in parts
        if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
    ]
    at = parse_epoch(to_object(message.info.get("time")).get("created"), "ms")
    draft.add_prompt("\n".join(written) or None, at)


def _parse_call_status(name: str, state: JsonObject) -> CallStatus:
    """Return how a call went; a bad exit code and the tool `invalid` are completed to OpenCode."""
    status = _STATUSES.get(str(state.get("status")), CallStatus.NONE)
    if status is CallStatus.ERROR:
        denied = (to_text(state.get("error")) or "").startswith(_DENIED_PREFIXES)
        return CallStatus.DENIED if denied else status
    if status is CallStatus.OK:
        code = to_object(state.get("metadata")).get("exit")
        failed = name == "invalid" or (isinstance(code, int) and code != 0)
        return CallStatus.ERROR if failed else status
    return status


def _collect_usages(message: OpencodeMessage) -> list[Tokens]:
    """Return the usage of a message: of its steps, or its own where it has none of theirs."""
    steps = [
        to_object(part.get("tokens"))
        for part in message.parts.values()
        if part.get("type") == "step-finish"
    ]
    if steps:
        return [parse_opencode_usage(step) for step in steps if step]
    own = to_object(message.info.get("tokens"))
    found = parse_opencode_usage(own)
    return [found] if any((found.input_uncached, found.output, found.cache_read)) else []


def parse_opencode_usage(tokens: JsonObject) -> Tokens:
    """Return one usage. Reasoning stands apart, unless the total shows that it is in the output."""
    cache = to_object(tokens.get("cache"))
    input_, output = parse_count(tokens.get("input")), parse_count(tokens.get("output"))
    reasoning = parse_count(tokens.get("reasoning"))
    read, write = parse_count(cache.get("read")), parse_count(cache.get("write"))
    whole = sum(part or 0 for part in (input_, output, read, write))
    apart = parse_count(tokens.get("total")) != whole
    return Tokens(
        input_uncached=input_,
        cache_read=read,
        cache_write=write,
        output=None if output is None else output + (reasoning or 0) * apart,
        reasoning=reasoning,
    )


_SESSION_TABLES = ("session", "message", "part")


def has_sessions(path: Path) -> bool:
    """Say whether a database has the tables of OpenCode."""
    try:
        with closing(_connect_database(path)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return set(_SESSION_TABLES) <= {row[0] for row in rows}
    except sqlite3.Error:
        return False


def _connect_database(path: Path) -> sqlite3.Connection:
    """Open a database only to read; without its lock where nobody has written beside it."""
    beside = path.with_name(f"{path.name}-wal")
    alone = not beside.exists() or beside.stat().st_size == 0
    mode = "mode=ro&immutable=1" if alone else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def read_sessions(log: Log) -> OpencodeSessionIndex:
    """Read the sessions that a database holds.

    Raises:
        InputError: it cannot be read.
    """
    found = OpencodeSessionIndex()
    try:
        with closing(_connect_database(log.path)) as connection:
            for row in _iter_rows(connection, "session"):
                found.add_info({**row, "parentID": row.get("parent_id") or row.get("parentID")})
            for row in _iter_rows(connection, "message"):
                found.add_message({**row, "sessionID": row.get("session_id")}, [])
            for row in _iter_rows(connection, "part"):
                ids = {"sessionID": row.get("session_id"), "messageID": row.get("message_id")}
                found.add_part({**row, **ids})
    except sqlite3.Error as error:
        raise log.build_error(f"cannot be read as a database of OpenCode: {error}") from None
    return found


def _iter_rows(connection: sqlite3.Connection, table: str) -> Iterator[JsonObject]:
    """Yield the rows of a table, each with what its JSON holds."""
    for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):  # noqa: S608 - our own names
        columns: dict[str, Any] = dict(row)
        yield {**to_object(parse_json(columns.pop("data", None))), **columns}


EXPORT_FORMAT, STORAGE_FORMAT, DATABASE_FORMAT = (
    "opencode-export",
    "opencode-storage",
    "opencode-db",
)
EVENTS_FORMAT, RUN_FORMAT = "opencode-events", "opencode-run"
_BUS_EVENT_PREFIXES = ("message.", "session.")
_RUN_EVENT_TYPES = frozenset(
    {"tool_use", "text", "step_start", "step_finish", "reasoning", "error"}
)


def _is_storage(log: Log) -> bool:
    return (log.path / "message").is_dir() and (log.path / "part").is_dir()


def _is_export(log: Log) -> bool:
    document = to_object(log.document)
    return any("info" in m and "parts" in m for m in iter_objects(document.get("messages")))


def _read_export(log: Log) -> list[Transcript]:
    found = OpencodeSessionIndex()
    _add_export(found, log)
    return found.build_transcripts(EXPORT_FORMAT, skipped=log.skipped, truncated=log.truncated)


def _add_export(found: OpencodeSessionIndex, log: Log) -> str:
    """Take one exported session; return its id."""
    document = next(log.iter_records(), {})
    info = to_object(document.get("info"))
    id_ = to_text(info.get("id")) or log.path.stem
    found.add_info({**info, "id": id_})
    for message in iter_objects(document.get("messages")):
        described = {**to_object(message.get("info")), "sessionID": id_}
        found.add_message(described, list(iter_objects(message.get("parts"))))
    return id_


def _read_exports(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read exports that lie together: a sub-agent's session is an export of its own."""
    found = OpencodeSessionIndex()
    files = {_add_export(found, log): log for log in logs}
    for transcript in found.build_transcripts(EXPORT_FORMAT):
        log = files[transcript.session or ""]
        yield log, (_read_export(log)[0] if log.truncated or log.skipped else transcript)


def _read_storage(log: Log) -> list[Transcript]:
    """Read the sessions of a storage folder: one small file for each session, message and part."""
    found, skipped, folder = OpencodeSessionIndex(), 0, log.path
    for path in sorted((folder / "session").rglob("ses_*.json")):
        found.add_info(_read_json_file(path))
    for path in sorted((folder / "message").rglob("msg_*.json")):
        info = _read_json_file(path)
        skipped += not info
        found.add_message({"id": path.stem, "sessionID": path.parent.name, **info}, [])
    for path in sorted((folder / "part").rglob("prt_*.json")):
        part = _read_json_file(path)
        skipped += not part
        found.add_part({"id": path.stem, "messageID": path.parent.name, **part})
    return found.build_transcripts(STORAGE_FORMAT, skipped=skipped)


def _read_json_file(path: Path) -> JsonObject:
    try:
        return to_object(parse_json(path.read_text(encoding="utf-8-sig", errors="replace")))
    except OSError:
        return {}


def _is_database(log: Log) -> bool:
    if not log.is_database:
        return False

    return has_sessions(log.path)


def _read_database(log: Log) -> list[Transcript]:

    return read_sessions(log).build_transcripts(DATABASE_FORMAT)


def _unwrap_event(record: JsonObject) -> JsonObject:
    """Return the event of the bus that a record is or wraps."""
    if "properties" in record:
        return record
    for key in ("event", "payload"):
        inner = record.get(key)
        if isinstance(inner, dict) and "properties" in inner:
            return inner
    return record


def _is_events(log: Log) -> bool:
    events = map(_unwrap_event, log.sample)
    return any(
        str(e.get("type")).startswith(_BUS_EVENT_PREFIXES) and "properties" in e for e in events
    )


def _read_events(log: Log) -> list[Transcript]:
    found = OpencodeSessionIndex()
    for record in log.iter_records():
        event = _unwrap_event(record)
        kind, told = to_text(event.get("type")), to_object(event.get("properties"))
        if kind == "message.part.updated":
            found.add_part(to_object(told.get("part")))
        elif kind == "message.part.delta":
            found.append_delta(told)
        elif kind == "message.updated":
            found.add_message(to_object(told.get("info")), [])
        elif kind in {"message.removed", "message.part.removed"}:
            found.remove_entry(told)
        elif kind in {"session.created", "session.updated"}:
            found.add_info(to_object(told.get("info")))
    return found.build_transcripts(EVENTS_FORMAT, skipped=log.skipped, truncated=log.truncated)


def _is_run(log: Log) -> bool:
    return any(to_text(r.get("type")) in _RUN_EVENT_TYPES and "sessionID" in r for r in log.sample)


def _read_run(log: Log) -> list[Transcript]:
    """Read what `opencode run` prints: finished parts, with the time at which each was printed."""
    run = OpencodeRun()
    for record in log.iter_records():
        run.add_record(record)
    if log.truncated:
        run.draft.add_gap(LOG_TRUNCATED)
    return [run.build_transcript(log.skipped)]


class OpencodeRun:
    """One run while its lines are read. The prompt and the sub-agents' sessions are not in it."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.draft.add_prompt(None)
        self._usages: list[Tokens] = []
        self._finish_reason: str | None = None

    def add_record(self, record: JsonObject) -> None:
        """Take one line."""
        self.draft.session = to_text(record.get("sessionID")) or self.draft.session
        kind, part = to_text(record.get("type")), to_object(record.get("part"))
        if kind == "text":
            at = parse_epoch(
                to_object(part.get("time")).get("end") or record.get("timestamp"), "ms"
            )
            self.draft.add_text(to_text(part.get("text")) or "", at, to_text(part.get("messageID")))
        elif kind == "tool_use":
            add_tool_call(self.draft, part)
        elif kind == "step_finish":
            self._finish_reason = to_text(part.get("reason"))
            if to_object(part.get("tokens")):
                self._usages.append(parse_opencode_usage(to_object(part.get("tokens"))))
        elif kind == "error":
            self.draft.add_gap("the run ended with an error")

    def build_transcript(self, skipped: int) -> Transcript:
        """Return what was read."""
        self.draft.tokens = sum_tokens(self._usages)
        if self._finish_reason != "stop":
            self.draft.add_gap("the last step was not the end of an answer")
        return self.draft.build_transcript(RUN_FORMAT, skipped=skipped)


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

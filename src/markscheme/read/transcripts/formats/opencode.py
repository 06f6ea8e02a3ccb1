"""OpenCode: exports, storage folders, its SQLite database, recorded events, `run --format json`.

The first four hold the same sessions, messages and parts. Each reader puts them into an
`OpencodeSessionIndex`, which builds the transcripts with child sessions nested. The output of
`opencode run` holds finished parts only and is read by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markscheme.read.json_fields import (
    JsonObject,
    clean_text,
    iter_objects,
    parse_epoch,
    parse_json,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.containers import find_call_containers
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft
from markscheme.read.transcripts.formats.opencode_sessions import (
    PART_FIELDS,
    OpencodeSessionIndex,
    add_tool_call,
    parse_opencode_usage,
)
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import Transcript

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
# Events that hold no call. The server tells of its other business in events of these families.
_EVENTS_WITHOUT_CALLS = split_words(
    "session.deleted session.idle session.status session.error session.diff session.compacted "
    "sync command.executed mcp.tools.changed mcp.browser.open.failed file.edited "
    "file.watcher.updated storage.write"
)
_EVENT_FAMILIES = (
    *("server.", "lsp.", "permission.", "question.", "todo.", "tui.", "installation.", "ide."),
    *("vcs.", "pty.", "project.", "worktree.", "workspace.", "global.", "plugin.", "catalog."),
    *("integration.", "models-dev.", "reference.", "session.next."),
    # Programs that record the events add their own.
    "custom.",
)
# Events of the next version repeat the calls that are parts as well; those that are not are noted.
_NEXT_CALL_EVENTS = frozenset({"session.next.tool.called", "session.next.shell.started"})


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
    logs_by_session = {clean_text(_add_export(index, log)): log for log in logs}
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
    index.unknown.extend(find_call_containers(document, ("info", "messages")))
    for message in index.iter_listed(document.get("messages"), "messages"):
        message_info = {**to_object(message.get("info")), "sessionID": id_}
        index.unknown.extend(find_call_containers(message, ("info", "parts")))
        index.add_message(message_info, list(index.iter_listed(message.get("parts"), "parts")))
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
            index.add_other_messages(connection)
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
        elif kind in _NEXT_CALL_EVENTS:
            index.next_calls.append(to_text(properties.get("callID")) or "")
        elif kind is None or not (
            kind in _EVENTS_WITHOUT_CALLS or kind.startswith(_EVENT_FAMILIES)
        ):
            index.unknown.append(str(event.get("type") or next(iter(event), "(none)")))
    return index.build_transcripts(EVENTS_FORMAT, skipped=log.skipped, truncated=log.truncated)


def _unwrap_event(record: JsonObject) -> JsonObject:
    """Return the event in a record: the record itself, or what it wraps."""
    if "properties" in record:
        return record
    for key in ("event", "payload"):
        inner = record.get(key)
        if isinstance(inner, dict) and ("properties" in inner or inner.get("type") == "sync"):
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
            add_tool_call(draft, part)
        elif kind == "step_finish":
            finish_reason = to_text(part.get("reason"))
            if to_object(part.get("tokens")):
                draft.add_usage(parse_opencode_usage(to_object(part.get("tokens"))))
        elif kind == "error":
            draft.add_gap("the run ended with an error")
        elif kind not in _RUN_EVENT_TYPES:
            draft.add_unknown_kind("record", record.get("type"))
        draft.add_unread_calls(record, ("part",))
        draft.add_unread_calls(part, PART_FIELDS)
    if log.truncated:
        draft.add_gap(LOG_TRUNCATED)
    if finish_reason != "stop":
        draft.add_gap("the last step was not the end of an answer")
    return [draft.build_transcript(RUN_FORMAT, skipped=log.skipped)]


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

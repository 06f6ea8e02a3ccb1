"""OpenCode: exports, storage folders, the SQLite database, event streams, `run --format json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.opencode_session import (
    OpencodeSessionIndex,
    add_tool_call,
    parse_opencode_usage,
)
from markscheme.read.transcripts.values import (
    JsonObject,
    iter_objects,
    parse_epoch,
    parse_json,
    to_object,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Tokens, Transcript

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
    from markscheme.read.transcripts.opencode_database import has_sessions  # noqa: PLC0415 - sqlite3

    return has_sessions(log.path)


def _read_database(log: Log) -> list[Transcript]:
    from markscheme.read.transcripts.opencode_database import read_sessions  # noqa: PLC0415 - sqlite3

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

"""OpenCode: exports, storage folders, the SQLite database, event streams, `run --format json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.opencode_session import Sessions, take_tool, tokens_of
from markscheme.read.transcripts.values import Object, epoch, mapping, objects, parsed, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Tokens, Transcript

EXPORT, STORAGE, DATABASE = "opencode-export", "opencode-storage", "opencode-db"
EVENTS, RUN = "opencode-events", "opencode-run"
_BUS = ("message.", "session.")
_RUN = frozenset({"tool_use", "text", "step_start", "step_finish", "reasoning", "error"})


def _is_storage(log: Log) -> bool:
    return (log.path / "message").is_dir() and (log.path / "part").is_dir()


def _is_export(log: Log) -> bool:
    document = mapping(log.document)
    return any("info" in m and "parts" in m for m in objects(document.get("messages")))


def _read_export(log: Log) -> list[Transcript]:
    found = Sessions()
    _take_export(found, log)
    return found.transcripts(EXPORT, skipped=log.skipped, cut=log.cut)


def _take_export(found: Sessions, log: Log) -> str:
    """Take one exported session; return its id."""
    document = next(log.records(), {})
    info = mapping(document.get("info"))
    id_ = text(info.get("id")) or log.path.stem
    found.info({**info, "id": id_})
    for message in objects(document.get("messages")):
        described = {**mapping(message.get("info")), "sessionID": id_}
        found.message(described, list(objects(message.get("parts"))))
    return id_


def _read_exports(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read exports that lie together: a sub-agent's session is an export of its own."""
    found = Sessions()
    files = {_take_export(found, log): log for log in logs}
    for transcript in found.transcripts(EXPORT):
        log = files[transcript.session or ""]
        yield log, (_read_export(log)[0] if log.cut or log.skipped else transcript)


def _read_storage(log: Log) -> list[Transcript]:
    """Read the sessions of a storage folder: one small file for each session, message and part."""
    found, skipped, folder = Sessions(), 0, log.path
    for path in sorted((folder / "session").rglob("ses_*.json")):
        found.info(_small(path))
    for path in sorted((folder / "message").rglob("msg_*.json")):
        info = _small(path)
        skipped += not info
        found.message({"id": path.stem, "sessionID": path.parent.name, **info}, [])
    for path in sorted((folder / "part").rglob("prt_*.json")):
        part = _small(path)
        skipped += not part
        found.part({"id": path.stem, "messageID": path.parent.name, **part})
    return found.transcripts(STORAGE, skipped=skipped)


def _small(path: Path) -> Object:
    try:
        return mapping(parsed(path.read_text(encoding="utf-8-sig", errors="replace")))
    except OSError:
        return {}


def _is_database(log: Log) -> bool:
    if not log.is_database:
        return False
    from markscheme.read.transcripts.opencode_database import has_sessions  # noqa: PLC0415 - sqlite3

    return has_sessions(log.path)


def _read_database(log: Log) -> list[Transcript]:
    from markscheme.read.transcripts.opencode_database import read_sessions  # noqa: PLC0415 - sqlite3

    return read_sessions(log).transcripts(DATABASE)


def _event_of(record: Object) -> Object:
    """Return the event of the bus that a record is or wraps."""
    if "properties" in record:
        return record
    for key in ("event", "payload"):
        inner = record.get(key)
        if isinstance(inner, dict) and "properties" in inner:
            return inner
    return record


def _is_events(log: Log) -> bool:
    events = map(_event_of, log.sample)
    return any(str(e.get("type")).startswith(_BUS) and "properties" in e for e in events)


def _read_events(log: Log) -> list[Transcript]:
    found = Sessions()
    for record in log.records():
        event = _event_of(record)
        kind, told = text(event.get("type")), mapping(event.get("properties"))
        if kind == "message.part.updated":
            found.part(mapping(told.get("part")))
        elif kind == "message.part.delta":
            found.append(told)
        elif kind == "message.updated":
            found.message(mapping(told.get("info")), [])
        elif kind in {"message.removed", "message.part.removed"}:
            found.remove(told)
        elif kind in {"session.created", "session.updated"}:
            found.info(mapping(told.get("info")))
    return found.transcripts(EVENTS, skipped=log.skipped, cut=log.cut)


def _is_run(log: Log) -> bool:
    return any(text(r.get("type")) in _RUN and "sessionID" in r for r in log.sample)


def _read_run(log: Log) -> list[Transcript]:
    """Read what `opencode run` prints: finished parts, with the time at which each was printed."""
    run = Run()
    for record in log.records():
        run.take(record)
    if log.cut:
        run.draft.gap(CUT_OFF)
    return [run.transcript(log.skipped)]


class Run:
    """One run while its lines are read. The prompt and the sub-agents' sessions are not in it."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.draft.prompt(None)
        self._used: list[Tokens] = []
        self._ended: str | None = None

    def take(self, record: Object) -> None:
        """Take one line."""
        self.draft.session = text(record.get("sessionID")) or self.draft.session
        kind, part = text(record.get("type")), mapping(record.get("part"))
        if kind == "text":
            at = epoch(mapping(part.get("time")).get("end") or record.get("timestamp"), "ms")
            self.draft.say(text(part.get("text")) or "", at, text(part.get("messageID")))
        elif kind == "tool_use":
            take_tool(self.draft, part)
        elif kind == "step_finish":
            self._ended = text(part.get("reason"))
            if mapping(part.get("tokens")):
                self._used.append(tokens_of(mapping(part.get("tokens"))))
        elif kind == "error":
            self.draft.gap("the run ended with an error")

    def transcript(self, skipped: int) -> Transcript:
        """Return what was read."""
        self.draft.tokens = summed(self._used)
        if self._ended != "stop":
            self.draft.gap("the last step was not the end of an answer")
        return self.draft.finish(RUN, skipped=skipped)


FORMATS = (
    Format(
        name=EXPORT,
        looks_for="a document with `info` and `messages`, each with `info` and `parts`",
        recognises=_is_export,
        read=_read_export,
        together=_read_exports,
    ),
    Format(
        name=STORAGE,
        looks_for="a folder with the folders `message` and `part`",
        recognises=_is_storage,
        read=_read_storage,
    ),
    Format(
        name=DATABASE,
        looks_for="an SQLite database with the tables session, message and part",
        recognises=_is_database,
        read=_read_database,
    ),
    Format(
        name=EVENTS,
        looks_for="events with `type` message.updated or message.part.updated and `properties`",
        recognises=_is_events,
        read=_read_events,
    ),
    Format(
        name=RUN,
        looks_for="lines with `type` tool_use, text or step_finish, `sessionID` and `part`",
        recognises=_is_run,
        read=_read_run,
    ),
)

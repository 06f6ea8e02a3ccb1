"""Claude Code transcripts: `~/.claude/projects/…/<session>.jsonl` and the agents beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.claude_messages import LineKey, build_line_key
from markscheme.read.transcripts.claude_session import FORMAT_NAME, ClaudeCodeSession
from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.log import Log
from markscheme.read.transcripts.values import JsonObject, to_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from markscheme.transcript import Transcript

_METADATA_TYPES = frozenset({"file-history-snapshot", "queue-operation", "permission-mode"})


def can_read_log(log: Log) -> bool:
    """Say whether lines look like those of a transcript."""
    return any(_is_transcript_line(record) for record in log.sample)


def _is_transcript_line(record: JsonObject) -> bool:
    kind = to_text(record.get("type"))
    if kind in {"user", "assistant"}:
        return "parentUuid" in record or "isSidechain" in record or "sessionId" in record
    return kind in _METADATA_TYPES or (kind == "summary" and "leafUuid" in record)


def read_log(log: Log) -> list[Transcript]:
    """Read a session with its sub-agents."""
    return [_read_session(log).build_transcript(log.skipped)]


def _read_sessions_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read sessions that lie together. A fork repeats another's lines; the older keeps them."""
    read_by: dict[LineKey, str | None] = {}
    beside = {path for log in logs for path in find_agent_logs(log.path, _find_session_id(log))}
    for log in sorted(logs, key=_build_age_key):
        if log.path not in beside:
            session = _read_session(log, read_by if _is_fork(log, read_by) else ())
            yield log, session.build_transcript(log.skipped)
            read_by |= dict.fromkeys(session.seen_lines, session.id)


def _is_fork(log: Log, read_by: Mapping[LineKey, str | None]) -> bool:
    """Say whether a log repeats what was said in another session, not just its ids."""
    own = _find_session_id(log)
    said = (
        build_line_key(record)
        for record in log.sample
        if to_text(record.get("type")) == "assistant"
    )
    return any(line in read_by and read_by[line] != own for line in said if line is not None)


def _find_session_id(log: Log) -> str | None:
    return next(filter(None, (to_text(record.get("sessionId")) for record in log.sample)), None)


def _build_age_key(log: Log) -> tuple[bool, str, str]:
    """Return what sorts sessions by age; copied lines have a mark or a newer file's name."""
    forked = any("forkedFrom" in record for record in log.sample)
    times = (to_text(record.get("timestamp")) for record in log.sample)
    return forked, next(filter(None, times), ""), log.path.name


def _read_session(log: Log, copied: Collection[LineKey] = ()) -> ClaudeCodeSession:
    session = ClaudeCodeSession(copied)
    for record in log.iter_records():
        session.add_record(record)
    cut = log.truncated
    for path in find_agent_logs(log.path, session.id):
        beside = Log(path)
        session.add_agent_metadata(path)
        for record in beside.iter_records():
            session.add_record(record, path)
        session.get_agent_for_file(path).truncated = beside.truncated
        session.get_agent_for_file(path).skipped = beside.skipped
    session.main.truncated = cut
    return session


def find_agent_logs(path: Path, session: str | None) -> Iterator[Path]:
    """Yield the logs of the sub-agents of a session: below its folder, or beside it."""
    yield from sorted((path.parent / path.stem / "subagents").rglob("agent-*.jsonl"))
    if path.name.startswith("agent-") or session is None:
        return
    for beside in sorted(path.parent.glob("agent-*.jsonl")):
        if any(record.get("sessionId") == session for record in Log(beside).sample[:3]):
            yield beside


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="lines with `type` user or assistant and `sessionId` or `parentUuid`",
    can_read_log=can_read_log,
    read_log=read_log,
    read_together=_read_sessions_together,
)

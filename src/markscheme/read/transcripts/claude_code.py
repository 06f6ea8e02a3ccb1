"""Claude Code transcripts: `~/.claude/projects/…/<session>.jsonl` and the agents beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.claude_messages import Line, line_of
from markscheme.read.transcripts.claude_session import NAME, Session
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.log import Log
from markscheme.read.transcripts.values import Object, text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from markscheme.transcript import Transcript

_METADATA = frozenset({"file-history-snapshot", "queue-operation", "permission-mode"})


def recognises(log: Log) -> bool:
    """Say whether lines look like those of a transcript."""
    return any(_is_line(record) for record in log.sample)


def _is_line(record: Object) -> bool:
    kind = text(record.get("type"))
    if kind in {"user", "assistant"}:
        return "parentUuid" in record or "isSidechain" in record or "sessionId" in record
    return kind in _METADATA or (kind == "summary" and "leafUuid" in record)


def read(log: Log) -> list[Transcript]:
    """Read a session with its sub-agents."""
    return [_read(log).transcript(log.skipped)]


def _read_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read sessions that lie together. A fork repeats another's lines; the older keeps them."""
    read_by: dict[Line, str | None] = {}
    beside = {path for log in logs for path in companions(log.path, _session_of(log))}
    for log in sorted(logs, key=_began):
        if log.path not in beside:
            session = _read(log, read_by if _is_fork(log, read_by) else ())
            yield log, session.transcript(log.skipped)
            read_by |= dict.fromkeys(session.lines, session.id)


def _is_fork(log: Log, read_by: Mapping[Line, str | None]) -> bool:
    """Say whether a log repeats what was said in another session, not just its ids."""
    own = _session_of(log)
    said = (line_of(record) for record in log.sample if text(record.get("type")) == "assistant")
    return any(line in read_by and read_by[line] != own for line in said if line is not None)


def _session_of(log: Log) -> str | None:
    return next(filter(None, (text(record.get("sessionId")) for record in log.sample)), None)


def _began(log: Log) -> tuple[bool, str, str]:
    """Return what sorts sessions by age; copied lines have a mark or a newer file's name."""
    forked = any("forkedFrom" in record for record in log.sample)
    times = (text(record.get("timestamp")) for record in log.sample)
    return forked, next(filter(None, times), ""), log.path.name


def _read(log: Log, copied: Collection[Line] = ()) -> Session:
    session = Session(copied)
    for record in log.records():
        session.take(record)
    cut = log.cut
    for path in companions(log.path, session.id):
        beside = Log(path)
        session.take_companion(path)
        for record in beside.records():
            session.take(record, path)
        session.of_file(path).cut = beside.cut
        session.of_file(path).skipped = beside.skipped
    session.main.cut = cut
    return session


def companions(path: Path, session: str | None) -> Iterator[Path]:
    """Yield the logs of the sub-agents of a session: below its folder, or beside it."""
    yield from sorted((path.parent / path.stem / "subagents").rglob("agent-*.jsonl"))
    if path.name.startswith("agent-") or session is None:
        return
    for beside in sorted(path.parent.glob("agent-*.jsonl")):
        if any(record.get("sessionId") == session for record in Log(beside).sample[:3]):
            yield beside


FORMAT = Format(
    name=NAME,
    looks_for="lines with `type` user or assistant and `sessionId` or `parentUuid`",
    recognises=recognises,
    read=read,
    together=_read_together,
)

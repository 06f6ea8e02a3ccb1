"""Codex rollouts: `~/.codex/sessions/…/rollout-<time>-<thread>.jsonl`, also `.jsonl.zst`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from markscheme.read.transcripts.codex_thread import NAME, Thread
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.log import Log
from markscheme.read.transcripts.values import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from markscheme.transcript import Transcript

_LINES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_DEEPEST = 8


def recognises(log: Log) -> bool:
    """Say whether lines are wrapped as a rollout's, or bare as the oldest ones'."""
    return any(
        (text(record.get("type")) in _LINES and isinstance(record.get("payload"), dict))
        or "record_type" in record
        or ("type" not in record and "instructions" in record and "timestamp" in record)
        for record in log.sample
    )


def read(log: Log) -> list[Transcript]:
    """Read a thread with the threads that it started, where they lie beside it."""
    return [_read(log, _Threads(log.path), {log.path})]


def _read(log: Log, threads: _Threads, above: set[Path]) -> Transcript:
    thread = Thread()
    for record in log.records():
        thread.take(record)
    draft = thread.draft
    for dispatch in draft.dispatches:
        path = threads.find(dispatch.agent)
        if path is not None and path not in above and len(above) < _DEEPEST:
            child = _read(Log(path), threads, {*above, path})
            found = replace(child, agent=dispatch.agent or child.agent, kind=dispatch.kind)
            draft.children.append(_of_agent(found))
    return thread.transcript(skipped=log.skipped, cut=log.cut)


def _read_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read threads that lie together; one that another has started is part of that one."""
    found = [(log, read(log)[0]) for log in logs]
    started = {inner.session for _, top in found for inner in _all_below(top)}
    yield from ((log, top) for log, top in found if top.session not in started)


def _all_below(top: Transcript) -> Iterator[Transcript]:
    for inner in top.subagents:
        yield inner
        yield from _all_below(inner)


def _of_agent(found: Transcript) -> Transcript:
    return replace(found, calls=tuple(replace(call, agent=found.agent) for call in found.calls))


class _Threads:
    """The rollouts beside a rollout, by the thread in their names; looked for only when needed."""

    def __init__(self, path: Path) -> None:
        by_date = all(folder.name.isdigit() for folder in list(path.absolute().parents)[:3])
        self._folder = path.absolute().parents[3] if by_date else path.parent
        self._where = "*/*/*/" if by_date else ""

    def find(self, thread: str | None) -> Path | None:
        """Return the rollout of a thread: in the same folder, or in that of another day."""
        if thread is None or not thread.replace("-", "").isalnum():
            return None
        found = sorted(self._folder.glob(f"{self._where}rollout-*-{thread}.jsonl*"))
        return found[0] if found else None


FORMAT = Format(
    name=NAME,
    looks_for="lines with `type` session_meta, response_item or event_msg and `payload`",
    recognises=recognises,
    read=read,
    together=_read_together,
)

"""Codex rollouts: `~/.codex/sessions/…/rollout-<time>-<thread>.jsonl`, also `.jsonl.zst`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from markscheme.read.transcripts.codex_thread import FORMAT_NAME, CodexThread
from markscheme.read.transcripts.format import LogFormat
from markscheme.read.transcripts.log import Log
from markscheme.read.transcripts.values import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from markscheme.transcript import Transcript

_LINE_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_MAX_DEPTH = 8


def can_read_log(log: Log) -> bool:
    """Say whether lines are wrapped as a rollout's, or bare as the oldest ones'."""
    return any(
        (to_text(record.get("type")) in _LINE_TYPES and isinstance(record.get("payload"), dict))
        or "record_type" in record
        or ("type" not in record and "instructions" in record and "timestamp" in record)
        for record in log.sample
    )


def read_log(log: Log) -> list[Transcript]:
    """Read a thread with the threads that it started, where they lie beside it."""
    return [_read_thread(log, _RolloutFinder(log.path), {log.path})]


def _read_thread(log: Log, threads: _RolloutFinder, above: set[Path]) -> Transcript:
    thread = CodexThread()
    for record in log.iter_records():
        thread.add_record(record)
    draft = thread.draft
    for dispatch in draft.dispatches:
        path = threads.find_rollout(dispatch.agent)
        if path is not None and path not in above and len(above) < _MAX_DEPTH:
            child = _read_thread(Log(path), threads, {*above, path})
            found = replace(child, agent=dispatch.agent or child.agent, kind=dispatch.kind)
            draft.children.append(_set_call_agents(found))
    return thread.build_transcript(skipped=log.skipped, truncated=log.truncated)


def _read_threads_together(logs: Sequence[Log]) -> Iterator[tuple[Log, Transcript]]:
    """Read threads that lie together; one that another has started is part of that one."""
    found = [(log, read_log(log)[0]) for log in logs]
    started = {inner.session for _, top in found for inner in _iter_descendants(top)}
    yield from ((log, top) for log, top in found if top.session not in started)


def _iter_descendants(top: Transcript) -> Iterator[Transcript]:
    for inner in top.subagents:
        yield inner
        yield from _iter_descendants(inner)


def _set_call_agents(found: Transcript) -> Transcript:
    return replace(found, calls=tuple(replace(call, agent=found.agent) for call in found.calls))


class _RolloutFinder:
    """The rollouts beside a rollout, by the thread in their names; looked for only when needed."""

    def __init__(self, path: Path) -> None:
        by_date = all(folder.name.isdigit() for folder in list(path.absolute().parents)[:3])
        self._folder = path.absolute().parents[3] if by_date else path.parent
        self._subfolders = "*/*/*/" if by_date else ""

    def find_rollout(self, thread: str | None) -> Path | None:
        """Return the rollout of a thread: in the same folder, or in that of another day."""
        if thread is None or not thread.replace("-", "").isalnum():
            return None
        found = sorted(self._folder.glob(f"{self._subfolders}rollout-*-{thread}.jsonl*"))
        return found[0] if found else None


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="lines with `type` session_meta, response_item or event_msg and `payload`",
    can_read_log=can_read_log,
    read_log=read_log,
    read_together=_read_threads_together,
)

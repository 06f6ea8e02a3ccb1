"""`codex exec --json`: threads, turns and items, one event a line, without any times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.read.transcripts.codex_thread import tokens_of
from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.values import Object, mapping, text
from markscheme.transcript import CallStatus

if TYPE_CHECKING:
    from markscheme.read.transcripts.draft import DraftCall
    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Tokens, Transcript

NAME = "codex-exec"
_EVENTS = ("thread.", "turn.", "item.")
_CALLS = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}
)
_STATUS = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "declined": CallStatus.DENIED,
    "in_progress": CallStatus.NONE,
}


def recognises(log: Log) -> bool:
    """Say whether lines are events of threads, turns or items."""
    return any(str(record.get("type")).startswith(_EVENTS) for record in log.sample)


def read(log: Log) -> list[Transcript]:
    """Read one run."""
    run = Run()
    for record in log.records():
        run.take(record)
    if log.cut:
        run.draft.gap(CUT_OFF)
    return [run.transcript(log.skipped)]


class Run:
    """One run while its events are read. Ids of items start anew in each turn of a file."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._items: dict[str, DraftCall] = {}
        self._used: list[Tokens] = []
        self._turn_open = False

    def take(self, event: Object) -> None:
        """Take one event."""
        kind = text(event.get("type"))
        if kind == "thread.started":
            self.draft.session = text(event.get("thread_id")) or self.draft.session
            self._items = {}
        elif kind == "turn.started":
            self._turn_open = True
            self.draft.prompt(None)
        elif kind == "turn.completed":
            self._turn_open = False
            usage = mapping(event.get("usage"))
            if usage:
                self._used.append(tokens_of(usage))
        elif kind == "turn.failed":
            self._turn_open = False
            self.draft.trouble = "the last turn failed"
        elif isinstance(kind, str) and kind.startswith("item."):
            self._item(mapping(event.get("item")), ended=kind == "item.completed")

    def _item(self, item: Object, *, ended: bool) -> None:
        kind = text(item.get("type"))
        if kind == "agent_message" and ended:
            self.draft.say(text(item.get("text")) or "")
        if kind not in _CALLS:
            return
        id_ = text(item.get("id"))
        made = self._items.get(id_) if id_ is not None else None
        if made is None:
            made = self._call(item)
            if id_ is not None:
                self._items[id_] = made
        if ended:
            made.status = _status(item)
            made.answered = made.status is not CallStatus.NONE
            self._items.pop(id_ or "", None)

    def _call(self, item: Object) -> DraftCall:
        name = str(item.get("type"))
        if name == "mcp_tool_call":
            name = f"mcp__{text(item.get('server')) or '?'}__{text(item.get('tool')) or '?'}"
            return self.draft.call(name, item.get("arguments"), id_=text(item.get("id")))
        if name == "collab_tool_call":
            name = text(item.get("tool")) or name
        made = self.draft.call(name, item, id_=text(item.get("id")))
        if name == "spawn_agent":
            dispatch = self.draft.dispatch(None, made, text(item.get("prompt")))
            threads = item.get("receiver_thread_ids")
            if isinstance(threads, list) and threads and isinstance(threads[0], str):
                dispatch.agent = threads[0]
        return made

    def transcript(self, skipped: int) -> Transcript:
        """Return what was read; how long it took is not in the log."""
        self.draft.tokens = summed(self._used)
        if self._turn_open:
            self.draft.gap("the last turn was not completed")
        return self.draft.finish(NAME, skipped=skipped)


def _status(item: Object) -> CallStatus | None:
    code = item.get("exit_code")
    if isinstance(code, int) and code:
        return CallStatus.ERROR
    if item.get("error"):
        return CallStatus.ERROR
    if text(item.get("type")) == "web_search" and "status" not in item:
        return CallStatus.OK
    return _STATUS.get(str(item.get("status")))


FORMAT = Format(
    name=NAME,
    looks_for="lines with `type` thread.started, turn.started or item.completed",
    recognises=recognises,
    read=read,
)

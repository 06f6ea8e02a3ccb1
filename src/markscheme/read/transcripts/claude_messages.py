"""What Claude Code's transcript and its output stream share: messages, usage, denials."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.values import Object, count, joined, mapping, objects, text
from markscheme.transcript import CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from markscheme.read.transcripts.draft import Draft, DraftCall, DraftDispatch

DISPATCHES = frozenset({"Task", "Agent", "Workflow"})
_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_DENIED = re.compile(
    r"(Error: )?(The user doesn't want to (proceed|take)|Claude requested permissions"
    r"|User rejected|Permission to use .{1,200} (has been )?denied|[^\n]{0,200}requires? approval)"
)
_SETTLED = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "error": CallStatus.ERROR,
    "killed": CallStatus.ERROR,
    "stopped": CallStatus.ERROR,
}
_TAG = {
    name: re.compile(f"<{name}>([^<]*)</{name}>") for name in ("task-id", "tool-use-id", "status")
}
AGENT_ID = re.compile(r"\bagentId: ([\w-]+)")
SYNTHETIC = "<synthetic>"


Line = tuple[str, int]
"""What makes a line the copy of another: its id, and what it says when."""


def line_of(record: Object) -> Line | None:
    """Return what tells a line from others; ids alone do not, some logs have them redacted."""
    uuid = record.get("uuid")
    if not isinstance(uuid, str):
        return None
    return uuid, hash(repr((record.get("timestamp"), record.get("message"))))


class Usage:
    """The usage of one agent's messages. A message comes in several lines; its largest counts."""

    def __init__(self) -> None:
        self._messages: dict[Any, list[int]] = {}
        self._last: Any = None
        self._given = (False, False)  # whether any message gives its input and its output

    def take(self, message: Any, usage: Any) -> None:
        """Take the usage that one line gives for a message."""
        if type(usage) is not dict or (message, usage) == self._last:
            return
        self._last = message, usage
        counts = [count(usage.get(name)) for name in _FIELDS]
        found = [one or 0 for one in counts]
        some_input, some_output = self._given
        self._given = (some_input or counts[0] is not None, some_output or counts[1] is not None)
        known = self._messages.get(message)
        if known is None:
            self._messages[message] = found
        elif known != found:
            self._messages[message] = list(map(max, known, found))

    def total(self) -> Tokens | None:
        """Return the sum over the messages; all zeros mean that nothing was reported.

        A count that no message gives is not known.
        """
        totals = [sum(column) for column in zip(*self._messages.values(), strict=True)]
        if not any(totals):
            return None
        return Tokens(
            input_uncached=totals[0] if self._given[0] else None,
            output=totals[1] if self._given[1] else None,
            cache_write=totals[2],
            cache_read=totals[3],
            output_is_lower_bound=True,
        )


def take_blocks(
    draft: Draft, content: Any, at: datetime | None, message: object
) -> Iterable[DraftDispatch]:
    """Take the blocks of an assistant's message; yield the dispatches among them."""
    if isinstance(content, str):
        draft.say(content, at, message)
        return
    for block in objects(content):
        kind = text(block.get("type"))
        if kind == "text":
            draft.say(text(block.get("text")) or "", at, message)
        elif kind in {"tool_use", "server_tool_use"}:
            name, id_ = text(block.get("name")) or "?", text(block.get("id"))
            made = draft.call(name, block.get("input"), id_=id_, at=at)
            if name in DISPATCHES:
                yield dispatch_of(draft, made, mapping(block.get("input")))
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            draft.result(text(block.get("tool_use_id")), CallStatus.OK, at)


def dispatch_of(draft: Draft, made: DraftCall, given: Object) -> DraftDispatch:
    """Take a call that starts a sub-agent."""
    kind = text(given.get("subagent_type"))
    if kind is None and made.name == "Workflow":
        kind = "workflow"
    return draft.dispatch(kind, made, text(given.get("prompt")))


def status_of(block: Object) -> CallStatus:
    """Return how a call went: an error of the tool is not a refusal by the user."""
    if not block.get("is_error"):
        return CallStatus.OK
    said = joined(block.get("content")) or ""
    return CallStatus.DENIED if _DENIED.match(said) else CallStatus.ERROR


def notified(said: str) -> tuple[str | None, str | None, CallStatus | None]:
    """Return the task, the call and the outcome that a notification about an agent names."""
    found = {name: tag.search(said) for name, tag in _TAG.items()}
    task, call, status = (match.group(1).strip() if match else None for match in found.values())
    return task, call, _SETTLED.get(status or "")

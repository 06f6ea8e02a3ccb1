"""What Claude Code's transcript and its output stream share: messages, usage, denials."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    to_object,
    to_text,
)
from markscheme.vocabulary import CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from markscheme.read.transcripts.draft import Draft, DraftCall, DraftDispatch

DISPATCH_TOOLS = frozenset({"Task", "Agent", "Workflow"})
_USAGE_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_DENIED_PATTERN = re.compile(
    r"(Error: )?(The user doesn't want to (proceed|take)|Claude requested permissions"
    r"|User rejected|Permission to use .{1,200} (has been )?denied|[^\n]{0,200}requires? approval)"
)
_TASK_STATUSES = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "error": CallStatus.ERROR,
    "killed": CallStatus.ERROR,
    "stopped": CallStatus.ERROR,
}
_TAG_PATTERNS = {
    name: re.compile(f"<{name}>([^<]*)</{name}>") for name in ("task-id", "tool-use-id", "status")
}
AGENT_ID_PATTERN = re.compile(r"\bagentId: ([\w-]+)")
SYNTHETIC_MODEL = "<synthetic>"


LineKey = tuple[str, int]
"""What makes a line the copy of another: its id, and what it says when."""


def build_line_key(record: JsonObject) -> LineKey | None:
    """Return what tells a line from others; ids alone do not, some logs have them redacted."""
    uuid = record.get("uuid")
    if not isinstance(uuid, str):
        return None
    return uuid, hash(repr((record.get("timestamp"), record.get("message"))))


class ClaudeUsage:
    """The usage of one agent's messages. A message comes in several lines; its largest counts."""

    def __init__(self) -> None:
        self._messages: dict[Any, list[int]] = {}
        self._last_line: Any = None
        self._reported = (False, False)  # whether any message gives its input and its output

    def add_usage(self, message: Any, usage: Any) -> None:
        """Take the usage that one line gives for a message."""
        if type(usage) is not dict or (message, usage) == self._last_line:
            return
        self._last_line = message, usage
        counts = [parse_count(usage.get(name)) for name in _USAGE_FIELDS]
        found = [one or 0 for one in counts]
        some_input, some_output = self._reported
        self._reported = (some_input or counts[0] is not None, some_output or counts[1] is not None)
        known = self._messages.get(message)
        if known is None:
            self._messages[message] = found
        elif known != found:
            self._messages[message] = list(map(max, known, found))

    def sum_usage(self) -> Tokens | None:
        """Return the sum over the messages; all zeros mean that nothing was reported.

        A count that no message gives is not known.
        """
        totals = [sum(column) for column in zip(*self._messages.values(), strict=True)]
        if not any(totals):
            return None
        return Tokens(
            input_uncached=totals[0] if self._reported[0] else None,
            output=totals[1] if self._reported[1] else None,
            cache_write=totals[2],
            cache_read=totals[3],
            output_is_lower_bound=True,
        )


def add_message_blocks(
    draft: Draft, content: Any, at: datetime | None, message: object
) -> Iterable[DraftDispatch]:
    """Take the blocks of an assistant's message; yield the dispatches among them."""
    if isinstance(content, str):
        draft.add_text(content, at, message)
        return
    for block in iter_objects(content):
        kind = to_text(block.get("type"))
        if kind == "text":
            draft.add_text(to_text(block.get("text")) or "", at, message)
        elif kind in {"tool_use", "server_tool_use"}:
            name, id_ = to_text(block.get("name")) or "?", to_text(block.get("id"))
            made = draft.add_call(name, block.get("input"), id_=id_, at=at)
            if name in DISPATCH_TOOLS:
                yield add_dispatch_call(draft, made, to_object(block.get("input")))
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            draft.add_result(to_text(block.get("tool_use_id")), CallStatus.OK, at)


def add_dispatch_call(draft: Draft, made: DraftCall, given: JsonObject) -> DraftDispatch:
    """Take a call that starts a sub-agent."""
    kind = to_text(given.get("subagent_type"))
    if kind is None and made.name == "Workflow":
        kind = "workflow"
    return draft.add_dispatch(kind, made, to_text(given.get("prompt")))


def parse_result_status(block: JsonObject) -> CallStatus:
    """Return how a call went: an error of the tool is not a refusal by the user."""
    if not block.get("is_error"):
        return CallStatus.OK
    said = join_text(block.get("content")) or ""
    return CallStatus.DENIED if _DENIED_PATTERN.match(said) else CallStatus.ERROR


def parse_notification(said: str) -> tuple[str | None, str | None, CallStatus | None]:
    """Return the task, the call and the outcome that a notification about an agent names."""
    found = {name: tag.search(said) for name, tag in _TAG_PATTERNS.items()}
    task, call, status = (match.group(1).strip() if match else None for match in found.values())
    return task, call, _TASK_STATUSES.get(status or "")

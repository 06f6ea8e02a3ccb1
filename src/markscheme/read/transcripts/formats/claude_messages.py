"""Messages, usage, results and notifications that both formats of Claude Code share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft, DraftDispatch
from markscheme.vocabulary import CallStatus, Tokens

_DISPATCH_TOOLS = frozenset({"Task", "Agent", "Workflow"})
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
# The client writes messages of its own, such as API errors, under this model name.
SYNTHETIC_MODEL = "<synthetic>"

LineKey = tuple[str, int]
"""Identifies a line: its id, and a hash of its time and message."""


def build_line_key(record: JsonObject) -> LineKey | None:
    """Return the key by which a repeated line is recognised; `None` if the line has no id.

    The id alone is not enough: some logs have their ids redacted, so that many are equal.
    """
    uuid = record.get("uuid")
    if not isinstance(uuid, str):
        return None
    return uuid, hash(repr((record.get("timestamp"), record.get("message"))))


class ClaudeUsage:
    """The usage of one agent's messages.

    One message is written in several lines, each with a usage; the largest counts.
    """

    def __init__(self) -> None:
        self._messages: dict[Any, list[int]] = {}
        self._last_line: Any = None
        # Whether any message states its input tokens, and its output tokens.
        self._reported = (False, False)

    def add_usage(self, message: Any, usage: Any) -> None:
        """Add the usage that one line states for a message."""
        if type(usage) is not dict or (message, usage) == self._last_line:
            return
        self._last_line = message, usage
        stated = [parse_count(usage.get(name)) for name in _USAGE_FIELDS]
        counts = [count or 0 for count in stated]
        some_input, some_output = self._reported
        self._reported = (some_input or stated[0] is not None, some_output or stated[1] is not None)
        known = self._messages.get(message)
        if known is None:
            self._messages[message] = counts
        elif known != counts:
            self._messages[message] = list(map(max, known, counts))

    def sum_usage(self) -> Tokens | None:
        """Return the sum over the messages; `None` if all counts are zero.

        Every model call has input, so zeros mean that nothing was reported.
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
) -> Iterator[DraftDispatch]:
    """Add the blocks of an assistant's message; yield the dispatches among them."""
    if isinstance(content, str):
        draft.add_text(content, at, message)
        return
    for block in iter_objects(content):
        kind = to_text(block.get("type"))
        if kind == "text":
            draft.add_text(to_text(block.get("text")) or "", at, message)
        elif kind in {"tool_use", "server_tool_use"}:
            name, id_ = to_text(block.get("name")) or "?", to_text(block.get("id"))
            call = draft.add_call(name, block.get("input"), id_=id_, at=at)
            if name in _DISPATCH_TOOLS:
                arguments = to_object(block.get("input"))
                agent_kind = to_text(arguments.get("subagent_type"))
                if agent_kind is None and name == "Workflow":
                    agent_kind = "workflow"
                yield draft.add_dispatch(agent_kind, call, to_text(arguments.get("prompt")))
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            draft.add_result(to_text(block.get("tool_use_id")), CallStatus.OK, at)


def parse_result_status(block: JsonObject) -> CallStatus:
    """Return the status of a call. Only its text tells a refusal from an error of the tool."""
    if not block.get("is_error"):
        return CallStatus.OK
    text = join_text(block.get("content")) or ""
    return CallStatus.DENIED if _DENIED_PATTERN.match(text) else CallStatus.ERROR


def parse_notification(text: str) -> tuple[str | None, str | None, CallStatus | None]:
    """Return the task id, the call id and the outcome in a notification about an agent."""
    matches = [pattern.search(text) for pattern in _TAG_PATTERNS.values()]
    task, call, status = (match.group(1).strip() if match else None for match in matches)
    return task, call, _TASK_STATUSES.get(status or "")

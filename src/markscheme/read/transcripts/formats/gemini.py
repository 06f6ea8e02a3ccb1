"""Gemini CLI sessions: `~/.gemini/tmp/…/session-*.json`; newer ones have one message a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_count,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import CallStatus, Tokens, Transcript

FORMAT_NAME = "gemini"
_STATUSES = {
    "success": CallStatus.OK,
    "error": CallStatus.ERROR,
    "cancelled": CallStatus.DENIED,
}
_EXIT_CODE = re.compile(r"Exit Code: (-?\d+)")


def can_read_log(log: Log) -> bool:
    """Return whether the log has messages of type gemini, or the header of a session."""
    return any(
        ("sessionId" in record and ("projectHash" in record or "messages" in record))
        or (to_text(record.get("type")) == "gemini" and "content" in record)
        for record in log.sample
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one session."""
    draft = Draft()
    # A message that is written again with the same id replaces the earlier one.
    messages: dict[str, JsonObject] = {}
    for index, message in enumerate(_iter_messages(log, draft)):
        messages[to_text(message.get("id")) or str(index)] = message
    for message in messages.values():
        _add_message(draft, message)
        tokens = to_object(message.get("tokens"))
        if tokens:
            draft.add_usage(_parse_usage(tokens))
    return [draft.build_transcript(FORMAT_NAME, skipped=log.skipped, truncated=log.truncated)]


def _iter_messages(log: Log, draft: Draft) -> Iterator[JsonObject]:
    """Yield the messages of the log; take the id of the session on the way."""
    for record in log.iter_records():
        if "sessionId" in record:
            draft.session = to_text(record.get("sessionId")) or draft.session
        if "messages" in record:
            yield from iter_objects(record.get("messages"))
        elif "type" in record:
            yield record


def _add_message(draft: Draft, message: JsonObject) -> None:
    kind, at = to_text(message.get("type")), parse_timestamp(message.get("timestamp"))
    text = _join_content(message.get("content"))
    if kind == "user":
        if text is not None:
            draft.add_prompt(text, at)
        return
    if kind != "gemini":
        return
    draft.add_model(message.get("model"))
    if text is not None:
        draft.add_text(text, at)
    for record in iter_objects(message.get("toolCalls")):
        name = to_text(record.get("name")) or "?"
        call = draft.add_call(name, record.get("args"), id_=to_text(record.get("id")))
        call.set_outcome(_parse_call_status(record))
        # The log has the end of a call, not its start.
        call.ended = parse_timestamp(record.get("timestamp"))


def _join_content(content: Any) -> str | None:
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str)) or None
    return to_text(content)


def _parse_call_status(call: JsonObject) -> CallStatus | None:
    """Return the status of a call. The CLI calls a failed command a success, despite its code."""
    status = _STATUSES.get(str(call.get("status")), CallStatus.NONE)
    if status is CallStatus.OK and call.get("name") == "run_shell_command":
        for part in iter_objects(call.get("result")):
            response = to_object(to_object(part.get("functionResponse")).get("response"))
            code = _EXIT_CODE.search(to_text(response.get("output")) or "")
            if code is not None and int(code.group(1)):
                return CallStatus.ERROR
    return status


def _parse_usage(tokens: JsonObject) -> Tokens:
    """Return the usage of a message. Input includes cached tokens; output excludes thoughts."""
    input_, cached = parse_count(tokens.get("input")), parse_count(tokens.get("cached"))
    output, thoughts = parse_count(tokens.get("output")), parse_count(tokens.get("thoughts"))
    return Tokens(
        input_uncached=None if input_ is None else max(input_ - (cached or 0), 0),
        cache_read=cached,
        output=None if output is None else output + (thoughts or 0),
        reasoning=thoughts,
    )


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="a session with `sessionId` and `messages` of `type` user and gemini",
    can_read_log=can_read_log,
    read_log=read_log,
)

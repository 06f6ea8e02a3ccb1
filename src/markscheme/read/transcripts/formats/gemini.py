"""Gemini CLI sessions: `~/.gemini/tmp/…/session-*.json`, newer ones one message a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    parse_count,
    parse_timestamp,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import LOG_TRUNCATED, Draft, sum_tokens
from markscheme.read.transcripts.format import LogFormat
from markscheme.vocabulary import CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.log import Log
    from markscheme.vocabulary import Transcript

FORMAT_NAME = "gemini"
_STATUSES = {
    "success": CallStatus.OK,
    "error": CallStatus.ERROR,
    "cancelled": CallStatus.DENIED,
}
_EXIT_CODE = re.compile(r"Exit Code: (-?\d+)")


def can_read_log(log: Log) -> bool:
    """Say whether there are messages of type gemini, or a session's head."""
    return any(
        ("sessionId" in record and ("projectHash" in record or "messages" in record))
        or (to_text(record.get("type")) == "gemini" and "content" in record)
        for record in log.sample
    )


def read_log(log: Log) -> list[Transcript]:
    """Read one session."""
    draft = Draft()
    folded: dict[str, JsonObject] = {}
    for index, message in enumerate(_iter_messages(log, draft)):
        folded[to_text(message.get("id")) or str(index)] = message
    used = []
    for message in folded.values():
        _add_message(draft, message)
        tokens = to_object(message.get("tokens"))
        if tokens:
            used.append(parse_gemini_usage(tokens))
    draft.tokens = sum_tokens(used)
    if log.truncated:
        draft.add_gap(LOG_TRUNCATED)
    return [draft.build_transcript(FORMAT_NAME, skipped=log.skipped)]


def _iter_messages(log: Log, draft: Draft) -> Iterator[JsonObject]:
    for record in log.iter_records():
        if "sessionId" in record:
            draft.session = to_text(record.get("sessionId")) or draft.session
        if "messages" in record:
            yield from iter_objects(record.get("messages"))
        elif "type" in record:
            yield record


def _add_message(draft: Draft, message: JsonObject) -> None:
    kind, at = to_text(message.get("type")), parse_timestamp(message.get("timestamp"))
    said = _join_content(message.get("content"))
    if kind == "user":
        if said is not None:
            draft.add_prompt(said, at)
        return
    if kind != "gemini":
        return
    draft.add_model(message.get("model"))
    if said is not None:
        draft.add_text(said, at)
    for call in iter_objects(message.get("toolCalls")):
        made = draft.add_call(
            to_text(call.get("name")) or "?", call.get("args"), id_=to_text(call.get("id"))
        )
        made.status = _parse_call_status(call)
        made.has_result = made.status is not CallStatus.NONE
        made.ended = parse_timestamp(
            call.get("timestamp")
        )  # the log has the end of a call, not its start


def _join_content(content: Any) -> str | None:
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str)) or None
    return to_text(content)


def _parse_call_status(call: JsonObject) -> CallStatus | None:
    """Return how a call went; a command that failed is a success to the CLI, but for its code."""
    status = _STATUSES.get(str(call.get("status")), CallStatus.NONE)
    if status is CallStatus.OK and call.get("name") == "run_shell_command":
        for part in iter_objects(call.get("result")):
            response = to_object(to_object(part.get("functionResponse")).get("response"))
            found = _EXIT_CODE.search(to_text(response.get("output")) or "")
            if found is not None and int(found.group(1)):
                return CallStatus.ERROR
    return status


def parse_gemini_usage(tokens: JsonObject) -> Tokens:
    """Return the usage of a message: cached tokens are part of the input, thoughts stand apart."""
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

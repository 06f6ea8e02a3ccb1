"""Gemini CLI sessions: `~/.gemini/tmp/…/session-*.json`, newer ones one message a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.format import Format
from markscheme.read.transcripts.values import Object, count, mapping, moment, objects, text
from markscheme.transcript import CallStatus, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme.read.transcripts.log import Log
    from markscheme.transcript import Transcript

NAME = "gemini"
_STATUS = {
    "success": CallStatus.OK,
    "error": CallStatus.ERROR,
    "cancelled": CallStatus.DENIED,
}
_EXIT = re.compile(r"Exit Code: (-?\d+)")


def recognises(log: Log) -> bool:
    """Say whether there are messages of type gemini, or a session's head."""
    return any(
        ("sessionId" in record and ("projectHash" in record or "messages" in record))
        or (text(record.get("type")) == "gemini" and "content" in record)
        for record in log.sample
    )


def read(log: Log) -> list[Transcript]:
    """Read one session."""
    draft = Draft()
    folded: dict[str, Object] = {}
    for index, message in enumerate(_messages(log, draft)):
        folded[text(message.get("id")) or str(index)] = message
    used = []
    for message in folded.values():
        _take(draft, message)
        tokens = mapping(message.get("tokens"))
        if tokens:
            used.append(tokens_of(tokens))
    draft.tokens = summed(used)
    if log.cut:
        draft.gap(CUT_OFF)
    return [draft.finish(NAME, skipped=log.skipped)]


def _messages(log: Log, draft: Draft) -> Iterator[Object]:
    for record in log.records():
        if "sessionId" in record:
            draft.session = text(record.get("sessionId")) or draft.session
        if "messages" in record:
            yield from objects(record.get("messages"))
        elif "type" in record:
            yield record


def _take(draft: Draft, message: Object) -> None:
    kind, at = text(message.get("type")), moment(message.get("timestamp"))
    said = _said(message.get("content"))
    if kind == "user":
        if said is not None:
            draft.prompt(said, at)
        return
    if kind != "gemini":
        return
    draft.model(message.get("model"))
    if said is not None:
        draft.say(said, at)
    for call in objects(message.get("toolCalls")):
        made = draft.call(text(call.get("name")) or "?", call.get("args"), id_=text(call.get("id")))
        made.status = _status(call)
        made.answered = made.status is not CallStatus.NONE
        made.ended = moment(call.get("timestamp"))  # the log has the end of a call, not its start


def _said(content: Any) -> str | None:
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str)) or None
    return text(content)


def _status(call: Object) -> CallStatus | None:
    """Return how a call went; a command that failed is a success to the CLI, but for its code."""
    status = _STATUS.get(str(call.get("status")), CallStatus.NONE)
    if status is CallStatus.OK and call.get("name") == "run_shell_command":
        for part in objects(call.get("result")):
            response = mapping(mapping(part.get("functionResponse")).get("response"))
            found = _EXIT.search(text(response.get("output")) or "")
            if found is not None and int(found.group(1)):
                return CallStatus.ERROR
    return status


def tokens_of(tokens: Object) -> Tokens:
    """Return the usage of a message: cached tokens are part of the input, thoughts stand apart."""
    input_, cached = count(tokens.get("input")), count(tokens.get("cached"))
    output, thoughts = count(tokens.get("output")), count(tokens.get("thoughts"))
    return Tokens(
        input_uncached=None if input_ is None else max(input_ - (cached or 0), 0),
        cache_read=cached,
        output=None if output is None else output + (thoughts or 0),
        reasoning=thoughts,
    )


FORMAT = Format(
    name=NAME,
    looks_for="a session with `sessionId` and `messages` of `type` user and gemini",
    recognises=recognises,
    read=read,
)

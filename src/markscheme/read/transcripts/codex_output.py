"""How a call of Codex went: there is no error flag, but exit codes in the output, in styles."""

from __future__ import annotations

import re
from typing import Any

from markscheme.read.transcripts.values import joined, mapping, parsed
from markscheme.transcript import CallStatus

_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_REJECTED = re.compile(
    r"(?:patch|exec command|command|tool call)? ?(?:rejected|aborted) by (?:the )?user"
)
_FAILED = re.compile(r"(?:failed in sandbox|execution error|apply_patch verification failed)")
_HEAD = 2_000


def status_of(output: Any) -> CallStatus | None:
    """Return how a call went, as far as its output says it; nothing where it says nothing."""
    if isinstance(output, dict):
        if isinstance(output.get("success"), bool):
            return CallStatus.OK if output["success"] else CallStatus.ERROR
        output = output.get("content")
    said = joined(output, ("input_text", "output_text", "text"))
    if said is None:
        return None
    if said.startswith("{"):
        code = mapping(mapping(parsed(said)).get("metadata")).get("exit_code")
        if isinstance(code, int):
            return CallStatus.ERROR if code else CallStatus.OK
    return _told(said[:_HEAD])


def _told(said: str) -> CallStatus | None:
    if _REJECTED.search(said[:200]):
        return CallStatus.DENIED
    if _FAILED.match(said):
        return CallStatus.ERROR
    found = _EXIT.search(said)
    if found is None:
        return None
    return CallStatus.ERROR if int(found.group(1)) else CallStatus.OK

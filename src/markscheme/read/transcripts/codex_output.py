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
# Inside a string the quotes would be escaped, so this is never a part of the output itself.
_METADATA = re.compile(r',\s*"metadata":\s*\{\s*"exit_code":\s*(-?\d{1,9})\s*[,}]')
_HEAD = 2_000
_TAIL = 200


def status_of(output: Any) -> CallStatus | None:
    """Return how a call went, as far as its output says it; nothing where it says nothing."""
    if isinstance(output, dict):
        if isinstance(output.get("success"), bool):
            return CallStatus.OK if output["success"] else CallStatus.ERROR
        output = output.get("content")
    said = joined(output, ("input_text", "output_text", "text"))
    if said is None:
        return None
    code = _code(said)
    if code is not None:
        return CallStatus.ERROR if code else CallStatus.OK
    return _told(said[:_HEAD])


def _code(said: str) -> int | None:
    """Return the exit code of `{"output": …, "metadata": {"exit_code": 0}}`, best from its end."""
    if not said.startswith("{"):
        return None
    found = _METADATA.search(said, max(0, len(said) - _TAIL))
    if found is not None:
        return int(found.group(1))
    code = mapping(mapping(parsed(said)).get("metadata")).get("exit_code")
    return code if isinstance(code, int) else None


def _told(said: str) -> CallStatus | None:
    if _REJECTED.search(said[:200]):
        return CallStatus.DENIED
    if _FAILED.match(said):
        return CallStatus.ERROR
    found = _EXIT.search(said)
    if found is None:
        return None
    return CallStatus.ERROR if int(found.group(1)) else CallStatus.OK

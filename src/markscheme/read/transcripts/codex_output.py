"""How a call of Codex went: there is no error flag, but exit codes in the output, in styles."""

from __future__ import annotations

import re
from typing import Any

from markscheme.read.transcripts.values import join_text, parse_json, to_object
from markscheme.transcript import CallStatus

_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_REJECTED_PATTERN = re.compile(
    r"(?:patch|exec command|command|tool call)? ?(?:rejected|aborted) by (?:the )?user"
)
_FAILED_PATTERN = re.compile(
    r"(?:failed in sandbox|execution error|apply_patch verification failed)"
)
# Inside a string the quotes would be escaped, so this is never a part of the output itself.
_METADATA_EXIT_CODE = re.compile(r',\s*"metadata":\s*\{\s*"exit_code":\s*(-?\d{1,9})\s*[,}]')
_HEAD_LENGTH = 2_000
_TAIL_LENGTH = 200


def parse_output_status(output: Any) -> CallStatus | None:
    """Return how a call went, as far as its output says it; nothing where it says nothing."""
    if isinstance(output, dict):
        if isinstance(output.get("success"), bool):
            return CallStatus.OK if output["success"] else CallStatus.ERROR
        output = output.get("content")
    said = join_text(output, ("input_text", "output_text", "text"))
    if said is None:
        return None
    code = _parse_exit_code(said)
    if code is not None:
        return CallStatus.ERROR if code else CallStatus.OK
    return _parse_text_status(said[:_HEAD_LENGTH])


def _parse_exit_code(said: str) -> int | None:
    """Return the exit code of `{"output": …, "metadata": {"exit_code": 0}}`, best from its end."""
    if not said.startswith("{"):
        return None
    found = _METADATA_EXIT_CODE.search(said, max(0, len(said) - _TAIL_LENGTH))
    if found is not None:
        return int(found.group(1))
    code = to_object(to_object(parse_json(said)).get("metadata")).get("exit_code")
    return code if isinstance(code, int) else None


def _parse_text_status(said: str) -> CallStatus | None:
    if _REJECTED_PATTERN.search(said[:200]):
        return CallStatus.DENIED
    if _FAILED_PATTERN.match(said):
        return CallStatus.ERROR
    found = _EXIT_CODE.search(said)
    if found is None:
        return None
    return CallStatus.ERROR if int(found.group(1)) else CallStatus.OK

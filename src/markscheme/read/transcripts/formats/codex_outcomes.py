"""How calls of Codex went: what outputs and events say about it, and the tokens of a model call.

There is no error flag. Exit codes are in the text of outputs, statuses in events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    to_object,
    to_text,
)
from markscheme.read.transcripts.formats.codex_kinds import TEXT_BLOCKS
from markscheme.vocabulary import CallStatus, Tokens

_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_REJECTED_PATTERN = re.compile(
    r"(?:patch|exec command|command|tool call)? ?(?:rejected|aborted) by (?:the )?user"
)
_FAILED_PATTERN = re.compile(
    r"(?:failed in sandbox|execution error|apply_patch verification failed)"
)
# Inside a string the quotes would be escaped, so this is never a part of the output itself.
_METADATA_EXIT_CODE = re.compile(r',\s*"metadata":\s*\{\s*"exit_code":\s*(-?\d{1,9})\s*[,}]')
_SCRIPT_STATUS = re.compile(r"Script (completed|failed|terminated|running)\b")
_SESSION = re.compile(r'(?:running with session ID |"session_id":\s*)(\d{1,18})')
_HEAD_LENGTH = 2_000
_TAIL_LENGTH = 200
_STATUSES = {
    "completed": CallStatus.OK,
    "failed": CallStatus.ERROR,
    "declined": CallStatus.DENIED,
}


def parse_event_status(event: JsonObject) -> CallStatus | None:
    """Return the status in an event or item: declined, exit code, `success`, or the result."""
    code, success = event.get("exit_code"), event.get("success")
    status = _STATUSES.get(str(event.get("status")))
    result = to_object(event.get("result"))
    if status is CallStatus.DENIED:
        return status
    if isinstance(code, int) and not isinstance(code, bool):
        return CallStatus.ERROR if code else CallStatus.OK
    if isinstance(success, bool):
        return CallStatus.OK if success else CallStatus.ERROR
    if "Err" in result or event.get("error") or result.get("isError") is True:
        return CallStatus.ERROR
    if "Ok" in result:
        failed = to_object(result["Ok"]).get("isError") is True
        return CallStatus.ERROR if failed else CallStatus.OK
    return status


def parse_output_status(output: Any) -> CallStatus | None:
    """Return the status that the output of a call shows; `None` if it shows none."""
    if isinstance(output, dict):
        if isinstance(output.get("success"), bool):
            return CallStatus.OK if output["success"] else CallStatus.ERROR
        output = output.get("content")
    text = join_text(output, TEXT_BLOCKS)
    if text is None:
        return None
    code = _parse_metadata_exit_code(text)
    if code is None:
        head = text[:_HEAD_LENGTH]
        if _REJECTED_PATTERN.search(head[:200]):
            return CallStatus.DENIED
        if _FAILED_PATTERN.match(head):
            return CallStatus.ERROR
        stated = _EXIT_CODE.search(head)
        if stated is None:
            return None
        code = int(stated.group(1))
    return CallStatus.ERROR if code else CallStatus.OK


def _parse_metadata_exit_code(text: str) -> int | None:
    """Return the exit code of `{"output": …, "metadata": {"exit_code": 0}}`."""
    if not text.startswith("{"):
        return None
    # Outputs may be long: search the end of the text first, and parse it only if that fails.
    match = _METADATA_EXIT_CODE.search(text, max(0, len(text) - _TAIL_LENGTH))
    if match is not None:
        return int(match.group(1))
    code = to_object(to_object(parse_json(text)).get("metadata")).get("exit_code")
    return code if isinstance(code, int) else None


def parse_script_status(output: Any) -> CallStatus | None:
    """Return how the code of an `exec` call ended; `None` while it still runs."""
    head = next(_iter_texts(output), "")
    match = _SCRIPT_STATUS.match(head)
    if match is None:
        return parse_output_status(output)
    if match[1] == "running":
        return None
    return CallStatus.OK if match[1] == "completed" else CallStatus.ERROR


def parse_nested_status(output: Any) -> CallStatus | None:
    """Return how the only call in the code of an `exec` call went, if its output says so."""
    texts = list(_iter_texts(output))
    failed = bool(texts) and texts[0].startswith("Script failed")
    codes = set()
    for text in texts:
        if failed and _REJECTED_PATTERN.search(text):
            return CallStatus.DENIED
        code = to_object(parse_json(text)).get("exit_code") if text.startswith("{") else None
        if isinstance(code, int):
            codes.add(code)
    if codes:
        return CallStatus.ERROR if any(codes) else CallStatus.OK
    return CallStatus.ERROR if failed else None


def find_session(output: Any) -> str | None:
    """Return the number of the terminal session that an output says is running."""
    for text in _iter_texts(output):
        match = _SESSION.search(text[:_HEAD_LENGTH])
        if match is not None:
            return match[1]
    return None


def _iter_texts(output: Any) -> Iterator[str]:
    """Yield the texts of an output, without the head that code mode writes before them."""
    content = output.get("content") if isinstance(output, dict) else output
    if isinstance(content, str):
        yield from content.split("Output:\n", 1)
    for block in iter_objects(content):
        text = to_text(block.get("text"))
        if text is not None:
            yield from text.split("Output:\n", 1)


def parse_codex_usage(usage: JsonObject) -> Tokens:
    """Return a usage of Codex, whose input tokens include cached ones."""
    input_ = parse_count(usage.get("input_tokens"))
    cached = parse_count(usage.get("cached_input_tokens"))
    write = parse_count(usage.get("cache_write_input_tokens"))
    uncached = None if input_ is None else max(input_ - (cached or 0) - (write or 0), 0)
    return Tokens(
        input_uncached=uncached,
        cache_read=cached,
        cache_write=write,
        output=parse_count(usage.get("output_tokens")),
        reasoning=parse_count(usage.get("reasoning_output_tokens")),
    )

"""Synthetic session logs of any size, the same for the same seed: made up, no agent wrote them.

What fills real logs fills these: results of reading files, of searches and of commands, and the
metadata between them.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WORDS = ("alpha", "beta", "return", "if", "else", "import", "def", "class", "None", "value")
START = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = "00000000-0000-4000-8000-000000000001"


class Maker:
    """Chance, text and a clock, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - not a secret
        self.step = 0
        self._text = " ".join(self.random.choice(WORDS) for _ in range(40_000))

    def bulk(self) -> str:
        """Return what a call may bring back: mostly some kilobytes, at times many."""
        size = int(self.random.lognormvariate(8, 1))
        start = self.random.randrange(len(self._text) // 2)
        lines = self._text[start : start + size].split(" return ")
        return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1))

    def tick(self) -> datetime:
        """Return the next moment."""
        self.step += 1
        return START + timedelta(milliseconds=700 * self.step)

    def iso(self) -> str:
        """Return the next moment as logs write it."""
        return self.tick().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def claude_code(maker: Maker) -> Iterator[dict[str, Any]]:
    """Yield lines of a Claude Code transcript, without end."""
    common = {"sessionId": SESSION, "isSidechain": False, "cwd": "/repo", "version": "2.1.39"}

    def line(kind: str, **more: Any) -> dict[str, Any]:
        uuid = f"u{maker.step}"
        return {"type": kind, "uuid": uuid, **common, "timestamp": maker.iso(), **more}

    yield line("user", message={"role": "user", "content": "What is here?"})
    while True:
        id_, message = f"toolu_{maker.step}", f"msg_{maker.step}"
        usage = {"input_tokens": 3, "cache_read_input_tokens": 900, "output_tokens": 20}
        said = {"id": message, "model": "made-up", "role": "assistant", "usage": usage}
        yield line("assistant", message={**said, "content": [{"type": "text", "text": "Now."}]})
        name, given = maker.random.choice(
            [
                ("Read", {"file_path": f"/repo/{maker.step}.py"}),
                ("Bash", {"command": "git status && grep -rn value . 2>/dev/null | head"}),
                ("Edit", {"file_path": "/repo/a.py", "old_string": "a", "new_string": "b"}),
            ]
        )
        call = {"type": "tool_use", "id": id_, "name": name, "input": given}
        yield line("assistant", message={**said, "content": [call]})
        if maker.random.random() < 0.5:  # noqa: PLR2004 - every other call
            yield line("progress", data={"type": "bash_progress", "output": maker.bulk()[:2000]})
        bulk = maker.bulk()
        block = {"type": "tool_result", "tool_use_id": id_, "content": bulk}
        told = {"stdout": bulk, "stderr": "", "interrupted": False}
        yield line("user", message={"role": "user", "content": [block]}, toolUseResult=told)


def codex_rollout(maker: Maker) -> Iterator[dict[str, Any]]:
    """Yield lines of a Codex rollout, without end."""

    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": maker.iso(), "type": kind, "payload": payload}

    yield line("session_meta", id=SESSION, cwd="/repo", cli_version="0.40.0")
    yield line("event_msg", type="user_message", message="What is here?")
    total = 0
    while True:
        id_ = f"call_{maker.step}"
        given = orjson.dumps({"command": ["bash", "-lc", "ls -la 2>/dev/null"]}).decode()
        yield line("response_item", type="reasoning", encrypted_content=maker.bulk()[:2000])
        yield line(
            "response_item", type="function_call", name="shell", arguments=given, call_id=id_
        )
        output = orjson.dumps({"output": maker.bulk(), "metadata": {"exit_code": 0}}).decode()
        yield line("response_item", type="function_call_output", call_id=id_, output=output)
        total += 1000
        usage = {"input_tokens": 1000, "cached_input_tokens": 900, "output_tokens": 10}
        info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": usage}
        yield line("event_msg", type="token_count", info=info)


def opencode_events(maker: Maker) -> Iterator[dict[str, Any]]:
    """Yield events of OpenCode's bus, without end."""
    ids = {"sessionID": "ses_1", "messageID": "msg_2"}

    def part(**fields: Any) -> dict[str, Any]:
        return {"type": "message.part.updated", "properties": {"part": {**ids, **fields}}}

    asked = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}}
    yield {"type": "message.updated", "properties": {"info": asked}}
    told = {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 2}}
    yield {"type": "message.updated", "properties": {"info": told}}
    while True:
        now = int(maker.tick().timestamp() * 1000)
        tool = {"id": f"prt_{now}", "type": "tool", "tool": "read", "callID": f"call_{now}"}
        given = {"filePath": f"/repo/{now}.py"}
        running = {"status": "running", "input": given, "time": {"start": now}}
        yield part(**tool, state=running)
        time = {"start": now, "end": now + 5}
        output = maker.bulk()
        done = {"status": "completed", "input": given, "output": output, "time": time}
        yield part(**tool, state={**done, "metadata": {"preview": output[:500]}})


FORMATS: dict[str, Callable[[Maker], Iterator[dict[str, Any]]]] = {
    "claude-code": claude_code,
    "codex-rollout": codex_rollout,
    "opencode-events": opencode_events,
}


def write(name: str, size: int, path: Path, seed: int = 1) -> None:
    """Write a log of about so many bytes."""
    written = 0
    with path.open("wb") as file:
        for record in FORMATS[name](Maker(seed)):
            written += file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            if written >= size:
                return

"""Synthetic session logs of any size, the same for the same seed; no agent wrote them.

They hold what fills real logs: the results of reading files, of searches and of commands, and the
metadata between them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

WORDS = ("alpha", "beta", "return", "if", "else", "import", "def", "class", "None", "value")
START = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = "00000000-0000-4000-8000-000000000001"


class LogGenerator:
    """A source of random choices, text and timestamps, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - not a secret
        self.step = 0
        self._text = " ".join(self.random.choice(WORDS) for _ in range(40_000))

    def build_output(self) -> str:
        """Return the output of a call: mostly some kilobytes, sometimes many."""
        size = int(self.random.lognormvariate(8, 1))
        start = self.random.randrange(len(self._text) // 2)
        lines = self._text[start : start + size].split(" return ")
        return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1))

    def advance_clock(self) -> datetime:
        """Return the next timestamp, 0.7 seconds after the last."""
        self.step += 1
        return START + timedelta(milliseconds=700 * self.step)

    def format_next_time(self) -> str:
        """Return the next timestamp as logs write it."""
        return self.advance_clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def generate_claude_code(generator: LogGenerator) -> Iterator[dict[str, Any]]:
    """Yield lines of a Claude Code transcript, without end."""
    common = {"sessionId": SESSION, "isSidechain": False, "cwd": "/repo", "version": "2.1.39"}

    def line(kind: str, **more: Any) -> dict[str, Any]:
        uuid = f"u{generator.step}"
        return {
            "type": kind,
            "uuid": uuid,
            **common,
            "timestamp": generator.format_next_time(),
            **more,
        }

    yield line("user", message={"role": "user", "content": "What is here?"})
    while True:
        id_, message = f"toolu_{generator.step}", f"msg_{generator.step}"
        usage = {"input_tokens": 3, "cache_read_input_tokens": 900, "output_tokens": 20}
        shared = {"id": message, "model": "made-up", "role": "assistant", "usage": usage}
        yield line("assistant", message={**shared, "content": [{"type": "text", "text": "Now."}]})
        name, arguments = generator.random.choice(
            [
                ("Read", {"file_path": f"/repo/{generator.step}.py"}),
                ("Bash", {"command": "git status && grep -rn value . 2>/dev/null | head"}),
                ("Edit", {"file_path": "/repo/a.py", "old_string": "a", "new_string": "b"}),
            ]
        )
        call = {"type": "tool_use", "id": id_, "name": name, "input": arguments}
        yield line("assistant", message={**shared, "content": [call]})
        if generator.random.random() < 0.5:  # noqa: PLR2004 - every other call
            yield line(
                "progress",
                data={"type": "bash_progress", "output": generator.build_output()[:2000]},
            )
        output = generator.build_output()
        block = {"type": "tool_result", "tool_use_id": id_, "content": output}
        result = {"stdout": output, "stderr": "", "interrupted": False}
        yield line("user", message={"role": "user", "content": [block]}, toolUseResult=result)


def generate_codex_rollout(generator: LogGenerator) -> Iterator[dict[str, Any]]:
    """Yield lines of a Codex rollout, without end."""

    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": generator.format_next_time(), "type": kind, "payload": payload}

    yield line("session_meta", id=SESSION, cwd="/repo", cli_version="0.40.0")
    yield line("event_msg", type="user_message", message="What is here?")
    total = 0
    while True:
        id_ = f"call_{generator.step}"
        arguments = orjson.dumps({"command": ["bash", "-lc", "ls -la 2>/dev/null"]}).decode()
        yield line(
            "response_item", type="reasoning", encrypted_content=generator.build_output()[:2000]
        )
        yield line(
            "response_item", type="function_call", name="shell", arguments=arguments, call_id=id_
        )
        output = orjson.dumps(
            {"output": generator.build_output(), "metadata": {"exit_code": 0}}
        ).decode()
        yield line("response_item", type="function_call_output", call_id=id_, output=output)
        total += 1000
        usage = {"input_tokens": 1000, "cached_input_tokens": 900, "output_tokens": 10}
        info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": usage}
        yield line("event_msg", type="token_count", info=info)


def generate_opencode_events(generator: LogGenerator) -> Iterator[dict[str, Any]]:
    """Yield events of OpenCode's bus, without end."""
    ids = {"sessionID": "ses_1", "messageID": "msg_2"}

    def part(**fields: Any) -> dict[str, Any]:
        return {"type": "message.part.updated", "properties": {"part": {**ids, **fields}}}

    prompt = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}}
    yield {"type": "message.updated", "properties": {"info": prompt}}
    answer = {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 2}}
    yield {"type": "message.updated", "properties": {"info": answer}}
    while True:
        now = int(generator.advance_clock().timestamp() * 1000)
        tool = {"id": f"prt_{now}", "type": "tool", "tool": "read", "callID": f"call_{now}"}
        arguments = {"filePath": f"/repo/{now}.py"}
        running = {"status": "running", "input": arguments, "time": {"start": now}}
        yield part(**tool, state=running)
        time = {"start": now, "end": now + 5}
        output = generator.build_output()
        done = {"status": "completed", "input": arguments, "output": output, "time": time}
        yield part(**tool, state={**done, "metadata": {"preview": output[:500]}})


FORMATS: dict[str, Callable[[LogGenerator], Iterator[dict[str, Any]]]] = {
    "claude-code": generate_claude_code,
    "codex-rollout": generate_codex_rollout,
    "opencode-events": generate_opencode_events,
}


def write_log(name: str, size: int, path: Path, seed: int = 1) -> None:
    """Write a log of at least `size` bytes, in the format of this name."""
    written = 0
    with path.open("wb") as file:
        for record in FORMATS[name](LogGenerator(seed)):
            written += file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            if written >= size:
                return

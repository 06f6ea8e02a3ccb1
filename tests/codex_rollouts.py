"""Rollouts of Codex that tests write line by line, in the shapes of its newest versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from markscheme import Transcript, read_transcript

THREAD = "cccc3333-0000-7000-8000-00000000000{}"


def write_rollout(folder: Path, *lines: dict[str, Any], thread: int = 1, **meta: Any) -> Path:
    """Write a session with these lines between a prompt and an answer; return its path."""
    own = {"id": THREAD.format(thread), "cli_version": "0.156.1", **meta}
    every = [
        {"type": "session_meta", "payload": own},
        make_event("task_started"),
        make_event("user_message", message="Ask."),
        *lines,
        make_item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
        make_event("task_complete", last_agent_message="Done."),
    ]
    path = folder / f"rollout-2026-09-01T10-00-0{thread}-{own['id']}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    times = (f"2026-09-01T10:{number // 60:02}:{number % 60:02}.000Z" for number in range(3600))
    rows = [
        json.dumps({"timestamp": time, **line}) for time, line in zip(times, every, strict=False)
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def make_item(kind: str, /, **fields: Any) -> dict[str, Any]:
    """Return a line with a response item."""
    return {"type": "response_item", "payload": {"type": kind, **fields}}


def make_event(kind: str, /, **fields: Any) -> dict[str, Any]:
    """Return a line with an event."""
    return {"type": "event_msg", "payload": {"type": kind, **fields}}


def complete_item(kind: str, /, **fields: Any) -> dict[str, Any]:
    """Return the line of a completed item of the paginated history."""
    return make_event("item_completed", turn_id="t", item={"type": kind, **fields})


def run_code(code: str, *output: str, id_: str = "call_1") -> list[dict[str, Any]]:
    """Return the lines of an `exec` call of code mode with its output."""
    texts = ["Script completed\nWall time 0.1 seconds\nOutput:\n", *output]
    blocks = [{"type": "input_text", "text": text} for text in texts]
    return [
        make_item("custom_tool_call", name="exec", call_id=id_, input=code, status="completed"),
        make_item("custom_tool_call_output", call_id=id_, output=blocks),
    ]


def call_function(
    name: str, arguments: Any, output: Any = "ok", id_: str = "call_1", **more: Any
) -> list[dict[str, Any]]:
    """Return the lines of a function call with its output."""
    text = json.dumps(arguments)
    return [
        make_item("function_call", name=name, call_id=id_, arguments=text, **more),
        make_item("function_call_output", call_id=id_, output=output),
    ]


def read_code(folder: Path, code: str, *output: str) -> Transcript:
    """Read a session whose only call runs this code."""
    return read_transcript(write_rollout(folder, *run_code(code, *output)))


def list_commands(transcript: Transcript) -> list[str | None]:
    """Return the commands of all calls but the `exec` calls themselves."""
    return [call.command for call in transcript.calls if call.name != "exec"]

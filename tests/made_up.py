"""Synthetic sessions of an agent, written for tests: nobody ran them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 3, 1, 10, 0, 0, tzinfo=UTC)
PACKAGE = """\
## Memory
- The loader was rewritten last year (mem-12).

## Codebase
- Settings are read in `src/settings.py:10`.

## Patterns
- One module for each source, as in src/sources/env.py:3-9.

## Dispatched
- None.

## Gaps
- Nobody says why the order is fixed.

## Recommendation
Follow the loader.
"""
RECALL = ("mcp__memory__search_nodes", {"query": "settings"})
GREP = ("Grep", {"pattern": "settings"})
READ = ("Read", {"file_path": "/repo/src/settings.py"})
TASK = ("Task", {"subagent_type": "explore", "description": "look", "prompt": "Look around."})
EDIT = ("Edit", {"file_path": "/repo/src/settings.py", "old_string": "a", "new_string": "b"})


class Session:
    """A transcript of Claude Code in the making; every line is a second after the last."""

    def __init__(self, prompt: str, *, model: str = "made-up-1", session: str = "s-1") -> None:
        self.model = model
        self.session = session
        self.lines: list[dict[str, Any]] = []
        self._user(prompt)

    def _add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        number = len(self.lines)
        self.lines.append(
            {
                "type": kind,
                "uuid": f"{self.session}-{number}",
                "parentUuid": f"{self.session}-{number - 1}" if number else None,
                "sessionId": self.session,
                "isSidechain": False,
                "timestamp": (START + timedelta(seconds=number)).isoformat().replace("+00:00", "Z"),
                "version": "2.1.70",
                "cwd": "/repo",
                "message": message,
                **more,
            }
        )

    def _user(self, content: Any) -> None:
        self._add("user", {"role": "user", "content": content})

    def _assistant(self, block: dict[str, Any]) -> None:
        usage = {
            "input_tokens": 10,
            "output_tokens": 20,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 1000,
        }
        number = f"m{len(self.lines)}"
        message = {"id": number, "role": "assistant", "model": self.model, "content": [block]}
        self._add("assistant", {**message, "usage": usage})

    def call(self, name: str, given: dict[str, Any], result: str | None = "done") -> Session:
        """Add a call and its result; `denied` is refused, `None` gets none."""
        id_ = f"t{len(self.lines)}"
        self._assistant({"type": "tool_use", "id": id_, "name": name, "input": given})
        if result is not None:
            block = {"type": "tool_result", "tool_use_id": id_, "content": result}
            if result == "denied":
                block["content"] = "The user doesn't want to proceed with this tool use."
                block["is_error"] = True  # type: ignore[assignment]
            self._user([block])
        return self

    def calls(self, *calls: tuple[str, dict[str, Any]]) -> Session:
        """Add calls that go well."""
        for name, given in calls:
            self.call(name, given)
        return self

    def say(self, text: str) -> Session:
        """Add text of the agent."""
        self._assistant({"type": "text", "text": text})
        return self

    def text(self) -> str:
        """Return the log."""
        return "".join(f"{json.dumps(line)}\n" for line in self.lines)

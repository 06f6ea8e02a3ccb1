"""Wild servers say what no server should: how tests ask them, and how a question ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from commands import Done, here
from raw_server import RawServer, Say

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = """\
rubric: words
version: 1
axes:
  - {name: right, kind: contains_all, weight: 1, reads: word, expects: expected_contains}
"""

Ask = Callable[..., Done]


def asker(folder: Path) -> Ask:
    """Return what asks a server that says this so many questions, one at a time."""
    (folder / "rubric.yaml").write_text(RUBRIC)

    def asked(say: Say, *words: str, items: int = 1, **env: str) -> Done:
        rows = [{"id": f"i{n}", "prompt": "?", "expected_contains": ["yes"]} for n in range(items)]
        (folder / "exam.yaml").write_text(json.dumps({"exam": "e", "items": rows}))
        fixed = ["-r", str(folder / "rubric.yaml"), "-e", str(folder / "exam.yaml")]
        fixed += ["--base-url", RawServer(say).url, "--store", str(folder / "store.db")]
        fixed += ["--subject", "openai:m", "--format", "json", "--concurrency", "1"]
        return here("run", *fixed, "--retries", "0", *words, **env)

    return asked


def error(done: Done) -> Any:
    """Return how the first question ended."""
    return done.json["items"][0]["asked"]["error"]

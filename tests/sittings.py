"""A sitting: a folder with a rubric and an exam, a server on loopback, a store, and the command."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from commands import RUBRIC, Done, here

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from chat_server import ChatServer


class Sitting:
    """A folder with a rubric, an exam of the prompts, a server, and a store."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder = folder
        self.server = server
        self.store = folder / "store.db"
        self.rubric = self.write("rubric.yaml", RUBRIC)
        self.exam = folder / "exam.yaml"

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def asks(self, *prompts: str) -> Sitting:
        entries = "".join(
            f"  - {{id: i{n}, prompt: {json.dumps(prompt)}, expected_contains: ['yes']}}\n"
            for n, prompt in enumerate(prompts)
        )
        self.write("exam.yaml", f"exam: questions\nitems:\n{entries}")
        return self

    def words(self, *words: str | Path, subject: str = "openai:m") -> list[str | Path]:
        fixed: list[str | Path] = ["run", "-r", self.rubric, "-e", self.exam, "--subject", subject]
        url = ["--base-url", self.server.url] if subject.startswith("openai") else []
        return [*fixed, *url, "--store", self.store, *words]

    def run(self, *words: str | Path, subject: str = "openai:m", **env: str) -> Done:
        return here(*self.words(*words, subject=subject), **env)

    def json(self, *words: str | Path, subject: str = "openai:m", **env: str) -> Any:
        return self.run(*words, "--format", "json", subject=subject, **env).json


def importable(sitting: Sitting, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a module, and let this process import it anew from the folder of the sitting."""
    sitting.write(f"{name}.py", text)
    monkeypatch.chdir(sitting.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop(name, None)


def noted(store: Path) -> set[str]:
    """Return the prompts whose answers are on disk; each must be there once."""
    if not store.exists():
        return set()
    with closing(sqlite3.connect(store)) as opened:
        rows = opened.execute("SELECT body FROM replies").fetchall()
    items = [json.loads(body)["item"] for (body,) in rows]
    assert len(items) == len(set(items))
    return {f"fine {item[1:]}" for item in items}


def faults(document: Any) -> dict[str, int]:
    found: dict[str, int] = document["live"]["faults"]
    return found

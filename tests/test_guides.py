"""Every guide is followed word for word: files are written, commands run, output compared."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from commands import here

GUIDES = sorted((Path(__file__).parent.parent / "docs" / "guides").glob("*.md"))
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CHANGING = [(r"\b[0-9a-f]{12}\b", "RUN"), (r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE")]


def split_session(session: str) -> list[tuple[str, list[str]]]:
    """Return each command of a console block with the lines that it prints."""
    steps: list[tuple[str, list[str]]] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            steps.append((line.removeprefix("$ "), []))
        else:
            steps[-1][1].append(line)
    return steps


def hide_what_changes(text: str) -> str:
    """Replace run ids and dates, which differ from day to day."""
    for pattern, name in CHANGING:
        text = re.sub(pattern, name, text)
    return text


def match_output(printed: str, stated: list[str]) -> bool:
    """Tell whether these are the lines printed; a line of three dots stands for any lines."""
    lines = [hide_what_changes(line.rstrip()) for line in printed.rstrip().splitlines()]
    parts = [
        r"(?:.*\n)*?" if line == "…" else re.escape(hide_what_changes(line.rstrip())) + r"\n"
        for line in stated
    ]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in lines)) is not None


class Reader:
    """Somebody who follows a guide in an empty folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._folder = folder
        self._code = 0
        monkeypatch.chdir(folder)
        monkeypatch.setenv("MARKSCHEME_STORE", str(folder / "store.db"))

    def write(self, name: str, content: str) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def type(self, command: str) -> str:
        """Run one line of a console block and return what it prints."""
        program, *words = shlex.split(command)
        match program:
            case "cd":
                self._folder = (self._folder / words[0]).resolve()
                self._monkeypatch.chdir(self._folder)
                return ""
            case "echo":
                assert words == ["$?"]
                return str(self._code)
            case "markscheme":
                if "<" in words:
                    words, (keys,) = words[: words.index("<")], words[words.index("<") + 1 :]
                    typed = (self._folder / keys).read_text(encoding="utf-8")
                    self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
                done = here(*words)
                self._code = done.code
                return done.out + done.err
        raise AssertionError(command)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_is_true(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(tmp_path, monkeypatch)
    commands = 0
    for kind, title, content in FENCE.findall(guide.read_text(encoding="utf-8")):
        if title:
            reader.write(title, content)
        elif kind == "console":
            for command, stated in split_session(content):
                printed = reader.type(command)
                commands += 1
                assert match_output(printed, stated), f"{command} prints:\n{printed}"
    assert commands > 0

"""Running the examples of a page of the docs: its files are written, its console lines are run.

A block with a title, or whose first line is a comment with a file name, is that file. In a
`console` block, a line with `$` is run and the lines below it are what it prints on stdout, or on
stderr if that is all. `…` alone stands for any lines, and at the end of a line for the rest of it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"# ([\w./-]+\.\w+)\n")


def run_examples(page: str, folder: Path) -> int:
    """Write the files of a page and run its commands in order; return how many were run."""
    shell = Shell(folder)
    commands = 0
    for language, title, block in _BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        name = _FILE_NAME.match(block)
        file = title or (name[1] if name is not None else "")
        if file:
            (shell.folder / file).write_text(block, encoding="utf-8")
        if language == "console":
            for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, wanted = shown.partition("\n")
                check_printed(command, wanted.splitlines(), shell.run(command))
                commands += 1
    return commands


class Shell:
    """Runs one line after the other; it remembers its folder and the last exit code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._code = 0
        self._store = folder / "store.db"

    def run(self, command: str) -> str:
        """Run a line and return what it prints."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return ""
        done = subprocess.run(
            ["/bin/sh", "-c", command.replace("$?", str(self._code))],
            cwd=self.folder,
            env={
                # In CI, pytest prints its summary in another form.
                **{name: value for name, value in os.environ.items() if name != "CI"},
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "COLUMNS": "100",
                "MARKSCHEME_STORE": str(self._store),
                # An environment that was installed before the plugin was has no entry point of it.
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTEST_PLUGINS": "markscheme.integrations.pytest_plugin,xdist.plugin",
            },
            check=False,
            capture_output=True,
            text=True,
        )
        self._code = done.returncode
        return done.stdout or done.stderr


def check_printed(command: str, wanted: list[str], printed: str) -> None:
    """Compare line by line; ids of runs and times are never the same twice."""
    left = [_without_changing_parts(line) for line in printed.splitlines()]
    skipping = False
    for line in map(_without_changing_parts, wanted):
        if line == "…":
            skipping = True
            continue
        while skipping and left and not _matches(left[0], line):
            left.pop(0)
        assert left, f"$ {command}\nprints no more lines; expected: {line}\n{printed}"
        assert _matches(left.pop(0), line), f"$ {command}\nexpected: {line}\n{printed}"
        skipping = False
    assert skipping or not left, f"$ {command}\nprints more: {left}"


def _without_changing_parts(line: str) -> str:
    line = re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12}\b", "ID", line.rstrip())
    return re.sub(r"\b\d+\.\d+s\b", "0.00s", line)


def _matches(printed: str, shown: str) -> bool:
    if shown.endswith("…"):
        return printed.startswith(shown.removesuffix("…"))
    return printed == shown

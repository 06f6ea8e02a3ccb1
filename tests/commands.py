"""Running commands in tests: as a user does, or inside this process where many are needed."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from markscheme.cli.main import _run_command
from markscheme.cli.process import SignalHandlers
from markscheme.vocabulary import PrintableStream

if TYPE_CHECKING:
    from collections.abc import Iterator

RUBRIC = """\
rubric: words
version: 1
normalise: [strip, lower]
axes:
  - {name: right, kind: contains_all, weight: 0.95, expects: expected_contains}
  - {name: short, kind: max_words, weight: 0.03, limit: 5}
  - {name: shorter, kind: max_words, weight: 0.02, limit: 3}
pass_mark: 0.99
gates:
  - {name: release, level: hard, at_least: 0.90}
  - {name: beside, level: hard, metric: baseline, max_drop: 2%}
"""
FULL, LONG, LONGER, WRONG = "yes", "yes a b c", "yes a b c d e", "no"
"""Answers that score 1, 0.98, 0.95 and 0.05."""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def markscheme(
    *arguments: str | Path, stdin: str | bytes = "", cwd: Path | None = None, **env: str
) -> Done:
    """Run the command as a user does."""
    done = subprocess.run(
        [sys.executable, "-m", "markscheme", *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        timeout=300,
        env={**os.environ, "PYTHONWARNINGS": "error", **env},
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err, err
    return Done(done.returncode, out, err)


def here(*arguments: str | Path, **env: str) -> Done:
    """Run the command inside this process, which is much faster."""
    return _run_here(io.TextIOWrapper, arguments, env)


def here_as_printed(*arguments: str | Path, **env: str) -> Done:
    """Run the command inside this process; what it writes is escaped, as a user sees it."""
    return _run_here(PrintableStream, arguments, env)


def _run_here(
    stream_type: type[io.TextIOWrapper], arguments: tuple[str | Path, ...], env: dict[str, str]
) -> Done:
    written = io.BytesIO(), io.BytesIO()
    out, err = (stream_type(buffer, encoding="utf-8") for buffer in written)
    with (
        mock.patch.object(sys, "argv", ["markscheme", *map(str, arguments)]),
        mock.patch.dict(os.environ, env),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        # In a context of its own: `--lang` must not stay set for the next test.
        code = copy_context().run(_run_command, SignalHandlers())
    told = []
    for stream, buffer in zip((out, err), written, strict=True):
        stream.flush()
        told.append(buffer.getvalue().decode())
    assert code != 70, told
    return Done(code, *told)


def prepared(before: str) -> list[str]:
    """Return a command that first does something to the program."""
    start = "import runpy, sys\nsys.argv[0] = 'markscheme'\n"
    run = "runpy.run_module('markscheme', run_name='__main__')\n"
    return [sys.executable, "-c", f"{start}{before}\n{run}"]


class Project:
    """A folder with a rubric, an exam of `items` questions, and a store."""

    def __init__(self, folder: Path, items: int = 4, rubric: str = RUBRIC) -> None:
        self.folder = folder
        self.store = folder / "store.db"
        self.rubric = self.write("rubric.yaml", rubric)
        ids = [f"i{number}" for number in range(1, items + 1)]
        self.exam = self.write("exam.yaml", exam_text(*ids))
        self.items = ids

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def answers(self, *outputs: str, name: str = "answers.jsonl", **more: Any) -> Path:
        """Write answers to the items in their order."""
        pairs = zip(self.items, outputs, strict=False)
        rows = [{"item": item, "output": output, **more} for item, output in pairs]
        return self.write(name, "".join(f"{json.dumps(row)}\n" for row in rows))

    def score(self, *outputs: str, words: tuple[str | Path, ...] = (), **more: Any) -> Done:
        """Score answers to the items in their order, and store the run."""
        file = self.answers(*outputs, **more)
        inputs = ("-r", self.rubric, "-e", self.exam, "-a", file, "--store", self.store)
        return here("score", *inputs, *words)

    def stored(self, *outputs: str, **more: Any) -> str:
        """Score answers and return the id of the stored run."""
        return self.score(*outputs, **more).err.split()[-1]

    def result(self, *outputs: str, name: str = "result.json") -> Path:
        """Score answers and return the result file."""
        path = self.folder / name
        self.score(*outputs, words=("-o", path))
        return path

    def run(self, *words: str | Path, **env: str) -> Done:
        """Run a command on the store."""
        return here(*words, "--store", self.store, **env)

    def judge(self, run: str | Path, *words: str | Path) -> Done:
        """Judge a run; a result file with the documents of this project."""
        files = ("-r", self.rubric, "-e", self.exam) if str(run).endswith("json") else ()
        return self.run("gate", run, *files, *words)


def exam_text(*items: str, name: str = "questions") -> str:
    """Return an exam that expects yes everywhere."""
    entries = (
        f"  - {{id: {item}, prompt: Say yes, expected_contains: ['yes'], tags: {{at: {item}}}}}\n"
        for item in items
    )
    return f"exam: {name}\nitems:\n{''.join(entries)}"


def reweighed(project: Project, short: str, shorter: str) -> Path:
    """Write the rubric with other weights of the two axes of length."""
    text = RUBRIC.replace("0.02, limit: 3", f"{shorter}, limit: 3").replace("0.03", short)
    return project.write("new.yaml", text)


@contextmanager
def nobody() -> Iterator[Path]:
    """Be somebody whom file permissions bind, in a folder of their own."""
    mine = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if mine == 0:
            os.chown(folder, 65534, -1)
            os.seteuid(65534)
        try:
            yield folder
        finally:
            folder.chmod(stat.S_IRWXU)
            os.seteuid(mine)

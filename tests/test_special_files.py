"""Pipes and devices are refused where a file is needed: they may block or never end."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import markscheme

if TYPE_CHECKING:
    from pathlib import Path

RATINGS = ("compare", "-r", "context-agent", "-e", "context-queries", "-b", "b", "-c", "c")
COMMANDS = (
    ("lint", "FILE"),
    ("score", "-r", "FILE", "-e", "capstone", "-a", "answers.jsonl"),
    ("score", "-r", "tutor-capstone", "-e", "FILE", "-a", "answers.jsonl"),
    ("transcript", "FILE"),
    ("verify", "FILE"),
    (*RATINGS, "--ratings", "FILE"),
    ("run", "-r", "tutor-capstone", "-e", "capstone", "-s", "replay:FILE", "--no-store"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: "-".join(words[:3]))
def test_a_pipe_is_refused_where_a_file_is_needed(tmp_path: Path, words: tuple[str, ...]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = markscheme(*(word.replace("FILE", str(pipe)) for word in words), cwd=tmp_path)
    assert done.code in {1, 2, 3}
    assert "is a pipe; a file is needed" in done.out + done.err


def test_a_device_that_never_ends_is_no_log() -> None:
    done = markscheme("transcript", "/dev/zero")
    assert done.code == 3
    assert "is a device; a file is needed" in done.err


def test_a_document_may_come_from_a_pipe_of_the_shell(tmp_path: Path) -> None:
    (tmp_path / "exam.yaml").write_text("exam: e\nitems:\n  - {id: x}\n")
    line = f"{sys.executable} -m markscheme lint <(cat exam.yaml)"
    done = subprocess.run(
        ["bash", "-c", line],  # noqa: S607
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "a file is needed" not in done.stderr + done.stdout
    assert "prompt" in done.stderr + done.stdout

"""What a person sees of a run fits the terminal, and costs no answer."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest

from commands import prepared
from sittings import noted

if TYPE_CHECKING:
    from sittings import Sitting


def test_the_page_of_a_run_is_as_wide_as_its_terminal(sitting: Sitting) -> None:
    words = map(str, sitting.asks("x").words(subject="cmd:echo yes"))
    ours, theirs = terminal(50)
    command = [sys.executable, "-m", "markscheme", *words]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL, env=plain_env()
    ) as process:
        os.close(theirs)
        lines = drawn(ours)
    assert process.returncode == 0
    assert max(map(len, lines)) in range(30, 51)


@pytest.mark.parametrize("width", [80, 40])
def test_progress_fits_its_terminal_and_leaves_room_for_ctrl_c(
    sitting: Sitting, width: int
) -> None:
    """What a terminal writes for Ctrl-C wraps from the last column, and leaves a line behind."""
    sitting.server.delay = 0.3
    sitting.asks(*(f"fine {n}" for n in range(8)))
    words = sitting.words("--concurrency", "2", "--price", "1000:2000")
    lines = on_a_terminal([sys.executable, "-m", "markscheme", *map(str, words)], width)
    assert max(map(len, lines)) <= width - 2
    assert any(re.search(r"\d/8 .*left", line) for line in lines)
    told = "\n".join(lines)
    for part in (r"score \S+ \[\S+, \S+\]", "0 errors", r"\d/s", r"cost \d", r"right \d"):
        assert re.search(part, told)


@pytest.mark.parametrize("width", [80, 40])
def test_each_of_two_subjects_has_a_line_of_its_own(sitting: Sitting, width: int) -> None:
    sitting.server.delay = 0.3
    sitting.asks(*(f"fine {n}" for n in range(8)))
    words = sitting.words("--concurrency", "4", "--subject", "openai:b")
    lines = on_a_terminal([sys.executable, "-m", "markscheme", *map(str, words)], width)
    assert max(map(len, lines)) <= width - 2
    told = "\n".join(lines)
    for name in ("openai:m", "openai:b"):
        assert re.search(rf"(?m)^{name}: \d done,\sscore 1.00 \[1.000, 1.000\], 0 errors$", told)


def on_a_terminal(command: list[str], width: int) -> list[str]:
    """Return every line that a command draws on a terminal while it runs, without colours."""
    ours, theirs = terminal(width)
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env=plain_env()
    ) as process:
        os.close(theirs)
        lines = drawn(ours)
    assert process.returncode == 0
    stored = next(n for n, line in enumerate(lines) if line.startswith("stored as "))
    return lines[:stored]


def terminal(width: int) -> tuple[int, int]:
    """Open a terminal; return our end and theirs."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    return ours, theirs


def plain_env() -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    return {**env, "TERM": "xterm"}


def drawn(terminal: int) -> list[str]:
    """Return all that is drawn on a terminal until it is closed, without colours."""
    found = b""
    with contextlib.suppress(OSError):  # the terminal is closed
        while data := os.read(terminal, 65_536):
            found += data
    os.close(terminal)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", found.decode())
    return [line.rstrip() for line in re.split(r"[\r\n]+", plain)]


def test_a_pipe_stays_silent_on_a_short_run(sitting: Sitting) -> None:
    done = sitting.asks("fine 1").run("--no-store")
    assert done.err == ""


def test_who_no_longer_reads_the_progress_costs_no_answer(sitting: Sitting) -> None:
    words = sitting.asks(*(f"fine {n}" for n in range(20))).words("--format", "json")
    often = prepared("import markscheme.tell.progress as p; p._PIPE_INTERVAL = 1e-9")
    process = subprocess.Popen(
        [*often, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    process.stderr.close()
    document = json.loads(process.stdout.read())
    process.stdout.close()
    assert process.wait() == 0
    assert document["summary"]["n"] == len(noted(sitting.store)) == 20

"""Whatever signal ends a live run, nothing is lost, and how to go on is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commands import prepared
from sittings import noted

if TYPE_CHECKING:
    from sittings import Sitting

# Sends signals where asyncio has taken the next step of a task of ours and has not made it yet.
STOPPED = """\
import asyncio, os, signal, sys, threading
def stopped(*signals):
    begun = threading.Event()
    def hit(frame, event, _):
        if event == "call" and frame.f_code is asyncio.Handle._run.__code__ and begun.is_set():
            sys.setprofile(None)
            for one in signals:
                os.kill(os.getpid(), one)
    async def answer(prompt):
        begun.set()
        await asyncio.sleep(60)
    sys.setprofile(hit)
    return answer
SIGNALS = {
    "ctrl_c": [signal.SIGINT],
    "twice": [signal.SIGINT, signal.SIGINT],
    "terminated": [signal.SIGTERM],
    "terminated_twice": [signal.SIGTERM, signal.SIGTERM],
}
def __getattr__(name):
    return stopped(*SIGNALS[name])
async def stubborn(prompt):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
"""


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("ctrl_c", 130),
        ("twice", 130),
        ("terminated", 143),
        ("terminated_twice", 143),
        ("stubborn", 130),
    ],
)
def test_a_signal_ends_a_run_whatever_the_loop_is_doing(
    sitting: Sitting,
    how: str,
    code: int,
) -> None:
    sitting.write("my_stops.py", STOPPED)
    words = sitting.asks("1", "2").words("--concurrency", "1", subject=f"python:my_stops:{how}")
    usual = prepared("import signal as s; s.signal(s.SIGINT, s.default_int_handler)")
    done = subprocess.run(
        [*usual, *map(str, words)],
        cwd=sitting.folder,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code
    assert done.stderr.count(b"markscheme run") == 1
    assert b"Traceback" not in done.stderr


def test_a_closed_terminal_ends_what_was_started_too(sitting: Sitting) -> None:
    sitting.write("agent.sh", "echo $$ > pid\nexec sleep 600\n")
    words = sitting.asks("1").words(subject="cmd:sh agent.sh")
    usual = prepared("import signal as s; s.signal(s.SIGHUP, s.SIG_DFL)")  # also under `nohup`
    process = subprocess.Popen(
        [*usual, *map(str, words)],
        cwd=sitting.folder,
        stderr=subprocess.PIPE,
    )
    started = sitting.folder / "pid"
    while not (started.exists() and started.read_text()):
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    process.stderr.close()  # type: ignore[union-attr] # nobody reads any more
    assert process.wait(timeout=60) == 129
    assert not Path(f"/proc/{started.read_text().strip()}").exists()


def test_ctrl_c_before_anything_began_shows_no_traceback(tmp_path: Path) -> None:
    """Sent while the first module of ours is loaded."""
    sending = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Sent:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'markscheme.cli.main':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Sent())"
    )
    done = subprocess.run(
        [*prepared(sending), "runs"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    sitting: Sitting, sent: signal.Signals, code: int
) -> None:
    sitting.asks(*(f"fine {n}" for n in range(3)), "hang 4")
    command = [sys.executable, "-m", "markscheme", *map(str, sitting.words())]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while not (sitting.store.exists() and len(sitting.server.counts) == 4):
        time.sleep(0.01)
    time.sleep(0.2)
    os.killpg(process.pid, sent)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"markscheme run" in err
    assert b"--resume" in err
    assert b"Traceback" not in err
    assert len(noted(sitting.store)) == 3


def test_who_does_not_wait_twice_neither_doubles_nor_loses_what_is_being_kept(
    sitting: Sitting,
) -> None:
    """Signals come while a slow disk takes a commit."""
    slow = (
        "import time\n"
        "from markscheme.keep.journal import Journal\n"
        "note = Journal.append_entries\n"
        "def slowly(self, notes):\n"
        "    note(self, notes)\n"
        "    time.sleep(2)\n"
        "Journal.append_entries = slowly"
    )
    words = sitting.asks(*(f"fine {n}" for n in range(4)), "hang 4").words()
    process = subprocess.Popen([*prepared(slow), *map(str, words)], stderr=subprocess.PIPE)
    while len(sitting.server.counts) < 5:
        time.sleep(0.01)
    time.sleep(0.5)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.7)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert noted(sitting.store) == {f"fine {n}" for n in range(4)}


KILLED = 3


def test_nothing_is_lost_or_asked_twice_however_often_a_run_is_killed(sitting: Sitting) -> None:
    sitting.server.delay = 0.05
    sitting.asks(*(f"fine {n}" for n in range(60)))
    command = [sys.executable, "-m", "markscheme", *map(str, sitting.words("--concurrency", "5"))]
    for number in range(KILLED):
        durable, asked = noted(sitting.store), sitting.server.counts.copy()
        process = subprocess.Popen([*command, *(["--resume"] if number else [])])
        wanted = sum(asked.values()) + 17
        while sum(sitting.server.counts.values()) < wanted and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not {p for p in durable if sitting.server.counts[p] > asked[p]}
    durable = noted(sitting.store)
    before = sitting.server.counts.copy()
    assert sitting.run("--concurrency", "20", "--resume").code == 0
    assert len(noted(sitting.store)) == 60
    assert not {prompt for prompt in durable if sitting.server.counts[prompt] > before[prompt]}
    assert len(durable) >= KILLED

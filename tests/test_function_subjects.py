"""Functions as subjects: whatever they return or raise, and however long they take."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from commands import markscheme
from sittings import Sitting, faults, importable

FUNCTIONS = """\
import asyncio, collections, sys, types
def leaves(prompt):
    sys.exit(3)
async def leaves_later(prompt):
    sys.exit(0)
def ends(prompt):
    raise StopIteration
class Panic(BaseException):
    pass
def panics(prompt):
    raise Panic("no idea")
async def panics_later(prompt):
    raise Panic("no idea")
async def gives_up(prompt):
    raise asyncio.CancelledError
async def cancels_itself(prompt):
    asyncio.current_task().cancel()
    await asyncio.sleep(0)
def not_a_number(prompt):
    return {"word": float("nan")}
class Later:
    async def __call__(self, prompt):
        return "yes"
later_still = Later()
async def later(prompt):
    return "yes"
def now(prompt):
    return {"word": "yes"}
def broken(prompt):
    raise ValueError("no idea")
def odd(prompt):
    return 7
def proxy(prompt):
    return types.MappingProxyType({"word": "yes"})
def user_dict(prompt):
    return collections.UserDict({"word": "yes"})
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, {}) for name in ("later", "later_still", "now", "proxy", "user_dict")),
        *(
            (name, {"failed": 1})
            for name in (
                *("broken", "odd", "not_a_number", "leaves", "leaves_later", "ends"),
                *("panics", "panics_later", "gives_up", "cancels_itself"),
            )
        ),
    ],
)
def test_a_function_is_a_subject(
    sitting: Sitting, name: str, expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    importable(sitting, "my_functions", FUNCTIONS, monkeypatch)
    document = sitting.asks("x").json(subject=f"python:my_functions:{name}")
    assert faults(document) == expected


def test_sigterm_ends_a_run_whose_function_blocks_the_loop(sitting: Sitting) -> None:
    slow = "import time\nasync def answer(prompt):\n    print('begun')\n    time.sleep(2)\n"
    sitting.write("my_blocker.py", slow)
    words = map(str, sitting.asks("x").words(subject="python:my_blocker:answer"))
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "markscheme", *words],
        cwd=sitting.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert "--resume" in process.communicate(timeout=30)[1]
    assert process.returncode == 143


def test_a_function_that_never_returns_holds_nothing_back(sitting: Sitting) -> None:
    sitting.write("my_sleeper.py", "import time\ndef answer(prompt):\n    time.sleep(600)\n")
    words = ("--timeout", "0.2", "--retries", "0")
    subject = "python:my_sleeper:answer"
    done = markscheme(*sitting.asks("x").words(*words, subject=subject), cwd=sitting.folder)
    assert done.code == 4


COUNTED = """\
import threading, time
running, most, alone = 0, 0, threading.Lock()
def counted(seconds):
    global running, most
    with alone:
        running += 1
        most = max(most, running)
    time.sleep(seconds)
    with alone:
        running -= 1
calls = iter(range(100))
def slow(prompt):
    counted(1)
    return "yes"
def slow_at_first(prompt):
    counted(1.5 if next(calls) < 2 else 0)
    return "yes"
def hangs(prompt):
    counted(600)
"""


@pytest.fixture
def counting(sitting: Sitting, monkeypatch: pytest.MonkeyPatch) -> Sitting:
    importable(sitting, "my_counting", COUNTED, monkeypatch)
    return sitting


def test_a_call_that_was_given_up_keeps_its_place_until_it_ends(counting: Sitting) -> None:
    counting.asks(*(f"{n}" for n in range(6)))
    limits = ("--concurrency", "2", "--timeout", "0.3", "--retries", "1")
    document = counting.json(*limits, subject="python:my_counting:slow")
    assert faults(document) == {"timeout": 6}
    assert sys.modules["my_counting"].most == 2


def test_a_place_is_given_on_when_a_call_ends_that_was_given_up(counting: Sitting) -> None:
    counting.asks(*(f"{n}" for n in range(6)))
    limits = ("--concurrency", "2", "--timeout", "1", "--retries", "9")
    document = counting.json(*limits, subject="python:my_counting:slow_at_first")
    assert (faults(document), sys.modules["my_counting"].most) == ({}, 2)


def test_where_every_place_is_taken_for_ever_the_run_still_ends(counting: Sitting) -> None:
    counting.asks(*(f"{n}" for n in range(6)))
    limits = ("--concurrency", "2", "--timeout", "0.2", "--retries", "0")
    document = counting.json(*limits, subject="python:my_counting:hangs")
    why = sorted(one["error"]["why"] for one in document["live"]["unanswered"])
    told = "no answer within 0.2 s"
    assert why == [told, told, *[f"{told}: 2 earlier calls are still running"] * 4]
    done = counting.run(*limits, "--max-time", "0.5", subject="python:my_counting:hangs")
    assert "--max-time of 0.5 s is over" in done.err


FORKS = """\
import multiprocessing, time
def answer(prompt):
    fork = multiprocessing.get_context("fork")
    fork.Process(target=time.sleep, args=(600,), daemon=True).start()
    return "yes"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_process_that_a_function_forked_does_not_keep_the_run_from_its_end(
    sitting: Sitting,
) -> None:
    """It is ended by SIGTERM when we leave, and must not put that off as we do."""
    sitting.write("my_forks.py", FORKS)
    words = map(str, sitting.asks("x").words(subject="python:my_forks:answer"))
    command = [sys.executable, "-W", "ignore", "-m", "markscheme", *words]
    done = subprocess.run(
        command, cwd=sitting.folder, stdout=subprocess.PIPE, check=False, timeout=30
    )
    assert done.returncode == 0


def test_a_function_that_changes_the_folder_moves_no_recording(sitting: Sitting) -> None:
    (sitting.folder / "sub").mkdir()
    moves = "import os\ndef answer(prompt):\n    os.chdir('sub')\n    return 'yes'\n"
    sitting.write("my_moves.py", moves)
    words = sitting.asks("x").words("--record", "said.jsonl", subject="python:my_moves:answer")
    words[words.index(sitting.store)] = "store.db"
    assert markscheme(*words, cwd=sitting.folder).code == 0
    assert (sitting.folder / "said.jsonl").exists()
    assert sitting.store.exists()

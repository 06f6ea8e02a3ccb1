"""Async functions as subjects: in a loop of their own, many at a time, and never in the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter

import pytest

from commands import markscheme, prepared
from markscheme import run
from sittings import Sitting, faults, importable

ASYNC = """\
import asyncio, contextvars, time
WHO = contextvars.ContextVar("WHO", default="nobody")
begun, loops = [], []
async def blocks(prompt):
    time.sleep(0.2)
    return "yes"
async def hangs(prompt):
    print("begun", flush=True)
    time.sleep(600)
async def waits_for_nineteen_others(prompt):
    begun.append(prompt)
    while len(begun) < 20:
        await asyncio.sleep(0.01)
    return "yes"
async def tidies_up(prompt):
    print("begun", flush=True)
    try:
        await asyncio.sleep(600)
    finally:
        open("tidied", "w").close()
async def says_whom(prompt):
    return WHO.get()
async def notes_its_loop(prompt):
    loops.append(asyncio.get_running_loop())
    return "yes" if len(set(loops)) == 1 else "no"
async def also_notes_it(prompt):
    return await notes_its_loop(prompt)
async def leaves_a_task_that_leaves(prompt):
    async def leave():
        raise SystemExit(3)
    task = asyncio.ensure_future(leave())
    await asyncio.sleep(0.01)
    task.exception()
    return "yes"
"""


@pytest.fixture
def functions(sitting: Sitting, monkeypatch: pytest.MonkeyPatch) -> Sitting:
    importable(sitting, "my_async", ASYNC, monkeypatch)
    return sitting


def test_the_latency_of_a_function_that_blocks_is_its_own(functions: Sitting) -> None:
    functions.asks(*(f"{n}" for n in range(8)))
    document = functions.json("--concurrency", "8", subject="python:my_async:blocks")
    assert 200 <= document["live"]["latency_ms"]["p50"] < 600  # not that of those before it


def test_who_is_asked_beside_a_function_that_hangs_answers_all_the_same(functions: Sitting) -> None:
    functions.asks(*(f"fine {n}" for n in range(8)))
    limits = ("--timeout", "1", "--retries", "0", "--concurrency", "4")
    done = functions.run(*limits, "-s", "python:my_async:hangs", "--format", "json")
    fine, hanging = (run["live"] for run in done.json["runs"])
    assert (fine["answered"], hanging["faults"]) == (8, {"timeout": 8})
    why = Counter(one["error"]["why"].partition(": ")[2] for one in hanging["unanswered"])
    held_up = why["another call blocks the loop of the function, which is async"]
    assert why[""] == 1
    assert held_up + why["an earlier call is still running"] == 7
    assert held_up > 0


@pytest.mark.parametrize("name", ["hangs", "tidies_up"])
def test_one_signal_ends_a_run_whose_async_function_hangs(sitting: Sitting, name: str) -> None:
    sitting.write("my_async.py", ASYNC)
    words = map(str, sitting.asks("x").words(subject=f"python:my_async:{name}"))
    usual = prepared("import signal as s; s.signal(s.SIGINT, s.default_int_handler)")
    with subprocess.Popen(
        [*usual, *words],
        cwd=sitting.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert (sitting.folder / "tidied").exists() == (name == "tidies_up")


def test_max_time_ends_a_run_whose_async_function_hangs(sitting: Sitting) -> None:
    sitting.write("my_async.py", ASYNC)
    words = sitting.asks("x", "y").words("--max-time", "1", subject="python:my_async:hangs")
    done = markscheme(*words, cwd=sitting.folder)
    assert done.code == 4
    assert "--max-time of 1 s is over" in done.err


def test_async_functions_are_asked_as_many_at_a_time_as_is_allowed(functions: Sitting) -> None:
    functions.asks(*(f"{n}" for n in range(20)))
    words = ("--concurrency", "20", "--timeout", "20", "--retries", "0")
    subject = "python:my_async:waits_for_nineteen_others"
    assert faults(functions.json(*words, subject=subject)) == {}


def test_an_async_function_that_is_given_up_can_tidy_up(functions: Sitting) -> None:
    words = ("--timeout", "0.2", "--retries", "0")
    document = functions.asks("x").json(*words, subject="python:my_async:tidies_up")
    assert faults(document) == {"timeout": 1}
    assert (functions.folder / "tidied").exists()


def test_an_async_function_knows_the_context_of_who_asks(functions: Sitting) -> None:
    functions.asks("x")
    where = (functions.rubric, functions.exam, "python:my_async:says_whom")
    assert run(*where).frame["got"][0] == "nobody"
    token = sys.modules["my_async"].WHO.set("somebody")
    assert run(*where).frame["got"][0] == "somebody"
    sys.modules["my_async"].WHO.reset(token)


def test_functions_of_one_module_share_a_loop_and_what_belongs_to_it(functions: Sitting) -> None:
    functions.asks("x", "y")
    words = ("-s", "python:my_async:also_notes_it", "--format", "json")
    done = functions.run(*words, subject="python:my_async:notes_its_loop")
    assert [run["summary"]["score"] for run in done.json["runs"]] == [1, 1]


def test_a_task_that_leaves_takes_nobody_with_it(functions: Sitting) -> None:
    functions.asks("x", "y")
    subject = "python:my_async:leaves_a_task_that_leaves"
    assert faults(functions.json("--concurrency", "1", subject=subject)) == {}


def test_whatever_an_async_function_raises_is_the_error_of_its_question(sitting: Sitting) -> None:
    leaves = "async def answer(prompt):\n    raise KeyboardInterrupt\n"
    sitting.write("leaves.py", leaves)
    words = sitting.asks("x").words("--format", "json", subject="python:leaves:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert (done.code, faults(done.json)) == (4, {"failed": 1})

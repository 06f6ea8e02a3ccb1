"""Subjects of each kind, as `markscheme run` asks them, and what a person sees meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from commands import here, markscheme, prepared
from markscheme import run
from markscheme.ask import runner, wire
from markscheme.ask.pace import Pace
from sittings import Sitting, faults

# --- subjects of each kind ---


def test_the_bundled_tutor_is_a_subject() -> None:
    done = here("run", "-r", "tutor-capstone", "-e", "capstone", "--subject", "tutor")
    assert done.code == 0
    assert "score 1.00" in done.out


def test_a_command_gets_the_prompt_on_stdin_or_in_its_place(sitting: Sitting) -> None:
    sitting.asks("yes")
    assert sitting.json(subject="cmd:cat")["items"][0]["got"] == "yes"
    assert sitting.json(subject="cmd:echo oh {prompt}")["items"][0]["got"] == "oh yes"


def test_a_command_needs_no_shell_and_its_failure_is_an_error(sitting: Sitting) -> None:
    sitting.asks("$(touch hacked); yes")
    assert sitting.json(subject="cmd:echo {prompt}")["items"][0]["got"] == "$(touch hacked); yes"
    document = sitting.json(subject="cmd:cat /no/such/file")
    assert faults(document) == {"failed": 1}
    assert sitting.run(subject="cmd:no-such-command-here").code == 2


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 3", "the command ended with 3"),
        ("echo oh no; exit 3", "the command ended with 3: oh no"),
        ("echo yes; echo oh no >&2; exit 3", "the command ended with 3: oh no"),
    ],
)
def test_a_command_that_fails_is_told_with_its_last_words(
    sitting: Sitting, script: str, why: str
) -> None:
    document = sitting.asks("x").json(subject=f"cmd:{shlex.join(['sh', '-c', script])}")
    assert document["live"]["unanswered"][0]["error"]["why"] == why


def test_a_command_that_hangs_is_killed(sitting: Sitting) -> None:
    document = sitting.asks("x").json("--timeout", "0.2", "--retries", "0", subject="cmd:sleep 60")
    assert faults(document) == {"timeout": 1}


def test_what_a_command_leaves_behind_ends_with_it(sitting: Sitting) -> None:
    left = sitting.folder / "left"
    script = f"sleep 60 & echo $! > {left}; echo yes"
    words = ("--timeout", "0.5", "--retries", "0", "--format", "json")
    subject = f"cmd:{shlex.join(['sh', '-c', script])}"
    done = markscheme(*sitting.asks("x").words(*words, subject=subject))
    assert faults(done.json) == {"timeout": 1}
    assert "Traceback" not in done.err
    assert not running(int(left.read_text()))


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_that_never_stops_talking_is_stopped(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.ask.subjects.commands.LARGEST", 100_000)
    assert faults(sitting.asks("x").json(subject="cmd:yes")) == {"too-large": 1}


NOISY = """\
import atexit, os, subprocess, sys, threading, time
def prints(prompt):
    print("noise")
def writes_to_the_first_stdout(prompt):
    print("noise", file=sys.__stdout__, flush=True)
def writes_to_the_descriptor(prompt):
    os.write(1, b"noise\\n")
def asks_a_shell(prompt):
    os.system("echo noise")
def starts_a_child(prompt):
    subprocess.run(["echo", "noise"])
def lets_a_child_write_to_stdout(prompt):
    subprocess.run(["echo", "noise"], stdout=sys.stdout)
def forgets_a_child(prompt):
    subprocess.Popen(["sh", "-c", "echo noise; exec sleep 60"])
def keeps_another_stdout(prompt):
    print("noise")
    sys.stdout = open(os.devnull, "w")
def prints_when_we_leave(prompt):
    atexit.register(print, "noise")
def prints_later(prompt):
    def work():
        while True:
            print("noise", flush=True)
            sys.stdout.buffer.write(b"noise\\n")
            os.write(sys.stdout.fileno(), b"noise\\n")
            time.sleep(0.0001)
    threading.Thread(target=work, daemon=True).start()
"""


@pytest.mark.parametrize("name", re.findall(r"def (\w+)\(prompt", NOISY))
def test_what_a_function_prints_is_no_part_of_the_document(sitting: Sitting, name: str) -> None:
    called = f"def answer(prompt):\n    {name}(prompt)\n    return 'yes'\n"
    sitting.write("my_printer.py", NOISY + called)
    subject = "python:my_printer:answer"
    words = sitting.asks("x").words("--format", "json", subject=subject)
    with (sitting.folder / "told").open("wb+") as told:
        command = [sys.executable, "-m", "markscheme", *map(str, words)]
        done = subprocess.run(
            command,
            cwd=sitting.folder,
            stdout=subprocess.PIPE,  # a child that is forgotten does not hold it open
            stderr=told,
            check=True,
            timeout=30,
        )
        assert json.loads(done.stdout)["summary"]["n"] == 1
        told.seek(0)
        assert b"noise" in told.read()


def test_what_a_module_prints_is_no_part_of_a_complaint(sitting: Sitting) -> None:
    sitting.write("my_printer.py", "import os\nos.system('echo noise')\nraise ValueError\n")
    words = sitting.asks("x").words("--format", "json", subject="python:my_printer:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert done.json["error"]["exit_code"] == done.code == 2
    assert "noise" in done.err


@pytest.mark.parametrize("closed", ["stdout", "stderr", "both"])
def test_a_subject_prints_where_streams_are_closed(sitting: Sitting, closed: str) -> None:
    subject = "python:my_printer:starts_a_child"
    sitting.write("my_printer.py", NOISY.replace('"noise"])', '"noise"]); return "yes"'))
    words = map(str, sitting.asks("x").words("--format", "json", subject=subject))
    streams = {"stdout": ">&-", "stderr": "2>&-", "both": ">&- 2>&-"}[closed]
    done = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.join([sys.executable, '-m', 'markscheme', *words])} {streams}"],
        cwd=sitting.folder,
        capture_output=True,
        check=True,
        timeout=60,
    )
    if closed == "stderr":
        assert json.loads(done.stdout)["summary"]["n"] == 1
    else:
        assert done.stdout == b""


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
    sitting.write("my_functions.py", FUNCTIONS)
    monkeypatch.chdir(sitting.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("my_functions", None)
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
    sitting.write("my_async.py", ASYNC)
    monkeypatch.chdir(sitting.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("my_async", None)
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
    sitting.write("my_counting.py", COUNTED)
    monkeypatch.chdir(sitting.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("my_counting", None)
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


@pytest.mark.parametrize(
    ("file", "advice"),
    [
        *((file, "write python:mine:answer") for file in ("mine.py", "./mine", "./mine.py")),
        ("deep/mine.py", "write python:deep.mine:answer"),
        ("../mine.py", "write python:mine:answer in its folder"),
    ],
)
def test_the_name_of_a_file_is_not_that_of_a_module(
    sitting: Sitting, file: str, advice: str
) -> None:
    sitting.write("mine.py", "def answer(prompt):\n    return 'yes'\n")
    words = sitting.asks("x").words(subject=f"python:{file}:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert (done.code, done.err) == (2, f"Error: `{file}` is a file, and not a module; {advice}\n")


@pytest.mark.parametrize("name", ["queue", "orjson"])
def test_a_module_that_is_loaded_already_is_not_taken_for_one_of_ones_own(
    sitting: Sitting, name: str
) -> None:
    mine = sitting.write(f"{name}.py", "def answer(prompt):\n    return 'yes'\n")
    words = map(str, sitting.asks("x").words(subject=f"python:{name}:answer"))
    done = subprocess.run(  # as the script does it, which does not look in the present folder
        [sys.executable, "-P", "-m", "markscheme", *words],
        cwd=sitting.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    other = sys.modules[name].__file__
    told = f"`{name}` is `{other}`, which is loaded already, and not `{mine}`; rename yours"
    assert done.stderr == f"Error: {told}\n"


def test_a_module_that_stands_in_our_way_is_wrong_usage(sitting: Sitting) -> None:
    sitting.write("mine.py", "def answer(prompt):\n    return 'yes'\n")
    sitting.write("polars.py", "")
    (sitting.folder / "rich").mkdir()
    sitting.write("rich/__init__.py", "")
    words = map(str, sitting.asks("x").words(subject="python:mine:answer"))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "markscheme", *words],
        cwd=sitting.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    told = "`polars`, `rich` of the present folder would be loaded instead of what markscheme needs"
    assert (done.returncode, done.stderr) == (2, f"Error: {told}; rename them\n")


@pytest.mark.parametrize("leaves", ["import sys; sys.exit(0)", "raise BaseException('panic')"])
def test_a_module_that_leaves_when_it_is_imported_is_wrong_usage(
    sitting: Sitting, leaves: str
) -> None:
    sitting.write("my_script.py", leaves)
    words = sitting.asks("x").words(subject="python:my_script:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot import `answer` of `my_script`" in done.err


def test_a_function_that_never_returns_holds_nothing_back(sitting: Sitting) -> None:
    sitting.write("my_sleeper.py", "import time\ndef answer(prompt):\n    time.sleep(600)\n")
    words = ("--timeout", "0.2", "--retries", "0")
    subject = "python:my_sleeper:answer"
    done = markscheme(*sitting.asks("x").words(*words, subject=subject), cwd=sitting.folder)
    assert done.code == 4


@pytest.mark.parametrize(
    "subject",
    [
        *(
            "gpt",
            "openai:",
            "openai:m@localhost:8000/v1",
            "openai:m@localhost:8000",
            "openai:m@ftp://localhost/v1",
            "llm:",
            "cmd:",
        ),
        *("python:os", "python:os:no_such", "tutor:bad", "replay:", "local:gpt4"),
    ],
)
def test_what_is_no_subject_is_wrong_usage(sitting: Sitting, subject: str) -> None:
    assert sitting.asks("x").run(subject=subject).code == 2


@pytest.mark.parametrize(
    "words",
    [
        *(("--temperature", "1e400"), ("--timeout", "nan"), ("--max-time", "nan")),
        *(("--max-tokens", "9" * 30), ("--price", "1e999:1"), ("--base-url", "")),
    ],
)
def test_what_is_no_number_of_use_is_wrong_usage(sitting: Sitting, words: tuple[str, str]) -> None:
    assert sitting.asks("fine 1").run(*words).code == 2


@pytest.mark.parametrize(
    ("words", "subject"),
    [
        (("--temperature", "0"), "tutor"),
        (("--max-tokens", "9"), "cmd:cat"),
        (("--price", "1:2"), "cmd:cat"),
        (("--key-env", "MINE"), "tutor"),
        (("--base-url", "http://127.0.0.1:1/v1"), "replay:smollm2-free"),
        (("--base-url", "http://127.0.0.1:1/v1"), "openai:m@http://127.0.0.1:2/v1"),
    ],
)
def test_an_option_that_means_nothing_to_the_subject_is_refused(
    sitting: Sitting, words: tuple[str, str], subject: str
) -> None:
    named = ("-r", sitting.rubric, "-e", sitting.asks("fine 1").exam, "-s", subject)
    done = here("run", *named, "--store", sitting.store, *words, MINE="")
    assert done.code == 2
    assert f"{words[0]} means nothing to" in done.err
    assert not sitting.server.counts


def test_an_option_that_means_nothing_to_one_of_two_subjects_is_told(sitting: Sitting) -> None:
    done = sitting.asks("fine 1").run("--subject", "cmd:cat", "--temperature", "0")
    assert done.err.startswith("--temperature has no effect on cmd:cat\n")
    assert sitting.server.bodies[0]["temperature"] == 0


def test_a_rubric_that_can_score_nothing_is_refused_before_anything_is_asked(
    sitting: Sitting,
) -> None:
    sitting.asks("fine 1")
    where = ("--base-url", sitting.server.url)
    done = here("run", "-r", "context-agent", "-e", sitting.exam, "-s", "openai:m", *where)
    assert done.code in {2, 3}
    assert not sitting.server.counts


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


# --- recordings ---

RECORDED = (
    ('{"item": "i0", "output": "yes"}', "line 1 holds"),
    ('{"item": "i1", "subject": "b", "output": "yes"}', "of `b`"),
    ('{"item": "i1", "subject": "a", "outp', "not JSON"),
    ('{"item": "i1", "subject": "a", "output": null}', "`output` must be text"),
    ('{"item": "i1", "subject": "a", "output": "yes", "cost": "much"}', "`cost`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "latency_ms": 1e308}', "`latency_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "latency_ms": -5}', "`latency_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "tokens_in": "3"}', "`tokens_in`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "first_token_ms": "3"}', "`first_token_ms`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "finish_reason": 7}', "`finish_reason`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "tries": -1}', "`tries`"),
    ('{"item": "i1", "subject": "a", "output": "yes", "cached": "no"}', "`cached`"),
    ('{"item": "i1", "subject": "a", "error": "timeout"}', "`error`"),
    ('{"item": "i1", "subject": "a", "error": {"kind": "odd", "why": ""}}', "`error`"),
    ('["i1", "yes"]', "an object"),
)


def test_every_row_that_cannot_be_replayed_is_told_before_anything_is_asked(
    sitting: Sitting,
) -> None:
    first = '{"item": "i0", "subject": "a", "output": "yes"}'
    rows = sitting.write("said.jsonl", "\n".join([first, *(row for row, _ in RECORDED)]))
    done = sitting.asks("x", "y").run(subject=f"replay:{rows}")
    assert done.code == 3
    told = done.err.splitlines()
    assert len(told) == len(RECORDED)
    for number, (line, (_, wrong)) in enumerate(zip(told, RECORDED, strict=True), start=2):
        assert line.startswith(f"{rows}:{number}: ")
        assert wrong in line


def test_a_file_of_rubbish_is_not_told_line_by_line(sitting: Sitting) -> None:
    rows = sitting.write("said.jsonl", "rubbish\n" * 5_000)
    done = sitting.asks("x").run(subject=f"replay:{rows}")
    assert (done.code, done.err.count("\n")) == (3, 21)
    assert done.err.endswith(f"{rows}:21: 4,980 more lines from here on cannot be replayed\n")


def test_a_recording_of_two_subjects_is_the_answers_of_neither(sitting: Sitting) -> None:
    said = sitting.folder / "said.jsonl"
    words = ("-s", "cmd:echo no", "--record", said)
    assert sitting.asks("x").run(*words, subject="cmd:echo yes").code == 0
    done = sitting.run(subject=f"replay:{said}")
    assert done.code == 3
    assert "`cmd:echo no`" in done.err


def test_errors_and_absent_values_of_a_recording_are_said_again(sitting: Sitting) -> None:
    error = '{"item": "i0", "error": {"kind": "timeout", "why": "too slow"}}'
    fine = '{"item": "i1", "output": "yes", "error": null, "latency_ms": null, "attempt": null}'
    rows = sitting.write("said.jsonl", f"\ufeff{error}\r\n\r\n{fine}")
    document = sitting.asks("x", "y").json(subject=f"replay:{rows}")
    assert faults(document) == {"timeout": 1}
    assert document["summary"]["n"] == 1


TROUBLES = """\
class Said(Exception):
    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status
TOLD = {
    "busy": Said(429),
    "timeout": TimeoutError("slow"),
    "unreachable": ConnectionRefusedError("nobody"),
    "broken-off": ConnectionResetError("gone"),
    "server-error": Said(500),
    "rejected": Said(400),
    "failed": ValueError("failed"),
}
first = set()
def answer(prompt):
    kind = prompt.split()[0]
    if kind in TOLD:
        raise TOLD[kind]
    if prompt not in first and kind == "later":
        first.add(prompt)
        raise TOLD["server-error"]
    return "\\0" if kind == "garbled" else "yes"
"""
KINDS = ("busy", "timeout", "unreachable", "broken-off", "server-error", "rejected", "failed")


def alike(document: Any) -> Any:
    """Return of a document what a replay of its recording must tell again."""
    asked = ("tries", "finish_reason", "first_token_ms", "cached", "error")
    items = [
        {**row, "subject": None, "asked": row["asked"] and {k: row["asked"][k] for k in asked}}
        for row in document["items"]
    ]
    names = ("answered", "cached", "faults", "not_asked", "tries", "finish_reasons", "latency_ms")
    more = ("first_token_ms", "tokens_in", "tokens_out", "cost")
    live = {name: document["live"][name] for name in (*names, *more)}
    return items, live, [error["reason"] for error in document["errors"]]


def test_errors_of_every_kind_are_replayed_as_they_were_and_at_once(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_FIRST_WAIT", 0.001)
    monkeypatch.setattr(runner, "_MOST_BUSY", 2)
    sitting.write("my_troubles.py", TROUBLES)
    monkeypatch.chdir(sitting.folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("my_troubles", None)
    sitting.asks(*(f"{kind} 1" for kind in KINDS), "garbled 1", "later 1", "fine 1", "fine 2")
    said = sitting.folder / "said.jsonl"
    words = ("--record", said, "--retries", "2", "--attempts", "2", "--no-store")
    before = sitting.json(*words, subject="python:my_troubles:answer")
    assert set(before["live"]["faults"]) == {*KINDS, "garbled"}
    monkeypatch.setattr(Pace, "keep_quiet", None)
    monkeypatch.setattr(Pace, "rest", None)
    again = sitting.json("--no-store", "--attempts", "2", subject=f"replay:{said}")
    assert alike(again) == alike(before)


def test_what_an_endpoint_measured_and_a_cache_kept_is_replayed(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "LARGEST", 100_000)
    words = ("--price", "0.15:0.6", "--cache", "--stream", "--retries", "1", "--timeout", "2")
    sitting.asks("fine 1").run(*words)
    said = sitting.folder / "said.jsonl"
    prompts = ("cut 3", "nul 4", "stream 5", "half 6", "shaky 7", "refuse 8", "huge 9")
    sitting.asks("fine 1", "fine 2", *prompts)
    before = sitting.json(*words, "--record", said)
    assert (before["live"]["cached"], before["live"]["faults"]) == (
        1,
        {"garbled": 1, "too-large": 1},
    )
    assert before["live"]["cost"] is not None
    again = sitting.json("--no-store", "--max-cost", "1", subject=f"replay:{said}")
    assert alike(again) == alike(before)


def test_a_recording_is_played_to_its_end_however_busy_or_strict_it_was(sitting: Sitting) -> None:
    kinds = ["rejected"] * 6 + ["busy"] * 60 + ["unreachable"] * 6
    rows = [{"item": f"i{n}", "error": {"kind": kind, "why": ""}} for n, kind in enumerate(kinds)]
    rows.append({"item": f"i{len(kinds)}", "output": "yes"})
    said = sitting.write("said.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    sitting.asks(*(str(n) for n in range(len(rows))))
    live = sitting.json("--max-time", "20", "--concurrency", "1", subject=f"replay:{said}")["live"]
    assert live["faults"] == {"busy": 60, "rejected": 6, "unreachable": 6}
    assert (live["tries"], live["answered"], live["stopped"]) == (len(rows), 1, None)


def test_a_price_is_put_on_recorded_tokens_and_not_on_a_recorded_cost(sitting: Sitting) -> None:
    tokens = '"output": "yes", "tokens_in": 10, "tokens_out": 5'
    rows = f'{{"item": "i0", {tokens}}}\n{{"item": "i1", {tokens}, "cost": 2}}\n'
    said = sitting.write("said.jsonl", rows + f'{{"item": "i2", {tokens}, "cached": true}}\n')
    words = ("--price", "100000:100000", "--max-cost", "9")  # 1.5 for an answer
    document = sitting.asks("x", "y", "z").json(*words, subject=f"replay:{said}")
    assert (document["live"]["cost"], document["live"]["stopped"]) == ("3.5", None)
    assert [row["cost"] for row in document["items"]] == [1.5, 2, None]


@pytest.mark.parametrize(
    ("tokens", "words", "told"),
    [
        ("", (), "the subject tells neither its cost nor its tokens"),
        ("", ("--price", "1:2"), "the subject tells neither its cost nor its tokens"),
        (
            ', "tokens_in": 3, "tokens_out": 4',
            (),
            "the subject does not tell its cost; see --price",
        ),
    ],
)
def test_a_price_is_advised_only_where_it_would_help(
    sitting: Sitting, tokens: str, words: tuple[str, ...], told: str
) -> None:
    rows = (f'{{"item": "i{n}", "output": "yes"{tokens}}}\n' for n in range(3))
    said = sitting.write("said.jsonl", "".join(rows))
    sitting.asks("x", "y", "z")
    words = (*words, "--max-cost", "1", "--concurrency", "1")
    live = sitting.json(*words, subject=f"replay:{said}")["live"]
    assert (live["answered"], live["stopped"]) == (1, f"--max-cost cannot be kept: {told}")


def test_what_was_not_asked_took_no_try_in_a_replay_either(sitting: Sitting) -> None:
    said = sitting.folder / "said.jsonl"
    words = ("--max-cost", "1", "--concurrency", "1", "--record", said)
    before = sitting.asks("x", "y", "z").json(*words, subject="cmd:echo yes")["live"]
    assert (before["not_asked"], before["tries"]) == (2, 1)
    again = sitting.json(subject=f"replay:{said}")["live"]
    assert (again["faults"], again["tries"], again["answered"]) == ({"failed": 2}, 1, 1)

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
from pathlib import Path
from typing import Any

import pytest

from commands import here, markscheme
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


def test_what_a_function_prints_is_no_part_of_the_document(sitting: Sitting) -> None:
    sitting.write("my_printer.py", "def answer(prompt):\n    print('noise')\n    return 'yes'\n")
    subject = "python:my_printer:answer"
    words = sitting.asks("x").words("--format", "json", subject=subject)
    done = markscheme(*words, cwd=sitting.folder)
    assert done.json["summary"]["n"] == 1
    assert "noise" in done.err


FUNCTIONS = """\
import asyncio, sys
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
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, {}) for name in ("later", "later_still", "now")),
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
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env={**env, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        drawn = b""
        with contextlib.suppress(OSError):  # the terminal is closed
            while data := os.read(ours, 65_536):
                drawn += data
    os.close(ours)
    assert process.returncode == 0
    during, _, _ = drawn.partition(b"stored as ")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", during.decode())
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

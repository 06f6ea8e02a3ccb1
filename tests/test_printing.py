"""What a subject prints is no part of the document, however it is printed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands import markscheme

if TYPE_CHECKING:
    from sittings import Sitting

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


@pytest.mark.parametrize(
    "stream",
    [
        'io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")',
        'os.fdopen(sys.stdout.fileno(), "w", 1)',
    ],
)
def test_a_module_may_put_another_stream_in_the_place_of_stdout(
    sitting: Sitting, stream: str
) -> None:
    answer = "def answer(prompt):\n    print('noise')\n    return 'yes'\n"
    sitting.write("my_printer.py", f"import io, os, sys\nsys.stdout = {stream}\n{answer}")
    words = sitting.asks("x").words("--format", "json", subject="python:my_printer:answer")
    done = markscheme(*words, cwd=sitting.folder)
    assert (done.code, done.json["summary"]["n"]) == (0, 1)


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

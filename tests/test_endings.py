"""Whenever it is that a signal ends us: nothing half is left, and the exit code says who it was."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from commands import prepared
from markscheme.cli import main as program
from markscheme.cli.process import SignalHandlers
from markscheme.vocabulary import Terminated, write_path
from markscheme.vocabulary import atomic as wholly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType


def in_a_file(path: Path) -> None:
    with write_path(path) as partial:
        partial.write_text("all of it")


def in_a_folder(path: Path) -> None:
    with write_path(path) as partial:
        partial.mkdir()
        (partial / "part").write_text("all of it")


WATCHED = {wholly.__file__, contextlib.__file__, __file__}


class Interruption:
    """Raises at one of the steps that are made in the watched files, as a signal would."""

    def __init__(self, step: int) -> None:
        self._left = step
        self.came = False

    def trace(self, frame: FrameType, event: str, given: Any) -> Any:
        del event, given
        if frame.f_code.co_filename not in WATCHED:
            return None
        self._left -= 1
        if self._left == 0:
            self.came = True
            raise Terminated(143)
        return self.trace

    def during(self, work: Any, path: Path) -> None:
        before = sys.gettrace()
        sys.settrace(self.trace)
        try:
            work(path)
        except Terminated:
            pass
        finally:
            sys.settrace(before)


@pytest.mark.parametrize("work", [in_a_file, in_a_folder])
def test_at_no_step_does_an_interruption_leave_half_a_file(work: Any, tmp_path: Path) -> None:
    step, came = 0, True
    while came:
        step += 1
        path = tmp_path / f"{step}"
        interruption = Interruption(step)
        interruption.during(work, path)
        came = interruption.came
        assert [left.name for left in tmp_path.iterdir() if left != path] == []
        if path.exists():
            whole = path / "part" if path.is_dir() else path
            assert whole.read_text() == "all of it"
            path.rename(tmp_path.parent / f"{tmp_path.name}-{step}")
    assert step > 20


@pytest.fixture
def endings() -> Iterator[SignalHandlers]:
    """Listen to signals that are not ignored, whatever those who run the tests do."""
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for one in before:
        signal.signal(one, signal.SIG_DFL)
    listening = SignalHandlers()
    listening.install()
    yield listening
    for one, handler in before.items():
        signal.signal(one, handler)


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)
    time.sleep(0)  # the handler has been called


@pytest.mark.parametrize(
    ("sent", "raised", "code"),
    [
        (signal.SIGINT, KeyboardInterrupt, 130),
        (signal.SIGTERM, Terminated, 143),
        (signal.SIGHUP, Terminated, 129),
    ],
)
def test_what_is_sent_twice_at_once_is_said_once(
    endings: SignalHandlers, sent: signal.Signals, raised: type[BaseException], code: int
) -> None:
    with pytest.raises(raised):
        send(sent)
    send(sent)  # as `timeout` does: to the process, and to its group
    assert endings.received == code


def test_who_sends_it_again_later_is_heard_again(
    endings: SignalHandlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Terminated):
        send(signal.SIGTERM)
    later = time.monotonic() + 1
    monkeypatch.setattr("markscheme.cli.process.time.monotonic", lambda: later)
    with pytest.raises(KeyboardInterrupt):
        send(signal.SIGINT)
    assert endings.received == 130


def test_a_signal_that_comes_out_of_a_library_as_another_error_is_no_bug_of_ours(
    endings: SignalHandlers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def swallowed(**_: object) -> None:
        with contextlib.suppress(Terminated):
            send(signal.SIGTERM)
        raise TypeError("not a data type")

    monkeypatch.setattr(program.main, "main", swallowed)
    assert program._run_command(endings) == 143
    assert capsys.readouterr().err == ""


def test_signals_that_are_to_be_ignored_stay_ignored(endings: SignalHandlers) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does
    endings.install()
    send(signal.SIGHUP)
    assert endings.received is None


KILLED_AT_ITS_WORD = """\
import click, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
said = click.echo
def echo(*words, **how):
    {before}
    said(*words, **how)
    {after}
click.echo = echo
"""
ENDED = [
    (signal.SIGINT, 130, "interrupted"),
    (signal.SIGTERM, 143, "terminated"),
    (signal.SIGHUP, 129, "hung up"),
]


def killed(tmp_path: Path, sent: signal.Signals, *when: str) -> tuple[int, Any]:
    """Return the exit code and the one document of a command that is killed at its word."""
    kill = f"os.kill(os.getpid(), {int(sent)})"
    times = {"before": "pass", "after": "pass", **dict.fromkeys(when, kill)}
    command = prepared(KILLED_AT_ITS_WORD.format(**times))
    words = ["init", str(tmp_path / "mine"), "--format", "json"]
    done = subprocess.run([*command, *words], capture_output=True, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(("sent", "code", "why"), ENDED)
def test_a_command_that_was_ended_says_so_in_its_document(
    tmp_path: Path, sent: signal.Signals, code: int, why: str
) -> None:
    told = {"error": {"exit_code": code, "message": why, "problems": []}}
    assert killed(tmp_path, sent, "before") == (code, told)


@pytest.mark.parametrize(("sent", "code", "why"), ENDED)
def test_a_command_that_was_ended_after_its_document_adds_no_second(
    tmp_path: Path, sent: signal.Signals, code: int, why: str
) -> None:
    del why
    ended, document = killed(tmp_path, sent, "after")
    assert (ended, list(document)) == (code, ["directory", "files"])

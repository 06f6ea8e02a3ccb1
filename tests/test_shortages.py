"""A machine that runs out of disk, memory or descriptors gets a sentence and exit code 4."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import prepared
from markscheme.vocabulary import find_shortage, write_path

resource = pytest.importorskip("resource")
SCORE = (sys.executable, "-m", "markscheme", "score", "-r", "tutor-capstone", "-e", "capstone")
# A run with missing items is undecided too, so the answers are complete where 0 is expected.
ANSWERS = "".join(
    json.dumps({"item": f"e-39-{n:02d}", "subject": "s", "output": f"Ate {n}."}) + "\n"
    for n in range(1, 61)
)


def run_limited(
    folder: Path, *words: str, kind: str, limit: int
) -> subprocess.CompletedProcess[str]:
    """Score the answers under a limit of the shell."""
    (folder / "answers.jsonl").write_text(ANSWERS)
    number = getattr(resource, kind)
    return subprocess.run(
        [*SCORE, "-a", "answers.jsonl", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(number, (limit, limit)),
    )


@pytest.mark.parametrize("kilobytes", [200_000, 430_000])
def test_too_little_memory_cannot_tell(tmp_path: Path, kilobytes: int) -> None:
    """With the first limit polars cannot be loaded; with the second it can start no thread."""
    done = run_limited(tmp_path, "--no-store", kind="RLIMIT_AS", limit=kilobytes * 1024)
    assert done.returncode == 4
    assert re.fullmatch("(Error: )?cannot tell: .+\n", done.stderr)
    assert done.stdout == ""


def test_an_error_while_an_error_is_reported_cannot_tell(tmp_path: Path) -> None:
    """Without memory, importing a module may raise anything, such as this `ValueError`."""
    before = (
        "import resource, markscheme.cli.main, markscheme.ask\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))\n"
        "def fail(*_):\n    raise ValueError('field `target` is required for AnnAssign')\n"
        "sys.meta_path.insert(0, type('Finder', (), {'find_spec': fail}))\n"
        "sys.argv += ['lint', 'rubric.yaml', '--format', 'json']\nmarkscheme.cli.main.run()"
    )
    done = subprocess.run(
        prepared(before), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert "cannot tell" in done.stderr


def test_libraries_write_nothing_to_stderr_under_a_limit() -> None:
    code = (
        "import os, sys, warnings\n"
        "from markscheme.cli.memory_limit import hide_library_errors\n"
        "hide_library_errors()\n"
        "os.write(2, b'thread panicked')\nwarnings.warn('Polars binary is missing!')\n"
        "print('our sentence', file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "our sentence\n")


def test_a_wrong_usage_is_told_although_stdout_is_full() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "markscheme", "audit", "x", "--format", "json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Missing option '--exam'" in done.stderr


def test_without_memory_the_json_document_says_so(tmp_path: Path) -> None:
    words = ("--no-store", "--format", "json")
    done = run_limited(tmp_path, *words, kind="RLIMIT_AS", limit=100_000 * 1024)
    assert done.returncode == 4
    assert json.loads(done.stdout)["error"]["exit_code"] == 4


@pytest.mark.parametrize("descriptors", [6, 10])
def test_too_few_descriptors_cannot_tell(tmp_path: Path, descriptors: int) -> None:
    done = run_limited(tmp_path, kind="RLIMIT_NOFILE", limit=descriptors)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert "too many files are open" in done.stderr


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_a_file_that_reaches_its_limit_cannot_tell_and_leaves_nothing(
    tmp_path: Path, name: str
) -> None:
    words = ("--no-store", "-o", name)
    done = run_limited(tmp_path, *words, kind="RLIMIT_FSIZE", limit=1024)
    assert done.returncode == 4
    assert "`ulimit -f`" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"answers.jsonl"}


def test_a_store_that_cannot_grow_cannot_tell(tmp_path: Path) -> None:
    words = ("--store", "runs.db")
    done = run_limited(tmp_path, *words, kind="RLIMIT_FSIZE", limit=4096)
    assert done.returncode == 4
    assert "the disk cannot be read or written" in done.stderr


def test_a_shortage_is_found_behind_other_errors() -> None:
    error = ValueError("something else")
    error.__context__ = OSError(errno.EMFILE, "Too many open files")
    shown = find_shortage(error)
    assert shown is not None
    assert "ulimit -n" in shown


def test_text_of_an_input_is_no_shortage() -> None:
    quoted = "no item `No space left on device (os error 28)`"
    assert find_shortage(ValueError(quoted)) is None
    assert find_shortage(FileNotFoundError(errno.ENOENT, quoted)) is None


def test_partial_files_of_killed_processes_are_swept_by_the_next_write(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from markscheme.vocabulary import write_path\n"
        "with write_path(Path('report.html')) as partial:\n"
        "    partial.write_text('half'); print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with write_path(tmp_path / "report.html") as partial:
            partial.write_text("whole")
        assert len(list(tmp_path.glob(".*.partial"))) == 1, "a living process keeps its file"
        process.send_signal(signal.SIGKILL)
    with write_path(tmp_path / "report.html") as partial:
        partial.write_text("whole again")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_partial_files_that_nobody_changed_for_a_day_are_swept(tmp_path: Path) -> None:
    old = tmp_path / ".report.html.0badc0de.partial"
    young = tmp_path / ".report.html.1badc0de.partial"
    other = tmp_path / ".other.html.0badc0de.partial"
    for path in (old, young, other):
        path.write_text("half")
    two_days_ago = time.time() - 48 * 3600
    for path in (old, other):
        os.utime(path, (two_days_ago, two_days_ago))
    with write_path(tmp_path / "report.html") as partial:
        partial.write_text("whole")
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", young.name, other.name}

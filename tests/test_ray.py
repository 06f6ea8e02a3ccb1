"""The Ray engine, on a real Ray of this machine: its totals are those of the local engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import polars as pl
import pytest

from markscheme import AnswersError, UsageError, load_exam, load_rubric, score
from markscheme.workflows import ray as on_ray
from markscheme.workflows.sinks import FrameCollector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme import Result

RUBRIC = load_rubric("tutor-capstone")
EXAM = load_exam("capstone", "capstone-extra", rubric=RUBRIC)
IDS = [item.id for item in EXAM.items]
WORKERS = 2
# Ray leaves sockets and processes to the end of the interpreter.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start one Ray for all tests, and return its address."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        ray.init(
            num_cpus=WORKERS,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            _node_ip_address="127.0.0.1",
        )
    except (OSError, RuntimeError, ValueError) as error:
        pytest.skip(f"Ray cannot start here: {error}")
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a folder of answers: two subjects, bad rows, repeats across files and across parts."""
    folder = tmp_path_factory.mktemp("ray") / "answers"
    folder.mkdir()
    for name, first in (("a.jsonl", 0), ("b.jsonl", 3_900)):
        lines = [_line(i) for i in range(first, first + 4_000)]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [json.loads(_line(i)) for i in range(7_800, 8_300) if i % 89 != 11]
    pl.DataFrame(rows).write_parquet(folder / "c.parquet")
    return folder


def _line(i: int) -> str:
    if i % 89 == 11:
        return "no json"
    words = {"correction": f"Ate {i % 7}.", "spanish_gloss": "Comió.", "explanation": "z" * 2_000}
    row = {"item": IDS[i % (len(IDS) - 3)], "attempt": i // len(IDS), "output": json.dumps(words)}
    return json.dumps(row | {"subject": "ann" if i % 2 else "bob"})


def on_cluster(answers: Path, destination: Path) -> Result:
    """Score on the Ray that runs; return the run with its rows."""
    rows = FrameCollector()
    result = score(RUBRIC, EXAM, answers, engine="ray", output=destination, sinks=[rows])
    return replace(result, frame=pl.concat(rows.frames))


def assert_same(found: Result, wanted: Result) -> None:
    assert found.summary == wanted.summary  # exact fractions, to the last digit
    assert found.to_dict()["summary"] == wanted.to_dict()["summary"]
    assert found.errors == wanted.errors
    assert found.frame.equals(wanted.frame)


@pytest.fixture
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every part be a task of its own."""
    monkeypatch.setattr(on_ray, "PARTS_IN_A_SHARE", 1)


@pytest.mark.usefixtures("cluster", "small_shares")
def test_rows_and_totals_equal_those_of_the_local_engine(folder: Path, tmp_path: Path) -> None:
    wanted = score(RUBRIC, EXAM, folder)
    found = on_cluster(folder, tmp_path / "out")
    assert wanted.summary.errors > 200
    assert wanted.summary.missing
    assert_same(found, wanted)
    names = [path.name for path in sorted((tmp_path / "out").iterdir())]
    assert names == [f"part-{number:05}.parquet" for number in range(len(names))]
    assert len(names) >= 6


@pytest.mark.usefixtures("cluster", "small_shares")
def test_a_worker_killed_in_the_middle_of_a_task_changes_nothing(
    folder: Path, tmp_path: Path
) -> None:
    killed: list[int] = []
    killer = Thread(target=_kill_one, args=(killed,))
    killer.start()
    found = on_cluster(folder, tmp_path / "out")
    killer.join()
    assert killed
    assert_same(found, score(RUBRIC, EXAM, folder))


def _kill_one(killed: list[int]) -> None:
    """Kill the first worker that is seen to run a task."""
    for _ in range(3_000):
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = process.read_bytes()
            except OSError:
                continue
            if command.startswith(b"ray::score_share"):
                os.kill(int(process.parent.name), signal.SIGKILL)
                killed.append(int(process.parent.name))
                return
        time.sleep(0.01)


def test_the_command_uses_a_cluster_by_address(cluster: str, folder: Path, tmp_path: Path) -> None:
    out, local = tmp_path / "out", tmp_path / "local.json"
    options = ("--engine", "ray", "--ray-address", cluster, "--format", "json")
    done = command(folder, out, *options)
    assert (done.returncode, done.stderr) == (4, "")
    assert command(folder, local).returncode == 4
    assert json.loads(done.stdout) == json.loads(local.read_text())
    text = command(folder, tmp_path / "text", *options[:-2])
    assert (text.returncode, text.stderr) == (4, "")
    assert "more rows are not shown" in text.stdout


@pytest.mark.usefixtures("cluster")
def test_what_a_task_raises_is_told_as_itself_and_nothing_is_written(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "a.parquet").write_text("no parquet")
    with pytest.raises(AnswersError, match=r"a\.parquet:1: this cannot be read as Parquet"):
        on_cluster(answers, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["answers"]


@pytest.mark.usefixtures("cluster")
def test_an_empty_file_gives_the_missing_items(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    found = on_cluster(tmp_path / "a.jsonl", tmp_path / "out")
    assert_same(found, score(RUBRIC, EXAM, tmp_path / "a.jsonl"))


def command(answers: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    exams = ("-e", "capstone", "-e", "capstone-extra")
    start = (sys.executable, "-m", "markscheme", "score", "-r", "tutor-capstone", *exams)
    call = [*start, "-a", str(answers), "-o", str(output), "--no-store", *options]
    return subprocess.run(call, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("out.parquet", "writes a folder of Parquet files; name a folder"),
        ("full", "exists; name a new folder, or an empty one"),
        ("none/out", "does not exist"),
    ],
)
def test_the_folder_to_write_is_checked_first(tmp_path: Path, output: str, said: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    done = command(tmp_path / "a.jsonl", tmp_path / output, "--engine", "ray")
    assert done.returncode == 2
    assert said in done.stderr


def test_ray_reads_no_stream(tmp_path: Path) -> None:
    done = command(Path("-"), tmp_path / "out", "--engine", "ray")
    assert done.returncode == 2
    assert "Ray reads .jsonl and .parquet, a file or a folder" in done.stderr


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").touch()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r'pip install "markscheme\[ray\]"'):
        score(RUBRIC, EXAM, tmp_path / "a.jsonl", engine="ray", output=tmp_path / "out")


def test_an_address_where_no_ray_is_ends_in_a_message(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    (tmp_path / "a.jsonl").touch()
    options = ("--engine", "ray", "--ray-address", "127.0.0.1:1")
    done = command(tmp_path / "a.jsonl", tmp_path / "out", *options)
    assert done.returncode == 2
    assert "Ray cannot be reached at `127.0.0.1:1`" in done.stderr

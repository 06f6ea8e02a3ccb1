"""The local engine: whatever the number of processes, the result is that of one pass."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme import AnswersError, UsageError, load_exam, load_rubric, score
from markscheme.read.answers import (
    DEFAULT_LIMITS,
    KnownItems,
    ReadLimits,
    SeenAttempts,
    count_part_lines,
    read_answers,
    read_part,
    split_file,
)
from markscheme.workflows import local_engine as local
from markscheme.workflows.scoring_session import (
    ScoringSession,
    find_attempt_ranges,
    merge_attempt_ranges,
)
from markscheme.workflows.workers import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUBRIC = load_rubric("tutor-capstone")
EXAM = load_exam("capstone", "capstone-extra", rubric=RUBRIC)
IDS = [item.id for item in EXAM.items]
SUBJECTS = [None, "ann", "bob"]


def rows(count: int) -> Iterator[str]:
    """Yield lines of all sorts: good answers, flawed ones, bad rows, repeats near and far."""
    for i in range(count):
        item, attempt = IDS[i % (len(IDS) - 2)], i // len(IDS) + 1
        words = {"correction": f"Ate {i}.", "spanish_gloss": "¡Comió!", "explanation": "é" * 1000}
        answer = json.dumps(words)
        row: dict[str, Any] = {"item": item, "attempt": attempt, "output": answer}
        if SUBJECTS[i % 3]:
            row["subject"] = SUBJECTS[i % 3]
        if i % 10 == 3:
            row |= {"latency_ms": i / 7, "tokens_in": i, "cost": 0.25}
        if i % 97 == 5:
            row["output"] = {"correction": "Went", "deep": [i]}
        if i % 101 == 7:
            row |= {"attempt": 1, "item": IDS[0]}
        yield (
            "no json"
            if i % 89 == 11
            else ""
            if i % 53 == 2
            else json.dumps(row, ensure_ascii=False)
        )


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of several parts."""
    path = tmp_path_factory.mktemp("engines") / "answers.jsonl"
    long = json.dumps({"item": IDS[1], "attempt": 999, "output": "x" * 5_000_000})
    huge = json.dumps({"item": IDS[1], "attempt": 1000, "output": "y" * 10_500_000})
    lines = [*rows(1_500), long, *rows(200), huge, *islice(rows(2_500), 1_200, None)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def command(answers: Path, output: Path, *options: str) -> list[str]:
    """Return a call of the command."""
    exams = ("-e", "capstone", "-e", "capstone-extra")
    start = (sys.executable, "-m", "markscheme", "score", "-r", "tutor-capstone", *exams)
    return [*start, "-a", str(answers), "-o", str(output), "--no-store", *options]


def scored(answers: Path, output: Path, *options: str) -> str:
    """Score, and return what was printed."""
    done = subprocess.run(
        command(answers, output, *options), capture_output=True, text=True, check=False
    )
    assert done.returncode == 4, done.stderr
    assert done.stderr == ""
    return done.stdout.replace(str(output), "OUTPUT")


def test_the_bytes_are_the_same_whatever_the_number_of_workers(
    answers: Path, tmp_path: Path
) -> None:
    for suffix in ("parquet", "jsonl", "json"):
        outputs = [tmp_path / f"{workers}.{suffix}" for workers in (1, 3)]
        printed = {scored(answers, out, "--workers", out.stem) for out in outputs}
        assert len({out.read_bytes() for out in outputs}) == 1
        assert len(printed) == 1


def test_parts_give_what_one_pass_over_the_file_gives(answers: Path) -> None:
    in_parts = score(RUBRIC, EXAM, answers)
    scoring = ScoringSession(RUBRIC, EXAM)
    at_once = scoring.build_result(scoring.build_frames(scoring.score_answers(answers)))
    assert in_parts.summary == at_once.summary
    assert in_parts.errors == at_once.errors
    assert in_parts.summary.errors > 500
    by_line = ["subject", "item", "line"]
    assert in_parts.frame.sort(by_line).equals(at_once.frame.sort(by_line))


@given(
    lines=st.lists(st.sampled_from(["", "{}", '{"item": 1}', "x" * 40, "\r", "é"]), max_size=30),
    ends=st.booleans(),
    marked=st.booleans(),
    size=st.integers(1, 200),
)
def test_parts_tile_a_file_at_the_starts_of_lines(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    ends: bool,  # noqa: FBT001
    marked: bool,  # noqa: FBT001
    size: int,
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.jsonl"
    text = ("\n".join(lines) + ("\n" if ends and lines else "")).encode()
    path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + text)
    parts = list(split_file(path, limits=ReadLimits(part_bytes=size)))
    pieces = [path.read_bytes()[part.start : part.stop] for part in parts]
    assert b"".join(pieces) == text
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    assert all(len(piece) >= size for piece in pieces[:-1])
    known = KnownItems(IDS)
    read = [[*_drained(read_part(part, known=known))] for part in parts]
    whole = list(read_answers(path, items=IDS))
    assert sum(count for *_, count in read) == text.count(b"\n") + (
        not text.endswith(b"\n") and text != b""
    )
    assert [count_part_lines(part) for part in parts[:-1]] == [count for *_, count in read[:-1]]
    reasons = [error.reason for *found, _ in read for batch in found for error in batch.errors]
    assert reasons == [error.reason for batch in whole for error in batch.errors]


def _drained(batches: Any) -> Iterator[Any]:
    """Yield what a generator yields and, last, what it returns."""
    returned = yield from batches
    yield returned


KEYS = st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 1), st.integers(0, 9))
FAR = st.tuples(st.just("a"), st.integers(0, 1), st.sampled_from([2**39, 2**41, 2**63 - 1]))


@given(st.lists(st.lists(KEYS | FAR, max_size=30), max_size=6))
def test_runs_of_attempts_know_what_a_set_of_attempts_knows(
    stretches: list[list[tuple[str | None, int, int]]],
) -> None:
    ids, ledger, seen = ["x", "y"], SeenAttempts(), set[tuple[str | None, str, int]]()
    for keys in stretches:
        schema = {"subject": pl.String, "item": pl.UInt32, "attempt": pl.Int64}
        frame = pl.DataFrame(keys, schema=schema, orient="row")
        if not any(key[0] for key in keys):
            frame = frame.drop("subject")
        runs = find_attempt_ranges([frame] if keys else [], ids)
        mine = {(who, ids[item], attempt) for who, item, attempt in keys}
        assert set(_each(runs)) == set(_each(merge_attempt_ranges(runs))) == mine
        assert len(list(_each(runs))) == len(mine)
        known = ledger.find_seen(runs)
        assert set(_each(known)) == mine & seen
        struck = set(_each(known))
        ledger.record_ranges([(*key, key[2]) for key in sorted(mine - struck, key=str)])
        seen |= mine


def _each(runs: list[tuple[str | None, str, int, int]]) -> Iterator[tuple[str | None, str, int]]:
    return chain.from_iterable(
        ((who, item, attempt) for attempt in range(first, last + 1))
        for who, item, first, last in runs
    )


def test_a_worker_that_is_killed_loses_and_repeats_nothing(answers: Path, tmp_path: Path) -> None:
    whole, output = tmp_path / "whole.jsonl", tmp_path / "output.jsonl"
    scored(answers, whole)
    with subprocess.Popen(
        command(answers, output, "--workers", "3"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        first, second = _children(process)
        os.kill(first, signal.SIGKILL)
        time.sleep(0.1)
        with suppress(ProcessLookupError):  # a quick machine is done by then
            os.kill(second, signal.SIGKILL)
        _, told = process.communicate()
    assert (process.returncode, told) == (4, b"")
    assert output.read_bytes() == whole.read_bytes()


ENDINGS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}


@pytest.mark.parametrize("moment", [0, 0.003, 0.05])
@pytest.mark.parametrize("ending", ENDINGS)
def test_an_interrupted_run_leaves_no_process_behind_and_no_output(
    answers: Path, tmp_path: Path, ending: signal.Signals, moment: float
) -> None:
    output = tmp_path / "output.parquet"
    with subprocess.Popen(
        command(answers, output, "--workers", "3"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        workers = _children(process)
        _until(lambda: any(tmp_path.iterdir()))  # it has begun to write
        time.sleep(moment)
        process.send_signal(ending)
        _, told = process.communicate()
    assert process.returncode == ENDINGS[ending], told
    assert not output.exists()
    if ending != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == []
    _until(lambda: not any(_runs(worker) for worker in workers))


def _children(process: subprocess.Popen[bytes]) -> list[int]:
    """Wait until both workers are there, and return them."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    _until(lambda: len(path.read_text().split()) == 2)
    return [int(child) for child in path.read_text().split()]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(20_000):
        if condition():
            return
        time.sleep(0.0005)
    pytest.fail("it never came to that")


def test_no_worker_is_forked_where_other_threads_run(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked: list[object] = []
    monkeypatch.setattr(WorkerPool, "__enter__", forked.append)
    assert not local.can_fork()  # polars is here, and has threads
    with local.LocalEngine(RUBRIC, EXAM, answers, 3):
        assert forked == []


def test_a_process_with_one_thread_may_fork_until_polars_is_there() -> None:
    code = """
import sys
from markscheme.workflows.local_engine import LocalEngine, can_fork
from markscheme.workflows.documents import load_exam, load_rubric
exam = load_exam("capstone", rubric=load_rubric("tutor-capstone"))
assert can_fork() and "polars" not in sys.modules
import polars
assert not can_fork()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_small_files_stay_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_count_cores", lambda: 8)
    monkeypatch.setattr(local, "MIN_BYTES_FOR_WORKERS", 1_000_000)
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    assert local.LocalEngine(RUBRIC, EXAM, path, None)._workers == 1
    path.write_bytes(b" " * 2 * DEFAULT_LIMITS.part_bytes)
    assert local.LocalEngine(RUBRIC, EXAM, path, None)._workers == 2


def folder_of(tmp_path: Path) -> Path:
    """Write a folder of three files, with a repeat and a bad row in the second and the third."""
    folder = tmp_path / "folder"
    folder.mkdir()
    one = {"item": IDS[0], "output": "Ate."}
    (folder / "a.jsonl").write_text(json.dumps(one) + "\n")
    pl.DataFrame({"item": [IDS[1], IDS[0]], "output": ["Went.", "Ate."]}).write_parquet(
        folder / "b.parquet"
    )
    (folder / "c.ndjson").write_text(f"nonsense\n{json.dumps(one | {'attempt': 2})}")
    (folder / "_SUCCESS").touch()
    return folder


def test_a_folder_is_read_file_by_file_and_bad_rows_name_their_file(tmp_path: Path) -> None:
    result = score(RUBRIC, EXAM, folder_of(tmp_path))
    assert [(error.file, error.line) for error in result.errors] == [
        ("b.parquet", 2),
        ("c.ndjson", 1),
    ]
    assert "already answered above" in result.errors[0].reason
    answered = result.frame.filter(result.frame["status"] == "scored")
    assert answered["file"].to_list() == ["a.jsonl", "b.parquet", "c.ndjson"]
    assert answered["line"].to_list() == [1, 1, 2]
    assert result.to_dict()["errors"][0]["file"] == "b.parquet"


def test_a_folder_scored_by_the_command_is_the_same_for_any_workers(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    outputs = [tmp_path / "1.jsonl", tmp_path / "3.jsonl"]
    printed = [scored(folder, out, "--workers", out.stem) for out in outputs]
    assert printed[0] == printed[1]
    assert "c.ndjson, line 1: not JSON" in printed[0]
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (folder / "d.csv").write_text("item,output\n")
    with pytest.raises(
        UsageError, match=r"holds \.jsonl, \.ndjson and \.parquet files; not `d\.csv`"
    ):
        score(RUBRIC, EXAM, folder)


def test_an_empty_folder_and_a_broken_file_in_one_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match="holds no files of answers"):
        score(RUBRIC, EXAM, tmp_path)
    (tmp_path / "a.parquet").write_text("no parquet")
    with pytest.raises(AnswersError, match=r"a\.parquet:1: this cannot be read as Parquet"):
        score(RUBRIC, EXAM, tmp_path)


def test_what_fails_in_a_worker_is_told_by_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_text("{}\n")
    (folder / "b.jsonl").write_bytes(bytes(range(256)) * 99)
    done = subprocess.run(
        command(folder, tmp_path / "o.jsonl", "--workers", "2"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "b.jsonl:1: this is not text in UTF-8" in done.stderr
    assert not (tmp_path / "o.jsonl").exists()

"""The exit codes as a table: each reached in real situations, and what may never be 0."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from commands import FULL, LONG, LONGER, RUBRIC, WRONG, Project, exam_text, markscheme

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Words = list[str | Path]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Store a good run, a bad one and the like; the good one is the baseline."""
    project = Project(tmp_path_factory.mktemp("project"))
    for name, outputs in {
        "good": [FULL] * 4,
        "edge": [LONG] * 4,
        "bad": [FULL, FULL, WRONG, WRONG],
        "regressed": [LONGER] * 4,
        "incomplete": [FULL, FULL],
    }.items():
        words = ("--tag", name, "-o", project.folder / f"{name}.json")
        project.score(*outputs, words=words)
    project.run("baseline", "set", "good")
    return project


def inputs(project: Project, **changes: str | Path) -> Words:
    given = project.answers(*[FULL] * 4)
    files: dict[str, str | Path] = {"-r": project.rubric, "-e": project.exam, "-a": given}
    files |= {f"-{key}": value for key, value in changes.items()}
    return [word for pair in files.items() for word in pair]


def gate(project: Project, run: str | Path, *more: str | Path) -> Words:
    return ["gate", run, *more, "--store", project.store]


def score(project: Project, **changes: str | Path) -> Words:
    return ["score", *inputs(project, **changes), "--no-store"]


def a_rubric(project: Project, *changes: tuple[str, str], name: str) -> Path:
    text = RUBRIC
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return project.write(name, text)


def judged_by(project: Project, gates: str, name: str, run: str = "good") -> Words:
    """Judge a result file by other gates than those of its rubric."""
    head = RUBRIC.partition("gates:\n")[0]
    rubric = project.write(f"{name}.yaml", f"{head}gates:\n  - {{name: g, level: hard, {gates}}}\n")
    return gate(project, project.folder / f"{run}.json", "-r", rubric, "-e", project.exam)


def edited(project: Project, name: str, old: str, new: str) -> Words:
    text = (project.folder / "good.json").read_text(encoding="utf-8")
    assert old in text
    file = project.write(name, text.replace(old, new, 1))
    return gate(project, file, "-r", project.rubric, "-e", project.exam)


def rows(project: Project, name: str, *lines: str) -> Path:
    return project.write(name, "".join(f"{line}\n" for line in lines))


def damaged(project: Project) -> Words:
    copy = project.folder / "damaged.db"
    with closing(sqlite3.connect(project.store)) as store, closing(sqlite3.connect(copy)) as target:
        store.backup(target)
        with target:
            target.execute("UPDATE run_data SET body = replace(body, '1', '2')")
    return ["gate", "good", "--store", copy]


def broken_off(project: Project) -> Words:
    """Leave a run as a killed process leaves it: begun and never finished."""
    copy = project.folder / "open.db"
    with closing(sqlite3.connect(project.store)) as store, closing(sqlite3.connect(copy)) as target:
        store.backup(target)
        with target:
            named = "SELECT run FROM tags WHERE name = 'good'"
            target.execute(f"DELETE FROM finished WHERE run = ({named})")  # noqa: S608
    return ["gate", "good", "--store", copy]


def of_another_exam(project: Project) -> Words:
    other = project.write("other-exam.yaml", exam_text("i1", "i2", "i3", "i5"))
    given = rows(project, "o.jsonl", *(json.dumps({"item": i, "output": FULL}) for i in _OTHER))
    result = project.folder / "other.json"
    markscheme(*score(project, e=other, a=given), "-o", result)
    return gate(project, result, "-r", project.rubric, "-e", other)


_OTHER = ("i1", "i2", "i3", "i5")
_NAN = '{"item": "i4", "output": "yes", "latency_ms": NaN}'
_INFINITE = '{"item": "i4", "output": "yes", "cost": 1e999}'
_THREE = [f'{{"item": "i{n}", "output": "yes"}}' for n in (1, 2, 3)]
_EVIDENCE = ("max_drop: 2%", "max_drop: 2%, evidence: required")
_WEIGHTS = (("weight: 0.03", "weight: 0.02"), ("weight: 0.02, limit: 3", "weight: 0.03, limit: 3"))

SITUATIONS: dict[str, tuple[int, Callable[[Project], Words]]] = {
    "every item was scored": (0, score),
    "every hard gate is met": (0, lambda p: gate(p, "good")),
    "a drop of exactly 2 %": (0, lambda p: gate(p, "edge")),
    "a value exactly at its limit": (0, lambda p: judged_by(p, "at_most: 0.98", "at", "edge")),
    "a list": (0, lambda p: ["runs", "--store", p.store]),
    "a hard gate is not met": (1, lambda p: gate(p, "bad")),
    "a regression": (1, lambda p: gate(p, "regressed", "--format", "json")),
    "a result file that does not meet its gates": (
        1,
        lambda p: gate(p, p.folder / "bad.json", "-r", p.rubric, "-e", p.exam),
    ),
    "the flawed demo": (1, lambda _: ["demo", "--flawed"]),
    "an unknown run": (2, lambda p: gate(p, "no-such-run")),
    "an unknown baseline": (2, lambda p: gate(p, "good", "--baseline", "no-such-run")),
    "no store": (2, lambda p: ["gate", "good", "--store", p.folder / "none.db"]),
    "a result file that is not there": (2, lambda p: gate(p, "none.json")),
    "an unknown option": (2, lambda p: gate(p, "good", "--nonsense")),
    "an output that cannot be written": (2, lambda p: gate(p, "good", "--junit", "no/such/f.xml")),
    "a baseline that is a file": (
        2,
        lambda p: ["baseline", "set", p.folder / "none.json", "--store", p.store],
    ),
    "a baseline that is incomplete": (
        2,
        lambda p: ["baseline", "set", "incomplete", "--store", p.store],
    ),
    "a store that is none": (3, lambda p: ["runs", "--store", p.rubric]),
    "a damaged store": (3, damaged),
    "an edited score": (3, lambda p: edited(p, "e1.json", '"score":1.0', '"score":0.99')),
    "an edited cell": (3, lambda p: edited(p, "e2.json", '"right":1.0', '"right":0.5')),
    "NaN in a result file": (3, lambda p: edited(p, "e3.json", '"score":1.0', '"score":NaN')),
    "infinity in a result file": (3, lambda p: edited(p, "e4.json", "1.0", "1e999")),
    "NaN in a rubric": (
        3,
        lambda p: score(p, r=a_rubric(p, ("0.90", ".nan"), name="nan.yaml")),
    ),
    "infinity in a rubric": (
        3,
        lambda p: score(p, r=a_rubric(p, ("0.95", ".inf"), name="inf.yaml")),
    ),
    "no answers": (4, lambda p: score(p, a=rows(p, "empty.jsonl"))),
    "NaN in an answer": (4, lambda p: score(p, a=rows(p, "nan.jsonl", *_THREE, _NAN))),
    "infinity in an answer": (4, lambda p: score(p, a=rows(p, "inf.jsonl", *_THREE, _INFINITE))),
    "an incomplete run": (4, lambda p: gate(p, "incomplete")),
    "an incomplete result file": (
        4,
        lambda p: gate(p, p.folder / "incomplete.json", "-r", p.rubric, "-e", p.exam),
    ),
    "a run that broke off": (4, broken_off),
    "a metric that was not recorded": (
        4,
        lambda p: judged_by(p, "metric: latency_p50, at_most: 9", "ms"),
    ),
    "no gate that applies": (4, lambda p: judged_by(p, "exams: [x], at_least: 0.1", "none")),
    "a tag that no item has": (4, lambda p: judged_by(p, "tags: {a: b}, at_least: 0.1", "tag")),
    "other weights": (
        4,
        lambda p: gate(p, "good", "-r", a_rubric(p, *_WEIGHTS, name="weights.yaml")),
    ),
    "a baseline of another exam": (4, of_another_exam),
    "evidence that is required and inconclusive": (
        4,
        lambda p: gate(p, "edge", "-r", a_rubric(p, _EVIDENCE, name="evidence.yaml")),
    ),
    "no baseline to show": (4, lambda p: ["baseline", "show", "-r", "x", "--store", p.store]),
    "nothing to recalibrate": (
        4,
        lambda p: ["recalibrate", "-r", "tutor-capstone", "--store", p.store],
    ),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_each_situation_has_its_exit_code(project: Project, situation: str) -> None:
    code, words = SITUATIONS[situation]
    done = markscheme(*words(project), cwd=project.folder)
    assert done.code == code, done.out + done.err
    assert done.out or done.err
    if code in {2, 3}:
        assert done.out == ""


def test_every_code_is_reached_by_at_least_two_situations() -> None:
    codes = [code for code, _ in SITUATIONS.values()]
    assert all(codes.count(code) >= 2 for code in range(5))


@pytest.mark.parametrize("where", ["load_rubric", "load_exam"])
def test_a_bug_of_ours_is_70_without_a_traceback(project: Project, where: str) -> None:
    words = [str(word) for word in score(project)]
    broken = f"""
import sys, markscheme.workflows.documents as library
from markscheme.cli.main import run  # noqa: PLC0415 - the import is what this is about
library.{where} = lambda *_, **__: 1 / 0
sys.argv = ["markscheme", *{words!r}]
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", broken], capture_output=True, text=True, check=False
    )
    assert done.returncode == 70
    assert "This is a bug in markscheme" in done.stderr
    assert "Traceback" not in done.stderr


def test_other_fingerprints_say_what_to_do(project: Project) -> None:
    changed = a_rubric(project, *_WEIGHTS, name="changed.yaml")
    result = project.folder / "changed.json"
    markscheme(*score(project, r=changed), "-o", result)
    done = markscheme(*gate(project, result, "-r", changed, "-e", project.exam))
    assert done.code == 4
    assert "recalibrate or set a new baseline" in done.out


SLOW = """
import os, sys, time
from markscheme.workflows.run_writer import RunRecorder  # noqa: PLC0415 - the same
from markscheme.cli.main import run  # noqa: PLC0415 - the import is what this is about

whole = RunRecorder.finish_runs

def finish(*_):
    print("storing", flush=True)
    time.sleep(60)

RunRecorder.finish_runs = finish
sys.argv = ["markscheme", *sys.argv[1:]]
run()
"""


def test_a_score_that_is_killed_leaves_a_run_that_is_told_and_never_passes(tmp_path: Path) -> None:
    project = Project(tmp_path)
    words = ["score", *inputs(project), "--store", project.store]
    storing = subprocess.Popen(
        [sys.executable, "-c", SLOW, *map(str, words)], stdout=subprocess.PIPE, text=True
    )
    assert storing.stdout
    assert storing.stdout.readline() == "storing\n"
    os.kill(storing.pid, signal.SIGKILL)
    storing.wait()
    storing.stdout.close()
    listed = project.run("runs")
    assert "not finished" in listed.out
    done = project.run("gate", "latest")
    assert done.code == 4
    assert "the run is not finished" in done.out
    shown = project.run("show", "latest")
    assert shown.code == 4
    assert "4 answers scored" in shown.out
    assert project.run("baseline", "set", "latest").code == 2
    project.score(*[FULL] * 4)
    assert project.run("gate", "latest").code == 0


def test_two_scores_at_once_into_one_store_lose_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path)
    words = ["score", *inputs(project), "--store", project.store]
    command = [sys.executable, "-m", "markscheme", *map(str, words)]
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in started] == [0, 0]
    listed = project.run("runs", "--format", "json").json["runs"]
    assert len(listed) == 2
    assert all(run["complete"] and run["score"] == 1 for run in listed)


def test_wrong_usage_leaves_one_document_where_json_was_asked_for(tmp_path: Path) -> None:
    project = Project(tmp_path)
    mixed = [json.dumps({"item": "i1", "output": FULL, "subject": who}) for who in "ab"]
    file = project.write("mixed.jsonl", "\n".join(mixed))
    words = [*inputs(project, a=file), "--tag", "one", "--format", "json"]
    done = project.run("score", *words)
    assert done.code == 2
    assert "a tag names one run" in done.json["error"]["message"]

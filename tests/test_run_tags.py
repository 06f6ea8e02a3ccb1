"""Tags: a tag of the command line belongs to the new run from its first byte."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from commands import FULL, Project, prepared

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def nightly(tmp_path: Path) -> Project:
    """Return a project whose run of yesterday is tagged."""
    project = Project(tmp_path)
    project.score(*[FULL] * 4, words=("--tag", "nightly"))
    assert project.judge("nightly").code == 0
    return project


def words(project: Project, answers: str | Path) -> list[str]:
    inputs = ("-r", project.rubric, "-e", project.exam, "-a", answers, "--store", project.store)
    return [*map(str, ("score", *inputs, "--tag", "nightly"))]


def test_a_score_that_is_killed_before_its_run_begins_has_taken_the_tag(nightly: Project) -> None:
    taken = "import markscheme.workflows.score as s, os\n"
    command = prepared(f"{taken}s.load_rubric = lambda *_: os.kill(os.getpid(), 9)")
    process = subprocess.run([*command, *words(nightly, "-")], input=b"", check=False)
    assert process.returncode == -9
    done = nightly.judge("nightly")
    assert done.code == 2
    assert "the tag `nightly` names no run: the command that took it last was ended" in done.err
    assert [run["tags"] for run in nightly.run("runs", "--format", "json").json["runs"]] == [[]]
    assert nightly.score(*[FULL] * 4, words=("--tag", "nightly")).code == 0
    assert nightly.judge("nightly").code == 0


def test_a_score_that_is_killed_before_its_run_ends_is_what_the_tag_names(nightly: Project) -> None:
    file = nightly.answers(*[FULL] * 4)
    ended = "Store.finish_run = lambda *_, **more: os._exit(9)"
    command = prepared(f"import os\nfrom markscheme.keep import Store\n{ended}")
    process = subprocess.run([*command, *words(nightly, file)], check=False)
    assert process.returncode == 9
    done = nightly.judge("nightly")
    assert done.code == 4
    assert "the run is not finished" in done.out


def test_a_run_that_is_killed_before_its_first_question_has_taken_the_tag(nightly: Project) -> None:
    ended = "import markscheme.workflows.run as r, os\nr.execute_plan = lambda *_, **m: os._exit(9)"
    options = ("-r", nightly.rubric, "-e", nightly.exam, "--store", nightly.store)
    command = [*prepared(ended), *map(str, ("run", *options, "-s", "cmd:true", "--tag", "nightly"))]
    assert subprocess.run(command, check=False).returncode == 9
    assert nightly.judge("nightly").code == 2


def test_inputs_that_are_refused_leave_the_tag_where_it_was(nightly: Project) -> None:
    before = nightly.judge("nightly", "--format", "json").json["run"]
    for answers in ("missing.jsonl", nightly.write("bad.parquet", "no table")):
        done = nightly.run(*words(nightly, answers))
        assert done.code in {2, 3}
    assert nightly.judge("nightly", "--format", "json").json["run"] == before
    refused = nightly.run(*words(nightly, "missing.jsonl"), "--tag", "no tag")
    assert (refused.code, "cannot be a tag" in refused.err) == (2, True)

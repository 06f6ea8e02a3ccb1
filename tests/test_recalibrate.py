"""`markscheme recalibrate`: runs are weighed anew in the open, and none is overwritten."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from commands import FULL, LONG, LONGER, RUBRIC, WRONG, Project, here, prepared, reweighed

if TYPE_CHECKING:
    from pathlib import Path


# Both processes wait for each other when they have read what is stored.
_MEETING = """
import os, pathlib, time
from markscheme.keep import Store
folder, transaction = pathlib.Path({folder!r}), Store.transaction
def meet(store):
    (folder / f"{{os.getpid()}}.ready").touch()
    while len(list(folder.glob("*.ready"))) < 2:
        time.sleep(0.01)
    return transaction(store)
Store.transaction = meet
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def shared_store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the place of an empty store of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "shared.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


def test_recalibrate_shows_what_moves_and_overwrites_nothing(project: Project) -> None:
    ids = [project.stored(*[output] * 4) for output in (LONGER, LONG, FULL)]
    project.run("baseline", "set", ids[2])
    before = project.run("runs", "--format", "json").json
    new = project.write("new.yaml", RUBRIC.replace("0.95", "0.80").replace("0.03", "0.18"))
    done = project.run("recalibrate", "-r", new, "--format", "json")
    assert done.code == 0
    found = done.json
    moved = [(run["run"], run["before"], run["after"]) for run in found["runs"]]
    assert moved == [(ids[0], 0.95, 0.8), (ids[1], 0.98, 0.98), (ids[2], 1.0, 1.0)]
    assert found["runs"][0]["flips"] == [{"gate": "release", "before": "pass", "after": "fail"}]
    assert [run["rank_before"] for run in found["runs"]] == [3, 2, 1]
    assert found["rankings"][0]["tau"] == 1.0
    assert found["proposals"][0]["run"] == ids[2]
    assert found["applied"] == {}
    assert project.run("runs", "--format", "json").json == before
    text = project.run("recalibrate", "-r", new).out
    assert "release: pass → fail" in text
    assert "Kendall's tau-b" in text
    assert f"proposed baseline {ids[2]}" in text


def test_recalibrated_runs_are_new_runs_once_and_can_be_the_baseline(project: Project) -> None:
    old = project.stored(*[LONG] * 4)
    project.run("baseline", "set", old)
    new = reweighed(project, "0.01", "0.04")
    applied = project.run("recalibrate", "-r", new, "--apply", "--format", "json").json["applied"]
    again = project.run("recalibrate", "-r", new, "--apply", "--format", "json").json["applied"]
    assert applied == again
    assert len(project.run("runs", "--format", "json").json["runs"]) == 2
    shown = project.run("show", applied[old], "--format", "json").json
    assert [row["score"] for row in shown["items"]] == [0.96] * 4
    assert [row["got"] for row in shown["items"]] == [LONG] * 4
    assert project.run("show", old, "--format", "json").json["summary"]["score"] == 0.98
    project.run("baseline", "set", applied[old])
    project.rubric = new
    project.score(*[LONG] * 4)
    assert project.judge("latest").code == 0


def test_runs_whose_cells_cannot_be_used_are_named(project: Project) -> None:
    run = project.stored(*[FULL] * 4)
    new = project.write("new.yaml", RUBRIC.replace("limit: 3", "limit: 4"))
    done = project.run("recalibrate", "-r", new)
    assert done.code == 4
    assert f"{run} cannot be weighed anew" in done.out
    assert "`limit` of the axis `shorter` was 3 and is 4" in done.out


def test_after_apply_the_new_runs_are_named_and_the_baseline_has_not_moved(
    project: Project,
) -> None:
    old = project.stored(*[LONG] * 4)
    project.run("baseline", "set", old)
    new = reweighed(project, "0.01", "0.04")
    found = project.run("recalibrate", "-r", new, "--apply", "--format", "json").json
    rescored = found["applied"][old]
    assert found["proposals"][0]["run"] == rescored
    assert f"it has the answers of the present baseline {old}" in found["proposals"][0]["because"]
    text = project.run("recalibrate", "-r", new, "--apply").out
    assert "is the baseline now" not in text
    assert f"proposed baseline {rescored}" in text
    next_command = f"`markscheme baseline set {rescored}`"
    assert f"the baseline of questions has not moved; next: {next_command}" in text
    assert project.judge("latest").code == 4
    assert project.run("baseline", "set", rescored).code == 0
    assert project.judge("latest").code == 0
    after = project.run("recalibrate", "-r", new, "--apply").out
    assert f"proposed baseline {rescored}" in after
    assert "has not moved" not in after


def test_latest_is_the_newest_answers_under_the_weights_they_were_scored_with_last(
    project: Project,
) -> None:
    first, second = project.stored(*[LONG] * 4), project.stored(*[FULL] * 4)
    old, project.rubric = project.rubric, reweighed(project, "0.01", "0.04")
    third = project.stored(*[LONGER] * 4)
    done = project.run("recalibrate", "-r", project.rubric, "--apply", "--format", "json")
    applied = done.json["applied"]
    names = {"latest": third, "latest~1": applied[second], "latest~2": applied[first]}
    judged = {name: project.judge(name, "--format", "json").json["run"] for name in names}
    assert judged == names
    unknown = project.run("show", "latest~3")
    assert (unknown.code, "the store holds 3 runs" in unknown.err) == (2, True)
    assert old.exists()


def test_two_recalibrations_at_once_store_every_run_once(
    project: Project, shared_store: str
) -> None:
    file = project.answers(*[LONG] * 4)
    inputs = ("-r", project.rubric, "-e", project.exam, "-a", file)
    for _ in range(3):
        assert here("score", *inputs, "--store", shared_store).code == 0
    new = reweighed(project, "0.01", "0.04")
    command = prepared(_MEETING.format(folder=str(project.folder)))
    command += ["recalibrate", "-r", str(new), "--apply", "--store", shared_store]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    runs = here("runs", "--store", shared_store, "--format", "json").json["runs"]
    assert len(runs) == 6
    assert len({run["rescored_from"] for run in runs if run["rescored_from"]}) == 3


def test_a_trend_survives_two_recalibrations(project: Project) -> None:
    for lost in range(12):
        project.stored(*[LONG] * (lost % 4), *[FULL] * 4)
    project.stored(*[WRONG] * 4)
    ids = [run["id"] for run in project.run("runs", "--format", "json").json["runs"]]
    project.run("baseline", "set", "latest~1")
    before = project.run("baseline", "show", "--format", "json").json["baselines"][0]
    assert len(before["distribution"]["trend"]) == 13
    for short, shorter in (("0.01", "0.04"), ("0.04", "0.01")):
        new = reweighed(project, short, shorter)
        project.run("recalibrate", "-r", new, "--apply")
    after = project.run("baseline", "show", "--format", "json").json["baselines"][0]
    assert after == before
    project.run("baseline", "set", "latest~1")
    newest = project.run("baseline", "show", "--format", "json").json["baselines"][0]
    assert len(newest["distribution"]["trend"]) == 13
    assert newest["run"] not in ids

"""`markscheme recalibrate`: runs are weighed anew in the open, and none is overwritten."""

from __future__ import annotations

from commands import FULL, LONG, LONGER, RUBRIC, Project, reweighed


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

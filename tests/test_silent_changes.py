"""Weights that change while the version stays, and baselines that fail their gates, are told."""

from __future__ import annotations

import pytest

from commands import FULL, LONG, WRONG, Project, here, reweighed

CHANGED = (
    "the rubric `words` changed its axes or weights while its version stayed 1: earlier scores "
    "cannot be compared; raise `version`, then `markscheme recalibrate`"
)


def test_score_lint_and_runs_warn_of_weights_that_changed_in_silence(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKSCHEME_STORE", str(project.store))
    assert CHANGED not in project.score(*[FULL] * 4).err
    assert CHANGED not in project.score(*[FULL] * 4).err
    assert CHANGED not in here("lint", project.rubric).err
    project.rubric = reweighed(project, "0.01", "0.04")
    linted = here("lint", project.rubric, project.exam)
    assert (linted.code, f"warning: {CHANGED}" in linted.err) == (0, True)
    scored = project.score(*[FULL] * 4)
    assert (scored.code, f"warning: {CHANGED}" in scored.err) == (0, True)
    assert CHANGED not in project.score(*[FULL] * 4).err
    listed = project.run("runs")
    assert (listed.code, CHANGED in listed.out) == (0, True)
    assert project.run("runs", "--format", "json").json["warnings"] == [CHANGED]
    assert project.run("runs", "--limit", "2", "--format", "json").json["warnings"] == []


def test_a_change_is_told_although_a_newer_version_was_scored_last(project: Project) -> None:
    project.score(*[FULL] * 4)
    old, changed = project.rubric, reweighed(project, "0.01", "0.04")
    text = old.read_text(encoding="utf-8")
    project.rubric = project.write("newer.yaml", text.replace("version: 1", "version: 2"))
    assert CHANGED not in project.score(*[FULL] * 4).err
    project.rubric = changed
    assert CHANGED in project.score(*[FULL] * 4).err


def test_a_version_that_rises_with_the_weights_is_no_reason_to_warn(project: Project) -> None:
    project.score(*[FULL] * 4)
    text = reweighed(project, "0.04", "0.01").read_text(encoding="utf-8")
    project.rubric = project.write("new.yaml", text.replace("version: 1", "version: 2"))
    assert "warning" not in project.score(*[FULL] * 4).err
    assert project.run("runs", "--format", "json").json["warnings"] == []


def test_a_baseline_that_fails_its_hard_gate_must_be_meant(project: Project) -> None:
    good, bad = project.stored(*[LONG] * 4), project.stored(*[WRONG] * 4)
    first = project.run("baseline", "set", good)
    assert first.code == 0
    assert "there was none before" in first.out
    assert "next: `markscheme gate latest` compares the newest run with it" in first.out
    refused = project.run("baseline", "set", bad)
    assert refused.code == 2
    told = f"the run `{bad}` does not meet release (score 0.05 is below 0.9, by 0.85"
    assert told in refused.err
    assert "--force" in refused.err
    shown = project.run("baseline", "show", "--format", "json").json["baselines"]
    assert [baseline["run"] for baseline in shown] == [good]
    forced = project.run("baseline", "set", bad, "--force")
    assert (forced.code, f"before it was {good}, set " in forced.out) == (0, True)
    again = project.run("baseline", "set", good, "--format", "json").json
    assert (again["baseline"]["run"], again["former"]) == (good, bad)

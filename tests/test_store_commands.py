"""Commands and their store: where it is found, in either database, where it cannot be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from commands import FULL, LONG, LONGER, Project, here, nobody, reweighed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_store_is_found_upwards_named_or_in_the_environment(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MARKSCHEME_STORE")
    monkeypatch.setenv("HOME", str(project.folder))
    monkeypatch.chdir(project.folder)
    inputs = ("-r", project.rubric, "-e", project.exam, "-a", project.answers(*[FULL] * 4))
    assert here("runs").code == 2
    assert here("score", *inputs).code == 0
    (project.folder / "deeper").mkdir()
    monkeypatch.chdir(project.folder / "deeper")
    assert here("gate", "latest").code == 0
    assert (project.folder / ".markscheme" / ".gitignore").read_text() == "*\n"
    other = str(project.folder / "other.db")
    assert here("runs", MARKSCHEME_STORE=other).code == 2
    assert here("score", *inputs, MARKSCHEME_STORE=other).code == 0
    assert here("gate", "latest", "--store", other).code == 0
    assert here("score", *inputs, "--no-store", MARKSCHEME_STORE=f"{other}-none").err == ""


def test_every_command_works_on_both_databases(project: Project, place: str) -> None:
    inputs = ("-r", project.rubric, "-e", project.exam)
    for at, outputs in enumerate(([FULL] * 4, [LONG] * 4, [LONGER] * 4)):
        file = project.answers(*outputs)
        assert here("score", *inputs, "-a", file, "--tag", f"r{at}", "--store", place).code == 0
    assert here("baseline", "set", "r0", "--store", place).code == 0
    codes = [here("gate", f"r{at}", "--store", place).code for at in range(3)]
    assert codes == [0, 0, 1]
    assert "tag r2" in here("runs", "--store", place).out
    shown = here("show", "r2", "--format", "json", "--store", place).json
    assert shown["summary"]["score"] == 0.95
    assert here("show", "r1", "-o", project.folder / "o.parquet", "--store", place).code == 0
    assert pl.read_parquet(project.folder / "o.parquet")["score"].to_list() == [0.98] * 4
    assert "3 runs" in here("baseline", "show", "--store", place).out
    new = reweighed(project, "0.01", "0.04")
    done = here("recalibrate", "-r", new, "--apply", "--format", "json", "--store", place).json
    assert [run["after"] for run in done["runs"]] == [1.0, 0.96, 0.95]
    assert len(done["applied"]) == 3


def test_a_store_that_cannot_be_written_can_still_be_judged() -> None:
    with nobody() as folder:
        project = Project(folder)
        project.stored(*[FULL] * 4)
        folder.chmod(0o555)
        done = project.judge("latest")
        assert done.code == 0
        assert "the outcome is not recorded: " in done.err


def test_a_store_in_a_folder_that_may_not_be_looked_into_is_told(own_store: Path) -> None:
    own_store.parent.chmod(0o700)
    with nobody() as folder:
        project = Project(folder)
        project.store = own_store
        done = project.score(*[FULL] * 4)
        assert done.code == 2
        assert "check that it and its folder" in done.err
        assert project.run("runs").code == 2


def test_a_run_that_cannot_be_stored_is_told_before_it_is_scored() -> None:
    with nobody() as folder:
        project = Project(folder)
        answers = project.answers(*[FULL] * 4)
        folder.chmod(0o555)
        inputs = ("-r", project.rubric, "-e", project.exam, "-a", answers)
        done = project.run("score", *inputs)
        assert (done.code, done.out) == (2, "")
        assert "check that it and its folder" in done.err
        assert here("score", *inputs, "--no-store").code == 0

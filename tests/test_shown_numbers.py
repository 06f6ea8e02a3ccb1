"""Every command rounds a number in one way, and `gate` judges a result without a store."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import markscheme
from commands import FULL, LONG, WRONG, Project, here

ROUNDED = """\
rubric: rounded
version: 1
axes:
  - {name: right, kind: contains_all, weight: 0.86250, expects: expected_contains}
  - {name: short, kind: max_words, weight: 0.13750, limit: 1}
gates:
  - {name: release, level: hard, at_least: 0.90}
  - {name: beside, level: hard, metric: baseline, max_drop: 2%}
"""


def test_every_command_rounds_0_93125_to_the_same_number(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2, rubric=ROUNDED)
    pages = [project.score("yes", "yes sir", subject="ann").out]
    pages += [project.score("yes", "yes sir", subject="ann").out, project.judge("latest").out]
    project.run("baseline", "set", "latest")
    for words in (("runs",), ("baseline", "show"), ("show", "latest"), ("gate", "latest")):
        pages.append(project.run(*words).out)
    for name in ("r.html", "r.md", "r.xml"):
        project.run("report", "latest", "-o", tmp_path / name)
        pages.append((tmp_path / name).read_text(encoding="utf-8"))
    shown = {number for page in pages for number in re.findall(r"\b0\.93\d*", page)}
    assert shown == {"0.9312"}


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project where no store is."""
    monkeypatch.delenv("MARKSCHEME_STORE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def results(project: Project, *outputs: str, **more: str) -> markscheme.Result:
    rows = [
        {"item": item, "output": output, **more}
        for item, output in zip(project.items, outputs, strict=True)
    ]
    return markscheme.score(project.rubric, project.exam, rows)


def test_gate_judges_a_result_without_a_store(alone: Project) -> None:
    good, bad = results(alone, *[FULL] * 4), results(alone, *[WRONG] * 4)
    assert markscheme.gate(good).verdict == "pass"
    assert markscheme.gate(bad).verdict == "fail"
    below = markscheme.gate(results(alone, FULL, FULL, FULL, WRONG), baseline=good)
    assert [outcome.outcome for outcome in below.outcomes] == ["fail", "fail"]
    assert markscheme.gate(good, baseline=good).outcomes[1].outcome == "pass"
    assert list(alone.folder.glob("**/*.db")) == []


def test_gate_judges_one_subject_of_a_result(alone: Project) -> None:
    rows = [
        {"item": item, "output": output, "subject": who}
        for who, output in (("ann", FULL), ("bob", WRONG))
        for item in alone.items
    ]
    both = markscheme.score(alone.rubric, alone.exam, rows)
    assert markscheme.gate(both).verdict == "undecided"
    verdicts = [markscheme.gate(both, subject=who).verdict for who in ("ann", "bob")]
    assert verdicts == ["pass", "fail"]
    with pytest.raises(markscheme.UsageError, match="of `ann`, `bob`, not of `eve`"):
        markscheme.gate(both, subject="eve")


def test_gate_compares_a_result_with_the_baseline_of_a_store(project: Project) -> None:
    project.stored(*[FULL] * 4)
    assert project.run("baseline", "set", "latest").code == 0
    outcomes = markscheme.gate(results(project, *[LONG] * 4), store=project.store).outcomes
    assert (outcomes[1].gate.name, outcomes[1].outcome) == ("beside", "pass")
    assert outcomes[1].baseline is not None
    assert here("runs", "--store", project.store, "--format", "json").json["runs"][0]["baseline"]

"""Compared runs show what they took: latency, tokens and cost, as far as known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commands import FULL, Project, here

if TYPE_CHECKING:
    from pathlib import Path


def scored(project: Project, name: str, *measured: dict[str, Any]) -> None:
    """Store a run whose answers are all good, each with what was measured of it."""
    rows = (
        {"item": item, "output": FULL, **more}
        for item, more in zip(project.items, measured, strict=True)
    )
    answers = project.folder / f"{name}.jsonl"
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    documents = ("-r", project.rubric, "-e", project.exam, "-a", answers)
    assert here("score", *documents, "--store", project.store, "--tag", name).code == 0


def two_runs(folder: Path) -> Project:
    project = Project(folder, items=2)
    dear = {"latency_ms": 900, "tokens_in": 100, "tokens_out": 40, "cost": 0.02}
    scored(project, "dear", dear, {**dear, "latency_ms": 1100})
    scored(project, "cheap", {**dear, "latency_ms": 250, "cost": 0.001}, {"latency_ms": 250})
    return project


def test_what_two_runs_took_stands_side_by_side(tmp_path: Path) -> None:
    project = two_runs(tmp_path)
    told = here("compare", "dear", "cheap", "--store", project.store).out
    lines = {line.partition("  ")[0]: line.split()[-3:] for line in told.splitlines()}
    assert lines["latency p50, ms"] == ["250.00", "×", "0.25"]
    assert "40.00 (1 of 2)" in told
    assert lines["cost of an answer"] == ["2)", "×", "0.05"]


def test_the_document_says_of_how_many_answers_a_figure_is_known(tmp_path: Path) -> None:
    project = two_runs(tmp_path)
    document = here("compare", "dear", "cheap", "--store", project.store, "--format", "json").json
    dear, cheap = document["measured"]
    assert dear["latency_ms"] == {"n": 2, "p50": 1000.0, "p95": 1090.0}
    assert dear["cost"] == {"n": 2, "sum": 0.04}
    assert cheap["tokens_out"] == {"n": 1, "sum": 40}


def test_of_runs_without_a_measure_nothing_is_said(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2)
    scored(project, "one", {}, {})
    scored(project, "two", {}, {})
    done = here("compare", "one", "two", "--store", project.store)
    assert "What they took" not in done.out
    (one, two) = here("compare", "one", "two", "--store", project.store, "--format", "json").json[
        "measured"
    ]
    assert one == two
    assert one["cost"] == {"n": 0, "sum": None}


def test_pages_hold_what_the_runs_took(tmp_path: Path) -> None:
    project = two_runs(tmp_path)
    page, comment = tmp_path / "page.html", tmp_path / "comment.md"
    files = ("--html", page, "--markdown", comment)
    here("compare", "dear", "cheap", "--store", project.store, "--lang", "es", *files)
    assert "Lo que consumieron" in page.read_text(encoding="utf-8")
    assert "| latencia p50, ms | 1000.00 | 250.00 | × 0.25 |" in comment.read_text(encoding="utf-8")

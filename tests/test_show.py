"""`markscheme runs` and `show`: what was scored is told again, from the store as from a file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from commands import FULL, LONG, LONGER, RUBRIC, WRONG, Project, exam_text, reweighed

if TYPE_CHECKING:
    from pathlib import Path


def test_the_list_says_what_is_worth_knowing(project: Project) -> None:
    first = project.stored(*[FULL] * 4, words=("--tag", "release-1"))
    project.run("baseline", "set", first)
    project.score(FULL)
    out = project.run("runs").out
    assert "baseline, tag release-1" in out
    assert "incomplete" in out
    assert project.run("runs", "--limit", "1").out.count("\n") == 2
    assert "no run is stored that fits" in project.run("runs", "--exam", "other").out


def test_long_names_do_not_push_ids_out_of_the_list(tmp_path: Path) -> None:
    project = Project(tmp_path, rubric=RUBRIC.replace("rubric: words", f"rubric: {'w' * 90}"))
    project.exam.write_text(exam_text(*project.items, name="e" * 90))
    run = project.stored(*[FULL] * 4, subject="s" * 90, words=("--tag", "t" * 90))
    assert run in project.run("runs").out


def test_show_prints_what_score_printed(project: Project) -> None:
    outputs = (FULL, LONG, WRONG)
    scored = project.score(*outputs)
    shown = project.run("show", "latest")
    assert shown.code == scored.code == 4
    totals, rows = scored.out.split("\nRows that lost points\n")
    body = shown.out.partition("\n")[2]
    assert body.startswith(totals)
    assert body.endswith(rows)
    told = project.score(*outputs, words=("--format", "json")).json
    assert project.run("show", "latest", "--format", "json").json == told


def test_an_exam_with_characters_that_are_hard_to_write_is_read_again(project: Project) -> None:
    text = project.exam.read_text().replace("Say yes", r'"Say\u2028yes\x85 \x7F"')
    project.exam.write_text(text)
    scored = project.score(*[FULL] * 4)
    shown = project.run("show", "latest")
    assert (shown.code, shown.err) == (scored.code, "")


def test_show_tells_the_gates_beside_the_baseline(project: Project) -> None:
    project.stored(*[FULL] * 4)
    project.run("baseline", "set", "latest")
    project.score(*[LONGER] * 4)
    assert "hard gate beside: NOT MET" in project.run("show", "latest").out


def flawed_answers(project: Project) -> Path:
    """Write answers with a missing item, an item twice, what was measured, and two bad rows."""
    good = {"item": "i1", "output": FULL, "latency_ms": 2.5, "tokens_in": 3, "cost": 0.1}
    rows = [good, {**good, "attempt": 2}, {"item": "i2", "output": WRONG}, {"item": "?"}]
    lines = [*map(json.dumps, rows), "no JSON", json.dumps({"item": "i4", "output": LONGER})]
    return project.write("flawed.jsonl", "\n".join(lines))


@pytest.mark.parametrize("name", ["result.json", "result.jsonl"])
def test_a_result_file_is_shown_as_the_stored_run_is(project: Project, name: str) -> None:
    documents = ("-r", project.rubric, "-e", project.exam)
    file = project.folder / name
    answers = flawed_answers(project)
    scored = project.run("score", *documents, "-a", answers, "-o", file, "--format", "json")
    shown = project.run("show", file, *documents, "--format", "json")
    assert (shown.code, shown.json) == (4, scored.json)
    for more in ((), ("--patterns",)):
        of_file = project.run("show", file, *documents, *more).out.partition("\n")[2]
        of_store = project.run("show", "latest", *more).out.partition("\n")[2]
        assert of_file == of_store
    written = project.folder / "again.jsonl"
    assert project.run("show", file, *documents, "-o", written).code == 4
    rows = [json.loads(line) for line in written.read_text().splitlines()]
    assert [row["item"] for row in rows] == ["i1", "i1", "i2", "i4", "i3"]


@pytest.mark.parametrize("name", ["result.json", "latest"])
def test_one_item_is_explained_cell_by_cell(project: Project, name: str) -> None:
    file = project.result(FULL, WRONG, LONG, FULL)
    run = file if name == "result.json" else name
    documents = ("-r", project.rubric, "-e", project.exam) if run is file else ()
    done = project.run("show", run, *documents, "--item", "i2")
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "i2: score 0.05, below the pass mark 0.99",
        "  tags: at=i2",
        "  prompt: Say yes",
        "  attempt 1: score 0.05",
        "    got: no",
        "    expected: yes",
        '    right 0 × 0.95: "yes" is missing from "no"',
        "    short 1 × 0.03: 1 word, at most 5 allowed",
        "    shorter 1 × 0.02: 1 word, at most 3 allowed",
    ]
    told = project.run("show", run, *documents, "--item", "i2", "--item", "i3", "--format", "json")
    assert [row["item"] for row in told.json["items"]] == ["i2", "i3"]
    assert told.json["summary"]["n"] == 4
    unknown = project.run("show", run, *documents, "--item", "i22")
    assert unknown.code == 2
    assert "the exam has no item `i22`; there is `i2`" in unknown.err
    both = project.run("show", run, *documents, "--item", "i2", "-o", project.folder / "o.csv")
    assert both.code == 2


def test_an_item_of_a_run_that_broke_off_is_explained_as_far_as_it_is_known(
    project: Project,
) -> None:
    project.score(FULL, LONG, FULL)
    with closing(sqlite3.connect(project.store)) as store, store:
        store.execute("DELETE FROM finished")
    out = project.run("show", "latest", "--item", "i2", "--item", "i4").out
    assert "i2: score 0.98" in out
    assert "i4: no answer" in out


def test_show_of_a_result_file_needs_its_own_documents(project: Project) -> None:
    file = project.result(*[FULL] * 4)
    assert "name its file with --rubric" in project.run("show", file).err
    other = reweighed(project, "0.025", "0.025")
    done = project.run("show", file, "-r", other, "-e", project.exam)
    assert done.code == 2
    assert "cannot be shown: the run was scored under another rubric" in done.err


def test_a_field_of_a_result_file_that_cannot_be_used_is_not_known(project: Project) -> None:
    file = project.result(*[FULL] * 4)
    document = json.loads(file.read_text())
    document["items"][0] |= {"line": "x"}
    file.write_text(json.dumps(document))
    done = project.run("show", file, "-r", project.rubric, "-e", project.exam, "--format", "json")
    assert (done.code, done.json["items"][0]["line"]) == (0, None)


def test_show_takes_one_subject_of_a_result_file(project: Project) -> None:
    rows = [
        {"item": item, "output": output, "subject": who}
        for who, output in (("ann", FULL), ("bob", WRONG))
        for item in project.items
    ]
    answers = project.write("both.jsonl", "\n".join(map(json.dumps, rows)))
    documents = ("-r", project.rubric, "-e", project.exam)
    file = project.folder / "both.json"
    project.run("score", *documents, "-a", answers, "-o", file)
    assert "name one of `ann`, `bob`" in project.run("show", file, *documents).err
    done = project.run("show", file, *documents, "--subject", "bob", "--format", "json")
    assert done.json["summary"]["score"] == 0.05


def test_a_run_that_broke_off_shows_what_was_acknowledged(project: Project) -> None:
    project.score(FULL, LONG, FULL)
    with closing(sqlite3.connect(project.store)) as store, store:
        store.execute("DELETE FROM finished")
    done = project.run("show", "latest", "--format", "json")
    assert done.code == 4
    assert done.json["summary"]["n"] == 3
    assert done.json["summary"]["missing"] == ["i4"]

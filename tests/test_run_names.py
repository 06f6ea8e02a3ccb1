"""Names of stored runs: a prefix, a tag, `latest`, a file; and whose runs they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commands import FULL, LONG, WRONG, Project, here
from markscheme.keep import open_store

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_is_named_by_prefix_latest_tag_or_file(project: Project) -> None:
    first = project.stored(*[WRONG] * 4, words=("--tag", "release-1"))
    second = project.stored(*[FULL] * 4)
    file = project.result(*[WRONG] * 4)
    assert project.judge("latest~1").code == 0
    for name in (first[:6], "latest~2", "release-1", first, file):
        assert project.judge(name).code == 1, name
    assert f"run {second}" in project.judge(second[:8]).out


def test_an_unknown_name_says_which_there_are(project: Project) -> None:
    run = project.stored(*[FULL] * 4)
    done = project.judge("relase")
    assert done.code == 2
    assert run in done.err
    assert "latest~1" in done.err


def test_a_file_of_another_format_says_which_formats_are_results(project: Project) -> None:
    project.stored(*[FULL] * 4, words=("-o", project.folder / "o.csv"))
    done = project.judge(project.folder / "o.csv")
    assert done.code == 2
    assert "those end in .json, .jsonl, .ndjson" in done.err
    assert project.judge("\0.json").code == 2


def test_a_tag_that_is_set_again_names_the_newer_run(project: Project) -> None:
    for outputs in ([WRONG] * 4, [FULL] * 4):
        project.score(*outputs, words=("--tag", "release"))
    assert project.judge("release").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--tag", "latest"), "would look like an id or `latest`"),
        (("--tag", "a b"), "cannot be a tag"),
        (("--tag", "x", "--no-store"), "a run that is not stored cannot have a tag"),
    ],
)
def test_a_bad_tag_is_refused_before_anything_is_stored(
    project: Project, words: tuple[str, ...], told: str
) -> None:
    done = project.score(*[FULL] * 4, words=words)
    assert done.code == 2
    assert told in done.err
    assert project.run("runs").code == 2 or "no run is stored" in project.run("runs").out


def test_each_subject_of_a_file_is_a_run_of_its_own(project: Project) -> None:
    rows = [
        {"item": item, "output": output, "subject": who}
        for who, output in (("ann", FULL), ("bob", WRONG))
        for item in project.items
    ]
    file = project.write("both.jsonl", "\n".join(map(json.dumps, rows)))
    words = ("-r", project.rubric, "-e", project.exam, "-a", file)
    done = project.run("score", *words)
    assert "stored as 2 runs" in done.err
    runs = project.run("runs", "--format", "json").json["runs"]
    assert {run["subject"]: run["score"] for run in runs} == {"ann": 1.0, "bob": 0.05}
    named = {run["subject"]: run["id"] for run in runs}
    assert project.judge(named["ann"]).code == 0
    assert project.judge(named["bob"]).code == 1
    only = project.run("runs", "--subject", "bob", "--format", "json").json["runs"]
    assert [run["id"] for run in only] == [named["bob"]]
    tagged = project.run("score", *words, "--tag", "both")
    assert tagged.code == 2
    assert "a tag names one run" in tagged.err
    assert "the tag `both` names no run" in project.judge("both").err
    assert project.judge(named["ann"], "--subject", "bob").code == 2


def test_one_subject_of_a_result_file_is_judged_beside_a_file_of_another(project: Project) -> None:
    rows = [
        {"item": item, "output": output, "subject": who}
        for who, output in (("ann", FULL), ("bob", LONG))
        for item in project.items
    ]
    file = project.write("both.jsonl", "\n".join(map(json.dumps, rows)))
    result = project.folder / "both.json"
    words = ("-r", project.rubric, "-e", project.exam)
    project.run("score", *words, "-a", file, "-o", result)
    beside = project.result(*[FULL] * 4, name="before.json")
    assert "name one of `ann`, `bob`" in project.judge(result).err
    done = project.judge(result, "--subject", "bob", "--baseline", beside)
    assert done.code == 0
    assert "score 1.00 → 0.98" in done.out


def test_the_name_of_a_subject_cannot_steer_the_terminal(project: Project) -> None:
    scored = project.score(FULL, FULL, FULL, FULL, subject="\x1b[2Jmodel\u202e")
    assert "`subject` holds the control character" in scored.out
    for words in (("gate", "latest"), ("show", "latest"), ("runs",)):
        told = project.run(*words).out
        assert not {"\x1b", "\u202e"} & set(told + scored.out)


def test_a_tag_for_several_subjects_is_refused_with_the_runs_that_are_stored(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path, items=1)
    rows = ("item,output,subject", "i1,yes,one", "i1,yes,two")
    answers = project.write("two.csv", "\n".join(rows))
    words = ("-r", project.rubric, "-e", project.exam, "-a", answers, "--store", project.store)
    done = here("score", *words, "--tag", "both")
    assert done.code == 2
    with open_store(project.store, create=False) as store:
        ids = [run.id for run in store.list_runs()]
    assert len(ids) == 2
    assert all(id_ in done.err for id_ in ids)

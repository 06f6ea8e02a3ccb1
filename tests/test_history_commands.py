"""The commands on stored runs from outside: names, lists, baselines, history weighed anew."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import markscheme
from commands import FULL, LONG, LONGER, RUBRIC, WRONG, Project, exam_text, here, nobody
from markscheme.keep import open_store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def reweighed(project: Project, short: str, shorter: str, name: str = "new.yaml") -> Path:
    text = RUBRIC.replace("0.02, limit: 3", f"{shorter}, limit: 3").replace("0.03", short)
    return project.write(name, text)


def outcomes(project: Project, run: str, *words: str | Path) -> dict[str, Any]:
    document = project.judge(run, "--format", "json", *words).json
    return {gate["gate"]: gate for gate in document["gates"]}


# --- names ---------------------------------------------------------------------------------------


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


# --- runs and show -------------------------------------------------------------------------------


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
    body = shown.out.partition("\n")[2]
    assert body.startswith(scored.out)
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
    document["items"][0] |= {"line": "x", "reason": 3, "near_miss": []}
    file.write_text(json.dumps(document))
    done = project.run("show", file, "-r", project.rubric, "-e", project.exam, "--format", "json")
    first = done.json["items"][0]
    assert (done.code, first["line"]) == (0, None)
    assert first["reason"] == dict.fromkeys(("right", "short", "shorter"))


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


# --- baselines -----------------------------------------------------------------------------------


def test_a_baseline_never_moves_by_itself(project: Project) -> None:
    first = project.stored(*[FULL] * 4)
    assert project.run("baseline", "show").code == 4
    done = project.run("baseline", "set", first[:6], "--by", "ann", "--note", "release 1")
    assert done.code == 0
    for outputs in ([LONG] * 4, [FULL] * 4):
        project.score(*outputs)
        project.judge("latest")
    (baseline,) = project.run("baseline", "show", "--format", "json").json["baselines"]
    assert (baseline["run"], baseline["set_by"], baseline["note"]) == (first, "ann", "release 1")
    text = project.run("baseline", "show").out
    assert f"run {first}" in text
    assert "by ann: release 1" in text
    assert "last 3 runs, the newest last: 1.0000, 0.9800, 1.0000" in text


def test_a_single_axis_that_drifts_is_named(project: Project) -> None:
    project = Project(project.folder, items=6)
    for lost in range(6):
        project.score(*[LONG] * lost, *[FULL] * (6 - lost))
    project.run("baseline", "set", "latest~5")
    out = project.run("baseline", "show").out
    assert "shorter alone is trending down: 1.0000 → 0.1667" in out


def test_a_trend_says_whose_run_each_is_where_subjects_are_releases(project: Project) -> None:
    for subject, output in (("v1", FULL), ("v2", LONG), ("v3", WRONG), ("v3", FULL)):
        project.score(*[output] * 4, subject=subject)
    project.run("baseline", "set", "latest~3")
    told = "last 4 runs, the newest last: v1 1.0000, v2 0.9800, v3 0.0500, v3 1.0000"
    assert told in project.run("baseline", "show").out
    (found,) = project.run("baseline", "show", "--format", "json").json["baselines"]
    trend = found["distribution"]["trend"]
    assert [point["subject"] for point in trend] == ["v1", "v2", "v3", "v3"]
    assert found["distribution"]["by_subject"] is False
    assert found["distribution"]["followed"] == [point["run"] for point in trend]


def test_subjects_that_take_turns_have_trends_and_drifts_of_their_own(project: Project) -> None:
    project = Project(project.folder, items=6)
    for lost in range(6):
        project.score(*[FULL] * 6, subject="ann")
        project.score(*[LONG] * lost, *[FULL] * (6 - lost), subject="bob")
    project.run("baseline", "set", "latest~1")
    out = project.run("baseline", "show").out
    assert "last 12 runs by subject, the newest last:\n  ann: 1.0000, 1.0000," in out
    assert "  bob: 1.0000, 0.9967, 0.9933" in out
    assert "trending down" not in out
    only = project.run("baseline", "show", "--subject", "bob").out
    assert "last 6 runs of bob, the newest last: 1.0000, 0.9967" in only
    assert "shorter alone is trending down: 1.0000 → 0.1667" in only
    project.run("baseline", "set", "latest")
    out = project.run("baseline", "show", "--last", "4").out
    assert "  ann: 1.0000, 1.0000\n  bob: 0.9867, 0.9833\n" in out
    assert (
        "bob: shorter alone is trending down: 1.0000 → 0.1667"
        in project.run("baseline", "show").out
    )
    unknown = project.run("baseline", "show", "--subject", "bbo")
    assert (unknown.code, "no run of `bbo`" in unknown.err) == (2, True)


@pytest.mark.parametrize(
    ("short", "shorter", "code"),
    [
        ("0.03", "0.02", 0),
        ("0.02999999999999999", "0.02000000000000001", 1),
        ("0.0299999999999999999999", "0.0200000000000000000001", 1),
    ],
)
def test_a_drop_of_exactly_two_percent_passes_and_one_step_more_does_not(
    tmp_path: Path, short: str, shorter: str, code: int
) -> None:
    project = Project(tmp_path, items=3)
    project.rubric = reweighed(project, short, shorter)
    project.stored(*[FULL] * 3)
    project.run("baseline", "set", "latest")
    project.stored(*[LONG] * 3)
    assert project.judge("latest").code == code


def test_a_rise_that_looks_too_good_is_told_with_the_items_that_moved(project: Project) -> None:
    project.stored(*[LONGER] * 4)
    project.run("baseline", "set", "latest")
    project.score(*[LONG] * 4)
    done = project.judge("latest")
    assert done.code == 0
    assert "a rise from 0.95 to 0.98 is more than 2%" in done.out
    assert "audit the rubric first" in done.out
    assert "i1: 0.95 → 0.98 (short +1.00)" in done.out


def test_items_that_fail_now_are_listed_although_the_mean_holds(project: Project) -> None:
    project.stored(LONGER, FULL, FULL, FULL)
    project.run("baseline", "set", "latest")
    project.score(FULL, FULL, FULL, LONGER)
    done = project.judge("latest")
    assert done.code == 0
    assert "1 item went from pass to fail:\n    i4: 1.00 → 0.95" in done.out
    assert "1 item went from fail to pass:\n    i1: 0.95 → 1.00" in done.out


def test_new_and_removed_items_are_named_and_nothing_passes(project: Project) -> None:
    project.stored(*[FULL] * 4)
    project.run("baseline", "set", "latest")
    project.exam.write_text(exam_text("i1", "i2", "i3", "i9"))
    project.items = ["i1", "i2", "i3", "i9"]
    project.score(*[FULL] * 4)
    done = project.judge("latest")
    assert done.code == 4
    assert "another exam fingerprint; recalibrate or set a new baseline" in done.out
    assert "new items: i9" in done.out
    assert "gone items: i4" in done.out


def test_changed_weights_need_a_new_baseline(project: Project) -> None:
    project.stored(*[FULL] * 4)
    project.run("baseline", "set", "latest")
    project.rubric = reweighed(project, "0.01", "0.04")
    project.score(*[FULL] * 4)
    done = project.judge("latest")
    assert done.code == 4
    assert "another rubric fingerprint; recalibrate or set a new baseline" in done.out
    project.run("baseline", "set", "latest")
    assert project.judge("latest").code == 0


def test_required_evidence_that_is_inconclusive_cannot_tell(project: Project) -> None:
    project.rubric.write_text(RUBRIC.replace("max_drop: 2%", "max_drop: 2%, evidence: required"))
    project.stored(*[FULL] * 4)
    project.run("baseline", "set", "latest")
    project.score(*[FULL] * 4)
    done = project.judge("latest")
    assert done.code == 4
    assert "evidence is required and is inconclusive" in done.out
    assert "items would settle it" in done.out


def test_a_named_baseline_goes_before_the_one_that_was_set(project: Project) -> None:
    low = project.stored(*[LONGER] * 4)
    project.stored(*[FULL] * 4)
    project.run("baseline", "set", "latest")
    project.score(*[LONGER] * 4)
    assert project.judge("latest").code == 1
    assert project.judge("latest", "--baseline", low).code == 0
    assert project.judge("latest", "--baseline", project.result(*[LONGER] * 4)).code == 0


def test_a_baseline_that_no_gate_would_look_at_is_refused(project: Project) -> None:
    project.rubric.write_text(RUBRIC.partition("  - {name: beside")[0])
    run = project.stored(*[FULL] * 4)
    done = project.judge(run, "--baseline", run)
    assert done.code == 2
    assert "has no gate `metric: baseline`" in done.err


def test_gates_may_be_newer_than_the_run_but_weights_may_not(project: Project) -> None:
    run = project.stored(*[LONG] * 4)
    strict = project.write("strict.yaml", RUBRIC.replace("at_least: 0.90", "at_least: 0.99"))
    assert project.judge(run).code == 0
    assert project.judge(run, "-r", strict).code == 1
    other = reweighed(project, "0.01", "0.04")
    done = project.judge(run, "-r", other, "--junit", project.folder / "j.xml")
    assert done.code == 4
    assert "scored under another rubric" in done.out
    assert project.judge(run, "-e", project.exam).code == 2


def test_every_outcome_is_recorded(project: Project) -> None:
    first = project.stored(*[FULL] * 4)
    project.run("baseline", "set", first)
    second = project.stored(*[LONGER] * 4)
    project.judge(second)
    with open_store(project.store, create=False) as store:
        (kept,) = store.outcomes(second)
    assert kept.baseline == first
    assert kept.outcomes["verdict"] == "fail"


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


# --- recalibrate ---------------------------------------------------------------------------------


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


# --- the library ---------------------------------------------------------------------------------


def test_the_library_judges_as_the_command_does(project: Project) -> None:
    project.stored(*[FULL] * 4, words=("--tag", "good"))
    project.run("baseline", "set", "good")
    project.score(*[LONGER] * 4)
    report = markscheme.gate("latest", store=project.store)
    assert report.verdict is markscheme.Outcome.FAIL
    assert [found.outcome.value for found in report.outcomes] == ["pass", "fail"]
    assert markscheme.gate("latest", baseline="latest", store=project.store).verdict.value == "pass"
    file = project.result(*[FULL] * 4)
    assert markscheme.gate(file, rubric=project.rubric, exam=project.exam).verdict.value == "pass"
    with pytest.raises(markscheme.UsageError, match="there is no run `x-y`"):
        markscheme.gate("x-y", store=project.store)


def test_outcomes_in_json_are_exact_too(project: Project) -> None:
    project.stored(LONG, FULL, FULL)
    project.stored(LONG, FULL, FULL, FULL)
    found = outcomes(project, "latest")["release"]
    assert found["exact"] == {"observed": "199/200", "margin": "19/200"}


def test_the_name_of_a_subject_cannot_steer_the_terminal(project: Project) -> None:
    project.score(FULL, FULL, FULL, FULL, subject="\x1b[2Jmodel\u202e")
    for words in (("gate", "latest"), ("show", "latest"), ("runs",)):
        told = project.run(*words).out
        assert "[2Jmodel" in told
        assert not {"\x1b", "\u202e"} & set(told)


def test_a_baseline_is_found_in_whatever_order_its_exams_are_named(tmp_path: Path) -> None:
    project = Project(tmp_path, items=2)
    more = project.write("more.yaml", exam_text("j1", "j2", name="a-few-more"))
    rows = [{"item": item, "output": FULL} for item in ("i1", "i2", "j1", "j2")]
    answers = project.write("answers.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    exams = (project.exam, more)
    for order in (exams, exams[::-1]):
        named = [word for exam in order for word in ("-e", exam)]
        done = project.run("score", "-r", project.rubric, *named, "-a", answers)
        assert done.code == 0
        project.run("baseline", "set", "latest")
    judged = project.run("gate", "latest~1", "--format", "json").json
    assert judged["baseline"]["id"] == project.run("runs", "--format", "json").json["runs"][0]["id"]
    assert judged["gates"][1]["outcome"] == "pass"

"""Baselines from outside: set and shown, followed by a trend, and what a run is judged beside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import markscheme
from commands import FULL, LONG, LONGER, RUBRIC, WRONG, Project, exam_text, reweighed
from markscheme.keep import open_store

if TYPE_CHECKING:
    from pathlib import Path


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
    for subject, output in (("v1", FULL), ("v2", LONG), ("v3", WRONG)):
        project.score(*[output] * 4, subject=subject)
    project.run("baseline", "set", "latest~2")
    told = "last 3 runs, the newest last: v1 1.0000, v2 0.9800, v3 0.0500"
    assert told in project.run("baseline", "show").out
    (found,) = project.run("baseline", "show", "--format", "json").json["baselines"]
    trend = found["distribution"]["trend"]
    assert [point["subject"] for point in trend] == ["v1", "v2", "v3"]
    assert found["distribution"]["by_subject"] is False
    assert found["distribution"]["followed"] == [point["run"] for point in trend]


def test_a_subject_with_several_runs_is_never_joined_with_another_one(project: Project) -> None:
    for subject, output in (("ann", FULL), ("ann", LONG), ("bob", WRONG)):
        project.score(*[output] * 4, subject=subject)
    project.run("baseline", "set", "latest~1")
    told = "last 3 runs by subject, the newest last:\n  ann: 1.0000, 0.9800\n  bob: 0.0500\n"
    assert told in project.run("baseline", "show").out


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
        (kept,) = store.list_outcomes(second)
    assert kept.baseline == first
    assert kept.outcomes["verdict"] == "fail"


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


def outcomes(project: Project, run: str, *words: str | Path) -> dict[str, Any]:
    document = project.judge(run, "--format", "json", *words).json
    return {gate["gate"]: gate for gate in document["gates"]}


def test_outcomes_in_json_are_exact_too(project: Project) -> None:
    project.stored(LONG, FULL, FULL)
    project.stored(LONG, FULL, FULL, FULL)
    found = outcomes(project, "latest")["release"]
    assert found["exact"] == {"observed": "199/200", "margin": "19/200"}

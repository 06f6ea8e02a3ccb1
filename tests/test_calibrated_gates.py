"""Gates on judged cells: they decide only while a passing calibration of the same judge counts."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import markscheme
from calibrations import AXES, Project
from commands import here
from judge_server import JudgeServer, pick_verdict
from markscheme.vocabulary import AxisLicence, JudgedAxis, Outcome
from markscheme.weigh.gates import find_doubt

ENOUGH = 36


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, ENOUGH)


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a passing calibration; tests change its documents and put them back."""
    project = Project(tmp_path_factory.mktemp("calibrated"), ENOUGH)
    project.write_judge(
        subject="python:pretend_judges:copy", instructions="Mark with care.", calls="one"
    )
    assert project.calibrate().code == 0
    return project


def outcomes_of(done: Any) -> dict[str, str]:
    return {gate["gate"]: gate["outcome"] for gate in done.json["gates"]}


def because_of(done: Any, name: str = "release") -> str:
    (found,) = (gate["because"] for gate in done.json["gates"] if gate["gate"] == name)
    return str(found)


def test_without_a_calibration_gates_are_undecided_and_say_what_to_run(project: Project) -> None:
    assert project.score().code == 0
    done = project.gate()
    assert done.code == 4
    assert set(outcomes_of(done).values()) == {"undecided"}
    assert "marked by the judge `strict`: it is not calibrated" in because_of(done)
    assert "markscheme calibrate -r RUBRIC" in because_of(done)


def test_a_run_that_was_judged_before_the_calibration_counts_after_it(project: Project) -> None:
    project.score()
    assert project.gate().code == 4
    assert project.calibrate().code == 0
    done = project.gate()
    assert (done.code, set(outcomes_of(done).values())) == (0, {"pass"})


def test_a_calibration_that_failed_later_counts_more_than_one_that_passed(
    project: Project,
) -> None:
    project.calibrate()
    project.score()
    project.write_people(change=lambda _, axis, score: "3" if axis == "clear" else score)
    assert project.calibrate("--seed", "1").code == 4
    done = project.gate()
    assert outcomes_of(done) == {"release": "undecided", "clear": "undecided", "quick": "pass"}
    assert "could not tell: people gave every answer the same mark" in because_of(done)


def test_only_the_axes_that_a_gate_needs_must_be_calibrated(project: Project) -> None:
    rows = list(csv.reader(project.people.read_text("utf-8").splitlines()))
    with project.people.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([rows[0], *(row for row in rows if row[3] == "clear")])
    done = project.calibrate()
    assert (done.code, done.json["unrated"]) == (0, ["tone", "facts"])
    project.score()
    assert outcomes_of(project.gate()) == {
        "release": "undecided",
        "clear": "pass",
        "quick": "undecided",
    }


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


RUBRIC, EXAM, JUDGE = "rubric", "exam", "judge"


@pytest.mark.parametrize(
    ("document", "old", "new"),
    [
        (RUBRIC, "How clear is the letter?", "How plain is the letter?"),
        (RUBRIC, "2: hardly", "2: barely"),
        (RUBRIC, "plain: 0.5", "plain: 0.25"),
        (EXAM, "Names the day.", "Names a day."),
        (JUDGE, "Mark with care.", "Mark with great care."),
        (JUDGE, "judges:copy", "judges:nearly_copy"),
        (JUDGE, '"calls": "one"', '"calls": "each"'),
        (JUDGE, '"calls": "one"', '"calls": "one", "orders": 2'),
        (JUDGE, '"calls": "one"', '"calls": "one", "sees": ["answer"]'),
    ],
)
def test_one_other_word_and_the_calibration_no_longer_counts(
    calibrated: Project, document: str, old: str, new: str
) -> None:
    path: Path = getattr(calibrated, document)
    before = path.read_text("utf-8")
    replace_in(path, old, new)
    try:
        assert calibrated.score().code == 0
        done = calibrated.gate()
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.code == 4
    assert outcomes_of(done)["release"] == "undecided"
    assert "calibrate" in because_of(done)


def reverse_keys(text: str) -> str:
    """Return a JSON document with its keys in reverse order, on several lines."""
    return json.dumps(dict(reversed(json.loads(text).items())), indent=2)


@pytest.mark.parametrize(
    ("document", "change"),
    [
        (RUBRIC, lambda text: f"# A comment.\n{text}"),
        (RUBRIC, lambda text: text.replace("rubric: letters", "rubric: notes")),
        (RUBRIC, lambda text: text.replace("name: release", "name: ship")),
        (RUBRIC, lambda text: text.replace("at_least: 0.1", "at_least: 0.2")),
        (RUBRIC, lambda text: text.replace("points: 1\n", "points: 7\n")),
        (
            RUBRIC,
            lambda text: re.sub(
                r"question: How (.*)\n    anchors: (.*)", r"anchors: \2\n    question: How \1", text
            ),
        ),
        (EXAM, reverse_keys),
        (EXAM, lambda text: text.replace('"exam": "letters"', '"exam": "mail"')),
        (EXAM, lambda text: text.replace('"points": 2', '"points": 5')),
        (JUDGE, reverse_keys),
        (JUDGE, lambda text: f"# A comment.\n{text}"),
        (JUDGE, lambda text: text.replace('"strict"', '"stern"')),
    ],
)
def test_comments_names_and_key_order_change_nothing(
    calibrated: Project, document: str, change: Callable[[str], str]
) -> None:
    path: Path = getattr(calibrated, document)
    before = path.read_text("utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")
    try:
        assert calibrated.score().code == 0
        done = calibrated.gate()
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.code == 0, because_of(done)


def test_a_result_file_is_gated_like_the_run(calibrated: Project) -> None:
    result = calibrated.folder / "result.json"
    calibrated.score("-o", result)
    documents = ("-r", calibrated.rubric, "-e", calibrated.exam, "--format", "json")
    assert here("gate", result, *documents, "--store", calibrated.store).code == 0
    # Rows alone do not say who marked them.
    rows = calibrated.folder / "result.jsonl"
    calibrated.score("-o", rows)
    done = here("gate", rows, *documents, "--store", calibrated.store)
    assert done.code == 4
    assert "the file does not say whether people or a judge marked it" in because_of(done)


def test_a_result_in_memory_has_no_calibration_until_one_is_looked_up(
    calibrated: Project,
) -> None:
    judged = calibrated.folder / "judged.csv"
    here("judge", *calibrated.documents, "-o", judged, "--no-store")
    result = markscheme.score(
        calibrated.rubric, calibrated.exam, calibrated.answers, ratings=judged
    )
    assert result.judge().verdict is Outcome.UNDECIDED
    report = markscheme.gate(result, store=calibrated.store)
    assert "does not say how the judge was asked" in report.outcomes[0].because


def test_marks_of_people_need_no_calibration(project: Project) -> None:
    documents = ("-r", project.rubric, "-e", project.exam, "-a", project.answers)
    store = ("--store", project.store)
    assert here("score", *documents, "--ratings", project.people, *store).code == 0
    assert project.gate().code == 0


def test_a_baseline_that_another_judge_marked_is_not_compared(calibrated: Project) -> None:
    rubric = calibrated.rubric.read_text("utf-8")
    gate = "  - {name: beside, level: hard, metric: baseline, max_drop: 2%}\n"
    calibrated.rubric.write_text(rubric + gate, encoding="utf-8")
    try:
        calibrated.score("--tag", "same")
        calibrated.score()
        assert outcomes_of(calibrated.gate("--baseline", "same"))["beside"] == "pass"
        calibrated.write_judge(instructions="Another one.")
        calibrated.score("--tag", "other")
        calibrated.write_judge(instructions="Mark with care.", calls="one")
        calibrated.score()
        done = calibrated.gate("--baseline", "other")
    finally:
        calibrated.rubric.write_text(rubric, encoding="utf-8")
    assert outcomes_of(done)["beside"] == "undecided"
    assert "the baseline was not marked by the same judge" in because_of(done, "beside")


def test_ratings_of_a_file_do_not_count_as_those_of_the_judge_whose_name_they_have(
    project: Project,
) -> None:
    recorded = project.folder / "recorded.csv"
    recorded.write_text(
        "item,variant,rater,axis,score,source\ni0,s,strict,clear,5,judge\n", encoding="utf-8"
    )
    asked = markscheme.judge(project.rubric, project.exam, project.answers, project.judge)
    of_others = [rating for rating in asked.ratings if rating.item != "i0"]
    result = markscheme.score(
        project.rubric,
        project.exam,
        project.answers,
        ratings=[recorded, *of_others],
        judging=asked.describe_judging(),
    )
    assert result.judging["clear"]["fingerprint"] is None
    assert result.judging["tone"] == asked.describe_judging()["tone"]


def test_a_baseline_whose_judge_missed_a_canary_is_not_compared(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = "  - {name: beside, level: hard, metric: baseline, max_drop: 2%}\n"
    project.rubric.write_text(project.rubric.read_text("utf-8") + gate, encoding="utf-8")
    project.write_judge(subject="python:pretend_judges:turn_coat")
    assert project.calibrate().code == 0
    with monkeypatch.context() as turned:
        turned.setenv("TURNED", "1")
        project.score("--tag", "before")
    project.score()
    done = project.gate("--baseline", "before")
    assert outcomes_of(done)["release"] == "pass"
    assert outcomes_of(done)["beside"] == "undecided"
    assert "known answers got marks out of their range" in because_of(done, "beside")


# --- expiry: the clock is passed in ---


JUDGED = JudgedAxis(judge="strict", fingerprint="j", axis_fingerprint="a", call_fingerprint="c")


def license_axis(**changes: Any) -> AxisLicence:
    fields: dict[str, Any] = {
        "calibration": "c1",
        "judge": "strict",
        "fingerprint": "j",
        "axis_fingerprint": "a",
        "call_fingerprint": "c",
        "served": (),
        "outcome": Outcome.PASS,
        "because": "",
        "expires": datetime(2026, 12, 1, tzinfo=UTC),
    }
    return AxisLicence(**{**fields, **changes})


def test_a_calibration_counts_until_it_expires() -> None:
    licences = [license_axis()]
    assert find_doubt(JUDGED, licences, datetime(2026, 11, 30, 23, 59, tzinfo=UTC)) == ""
    expired = find_doubt(JUDGED, licences, datetime(2026, 12, 1, tzinfo=UTC))
    assert expired == "the calibration c1 expired on 2026-12-01"


def test_the_reason_names_what_is_other_than_calibrated() -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)

    def doubt(**changes: Any) -> str:
        return find_doubt(JUDGED, [license_axis(**changes)], now)

    assert doubt(served=("m-1",)) == (
        "a model that does not tell its name answered, and it was calibrated with `m-1`"
    )
    assert doubt(call_fingerprint="x").startswith("what is asked in the same call has changed")
    assert doubt(axis_fingerprint="x") == "what the axis asks is not what it was calibrated for"
    assert doubt(fingerprint="x").endswith("its document has changed")
    assert doubt(fingerprint="x", judge="mild") == "it is not calibrated"


# --- drift of the served model, and canaries of a run ---


CLEAR_RUBRIC = """\
rubric: letters
axes:
  - name: clear
    kind: scale
    points: 1
    question: How clear is the letter?
    anchors: {1: not at all, 2: hardly, 3: in parts, 4: mostly, 5: wholly}
gates:
  - {name: release, level: hard, at_least: 0.1}
"""


@pytest.fixture(scope="module")
def server() -> JudgeServer:
    server = JudgeServer()
    server.start()
    return server


def test_another_served_model_than_calibrated_decides_nothing(
    project: Project, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKSCHEME_API_KEY", "k")
    project.rubric.write_text(CLEAR_RUBRIC, encoding="utf-8")
    exam = json.loads(project.exam.read_text("utf-8"))
    items = [{key: item[key] for key in ("id", "prompt")} for item in exam["items"]]
    project.exam.write_text(json.dumps({"exam": "letters", "items": items}), encoding="utf-8")
    project.write_judge(subject=f"openai:m@{server.url}")
    write_server_verdicts(project)
    done = project.calibrate("--canaries", "none")
    assert (done.code, done.json["served"]) == (0, ["judge-2026-11-01"]), done.err
    project.score()
    assert project.gate().code == 0
    server.model = "judge-2026-12-01"
    project.score()
    done = project.gate()
    assert done.code == 4
    assert "`judge-2026-12-01` answered, and it was calibrated with `judge-2026-11-01`" in (
        because_of(done)
    )


def write_server_verdicts(project: Project) -> None:
    """Write ratings of a person who says what the server says."""
    anchors = "".join(f"  {number}: x\n" for number in range(1, 6))
    with project.people.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "variant", "rater", "axis", "score"])
        for line in project.answers.read_text("utf-8").splitlines():
            row = json.loads(line)
            score = pick_verdict("clear", row["output"], anchors)
            writer.writerow([row["item"], row["subject"], "ana", "clear", score])


def test_a_canary_out_of_range_before_a_run_decides_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_judge(subject="python:pretend_judges:turn_coat")
    assert project.calibrate().code == 0
    project.score()
    assert project.gate().code == 0
    monkeypatch.setenv("TURNED", "1")
    scored = project.score()
    assert "canary ignore-rubric is out of range" in scored.err
    done = project.gate()
    assert done.code == 4
    assert "known answers got marks out of their range" in because_of(done)
    assert set(AXES) <= set(scored.json["judging"])

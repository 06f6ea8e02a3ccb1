"""`calibrate`: which judges pass, which are refused and why, and what the record holds."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import markscheme
from calibrations import Project
from commands import here
from markscheme.keep import open_store
from markscheme.vocabulary import InputError, UsageError

ENOUGH = 36


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, ENOUGH)


def list_codes(axis: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in axis["reasons"]]


def test_a_97_percent_copy_of_people_passes_at_100_answers(tmp_path: Path) -> None:
    project = Project(tmp_path, 100)
    project.write_judge(subject="python:pretend_judges:nearly_copy")
    done = project.calibrate()
    assert (done.code, done.json["outcome"]) == (0, "pass")
    axis = done.json["axes"]["clear"]
    assert axis["n"] == 100
    assert 0.9 < axis["kappa"] < 1
    assert 0.6 <= axis["lower"] < axis["interval"][0] < axis["kappa"]
    assert list_codes(axis) == ["agrees"]


@pytest.mark.parametrize(
    ("judge", "code"),
    [
        ("constant", "constant"),
        ("always_highest", "always-highest"),
        ("inverted", "inverted"),
        ("throw_dice", "chance"),
        ("prefer_first", "order"),
        ("obey", "canary"),
    ],
)
def test_each_bad_judge_is_refused_for_its_own_reason(
    tmp_path: Path, judge: str, code: str
) -> None:
    project = Project(tmp_path, 60)
    project.write_judge(subject=f"python:pretend_judges:{judge}")
    done = project.calibrate()
    assert (done.code, done.json["outcome"]) == (1, "fail")
    for name in ("clear", "tone"):
        axis = done.json["axes"][name]
        assert (axis["outcome"], list_codes(axis)[0]) == ("fail", code)


def test_too_few_answers_cannot_tell_and_say_how_many_would(tmp_path: Path) -> None:
    done = Project(tmp_path, 16).calibrate()
    assert done.code == 4
    axis = done.json["axes"]["clear"]
    assert (axis["outcome"], list_codes(axis)) == ("undecided", ["too-few"])
    assert "answers would tell" in axis["reasons"][0]["because"]


def test_unread_marks_count_as_wrong_in_the_bound_and_in_nothing_else(project: Project) -> None:
    project.write_judge(subject="python:pretend_judges:mumble")
    done = project.calibrate("--canaries", "none")
    assert done.code == 4
    axis = done.json["axes"]["facts"]
    assert axis["unread"] > 0
    assert axis["kappa"] == 1
    assert axis["lower"] < 0.6
    assert list_codes(axis) == ["unread"]


def test_a_judge_that_says_nothing_readable_cannot_be_told(project: Project) -> None:
    project.write_judge(subject="python:pretend_judges:refuse")
    done = project.calibrate()
    assert done.code == 4
    for axis in done.json["axes"].values():
        assert (axis["outcome"], list_codes(axis)) == ("undecided", ["nothing-read"])
        assert (axis["n"], axis["kappa"], axis["lower"]) == (0, None, None)


def test_a_panel_is_measured_as_a_whole_and_not_by_its_members(project: Project) -> None:
    names = ("copy", "nearly_copy", "throw_dice")
    judges = [
        {"judge": name.replace("_", "-"), "subject": f"python:pretend_judges:{name}"}
        for name in names
    ]
    project.judge.write_text(json.dumps({"panel": "three", "judges": judges}), encoding="utf-8")
    done = project.calibrate()
    axis = done.json["axes"]["facts"]
    assert (axis["outcome"], axis["steadiness"]["verdicts"]) == ("pass", 40)
    assert axis["steadiness"]["changed_by_repeat"] < 4


def test_the_record_tells_bias_confusion_people_and_the_best_constant_judge(
    project: Project,
) -> None:
    # Ben gives one point less than Ana wherever he can.
    def harsh(rater: str, axis: str, score: str) -> str:
        is_lowered = rater == "ben" and axis == "clear" and score != "1"
        return str(int(score) - 1) if is_lowered else score

    project.write_people(("ana", "ben"), harsh)
    done = project.calibrate()
    axis = done.json["axes"]["clear"]
    assert axis["ratings"] == 2 * ENOUGH
    lowered = sum(worth["clear"] != "1" for worth in project.worths)
    assert axis["bias"]["mean"] == pytest.approx(lowered / (2 * ENOUGH))
    assert axis["bias"]["low"] < axis["bias"]["mean"] < axis["bias"]["high"]
    assert axis["people"]["n"] == ENOUGH
    assert axis["people"]["difference"] == pytest.approx(axis["kappa"] - axis["people"]["kappa"])
    assert sum(cell["n"] for cell in axis["confusion"]) == 2 * ENOUGH
    assert {"person": "4", "judge": "5"}.items() <= axis["confusion"][-2].items()
    assert axis["constant"]["distance"] > axis["distance"]
    assert {tag["tag"] for tag in axis["worst_tags"]} == {"half: first", "half: second"}
    assert axis["steadiness"] == {
        "answers": 20,
        "verdicts": 20,
        "changed_by_order": 0,
        "changed_by_repeat": 0,
    }


def test_a_clone_of_an_answer_is_no_second_answer(project: Project) -> None:
    rows = [json.loads(line) for line in project.answers.read_text("utf-8").splitlines()]
    clones = [{**row, "subject": "t"} for row in rows]
    lines = (f"{json.dumps(row)}\n" for row in rows + clones)
    project.answers.write_text("".join(lines), encoding="utf-8")
    text = project.people.read_text("utf-8")
    header, *ratings = text.splitlines()
    more = [line.replace(",s,", ",t,", 1) for line in ratings]
    project.people.write_text("\n".join([header, *ratings, *more]), encoding="utf-8")
    axis = project.calibrate().json["axes"]["clear"]
    assert (axis["n"], axis["ratings"]) == (ENOUGH, 2 * ENOUGH)


def test_the_same_calibration_is_the_same_to_the_byte(project: Project) -> None:
    def calibrate() -> Any:
        record = project.calibrate().json
        return {key: value for key, value in record.items() if key not in {"id", "made", "expires"}}

    assert json.dumps(calibrate()) == json.dumps(calibrate())


def test_a_person_who_is_a_judge_is_refused_by_line(project: Project) -> None:
    with project.people.open("a", encoding="utf-8") as file:
        file.write("i0,s,strict,clear,,3\n")
    done = project.calibrate()
    assert done.code == 3
    assert "is the judge that is calibrated, not a person" in done.err
    assert f"people.csv:{2 + 4 * ENOUGH}: rater" in done.err


def test_ratings_of_judges_among_peoples_are_refused(project: Project) -> None:
    text = project.people.read_text("utf-8").splitlines()
    rows = [f"{text[0]},source", f"{text[1]},judge", *(f"{line}," for line in text[2:])]
    rows[1] = rows[1].replace("ana", "other")
    project.people.write_text("\n".join(rows), encoding="utf-8")
    done = project.calibrate()
    assert done.code == 3
    assert "people.csv:2: source" in done.err
    assert "a judge is measured against people only" in done.err


def test_a_rating_of_an_answer_that_is_not_there_is_refused(project: Project) -> None:
    with project.people.open("a", encoding="utf-8") as file:
        file.write("i0,nobody,ana,clear,,3\n")
    done = project.calibrate()
    assert done.code == 3
    assert "there is no answer of `nobody` to `i0`" in done.err


def test_recorded_ratings_are_measured_and_allow_nothing(project: Project) -> None:
    judged = project.folder / "judged.csv"
    assert here("judge", *project.documents, "-o", judged, "--no-store").code == 0
    paths = ("-r", project.rubric, "-e", project.exam, "-a", project.answers)
    store = ("--store", project.store)
    done = here(
        "calibrate", *paths, "--judged", judged, "--ratings", project.people, *store,
        "--format", "json",
    )  # fmt: skip
    assert (done.code, done.json["judge"]) == (0, {"name": "strict", "fingerprint": None})
    assert "no gate may rest on this" in done.err
    project.score()
    assert project.gate().code == 4


def test_a_judge_or_its_ratings_but_not_both(project: Project) -> None:
    done = project.calibrate("--judged", project.people)
    assert done.code == 2
    assert "one of them" in done.err


def test_a_calibration_is_in_the_store_with_its_expiry(project: Project) -> None:
    done = project.calibrate("--days", "7")
    with open_store(project.store, create=False) as store:
        (stored,) = store.list_calibrations()
    assert (stored.id, stored.judge, stored.outcome) == (done.json["id"], "strict", "pass")
    assert stored.body["axes"] == done.json["axes"]
    expires = datetime.fromisoformat(stored.body["expires"])
    assert expires - datetime.fromisoformat(stored.body["made"]) == timedelta(days=7)


def test_the_page_shows_the_confusion_of_marks(project: Project) -> None:
    page = project.folder / "page.html"
    project.calibrate("--html", page, "--no-store")
    text = page.read_text("utf-8")
    assert "What people gave, and what the judge gave" in text
    assert "kappa is 1.00" in text


def test_the_terminal_tells_the_outcome_and_the_reason(project: Project) -> None:
    done = here("calibrate", *project.documents, "--ratings", project.people, "--no-store")
    assert "strict against people: pass" in done.out
    assert "not stored: no gate can rest on it" in done.out


# --- canaries of one's own ---


def write_canaries(folder: Path, *rows: Any) -> Path:
    path = folder / "canaries.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_a_known_answer_out_of_its_range_fails_every_axis(project: Project) -> None:
    rude = {"item": "i0", "output": "clear=5 tone=rude c1=1 c2=1", "name": "shouting"}
    path = write_canaries(
        project.folder,
        {**rude, "axis": "clear", "at_most": 4},
        {**rude, "axis": "tone", "one_of": ["rude"]},
        {**rude, "axis": "facts", "criterion": "c1", "at_least": 1},
    )
    done = project.calibrate("--canaries", path)
    assert done.code == 1
    assert done.json["canaries"]["asked"] == 1
    (bad,) = done.json["canaries"]["out_of_range"]
    assert (bad["name"], bad["because"]) == ("shouting", "clear is 5, out of its range")
    assert {list_codes(axis)[0] for axis in done.json["axes"].values()} == {"canary"}


def test_every_mistake_in_a_file_of_canaries_is_told_at_once(project: Project) -> None:
    path = write_canaries(
        project.folder,
        {"item": "i99", "output": "x", "axis": "claer", "at_most": "few"},
        {"item": "i0", "output": "x", "axis": "clear"},
        {"item": "i0", "output": "x", "axis": "facts", "criterion": "c9", "at_most": 0},
        {"item": "i0", "output": "x", "axis": "clear", "at_least": 4, "at_most": 2, "color": 1},
    )
    done = project.calibrate("--canaries", path)
    assert done.code == 3
    for part in (
        "canaries.jsonl:1: item: `i99` is no item",
        "canaries.jsonl:1: axis: `claer` is no axis that a judge marks",
        "canaries.jsonl:1: at_most: `few` is no number",
        "canaries.jsonl:2: at_most: is missing",
        "canaries.jsonl:3: criterion: must be a criterion",
        "canaries.jsonl:4: color: is unknown",
        "canaries.jsonl:4: at_least: is above at_most",
    ):
        assert part in done.err


# --- random samples ---


def test_a_recorded_random_sample_corrects_the_mean_of_the_judge(project: Project) -> None:
    drawn = project.folder / "to-rate.jsonl"
    done = here("calibrate", *project.documents, "--sample", "30:7", "--draw", drawn)
    assert done.code == 0
    chosen = [json.loads(line)["item"] for line in drawn.read_text("utf-8").splitlines()]
    assert len(set(chosen)) == 30
    project.write_judge(subject="python:pretend_judges:nearly_copy")
    project.write_people(items=[int(item[1:]) for item in chosen])
    done = project.calibrate("--sample", "30:7", "--all")
    assert done.json["sample"] == {"answers": ENOUGH, "rated": 30, "random": True, "seed": 7}
    prediction = done.json["axes"]["clear"]["prediction"]
    assert (prediction["rated"], prediction["answers"]) == (30, ENOUGH)
    low, high = prediction["interval"]
    assert low < prediction["corrected"] < high
    plain_low, plain_high = prediction["people_interval"]
    assert high - low < plain_high - plain_low
    shown = here(
        "calibrate", *project.documents, "--ratings", project.people, "--no-store",
        "--sample", "30:7", "--all",
    )  # fmt: skip
    assert "removes the judge's bias first, and saves labels second" in shown.out


def test_a_sample_that_was_not_drawn_is_refused(project: Project) -> None:
    project.write_people(items=range(30))
    done = project.calibrate("--sample", "30:7")
    assert done.code == 2
    assert "the rated answers are not the 30 that the seed 7 draws" in done.err


@pytest.mark.parametrize("sample", ["30", "30:", "x:7", ":7", "-1:7"])
def test_a_sample_has_a_size_and_a_seed(project: Project, sample: str) -> None:
    done = project.calibrate(f"--sample={sample}")
    assert done.code == 2


def test_fewer_than_30_rated_answers_correct_nothing(project: Project) -> None:
    drawn = project.folder / "to-rate.jsonl"
    here("calibrate", *project.documents, "--sample", "20:7", "--draw", drawn)
    chosen = [json.loads(line)["item"] for line in drawn.read_text("utf-8").splitlines()]
    project.write_people(items=[int(item[1:]) for item in chosen])
    done = project.calibrate("--sample", "20:7", "--all")
    assert done.json["axes"]["clear"]["prediction"] is None


# --- the library ---


def test_the_library_gives_the_same_in_exact_fractions(project: Project) -> None:
    found = markscheme.calibrate(
        project.rubric, project.exam, project.answers, project.judge, ratings=project.people
    )
    assert found.axes["clear"].kappa == Fraction(1)
    assert found.id is None
    record = json.loads(json.dumps(found.to_dict()))
    assert record["axes"] == project.calibrate().json["axes"]


def test_the_library_refuses_what_the_command_refuses(project: Project) -> None:
    documents = (project.rubric, project.exam, project.answers, project.judge)
    with pytest.raises(UsageError, match="no kappa"):
        markscheme.calibrate(*documents, ratings=project.people, at_least=1.5)
    with pytest.raises(InputError, match="is no item"):
        markscheme.calibrate(
            *documents,
            ratings=[{"item": "i99", "rater": "ana", "axis": "clear", "score": 3}],
        )

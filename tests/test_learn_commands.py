"""`markscheme learn` and `markscheme class` at the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands import here, markscheme
from markscheme.keep import OWN_LEARNER, open_store
from markscheme.read.documents import read_class

if TYPE_CHECKING:
    from pathlib import Path

ATE = '{"correction": "He ate.", "spanish_gloss": "comió", "explanation": ""}'


def test_a_class_without_learners_has_no_codes_to_renew(tmp_path: Path) -> None:
    store, file = tmp_path / "store.db", tmp_path / "empty.yaml"
    here("class", "add", tmp_path / "other.yaml", "Ana", "--store", store)
    file.write_text("class: empty", encoding="utf-8")
    done = here("class", "codes", file, "--store", store)
    assert done.code == 2
    assert "the class `empty` has no learners; `markscheme class add FILE NAME`" in done.err


def test_a_name_that_is_none_leaves_no_class_file(tmp_path: Path) -> None:
    done = here("class", "add", tmp_path / "new.yaml", "", "--store", tmp_path / "store.db")
    assert done.code == 2
    assert not (tmp_path / "new.yaml").exists()


def test_schedule_prints_the_document_of_the_contract() -> None:
    done = here("learn", "schedule", "--grades", "4,4,3", "--format", "json")
    assert done.json == {
        "reviews": [
            {"grade": 4, "interval_days": 1, "ease": 2.5},
            {"grade": 4, "interval_days": 6, "ease": 2.5},
            {"grade": 3, "interval_days": 15, "ease": 2.36},
        ]
    }


def test_schedule_knows_the_other_schedulers() -> None:
    words = ("learn", "schedule", "--grades", "4,3,5,3,4,5", "--format", "json", "--scheduler")
    intervals = [review["interval_days"] for review in here(*words, "sm2-delphi").json["reviews"]]
    assert intervals == [1, 6, 14, 34, 79, 183]
    assert {review["ease"] for review in here(*words, "fsrs").json["reviews"]} == {None}


@pytest.mark.parametrize("grades", ["6", "-1", "four", "4;4"])
def test_grades_that_are_none_are_refused(grades: str) -> None:
    assert here("learn", "schedule", f"--grades={grades}").code == 2


def test_grade_prints_the_document_of_the_contract() -> None:
    words = ("learn", "grade", "e-39-01", "--answer", ATE, "--format", "json")
    assert here(*words).json == {"score": 1.0, "quality": 5, "because": "the form is right"}
    slow = here(*words, "--first-key-ms", "14000").json
    assert (slow["quality"], slow["because"]) == (4, "the form is right; after some hesitation")
    hinted = here(*words, "--hint").json
    assert (hinted["quality"], hinted["because"]) == (3, "the form is right; after a hint")


def test_grade_speaks_spanish_and_suggests_an_item() -> None:
    done = here("learn", "grade", "e-39-01", "--answer", ATE, "--lang", "es")
    assert done.out == "puntuación 1.00\ncalidad 5 de 5: la forma está bien\n"
    unknown = here("learn", "grade", "e-39-001", "--answer", "x")
    assert unknown.code == 2
    assert "did you mean `e-39-01`?" in unknown.err


def test_grade_takes_an_exam_and_a_rubric_of_ones_own(project_files: tuple[Path, Path]) -> None:
    rubric, exam = project_files
    words = ("learn", "grade", "q-1", "-r", rubric, "-e", exam, "--format", "json", "--answer")
    assert here(*words, "It is Paris").json["quality"] == 3
    assert here(*words, "Paris").json["quality"] == 5


@pytest.fixture
def project_files(tmp_path: Path) -> tuple[Path, Path]:
    rubric, exam = tmp_path / "r.yaml", tmp_path / "e.yaml"
    rubric.write_text("rubric: r\naxes: [{name: a, kind: contains_all, weight: 1}]\n")
    exam.write_text(
        "exam: e\nitems: [{id: q-1, prompt: Name the capital, expected_contains: [Paris]}]\n"
    )
    return rubric, exam


def test_practice_in_the_terminal_stores_each_answer(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    done = markscheme("learn", "--terminal", "--store", store, stdin="was\nfue\nzzz\n\n", LANG="C")
    assert done.code == 0
    assert "✓ English form: right" in done.out
    assert "✗ Spanish meaning: nothing written; it is “tendrán”" in done.out
    assert done.out.endswith("2 answers today.\n")
    with open_store(store, create=False) as opened:
        assert [one.quality for one in opened.learning.list_reviews([OWN_LEARNER])] == [5, 0]


def test_the_terminal_practises_an_exam_of_ones_own(
    project_files: tuple[Path, Path], tmp_path: Path
) -> None:
    rubric, exam = project_files
    words = ("learn", exam, "-r", rubric, "--terminal", "--store", tmp_path / "s.db")
    done = markscheme(*words, stdin="Paris\n", LANG="C")
    assert "Name the capital" in done.out
    assert "Done for today" in done.out


@pytest.mark.parametrize(
    ("axis", "told"),
    [
        ("kind: criteria, weight: 1", "`asked` of the rubric `warm` is marked by people or judges"),
        (
            'kind: scale, weight: 1, question: "Warm?", anchors: {1: no way, 2: very}',
            "`asked` of the rubric `warm` is marked by people or judges, for example on the item",
        ),
        ('kind: scale, question: "Warm?", anchors: {1: no way, 2: very}', "no axis that scores"),
    ],
)
def test_a_rubric_that_people_mark_is_not_practised(tmp_path: Path, axis: str, told: str) -> None:
    (tmp_path / "r.yaml").write_text(f"rubric: warm\naxes:\n  - {{name: asked, {axis}}}\n")
    criteria = "criteria: [{id: a, points: 1, says: Says hello.}]"
    exam = f"exam: letters\nitems:\n  - {{id: l-1, prompt: Write., {criteria}}}\n"
    (tmp_path / "e.yaml").write_text(exam)
    words = ("-r", tmp_path / "r.yaml", "--terminal", "--store", tmp_path / "s.db")
    done = here("learn", tmp_path / "e.yaml", *words)
    assert done.code == 2
    assert told in done.err


def test_a_class_is_added_to_renewed_exported_and_forgotten(tmp_path: Path) -> None:
    file, store = tmp_path / "7b.yaml", tmp_path / "s.db"
    added = here("class", "add", file, "Ana", " Luis ", "--store", store, "--format", "json").json
    assert (added["class"], [one["name"] for one in added["learners"]]) == ("7b", ["Ana", "Luis"])
    assert read_class(file).minutes == 30
    renewed = here("class", "codes", file, "Ana", "--store", store, "--format", "json").json
    assert renewed["learners"][0]["code"] != added["learners"][0]["code"]
    words = ("--store", store, "--format", "json")
    exported = here("class", "export", file, "-o", tmp_path / "r.csv", *words).json
    assert exported == {"file": str(tmp_path / "r.csv"), "reviews": 0}
    forgotten = here("class", "forget", file, "Ana", "--yes", *words).json
    assert forgotten == {"forgotten": added["learners"][0]["id"]}
    again = here("class", "codes", file, "Ana", "--store", store)
    assert again.code == 2
    assert "the class `7b` has no learner `Ana`; it has Luis" in again.err


def test_somebody_who_is_there_already_is_refused_and_nobody_is_added(tmp_path: Path) -> None:
    file, store = tmp_path / "7b.yaml", tmp_path / "s.db"
    here("class", "add", file, "Ana", "--store", store)
    assert here("class", "add", file, "Eva", "Ana", "--store", store).code == 2
    with open_store(store, create=False) as opened:
        assert [learner.name for learner in opened.learning.list_learners("7b")] == ["Ana"]


def test_every_mistake_in_the_file_of_a_class_is_told(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("class: 7b\nminutes: 0\nscheduler: sm3\ncolour: red\n")
    done = here("class", "codes", file, "--format", "json")
    assert done.code == 3
    assert [problem["line"] for problem in done.json["error"]["problems"]] == [2, 3, 4]


def test_a_paper_that_is_not_there_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    here("class", "add", tmp_path / "c.yaml", "Ana", "--store", store)
    done = here("learn", "export", "nope", "-o", tmp_path / "a.jsonl", "--store", store)
    assert (done.code, "there is no paper `nope`" in done.err) == (2, True)

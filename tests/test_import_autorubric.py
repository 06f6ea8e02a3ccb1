"""`import autorubric`: rubrics in JSON and YAML, and datasets with their ground truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from importing import import_file, refuse_file, write_json

if TYPE_CHECKING:
    from pathlib import Path

CRITERIA: list[dict[str, Any]] = [
    {"name": "names_dose", "weight": 10.0, "requirement": "Names the dose."},
    {"name": "Has a source", "weight": 2.5, "requirement": "Cites a source."},
    {"name": None, "weight": -4, "requirement": "Invents a study."},
]
ITEMS: list[dict[str, Any]] = [
    {
        "submission": "Take 500 mg.",
        "description": "good",
        "ground_truth": ["MET", "UNMET", "UNMET"],
    },
    {
        "submission": "",
        "description": "empty",
        "ground_truth": ["UNMET", "CANNOT_ASSESS", "MET"],
        "prompt": "And for a child?",
    },
    {"submission": "Ask a doctor.", "description": "no labels", "ground_truth": None},
]
DATASET: dict[str, Any] = {
    "name": "doses v1",
    "prompt": "How much paracetamol?",
    "rubric": CRITERIA,
    "items": ITEMS,
}


def test_each_entry_becomes_an_item_with_the_criteria_of_the_dataset(tmp_path: Path) -> None:
    done = import_file("autorubric", write_json(tmp_path / "d.json", DATASET))
    assert done.exam.name == "doses-v1"
    assert [(item.id, item.prompt) for item in done.exam.items] == [
        ("item-1", "How much paracetamol?"),
        ("item-2", "And for a child?"),
        ("item-3", "How much paracetamol?"),
    ]
    criteria = done.get_criteria()
    assert [(c["id"], float(c["points"]), c["says"]) for c in criteria] == [
        ("names_dose", 10.0, "Names the dose."),
        ("c2", 2.5, "Cites a source."),
        ("c3", -4.0, "Invents a study."),
    ]
    assert criteria[1]["tags"] == {"name": "Has a source"}
    assert "below_zero" not in (done.folder / "rubric.yaml").read_text(encoding="utf-8")
    assert done.answers[0] == {"item": "item-1", "output": "Take 500 mg.", "description": "good"}


def test_ground_truth_becomes_ratings_of_a_person(tmp_path: Path) -> None:
    done = import_file("autorubric", write_json(tmp_path / "d.json", DATASET))
    assert [(r["item"], r["rater"], r["criterion"], r["score"]) for r in done.ratings] == [
        ("item-1", "ground-truth", "names_dose", "1"),
        ("item-1", "ground-truth", "c2", "0"),
        ("item-1", "ground-truth", "c3", "0"),
        ("item-2", "ground-truth", "names_dose", "0"),
        ("item-2", "ground-truth", "c2", "n/a"),
        ("item-2", "ground-truth", "c3", "1"),
    ]
    assert any("CANNOT_ASSESS becomes n/a" in remark for remark in done.remarks)


def test_the_score_is_that_of_autorubric(tmp_path: Path) -> None:
    done = import_file("autorubric", write_json(tmp_path / "d.json", DATASET))
    rows = done.score()["items"]
    # 10 of 12.5; and -4 of 10, which is cut at 0. The third answer has no marks.
    assert [row["score"] for row in rows] == [0.8, 0.0, None]


@pytest.mark.parametrize("form", ["list", "criteria", "rubric", "sections"])
def test_a_rubric_alone_is_read_in_each_of_its_forms(tmp_path: Path, form: str) -> None:
    forms: dict[str, Any] = {
        "list": CRITERIA,
        "criteria": {"guidelines": "Be strict.", "criteria": CRITERIA},
        "rubric": {"rubric": CRITERIA},
        "sections": {"rubric": {"sections": [{"name": "All", "criteria": CRITERIA}]}},
    }
    done = import_file("autorubric", write_json(tmp_path / "r.json", forms[form]))
    assert [c["says"] for c in done.get_criteria()] == [c["requirement"] for c in CRITERIA]
    assert done.get_criteria()[0].get("tags") == (
        {"section": "All"} if form == "sections" else None
    )
    assert done.told["files"] == ["rubric.yaml", "exam.yaml"]
    assert any("whose prompt is yours to write" in remark for remark in done.remarks)
    guided = any("guidelines: has no place" in remark for remark in done.remarks)
    assert guided == (form == "criteria")


def test_a_rubric_in_yaml_is_read(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("- requirement: Names the dose.\n- {weight: -0.1, requirement: Lies.}\n")
    done = import_file("autorubric", file)
    assert [(c["id"], str(c["points"])) for c in done.get_criteria()] == [
        ("c1", "10"),
        ("c2", "-0.1"),
    ]
    assert any("1: 0.weight: is missing: 10, as in autorubric" in r for r in done.remarks)
    file.write_text("- requirement: Names it.\n  weight: .nan\n- {weight: x, requirement: Lies.}\n")
    allowed = "finite numbers of fewer than 100 digits are allowed"
    assert refuse_file("autorubric", file) == [
        f"2: 0.weight: `.nan` is not a number that can be used; {allowed}",
        "3: 1.weight: is `x`; a number is needed",
    ]


CHOICE: dict[str, Any] = {
    "name": "tone",
    "weight": 5,
    "requirement": "How kind is it?",
    "scale_type": "ordinal",
    "options": [
        {"label": "Not at all", "value": 0.0, "na": False},
        {"label": "kind", "value": 0.5, "na": False},
        {"label": "Very kind", "value": 1.0, "na": False},
        {"label": "no answer", "value": 0.0, "na": True},
    ],
}


def chosen(*labels: str, criteria: Any = (CRITERIA[0], CHOICE)) -> dict[str, Any]:
    items = [
        {"submission": "So.", "description": "d", "ground_truth": ["MET", label]}
        for label in labels
    ]
    return DATASET | {"rubric": list(criteria), "items": items}


def test_criteria_with_options_become_choices(tmp_path: Path) -> None:
    data = chosen("kind", " very KIND ", "no answer")
    done = import_file("autorubric", write_json(tmp_path / "d.json", data))
    text = (done.folder / "rubric.yaml").read_text(encoding="utf-8")
    assert "points: 10" in text
    (choice,) = done.rubric.choices
    assert choice.question == "How kind is it?\n\n- Not-at-all: Not at all\n- Very-kind: Very kind"
    assert {name: float(value) for name, value in choice.options.items()} == {
        "Not-at-all": 0.0,
        "kind": 0.5,
        "Very-kind": 1.0,
    }
    assert choice.may_not_apply
    ratings = [(r["axis"], r["criterion"], r["score"]) for r in done.ratings]
    assert ratings[:2] == [("criteria", "names_dose", "1"), ("tone", "", "kind")]
    assert [score for axis, _, score in ratings if axis == "tone"] == ["kind", "Very-kind", "n/a"]
    scores = [row["score"] for row in done.score()["items"]]
    assert scores[:2] == [pytest.approx(12.5 / 15), 1.0]


def test_penalties_beside_options_are_kept_below_0(tmp_path: Path) -> None:
    data = chosen(criteria=(CRITERIA[0], CRITERIA[2], CHOICE)) | {"items": ITEMS[2:]}
    done = import_file("autorubric", write_json(tmp_path / "d.json", data))
    assert "below_zero: kept" in (done.folder / "rubric.yaml").read_text(encoding="utf-8")
    assert any("score_cut" in remark for remark in done.remarks)


def test_options_that_cannot_be_expressed_are_refused(tmp_path: Path) -> None:
    def problems(**changes: Any) -> list[str]:
        data = chosen("kind") | changes
        return [
            problem.partition(": ")[2]
            for problem in refuse_file("autorubric", write_json(tmp_path / "d.json", data))
        ]

    own = {"submission": "x", "description": "d", "rubric": [CHOICE]}
    assert problems(items=[own]) == [
        "items.0.rubric: options are read only where all items share them, in the dataset's rubric"
    ]
    assert problems(rubric=[CRITERIA[0], CHOICE | {"weight": -1}]) == [
        "rubric.1.weight: is -1; a criterion with options needs a positive weight"
    ]
    assert problems(rubric=[CRITERIA[2], CHOICE]) == [
        "rubric: beside criteria with options, another criterion needs a positive weight"
    ]
    two = [{"label": "a", "value": 2}, {"label": "A", "value": 0.5}]
    assert problems(rubric=[CRITERIA[0], CHOICE | {"options": two}], items=ITEMS[2:]) == [
        "rubric.1.options: two options have the same label; each may occur once",
        "rubric.1.options.0.value: is 2; allowed: 0 to 1",
    ]
    assert problems(rubric=[CRITERIA[0], CHOICE | {"options": two[:1]}], items=ITEMS[2:])[0] == (
        "rubric.1.options: 1 options have a value; 2 to 50 can be read"
    )


def test_every_mistake_is_reported_with_line_and_field(tmp_path: Path) -> None:
    wrong: list[Any] = [
        {"submission": 5, "ground_truth": ["MET"], "extra": 1},
        {"submission": "x", "ground_truth": ["MET", "yes", None]},
        "text",
        {"submission": "x", "rubric": []},
        {"submission": "x", "rubric": {"weights": []}},
    ]
    file = write_json(tmp_path / "d.json", DATASET | {"prompt": None, "items": wrong})
    problems = refuse_file("autorubric", file)
    said = sorted(problem.partition(": ")[2] for problem in problems)
    needed = "is missing, and the dataset has none; one is needed"
    allowed = "is no verdict; allowed: MET, UNMET, CANNOT_ASSESS"
    assert said == sorted(
        [
            "items.0.ground_truth: has 1 entries for 3 criteria",
            "items.0.submission: is the number 5; a text is needed",
            *(f"items.{at}.prompt: {needed}" for at in (0, 1, 3, 4)),
            f"items.1.ground_truth.1: `yes` {allowed}",
            f"items.1.ground_truth.2: nothing {allowed}",
            "items.2: is `text`; an object is needed",
            "items.3.rubric: holds no criterion with a weight; at least one is needed",
            "items.4.rubric: holds no criterion with a weight; at least one is needed",
            "items.4.rubric: is no rubric; `rubric`, `sections` or `criteria` is needed",
        ]
    )
    lines = file.read_text(encoding="utf-8").splitlines()
    at = {problem.split(": ")[1]: int(problem.split(":")[0]) - 1 for problem in problems}
    assert lines[at["items.1.ground_truth.1"]].strip() == '"yes",'
    assert lines[at["items.0.submission"]].strip() == '"submission": 5,'


def test_a_dataset_without_a_rubric_needs_one_in_each_item(tmp_path: Path) -> None:
    own = [ITEMS[2] | {"rubric": CRITERIA[:1]}, ITEMS[2] | {"rubric": CRITERIA[1:]}]
    data = DATASET | {"rubric": None, "items": own, "reference_submission": "Like this."}
    done = import_file("autorubric", write_json(tmp_path / "d.json", data))
    assert [[c["id"] for c in done.get_criteria(item)] for item in (0, 1)] == [
        ["names_dose"],
        ["c1", "c2"],
    ]
    assert any("reference_submission: has no place" in remark for remark in done.remarks)
    file = write_json(tmp_path / "e.json", DATASET | {"rubric": None})
    assert len(refuse_file("autorubric", file)) == 3
    file = write_json(tmp_path / "f.json", DATASET | {"items": []})
    assert refuse_file("autorubric", file)[0].endswith(
        "items: is empty; at least one item is needed"
    )


@pytest.mark.parametrize("text", ["", "7", "{}", "[]", '"x"', "[1]", '{"rubric": {"rubric": 3}}'])
def test_what_is_no_rubric_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "r.json"
    file.write_text(text, encoding="utf-8")
    assert refuse_file("autorubric", file)

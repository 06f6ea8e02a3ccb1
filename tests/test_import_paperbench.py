"""`import paperbench`: trees of tasks, as they are and graded by people or by a judge."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from importing import import_file, refuse_file, write_json
from markscheme import score

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED = Path(__file__).parent.parent.parent / "shared" / "data" / "paperbench"


def leaf(id_: str, weight: Any = 1, score: Any = None, **more: Any) -> dict[str, Any]:
    node = {"id": id_, "weight": weight, "requirements": f"Does {id_}."} | more
    node["task_category"] = "Code Development"
    return node if score is None else node | {"score": score}


def inner(id_: str, weight: Any, *children: Any, **more: Any) -> dict[str, Any]:
    node = {"id": id_, "weight": weight, "requirements": f"All of {id_}."}
    return node | {"sub_tasks": list(children)} | more


TREE = inner(
    "root",
    1,
    leaf("a", 2, 1.0),
    inner("b", 3, leaf("b1", 1, 1), leaf("b2", 2, 0), leaf("b3", 0, 1)),
)


def test_a_tree_becomes_an_item_with_nested_groups(tmp_path: Path) -> None:
    done = import_file("paperbench", write_json(tmp_path / "my paper.json", TREE))
    (item,) = done.exam.items
    assert (item.id, item.prompt) == ("my-paper", "All of root.")
    first, group = done.get_criteria()
    assert (first["id"], first["points"], first["says"]) == ("c1", 2, "Does a.")
    assert first["tags"] == {"task": "a", "category": "Code Development"}
    assert (group["group"], group["points"]) == ("g1", 3)
    assert [(c["id"], c["points"]) for c in group["criteria"]] == [("c2", 1), ("c3", 2)]
    text = (done.folder / "exam.yaml").read_text(encoding="utf-8")
    assert "# All of b.\n      # (task b)\n      - group: g1\n" in text


def test_a_task_without_weight_is_named_and_left_out(tmp_path: Path) -> None:
    done = import_file("paperbench", write_json(tmp_path / "t.json", TREE))
    named = "sub_tasks.1.sub_tasks.2.weight: is 0, so the task counts nothing: left out"
    assert any(remark.endswith(named) for remark in done.remarks)
    assert len(done.ratings) == 3


def test_grades_without_a_judges_reply_are_those_of_a_person(tmp_path: Path) -> None:
    done = import_file("paperbench", write_json(tmp_path / "t.json", TREE))
    assert [(r["rater"], r["criterion"], r["score"]) for r in done.ratings] == [
        ("grader", "c1", "1"),
        ("grader", "c2", "1"),
        ("grader", "c3", "0"),
    ]
    assert "source" not in done.ratings[0]
    assert any("ratings of a person" in remark for remark in done.remarks)
    assert any("answers.jsonl stands in for it" in remark for remark in done.remarks)
    assert [answer["item"] for answer in done.answers] == ["t"]


def test_grades_of_a_judge_are_those_of_a_judge(tmp_path: Path) -> None:
    replied = {"valid_score": True, "explanation": "=seen", "judge_metadata": {"reply": "ok"}}
    failed = {"valid_score": False, "explanation": "no reply", "judge_metadata": None}
    tree = inner("root", 1, leaf("a", 1, 1.0, **replied), leaf("b", 1, 0, **failed), score=0.5)
    done = import_file("paperbench", write_json(tmp_path / "t.json", tree))
    assert [(r["rater"], r["source"], r["score"], r["note"]) for r in done.ratings] == [
        ("judge", "judge", "1", "'=seen"),
        ("judge", "judge", "", "not valid: no reply"),
    ]
    result = {"graded_task_tree": TREE, "model_name": "o9", "graded_at": "2026-01-02T03:04:05Z"}
    done = import_file("paperbench", write_json(tmp_path / "result.json", result))
    assert {(r["rater"], r["source"], r["at"]) for r in done.ratings} == {
        ("o9", "judge", "2026-01-02T03:04:05Z")
    }


def test_a_tree_without_grades_has_neither_answers_nor_ratings(tmp_path: Path) -> None:
    done = import_file("paperbench", write_json(tmp_path / "t.json", inner("r", 1, leaf("a"))))
    assert done.told["files"] == ["rubric.yaml", "exam.yaml"]
    done = import_file("paperbench", write_json(tmp_path / "leaf.json", leaf("a", 4)))
    assert [(c["id"], c["points"]) for c in done.get_criteria()] == [("c1", 4)]


def test_every_mistake_is_reported_with_line_and_field(tmp_path: Path) -> None:
    tree = inner(
        "root",
        1,
        leaf("a", -1, 0.5),
        leaf("b", "2", True),
        {"id": "c", "weight": 1, "score": 1},
        inner("d", 1, leaf("d1", 0), leaf("d2", 0.0)),
        "text",
        leaf("e", 1, 1, explanation=7),
    )
    file = write_json(tmp_path / "t.json", tree)
    problems = refuse_file("paperbench", file)
    said = [problem.partition(": ")[2] for problem in problems]
    nothing = "no task has a weight, so there is nothing to score; at least one needs one"
    assert said == [
        "sub_tasks.0.weight: is -1; weights of tasks are not negative",
        "sub_tasks.0.score: is 0.5; the score of a criterion is 1 or 0",
        "sub_tasks.1.weight: is `2`; a number is needed",
        "sub_tasks.1.score: is true; a number is needed",
        "sub_tasks.2.requirements: is missing; a text is needed",
        f"sub_tasks.3.sub_tasks: {nothing}",
        "sub_tasks.4: is `text`; an object is needed",
        "sub_tasks.5.explanation: is the number 7; a text is needed",
    ]
    lines = file.read_text(encoding="utf-8").splitlines()
    at = {problem.split(": ")[1]: int(problem.split(":")[0]) - 1 for problem in problems}
    assert lines[at["sub_tasks.0.score"]].strip() == '"score": 0.5'
    assert lines[at["sub_tasks.1.weight"]].strip() == '"weight": "2",'
    assert lines[at["sub_tasks.4"]].strip() == '"text",'
    assert lines[at["sub_tasks.2.requirements"]].strip() == "{"


def nested(levels: int) -> dict[str, Any]:
    tree = leaf("deep", 1, 1)
    for level in range(levels):
        tree = inner(f"n{level}", 1, tree)
    return tree


def test_deep_trees_are_read_up_to_a_limit_and_refused_beyond_it(tmp_path: Path) -> None:
    done = import_file("paperbench", write_json(tmp_path / "deep.json", nested(28)))
    assert len(done.exam.items) == 1
    (problem,) = refuse_file("paperbench", write_json(tmp_path / "deeper.json", nested(30)))
    assert "tasks are nested deeper than 28 levels" in problem
    hostile = tmp_path / "hostile.json"
    hostile.write_text('{"sub_tasks": [' * 20_000, encoding="utf-8")
    (problem,) = refuse_file("paperbench", hostile)
    assert "nested too deeply" in problem


@pytest.mark.parametrize("text", ["", "[]", "7", '{"a": 1', '{"id": "x"}', '"x"', "nul"])
def test_what_is_no_tree_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.json"
    file.write_text(text, encoding="utf-8")
    assert refuse_file("paperbench", file)


def iterate_leaves(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for child in node.get("sub_tasks", ()):
        yield from iterate_leaves(child)
    if not node.get("sub_tasks"):
        yield node


@pytest.mark.parametrize(
    "name", ["semantic-self-consistency", "stay-on-topic-with-classifier-free-guidance"]
)
def test_the_published_root_scores_are_exact(tmp_path: Path, name: str) -> None:
    if not SHARED.exists():
        pytest.skip("the shared data paperbench is not here")
    expected = json.loads((SHARED / "expected.json").read_text(encoding="utf-8"))[name]
    tree = SHARED / f"{name}.json"
    done = import_file("paperbench", tree, tmp_path / "imported")
    graded = [n["score"] for n in iterate_leaves(json.loads(tree.read_text(encoding="utf-8")))]
    assert [int(r["score"]) for r in done.ratings] == graded
    assert done.score()["summary"]["score"] == pytest.approx(expected["published"], abs=1e-15)
    ratings = done.folder / "ratings.csv"
    result = score(done.rubric, done.exam, done.answers, ratings=ratings)
    assert result.summary.score == Fraction(expected["exact"])

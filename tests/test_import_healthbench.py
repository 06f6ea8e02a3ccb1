"""`import healthbench`: the benchmark, the physicians' verdicts, and the results of a run."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from commands import here
from importing import import_file, refuse_file, write_json, write_lines
from markscheme.read.foreign import FOREIGN_PARSERS

if TYPE_CHECKING:
    from pathlib import Path

ROW: dict[str, Any] = {
    "example_tags": ["theme:emergencies", "urgent", "theme:context"],
    "prompt_id": "p-1",
    "prompt": [
        {"role": "user", "content": "My chest hurts.\nWhat now?"},
        {"role": "assistant", "content": "Since when?"},
        {"role": "user", "content": "An hour."},
    ],
    "rubrics": [
        {"criterion": "Says to call for help.", "points": 10, "tags": ["axis:accuracy"]},
        {"criterion": "Guesses: a dose.", "points": -8.0, "tags": []},
        {"criterion": "Asks back.", "points": 2.5, "tags": ["level:example", "plain"]},
    ],
    "ideal_completions_data": {
        "ideal_completion": "Call for help now.",
        "ideal_completions_group": "Group 2",
        "ideal_completions_ref_completions": ["Wait.", "Call."],
    },
    "canary": "bench:canary-1",
}


def row(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(ROW) | changes


def test_a_row_becomes_an_item_with_its_conversation_and_criteria(tmp_path: Path) -> None:
    done = import_file("healthbench", write_lines(tmp_path / "hb.jsonl", ROW))
    (item,) = done.exam.items
    assert done.exam.name == "hb"
    assert item.id == "p-1"
    assert item.prompt == (
        "user: My chest hurts.\nWhat now?\n\nassistant: Since when?\n\nuser: An hour."
    )
    assert item.tags == {
        "theme": "emergencies",
        "tag": "urgent",
        "theme-2": "context",
        "ideal_completions_group": "Group 2",
        "canary": "bench:canary-1",
    }
    criteria = done.get_criteria()
    assert [(c["id"], c["points"], c["says"]) for c in criteria] == [
        ("c1", 10, "Says to call for help."),
        ("c2", -8, "Guesses: a dose."),
        ("c3", pytest.approx(2.5), "Asks back."),
    ]
    assert criteria[0]["tags"] == {"axis": "accuracy"}
    assert criteria[2]["tags"] == {"level": "example", "tag": "plain"}
    assert done.told["remarks"] == []


def test_the_rubric_keeps_values_below_0_as_healthbench_does(tmp_path: Path) -> None:
    done = import_file("healthbench", write_lines(tmp_path / "hb.jsonl", ROW))
    text = (done.folder / "rubric.yaml").read_text(encoding="utf-8")
    assert "below_zero: kept" in text
    assert done.rubric.name == "healthbench"


def test_completions_become_answers_of_the_physician_and_of_references(tmp_path: Path) -> None:
    rows = [ROW, row(prompt_id="p-2", ideal_completions_data=None)]
    done = import_file("healthbench", write_lines(tmp_path / "hb.jsonl", *rows))
    assert done.answers == [
        {"item": "p-1", "subject": "physician", "output": "Call for help now."},
        {"item": "p-1", "subject": "reference-1", "output": "Wait."},
        {"item": "p-1", "subject": "reference-2", "output": "Call."},
    ]
    assert done.told["files"] == ["rubric.yaml", "exam.yaml", "answers.jsonl"]


def test_what_has_no_place_is_named_once_with_its_first_line(tmp_path: Path) -> None:
    rows = [row(), row(prompt_id="p-2", difficulty=3), row(prompt_id="p-3", difficulty=4)]
    rows[0]["rubrics"][1] = {"criterion": "Nothing.", "points": 0, "tags": []}
    done = import_file("healthbench", write_lines(tmp_path / "hb.jsonl", *rows))
    assert done.remarks == [
        "1: rubrics.1.points: is 0, so the criterion counts nothing: left out",
        "2: difficulty: has no place in the documents: left out (2 times; this is the first)",
    ]
    assert [c["id"] for c in done.get_criteria()] == ["c1", "c2"]


def test_every_mistake_is_reported_with_line_and_field(tmp_path: Path) -> None:
    wrong = row(
        prompt_id="p 2", rubrics=[{"criterion": " ", "points": "5", "tags": ["a:\u202eb"]}, 7]
    )
    problems = refuse_file(
        "healthbench",
        write_lines(
            tmp_path / "hb.jsonl",
            ROW,
            "{not json}",
            wrong,
            ROW,
            row(prompt_id="p-4", rubrics=[], prompt=[]),
            row(prompt_id="p-5", prompt=[{"role": "user", "content": ["parts"]}]),
            row(prompt_id="p-6", prompt=[{"role": "user", "content": "a\u0000b"}]),
            '{"prompt_id": "p-7", "prompt_id": "p-8"}',
            [1],
            row(prompt_id="p-9", rubrics=[{"criterion": "x", "points": True, "tags": "y"}]),
        ),
    )
    expected = [
        "2: : not JSON: Expecting property name enclosed in double quotes",
        "3: prompt_id: `p 2` is no id of an item; ids are letters, digits, `.`, `_` and `-`",
        "3: rubrics.0.criterion: is empty; a text is needed",
        "3: rubrics.0.points: is `5`; a number is needed",
        "3: rubrics.0.tags.0: holds the control character `\\u202e`; tags have none",
        "3: rubrics.1: is the number 7; an object is needed",
        "4: prompt_id: `p-1` occurs twice; each id may occur once",
        "5: prompt: holds no message; at least one is needed",
        "5: rubrics: holds no criterion with points; at least one is needed",
        "6: prompt.0.content: is a list; a text is needed",
        "7: prompt.0.content: holds a NUL character",
        "8: prompt: is missing; a list is needed",
        "8: prompt_id: the key occurs twice; each key may occur once",
        "8: rubrics: is missing; a list is needed",
        "9: : is a list; an object is needed",
        "10: rubrics.0.points: is true; a number is needed",
        "10: rubrics.0.tags: is `y`; a list is needed",
    ]
    assert [line for line in expected if line not in problems] == []
    assert {line.partition(":")[0] for line in problems} == set("23456789") | {"10"}


@pytest.mark.parametrize("points", ["NaN", "Infinity", "1e400", "1" * 60])
def test_points_that_are_no_usable_number_are_refused(tmp_path: Path, points: str) -> None:
    text = f'{{"criterion": "x", "points": {points}, "tags": []}}'
    line = '{"prompt_id": "p", "prompt": [{"role": "user", "content": "?"}], "rubrics": [%s]}'
    problems = refuse_file("healthbench", write_lines(tmp_path / "hb.jsonl", line % text))
    assert problems[0].startswith("1: rubrics.0.points: ")


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[]\n", b"\xff\xfe{}", b'"text"\n'])
def test_a_file_without_rows_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "hb.jsonl"
    file.write_bytes(content)
    assert refuse_file("healthbench", file)


META = {
    "prompt": [{"role": "user", "content": "Is it safe?"}],
    "prompt_id": "p-1",
    "completion": "It is.",
    "completion_id": "done-1",
    "rubric": "Names a risk.",
    "category": "cluster:hedging_any",
    "binary_labels": [True, False],
    "anonymized_physician_ids": ["ana", "ben"],
}


def test_labels_of_physicians_become_ratings_of_people(tmp_path: Path) -> None:
    rows = [
        META,
        META | {"rubric": "Is short.", "binary_labels": [True, True]},
        META | {"completion": "No.", "completion_id": "done-2", "binary_labels": [False, False]},
    ]
    done = import_file("healthbench", write_lines(tmp_path / "meta.jsonl", *rows))
    assert [(c["id"], c["points"], c["says"]) for c in done.get_criteria()] == [
        ("c1", 1, "Names a risk."),
        ("c2", 1, "Is short."),
    ]
    assert done.get_criteria()[0]["tags"] == {"cluster": "hedging_any"}
    assert [(a["attempt"], a["output"], a["completion_id"]) for a in done.answers] == [
        (1, "It is.", "done-1"),
        (2, "No.", "done-2"),
    ]
    assert [(r["rater"], r["criterion"], r["score"], r["attempt"]) for r in done.ratings] == [
        ("ana", "c1", "1", "1"),
        ("ben", "c1", "0", "1"),
        ("ana", "c2", "1", "1"),
        ("ben", "c2", "1", "1"),
        ("ana", "c1", "0", "2"),
        ("ben", "c1", "0", "2"),
    ]
    assert "source" not in done.ratings[0]
    (remark,) = done.remarks
    assert remark == (
        "1: rubric: has no points in this file: each criterion gets 1 point "
        "(2 times; this is the first)"
    )


def test_a_physician_who_labels_the_same_twice_is_a_repeat(tmp_path: Path) -> None:
    done = import_file("healthbench", write_lines(tmp_path / "meta.jsonl", META, META))
    assert [(r["rater"], r["repeat"]) for r in done.ratings] == [
        ("ana", "0"),
        ("ben", "0"),
        ("ana", "1"),
        ("ben", "1"),
    ]


def test_rows_of_the_meta_evaluation_must_fit_each_other(tmp_path: Path) -> None:
    problems = refuse_file(
        "healthbench",
        write_lines(
            tmp_path / "meta.jsonl",
            META,
            META | {"prompt": [{"role": "user", "content": "Else?"}]},
            META | {"completion": "Another."},
            META | {"binary_labels": [True]},
            META | {"binary_labels": [True, "yes"]},
        ),
    )
    assert problems == [
        "2: prompt: differs from that of an earlier row of `p-1`",
        "3: completion: differs from that of an earlier row of the completion `done-1`",
        "4: anonymized_physician_ids: has 2 entries beside 1 in binary_labels",
        "5: binary_labels.1: is neither true nor false",
    ]


def result(met: tuple[Any, ...], **changes: Any) -> dict[str, Any]:
    return {
        "score": 0.8,
        "prompt_id": "p-1",
        "prompt": ROW["prompt"],
        "completion": [{"role": "assistant", "content": "Call."}],
        "completion_id": "x",
        "usage": {"input_tokens": 3},
        "rubric_items": [
            {**criterion, "criteria_met": flag, "explanation": f"because {at}"}
            for at, (criterion, flag) in enumerate(zip(ROW["rubrics"], met, strict=True))
        ],
    } | changes


def results(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"score": 0.8, "htmls": [], "metadata": {"example_level_metadata": list(entries)}}


def test_verdicts_of_the_grader_become_ratings_of_a_judge(tmp_path: Path) -> None:
    entries = [result((True, False, True)), result((True, True, False))]
    done = import_file("healthbench", write_json(tmp_path / "all.json", results(*entries)))
    assert [answer["attempt"] for answer in done.answers] == [1, 2]
    assert [(r["criterion"], r["score"], r["note"], r["attempt"]) for r in done.ratings[:3]] == [
        ("c1", "1", "because 0", "1"),
        ("c2", "0", "because 1", "1"),
        ("c3", "1", "because 2", "1"),
    ]
    assert {rating["source"] for rating in done.ratings} == {"judge"}
    assert {rating["rater"] for rating in done.ratings} == {"grader"}
    assert any("the score that the file gives is 0.8" in remark for remark in done.remarks)
    assert any("htmls: has no place" in remark for remark in done.remarks)


def test_the_imported_verdicts_score_as_healthbench_scores_them(tmp_path: Path) -> None:
    entries = [result((True, True, False)), result((False, True, False), prompt_id="p-2")]
    done = import_file("healthbench", write_json(tmp_path / "all.json", results(*entries)))
    scored = done.score()
    positive = Fraction(25, 2)
    assert [Fraction(item["score"]).limit_denominator(1000) for item in scored["items"]] == [
        2 / positive,
        -8 / positive,
    ]
    mean = (2 - 8) / positive / 2
    assert scored["summary"]["score"] == pytest.approx(float(mean))


def test_results_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    other = result((True, True, "yes"))
    other["rubric_items"][0]["points"] = 9
    other["completion"] = []
    file = write_json(tmp_path / "all.json", results(result((True, False, True)), other))
    problems = refuse_file("healthbench", file)
    fields = [problem.split(": ")[1] for problem in problems]
    place = "metadata.example_level_metadata.1"
    assert sorted(fields) == [
        f"{place}.completion",
        f"{place}.rubric_items",
        f"{place}.rubric_items.2.criteria_met",
    ]
    lines = file.read_text(encoding="utf-8").splitlines()
    last = next(problem for problem in problems if "criteria_met" in problem)
    assert '"criteria_met": "yes"' in lines[int(last.split(":")[0]) - 1]


def test_an_exam_that_is_too_large_for_one_document_becomes_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.workflows.import_documents.MAX_DOCUMENT_BYTES", 3_000)
    rows = [row(prompt_id=f"p-{number}") for number in range(9)]
    file = write_lines(tmp_path / "hb.jsonl", *rows)
    done = here("import", "healthbench", file, "-o", tmp_path / "out", "--format", "json")
    names = [name for name in done.json["files"] if name.startswith("exam")]
    assert names[:2] == ["exam-1.yaml", "exam-2.yaml"]
    checked = here("lint", tmp_path / "out/rubric.yaml", *(tmp_path / "out" / n for n in names))
    assert checked.code == 0, checked.out
    monkeypatch.setattr("markscheme.workflows.import_documents.MAX_DOCUMENT_BYTES", 30)
    done = here("import", "healthbench", file, "-o", tmp_path / "other")
    assert done.code == 3
    assert "an item is larger than" in done.err


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "hb.jsonl", ROW)
    done = here("import", "healthbench", file, "-o", tmp_path)
    assert done.code == 0, done.err
    before = (tmp_path / "exam.yaml").read_bytes()
    again = here("import", "healthbench", file, "-o", tmp_path)
    assert again.code == 2
    assert (
        "holds rubric.yaml, exam.yaml, answers.jsonl already; nothing is overwritten" in again.err
    )
    assert (tmp_path / "exam.yaml").read_bytes() == before
    assert here("import", "healthbench", file, "-o", file).code == 2
    assert here("import", "healthbench", tmp_path / "missing.jsonl").code == 3
    assert here("import", "healthbench", tmp_path).code == 3


def test_the_default_folder_is_named_after_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "bench.jsonl", ROW)
    done = here("import", "healthbench", "bench.jsonl")
    assert "wrote bench/rubric.yaml" in done.out
    assert "items: 1, criteria: 3, answers: 3, ratings: 0" in done.out
    assert "markscheme lint bench/rubric.yaml bench/exam.yaml" in done.out


def test_the_same_bytes_give_the_same_documents() -> None:
    import json  # noqa: PLC0415

    data = json.dumps(ROW).encode()
    first, second = (FOREIGN_PARSERS["healthbench"](data, "hb.jsonl") for _ in range(2))
    assert first == second

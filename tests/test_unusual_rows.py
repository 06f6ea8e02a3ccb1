"""Long numbers and half surrogate pairs: files and the library accept the same rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commands import FULL, Project
from markscheme import load_exam, load_rubric, score
from small_exam import EXAM

if TYPE_CHECKING:
    from pathlib import Path

LONG = 10**399
HALF = "\ud800"
ROWS: dict[str, dict[str, Any]] = {
    "long number in an object": {"output": {"correction": "ate", "n": LONG}},
    "long number deep in an object": {"output": {"correction": "ate", "n": [{"m": -LONG}]}},
    "long number beside the answer": {"output": "ate", "trace": LONG},
    "long latency": {"output": "ate", "latency_ms": LONG},
    "long cost": {"output": "ate", "cost": LONG},
    "half a pair beside the answer": {"output": "ate", "trace": {HALF: HALF}},
    "half a pair in the answer": {"output": f"ate {HALF}"},
    "half a pair in an object": {"output": {"correction": f"ate {HALF}"}},
    "half a pair in a key": {"output": {HALF: "ate"}},
    "half a pair in the subject": {"output": "ate", "subject": HALF},
}


@pytest.mark.parametrize("fields", ROWS.values(), ids=ROWS)
def test_a_file_accepts_what_the_library_accepts(tmp_path: Path, fields: dict[str, Any]) -> None:
    path = tmp_path / "exam.yaml"
    path.write_text(EXAM, encoding="utf-8")
    rubric = load_rubric("tutor-capstone")
    exam = load_exam(path, rubric=rubric)
    rows = [
        {"item": "e-39-01", **fields},
        {"item": "e-39-02", "output": "went", "latency_ms": 1.5, "cost": 0.5},
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="ascii")
    from_rows, from_file = score(rubric, exam, rows), score(rubric, exam, file)
    assert from_rows.summary == from_file.summary
    told = [
        [(error.line, error.item, error.reason) for error in found.errors]
        for found in (from_rows, from_file)
    ]
    assert told[0] == told[1]
    stored = score(rubric, exam, file, store=tmp_path / "store.db")
    assert stored.summary == from_file.summary


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("1" * 5000, "not JSON: Exceeds the limit"),
        ("1e999", "`output` holds the number `inf`"),
        ("[" * 20_000 + "1" * 400, "nested too deep"),
        ("[1" + "1" * 400, "not JSON"),
        (f"[{'1' * 400}, NaN]", "NaN is no number in JSON"),
    ],
    ids=["5,000 digits", "infinity", "deep", "cut off", "NaN"],
)
def test_a_number_that_no_program_can_hold_is_a_bad_row(
    project: Project, number: str, why: str
) -> None:
    rows = [json.dumps({"item": item, "output": FULL}) for item in project.items[1:]]
    bad = f'{{"item": "i1", "output": {{"n": {number}}}}}'
    file = project.write("answers.jsonl", "\n".join([bad, *rows]))
    words = ("-r", project.rubric, "-e", project.exam, "-a", file)
    done = project.run("score", *words)
    assert (done.code, why in done.out) == (4, True)


def test_a_gate_names_the_row_that_makes_a_run_undecided(project: Project) -> None:
    rows = [json.dumps({"item": item, "output": FULL}) for item in project.items[1:]]
    bad = json.dumps({"item": "i1", "output": f"{FULL}{HALF}"})
    file = project.write("answers.jsonl", "\n".join([*rows, bad]))
    project.run("score", "-r", project.rubric, "-e", project.exam, "-a", file)
    judged = project.judge("latest")
    assert judged.code == 4
    assert "1 bad row\n" in judged.out
    assert "4: `output` holds a lone surrogate, which is not a character" in judged.out
    assert "missing (1): i1" in judged.out
    (error,) = project.judge("latest", "--format", "json").json["errors"]
    assert (error["line"], error["item"]) == (4, "i1")

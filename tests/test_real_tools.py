"""Results that the real tools wrote, where `scripts/make_foreign_results.py` has made them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from commands import here

SCRIPTS = str(Path(__file__).parent.parent / "scripts")
sys.path.append(SCRIPTS)
from make_foreign_results import ITEMS, list_results  # noqa: E402 - scripts are no package

FOLDER = os.environ.get("MARKSCHEME_TOOLS")
REASON = "run scripts/make_foreign_results.py FOLDER, and set MARKSCHEME_TOOLS=FOLDER"
pytestmark = pytest.mark.skipif(FOLDER is None, reason=REASON)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    items = [
        {"id": item, "prompt": prompt, "expected_contains": [target]}
        for item, (prompt, target) in ITEMS.items()
    ]
    (tmp_path / "exam.yaml").write_text(json.dumps({"exam": "verbs", "items": items}))
    axis = {"name": "right", "kind": "contains_all", "weight": 1}
    (tmp_path / "rubric.yaml").write_text(json.dumps({"rubric": "r", "axes": [axis]}))
    return tmp_path


def list_files(tool: str, *suffixes: str) -> list[Path]:
    files = [path for path in list_results(Path(str(FOLDER)) / tool) if path.suffix in suffixes]
    if not files:
        pytest.skip(f"{tool} has no results: {REASON}")
    return files


@pytest.mark.parametrize(
    ("tool", "suffix", "scores"),
    [
        ("inspect", ".json", [1, 1, 0, 1]),
        ("inspect", ".eval", [1, 1, 0, 1]),
        ("pydantic-evals", ".json", [1, 1]),
        ("deepeval", ".json", [1, 0]),
        ("lm-eval", ".jsonl", [0, 0, 0, 0]),
        ("promptfoo", ".json", [1, 1, 0, 0]),
        ("promptfoo", ".jsonl", [1, 1, 0, 0]),
    ],
)
def test_the_answers_of_the_real_tool_are_scored(
    tool: str, suffix: str, scores: list[int], folder: Path
) -> None:
    files = [path for path in list_files(tool, suffix) if "schema" not in path.name]
    documents = ("-r", str(folder / "rubric.yaml"), "-e", str(folder / "exam.yaml"))
    for path in files:
        done = here("score", *documents, "-a", str(path), "--no-store", "--format", "json")
        found = [row["score"] for row in done.json["items"] if row["status"] == "scored"]
        assert found == scores


def test_the_epochs_of_inspect_are_attempts_of_session_logs_too(folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir()
    newest = list_files("inspect", ".eval")[-1]
    (logs / newest.name).write_bytes(newest.read_bytes())
    documents = ("-r", str(folder / "rubric.yaml"), "-e", str(folder / "exam.yaml"))
    done = here("score", *documents, "--logs", str(logs), "--no-store", "--format", "json")
    rows = [(row["item"], row["attempt"]) for row in done.json["items"]]
    assert sorted(rows) == [("e-39-01", 1), ("e-39-01", 2), ("e-39-02", 1), ("e-39-02", 2)]


@pytest.mark.parametrize(
    ("tool", "results"), [("promptfoo", "results.json"), ("pydantic-evals", "report.json")]
)
def test_a_project_from_its_tests_scores_as_the_tool_did(
    tool: str, results: str, folder: Path
) -> None:
    (config,) = list_files(tool, ".yaml")
    made = here("init", str(folder / "new"), "--from", str(config), "--format", "json")
    assert made.code == 0
    document = json.loads((config.parent / results).read_text())
    if tool == "promptfoo":
        records = sorted(
            document["results"]["results"], key=lambda r: (r["testIdx"], r["promptIdx"])
        )
        expected = [record["score"] for record in records]
    else:
        expected = [
            sum(found["value"] for found in case["assertions"].values()) / len(case["assertions"])
            for case in document["cases"]
        ]
    paths = [str(folder / "new" / name) for name in ("rubric.yaml", "exam.yaml")]
    answers = ("-a", str(config.parent / results), "--no-store", "--format", "json")
    done = here("score", "-r", paths[0], "-e", paths[1], *answers)
    scores = [row["score"] for row in done.json["items"] if row["status"] == "scored"]
    assert scores == pytest.approx(expected)

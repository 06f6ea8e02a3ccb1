"""A store written by the version before the renovation is read, judged and continued."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from commands import Done, markscheme
from markscheme.keep import RunStatus, open_store
from markscheme.read.documents import BUILTIN_DIR

PREVIOUS = Path(__file__).parent / "golden" / "store-0.1.0"
DOCUMENTS = ("-r", "tutor-capstone", "-e", "capstone")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a copy of the store."""
    path = tmp_path / "markscheme.db"
    path.write_bytes(gzip.decompress((PREVIOUS / "markscheme.db.gz").read_bytes()))
    return path


def run(store: Path, *words: str | Path) -> Done:
    return markscheme(*words, "--store", store, cwd=store.parent, LC_ALL="C.UTF-8")


def expected(name: str) -> Any:
    return json.loads((PREVIOUS / name).read_text(encoding="utf-8"))


def without_bounds(value: Any) -> Any:
    """Return a document without any bounds, which earlier versions did not have."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if not key.endswith("bounds")}
        return {key: without_bounds(inner) for key, inner in kept.items()}
    return [without_bounds(inner) for inner in value] if isinstance(value, list) else value


def test_its_runs_are_listed_with_tags_and_baseline(store: Path) -> None:
    done = run(store, "runs", "--format", "json")
    assert done.code == 0, done.err
    listed = done.json
    # New: rubrics that changed while their version stayed.
    assert listed.pop("warnings") == []
    assert listed == expected("runs.json")


def test_a_run_is_shown_as_before(store: Path) -> None:
    shown = run(store, "show", "candidate", "--format", "json").json
    # These counts are new; everything else is as the former version showed it.
    for summary in (shown["summary"], *shown["summary"]["subjects"]):
        assert set(summary.pop("judged").values()) == {60}
        assert set(summary.pop("unjudged").values()) == {0}
    # So are bounds: a bad row could have been an answer.
    assert shown["summary"]["bounds"] == pytest.approx([54.25 / 61, 55.25 / 61])
    shown = without_bounds(shown)
    before = expected("show.json")
    # The groups are the same in another order: those that lose most points first.
    for document in (shown, before):
        document["summary"]["groups"].sort(key=lambda group: (group["tag"], group["value"]))
    assert shown == before


def test_a_live_run_is_shown_with_what_was_measured(store: Path) -> None:
    shown = run(store, "show", "live", "--format", "json").json
    assert (shown["summary"]["n"], shown["summary"]["score"]) == (60, 1.0)
    assert shown["live"]["subject"] == "tutor"


def test_gates_decide_as_before_against_the_stored_baseline(store: Path) -> None:
    done = run(store, "gate", "candidate", "--format", "json")
    assert done.code == 4  # a bad row: the run is not complete
    judged = without_bounds(done.json)
    # New: the rows that were no answers.
    assert len(judged.pop("errors")) == 1
    assert judged == expected("gate.json")
    with open_store(store, create=False) as opened:
        candidate = opened.find_run("candidate").id
        new, old = opened.list_outcomes(candidate)
    assert new.baseline == old.baseline
    assert without_bounds(new.outcomes) == old.outcomes


def test_a_report_is_written_as_before(store: Path) -> None:
    run(store, "report", "candidate", "-o", "report.md")
    written = (store.parent / "report.md").read_text(encoding="utf-8")
    assert written == (PREVIOUS / "report.md").read_text(encoding="utf-8")


def test_its_runs_are_recalibrated(store: Path) -> None:
    rubric = (BUILTIN_DIR / "rubrics" / "tutor-capstone.yaml").read_text(encoding="utf-8")
    changed = rubric.replace("weight: 0.60", "weight: 0.50").replace("weight: 0.25", "weight: 0.35")
    assert changed != rubric
    (store.parent / "changed.yaml").write_text(changed, encoding="utf-8")
    done = run(store, "recalibrate", "-r", "changed.yaml", "--apply", "--format", "json")
    assert done.code == 0, done.err
    with open_store(store, create=False) as opened:
        candidate = opened.find_run("candidate").id
        again = opened.find_run(done.json["applied"][candidate])
        assert again.rescored_from == candidate
        assert opened.list_chunks(again.id) == opened.list_chunks(candidate)


def test_a_live_run_that_broke_off_is_resumed(store: Path) -> None:
    words = ("run", *DOCUMENTS, "-s", "tutor", "--seed", "7", "--resume", "--format", "json")
    done = run(store, *words)
    assert done.code == 0, done.err
    with open_store(store, create=False) as opened:
        newest, broken_off, *_ = opened.list_runs()
    assert newest.status is RunStatus.FINISHED
    assert (newest.counts or {})["answers"] == 60
    assert (broken_off.counts or {})["answers"] < 60
    assert done.json["live"]["sitting"] == expected_sitting(store, broken_off.id)


def expected_sitting(store: Path, broken_off: str) -> str:
    sitting: str = run(store, "show", broken_off, "--format", "json").json["live"]["sitting"]
    return sitting


def test_new_runs_are_added_to_it(store: Path) -> None:
    (store.parent / "a.jsonl").write_text('{"item": "e-39-01", "output": "Ate."}\n')
    done = run(store, "score", *DOCUMENTS, "-a", "a.jsonl")
    assert done.code == 4, done.err
    with open_store(store, create=False) as opened:
        assert len(opened.list_runs()) == 5

"""docs/calibration.md says what the commands print, and names every reason and key."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from commands import Done, here
from markscheme.weigh.calibration import ReasonCode

DOCS = Path(__file__).parent.parent / "docs"
TEXT = (DOCS / "calibration.md").read_text(encoding="utf-8")
BLOCKS = [block.partition("```")[0] for block in TEXT.split("```console\n")[1:]]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example's folder, as the present folder."""
    folder = shutil.copytree(DOCS / "examples" / "calibration", tmp_path / "calibration")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "letters_judge", raising=False)
    return folder


def run_block(block: str) -> tuple[Done, str]:
    command, _, shown = block.removeprefix("$ markscheme ").partition("\n")
    return here(*shlex.split(command)), shown


@pytest.mark.usefixtures("example")
def test_the_console_blocks_are_true() -> None:
    blocks = [block for block in BLOCKS if block.startswith("$ markscheme")]
    assert len(blocks) == 3
    for block in blocks:
        done, shown = run_block(block)
        assert "Traceback" not in done.err
        if "calibrate" in block.partition("\n")[0]:
            assert (done.code, done.out.rstrip()) == (0, shown.rstrip())
        else:
            assert shown.rstrip() in done.out


@pytest.mark.usefixtures("example")
def test_the_five_steps_end_with_a_gate_that_decides() -> None:
    documents = ("-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl", "-j", "judge.yaml")
    store = ("--store", "runs.db")
    assert here("score", *documents, *store).code == 0
    assert here("gate", "latest", *store).code == 4
    assert here("calibrate", *documents, "--ratings", "people.csv", *store).code == 0
    assert here("gate", "latest", *store).code in {0, 1}


def test_every_key_of_the_record_is_in_the_docs(example: Path) -> None:
    documents = ("-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl", "-j", "judge.yaml")
    more = ("--ratings", example / "people.csv", "--no-store", "--format", "json")
    record = here("calibrate", *documents, *more).json
    axis = record["axes"]["tone"]
    plain = {"id", "outcome", "rubric", "exam", "seed", "calls", "cost", "remarks", "reasons"}
    plain |= {"level", "exact", "axis_fingerprint", "call_fingerprint"}
    named = set(re.findall(r"`(\w+)`", TEXT))
    assert {*record, *axis} - plain <= named


def test_the_canaries_of_the_docs_are_canaries(example: Path) -> None:
    block = TEXT.partition("```json\n")[2].partition("```")[0]
    assert len([json.loads(line) for line in block.splitlines()]) == 3
    (example / "canaries.jsonl").write_text(block, encoding="utf-8")
    documents = ("-r", "rubric.yaml", "-e", "exam.yaml", "-a", "answers.jsonl", "-j", "judge.yaml")
    more = ("--ratings", "people.csv", "--no-store", "--format", "json")
    done = here("calibrate", *documents, *more, "--canaries", "canaries.jsonl")
    assert done.json["canaries"] | {"entries": []} == {
        "asked": 2, "unread": 0, "out_of_range": [], "entries": [],
    }  # fmt: skip


def test_every_reason_is_in_the_docs() -> None:
    assert {code.value for code in ReasonCode} <= set(re.findall(r"`([a-z-]+)`", TEXT))

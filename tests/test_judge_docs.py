"""The page about judges: it has every key, and its documents are read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from judges import make_judge
from markscheme.read.documents import read_judge
from markscheme.vocabulary import Judge, Panel

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in TEXT.split("\n## ")[1:]}


def find_piece(kind: str) -> str:
    return TEXT.partition(f"```yaml {kind}\n")[2].partition("```")[0]


@pytest.mark.parametrize("kind", ["judge", "panel"])
def test_every_key_of_a_document_is_explained(kind: str) -> None:
    schema = ROOT / "src" / "markscheme" / "builtin" / "schemas" / f"{kind}.schema.json"
    keys = set(json.loads(schema.read_text(encoding="utf-8"))["properties"])
    rows = [line for line in SECTIONS[f"The document of a {kind}"].splitlines() if "|" in line]
    explained = {key for row in rows for key in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert explained == keys


def test_the_judge_of_the_page_is_the_file() -> None:
    path = ROOT / "docs" / "examples" / "first-aid" / "judge.yaml"
    assert find_piece("judge") == path.read_text(encoding="utf-8")
    assert isinstance(read_judge(path), Judge)


def test_the_panel_of_the_page_is_read(tmp_path: Path) -> None:
    make_judge(tmp_path)
    (tmp_path / "panel.yaml").write_text(find_piece("panel"), encoding="utf-8")
    panel = read_judge(tmp_path / "panel.yaml")
    assert isinstance(panel, Panel)
    assert [judge.name for judge in panel.judges] == ["strict", "second", "third"]


def test_the_recordings_hold_the_calls_as_they_are_asked_now() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "build_judge_recordings.py"), "--check"]
    done = subprocess.run(script, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")

"""Golden folders: inputs and the whole document that must come out, byte for byte.

`python tests/test_golden.py` writes the expected documents anew; read the difference before you
commit it, and note under "Changes to scores" what moved.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from markscheme import load_exam, load_rubric, score

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(path.parent.name for path in FOLDER.glob("*/expected.json"))


def document(case: str) -> str:
    folder = FOLDER / case
    if (folder / "logs").is_dir():
        result = score("context-agent", "context-queries", logs=folder / "logs")
    else:
        own = folder / "rubric.yaml"
        rubric = load_rubric(own if own.exists() else "tutor-capstone")
        exam = load_exam(folder / "exam.yaml", rubric=rubric)
        result = score(rubric, exam, folder / "answers.jsonl")
    return json.dumps(result.to_dict(), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_the_document_is_the_golden_one(case: str) -> None:
    assert document(case) == (FOLDER / case / "expected.json").read_text(encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        (FOLDER / name / "expected.json").write_text(document(name), encoding="utf-8")

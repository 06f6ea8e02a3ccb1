"""A small exam: answers to it, and the command that scores them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commands import Done, markscheme

if TYPE_CHECKING:
    from pathlib import Path

EXAM = """\
exam: small
items:
  - id: e-39-01
    prompt: Conjugate 'eat' — past simple, 3rd singular.
    expected_contains: [ate]
    gloss_contains: [comió]
    tags: {verb: eat}
  - id: e-39-02
    prompt: Conjugate 'go' — past simple, 3rd singular.
    expected_contains: [went]
    gloss_contains: [fue]
    tags: {verb: go}
"""
GOOD = {"correction": "Ate.", "spanish_gloss": "Comió.", "explanation": "Irregular past."}


def answers(folder: Path, *rows: Any) -> Path:
    path = folder / "answers.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def row(item: str, output: Any, **more: Any) -> dict[str, Any]:
    return {"item": item, "output": output, **more}


def score(folder: Path, *more: str | Path, file: Path | str = "-", stdin: str = "") -> Done:
    exam = folder / "exam.yaml"
    return markscheme(
        "score", "-r", "tutor-capstone", "-e", exam, "-a", file, *more, stdin=stdin, cwd=folder
    )

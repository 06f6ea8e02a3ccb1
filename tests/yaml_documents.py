"""Documents for tests: a rubric and an exam in YAML, and the problems of an invalid file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from markscheme import DocumentError, load_exam, load_rubric

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = """\
rubric: mine
version: 2
normalise: [strip, lower]
axes:
  - name: right
    kind: contains_all
    weight: 0.60
    reads: answer
  - name: brief
    kind: max_words
    weight: 0.40
    limit: 5
gates:
  - {name: bar, level: hard, at_least: 0.9}
"""
EXAM = """\
exam: mine
items:
  - id: a-1
    prompt: Say ate.
    expected_contains: [ate]
    tags: {verb: eat}
  - id: a-2
    prompt: Say ran.
    expected_contains: [ran]
"""


def problems_of(path: Path, text: str | bytes, *, exam: bool = False) -> list[str]:
    """Return the problems of a file with this content, without its folder."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DocumentError) as caught:
        load_exam(path) if exam else load_rubric(path)
    return [str(problem).replace(f"{path.parent}/", "") for problem in caught.value.problems]

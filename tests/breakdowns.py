"""Published breakdowns for tests: the seed's, wrong and right, another, and what is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from markscheme import DocumentError, verify

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.weigh.verify import Verification

SEED: dict[str, Any] = {
    "item": "e-39-01",
    "prompt": "Conjugate 'eat' — past simple, 3rd singular.",
    "expected": ["ate"],
    "got": "Ate.",
    "score": 0.95,
    "breakdown": {"correctness": 1.0, "spanish_gloss": 0.0, "schema": 1.0, "conciseness": 1.0},
    "weighted": {"correctness": 0.60, "spanish_gloss": 0.00, "schema": 0.10, "conciseness": 0.05},
}
RIGHT = {**SEED, "score": 0.75}
CAPITAL = {
    "item": "c-01",
    "expected": ["Paris"],
    "got": "Paris.",
    "score": 1.0,
    "breakdown": {"right": 1.0, "brief": 1.0},
    "weighted": {"right": 0.7, "brief": 0.3},
}
RUBRIC = """\
rubric: capitals
version: 1
axes:
  - {name: right, kind: contains_all, weight: 0.70}
  - {name: brief, kind: max_words, weight: 0.30, limit: 3}
"""


def published(folder: Path, content: Any, name: str = "p.json") -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text)
    return path


def verified(folder: Path, content: Any, name: str = "p.json", **more: Any) -> Verification:
    return verify(published(folder, content, name), **more)


def fields(found: Verification) -> list[str]:
    return [finding.field for finding in found.findings]


def told(found: Verification) -> dict[str, tuple[str, str]]:
    return {finding.field: (finding.published, finding.computed) for finding in found.findings}


def refused(folder: Path, content: Any, name: str = "p.json") -> list[tuple[int, str, str]]:
    with pytest.raises(DocumentError) as error:
        verified(folder, content, name)
    return [(problem.line, problem.field, problem.message) for problem in error.value.problems]

"""Published human ratings score their answers: the mean is what the ratings say, exactly."""

from __future__ import annotations

import csv
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

from markscheme import load_rubric, score

DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "newsroom"
SCALES = {"Informativeness": 4, "Relevance": 3, "Fluency": 2, "Coherence": 1}
"""The scales of the data, with points as one might give them: their shares are no decimals."""


def write_rubric(path: Path) -> Path:
    axes = "".join(
        f"""\
  - name: {name}
    kind: scale
    points: {points}
    question: How good is it?
    anchors: {{1: bad, 2: poor, 3: fair, 4: good, 5: very good}}
"""
        for name, points in SCALES.items()
    )
    path.write_text(f"rubric: newsroom\nversion: 1\naxes:\n{axes}", encoding="utf-8")
    return path


def compute_means(path: Path) -> dict[str, Fraction]:
    """Return the mean score of each system, from nothing but the rows of the file."""
    given: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            given[row["item"], row["variant"], row["axis"]].append(int(row["score"]))
    total = sum(SCALES.values())
    parts: dict[str, Fraction] = defaultdict(Fraction)
    for (_, variant, axis), scores in given.items():
        value = Fraction(sum(scores) - len(scores), 4 * len(scores))
        parts[variant] += value * Fraction(SCALES[axis], total)
    items = {item for item, _, _ in given}
    return {variant: part / len(items) for variant, part in parts.items()}


def test_the_ratings_of_newsroom_give_their_exact_mean(tmp_path: Path) -> None:
    if not DATA.exists():
        pytest.skip("the shared data newsroom is not here")
    rubric = load_rubric(write_rubric(tmp_path / "rubric.yaml"))
    result = score(rubric, DATA / "exam.yaml", DATA / "answers.jsonl", ratings=DATA / "ratings.csv")
    expected = compute_means(DATA / "ratings.csv")
    assert {run.subject: run.score for run in result.summary.subjects} == expected
    assert result.summary.score == sum(expected.values(), Fraction(0)) / len(expected)
    assert (result.summary.n, dict(result.unmarked)) == (420, {})

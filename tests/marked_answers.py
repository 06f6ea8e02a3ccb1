"""Answers that people mark, for tests: a rubric with every kind of axis that takes marks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commands import Done, here

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RUBRIC = """\
rubric: advice
version: 1
axes:
  - {name: words, kind: contains_all, points: 1}
  - name: tone
    kind: scale
    points: 2
    question: How kind is it?
    anchors: {1: rude, 2: cold, 3: kind}
    step: 0.5
    may_not_apply: true
  - name: outcome
    kind: choice
    points: 1
    question: What is wrong with it?
    options: {right: 1, too-long: 0.5, wrong: 0}
  - {name: facts, kind: criteria, points: 4}
  - {name: remark, kind: note, question: "Anything else?"}
"""
EXAM = """\
exam: doses
items:
  - id: i1
    prompt: How much?
    expected_contains: [dose]
    criteria:
      - {id: c1, points: 3, says: Names the dose.}
      - {id: c2, points: -2, says: Invents a source.}
      - {id: c3, points: 1, check: {kind: contains_all, expected_contains: [mg]}}
  - id: i2
    prompt: How often?
    expected_contains: [day]
    criteria:
      - {id: c1, points: 1, says: Says how often.}
      - group: form
        points: 2
        criteria:
          - {id: d1, points: 1, says: Is one sentence.}
          - {id: d2, points: 2, says: Has no jargon.}
"""
HEADER = "item,variant,rater,axis,criterion,score"
ANSWERS = (("i1", "The dose is 5 mg."), ("i2", "Once a day."))
FULL = (
    "i1,,ana,tone,,2.5",
    "i1,,ana,outcome,,too-long",
    "i1,,ana,facts,c1,1",
    "i1,,ana,facts,c2,0",
    "i2,,ana,tone,,3",
    "i2,,ana,outcome,,right",
    "i2,,ana,facts,c1,1",
    "i2,,ana,facts,d1,0",
    "i2,,ana,facts,d2,1",
)
"""Every mark of both answers: 7/8 and (1 + 2 + 1 + 4 · (1 + 2 · 2/3) / 3) / 8 = 8/9."""


class Desk:
    """A folder with the rubric, the exam, answers and ratings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rubric = self.write("rubric.yaml", RUBRIC)
        self.exam = self.write("exam.yaml", EXAM)
        self.answers = self.write_answers([{"item": i, "output": o} for i, o in ANSWERS])

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def write_answers(self, rows: Iterable[dict[str, Any]]) -> Path:
        return self.write("answers.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def write_ratings(
        self, rows: Iterable[str], header: str = HEADER, name: str = "ratings.csv"
    ) -> Path:
        return self.write(name, "\n".join((header, *rows)) + "\n")

    def words(self, *ratings: Path) -> list[str | Path]:
        given = [word for path in ratings for word in ("--ratings", path)]
        inputs = ("-r", self.rubric, "-e", self.exam, "-a", self.answers)
        return ["score", *inputs, *given]

    def score(self, *ratings: Path, more: Iterable[str | Path] = ()) -> Done:
        """Score without a store, as JSON."""
        return here(*self.words(*ratings), "--no-store", "--format", "json", *more)

    def score_rows(self, rows: Iterable[str], header: str = HEADER) -> Done:
        return self.score(self.write_ratings(rows, header))

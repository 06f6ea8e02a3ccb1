"""A small project for the tests of calibration: 100 answers that people rated, and a judge."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pretend_judges
from commands import Done, here

RUBRIC = """\
rubric: letters
axes:
  - {name: facts, kind: criteria, points: 2}
  - name: tone
    kind: choice
    points: 1
    question: Which tone does the letter have?
    options: {kind: 1, plain: 0.5, rude: 0}
  - name: clear
    kind: scale
    points: 2
    question: How clear is the letter?
    anchors: {1: not at all, 2: hardly, 3: in parts, 4: mostly, 5: wholly}
gates:
  - {name: release, level: hard, at_least: 0.1}
  - {name: clear, level: hard, metric: axis, axis: clear, at_least: 0.1}
  - {name: quick, level: soft, metric: axis, axis: tone, at_least: 0.1}
"""
JUDGE = {"judge": "strict", "subject": "python:pretend_judges:copy"}
AXES = ("facts", "tone", "clear")


class Project:
    """The files of a calibration in a folder, and the commands about them."""

    def __init__(self, folder: Path, answers: int = 100) -> None:
        self.folder = folder
        self.rubric, self.exam = folder / "rubric.yaml", folder / "exam.yaml"
        self.answers, self.people = folder / "answers.jsonl", folder / "people.csv"
        self.judge, self.store = folder / "judge.yaml", folder / "runs.db"
        self.rubric.write_text(RUBRIC, encoding="utf-8")
        self.worths = list(draw_worths(answers))
        self.exam.write_text(json.dumps(build_exam(answers)), encoding="utf-8")
        rows = (
            {"item": f"i{at}", "output": f"{write_worth(worth)} Word number {at}.", "subject": "s"}
            for at, worth in enumerate(self.worths)
        )
        self.answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        self.write_people()
        self.write_judge()

    def write_judge(self, **keys: Any) -> None:
        """Write the document of the judge; JSON is YAML too."""
        self.judge.write_text(json.dumps({**JUDGE, **keys}), encoding="utf-8")

    def write_people(
        self,
        raters: Sequence[str] = ("ana",),
        change: Callable[[str, str, str], str] = lambda _, __, score: score,
        items: Iterable[int] | None = None,
    ) -> None:
        """Write what people gave; `change` takes rater, axis and the right score."""
        with self.people.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["item", "variant", "rater", "axis", "criterion", "score"])
            for at in range(len(self.worths)) if items is None else items:
                for name, score in self.worths[at].items():
                    axis, criterion = (name, "") if name in AXES else ("facts", name)
                    writer.writerows(
                        [f"i{at}", "s", rater, axis, criterion, change(rater, axis, score)]
                        for rater in raters
                    )

    @property
    def documents(self) -> tuple[Any, ...]:
        return ("-r", self.rubric, "-e", self.exam, "-a", self.answers, "-j", self.judge)

    def calibrate(self, *more: Any) -> Done:
        """Calibrate the judge, and store the record."""
        paths = (*self.documents, "--ratings", self.people, "--store", self.store)
        return here("calibrate", *paths, "--format", "json", *more)

    def score(self, *more: Any) -> Done:
        """Score all answers with the judge, and store the run."""
        return here("score", *self.documents, "--store", self.store, "--format", "json", *more)

    def gate(self, *more: Any) -> Done:
        """Judge the newest run by its gates."""
        return here("gate", "latest", "--store", self.store, "--format", "json", *more)


def build_exam(items: int) -> dict[str, Any]:
    """Return an exam whose items have the same two criteria, and a tag."""
    criteria = [
        {"id": "c1", "points": 2, "says": "Names the day."},
        {"id": "c2", "points": 1, "says": "Names the place."},
    ]
    return {
        "exam": "letters",
        "items": [
            {
                "id": f"i{at}",
                "prompt": f"Write letter {at}.",
                "tags": {"half": "first" if at < items / 2 else "second"},
                "criteria": criteria,
            }
            for at in range(items)
        ],
    }


def draw_worths(answers: int) -> Iterable[dict[str, str]]:
    """Yield what each answer is worth, so that all marks occur."""
    drawn = random.Random(1)  # noqa: S311 - no secret
    for _ in range(answers):
        yield {
            "clear": str(drawn.randint(1, 5)),
            "tone": drawn.choice(pretend_judges.OPTIONS),
            "c1": drawn.choice("01"),
            "c2": drawn.choice("01"),
        }


def write_worth(worth: dict[str, str]) -> str:
    return " ".join(f"{name}={score}" for name, score in worth.items())

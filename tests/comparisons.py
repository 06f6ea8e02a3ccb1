"""Comparisons for tests: five queries, two variants, and scores that add up to given sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commands import Done, here

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

EXAM = """\
exam: queries
items:
  - {id: TQ-1, prompt: one, tags: {mode: quick}}
  - {id: TQ-2, prompt: two, tags: {mode: medium}}
  - {id: TQ-3, prompt: three, tags: {mode: medium}}
  - {id: TQ-4, prompt: four, tags: {mode: thorough}}
  - {id: TQ-5, prompt: five, tags: {mode: thorough}}
"""
ITEMS = ("TQ-1", "TQ-2", "TQ-3", "TQ-4", "TQ-5")
MODES = ("quick", "medium", "medium", "thorough", "thorough")
AXES = ("Q-01", "Q-02", "Q-03", "Q-04", "Q-05", "Q-06")
HEADER = "item,variant,rater,axis,score,note"
GOOD = 24
"""A sum of six scores: an average of 4."""


def spread(total: int) -> list[int]:
    """Return six scores with this sum."""
    low, more = divmod(total, 6)
    return [low + (at < more) for at in range(6)]


def rows(
    baseline: Sequence[int], candidate: Sequence[int], raters: Iterable[str] = ("anna",)
) -> list[str]:
    """Return the rows of a file in which the scores of each query have these sums."""
    return [
        f"{item},{variant},{rater},{axis},{score},"
        for item, b, c in zip(ITEMS, baseline, candidate, strict=True)
        for variant, total in (("big", b), ("small", c))
        for rater in raters
        for axis, score in zip(AXES, spread(total), strict=True)
    ]


class Files:
    """A folder with the exam and files of ratings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.exam = self.write("exam.yaml", EXAM)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def ratings(self, lines: Iterable[str], name: str = "ratings.csv") -> Path:
        return self.write(name, "\n".join((HEADER, *lines)) + "\n")

    def words(self, ratings: Path, *more: str | Path) -> list[str | Path]:
        inputs = ("-r", "context-agent", "-e", self.exam, "--ratings", ratings)
        return ["compare", *inputs, "-b", "big", "-c", "small", *more]


def compared(files: Files, baseline: list[int], candidate: list[int], *more: str) -> Done:
    return here(*files.words(files.ratings(rows(baseline, candidate)), *more))


def as_json(files: Files, baseline: list[int], candidate: list[int], *more: str) -> Any:
    return compared(files, baseline, candidate, "--format", "json", *more).json

"""What every peer is asked to do: put each question of an exam to one endpoint, judge the answers.

Standard library only: each Python peer imports this module in its own environment. The answers are
judged by tutor_axes.py, so a race measures the frameworks and not different ways to judge.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tutor_axes import WEIGHTS, judged, score_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Ask = Callable[["Task"], Iterable[float]]

MODEL = "m"
KEY = "none"


class Item(NamedTuple):
    """One question, and what its answer is held against."""

    id: str
    prompt: str
    expected_contains: list[str]
    gloss_contains: list[str]

    def scores(self, output: str) -> dict[str, float]:
        """Return every cell and the score of an answer."""
        cells = judged(output, self.expected_contains, self.gloss_contains)
        return {**cells, "score": score_of(cells)}


class Task(NamedTuple):
    """Whom to ask what, how many questions at a time, and where the tool writes what it writes."""

    url: str
    items: list[Item]
    at_once: int
    folder: Path


AXES = (*WEIGHTS, "score")


def contestant(ask: Ask) -> None:
    """Be the command line of a contestant: `URL EXAM AT_ONCE FOLDER`.

    `ask` returns the score of every item, which the server's answer makes 1.
    """
    url, exam, at_once, folder = sys.argv[1:]
    items = [Item(**item) for item in json.loads(Path(exam).read_bytes())["items"]]
    scores = list(ask(Task(url, items, int(at_once), Path(folder))))
    if scores != [1.0] * len(items):
        raise SystemExit(f"wrong: {scores.count(1.0)} of {len(items)} items scored 1")

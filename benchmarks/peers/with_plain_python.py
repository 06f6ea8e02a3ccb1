"""No framework: a loop over the shared judge that writes JSONL. What judging itself costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tutor_axes import Marked, contestant, judged, recorded, score_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def mark(exam: Path, answers: Path, folder: Path) -> None:
    """Judge every answer and write a line for each, then the mean."""
    total, count = 0.0, 0
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as file:
        for answer in recorded(exam, answers):
            cells = judged(answer.output, answer.expected, answer.gloss)
            score = score_of(cells)
            file.write(json.dumps([answer.item, answer.attempt, cells, score]) + "\n")
            total, count = total + score, count + 1
    (folder / "mean.json").write_text(json.dumps(total / count), encoding="utf-8")


def result(folder: Path) -> tuple[float, Iterator[Marked]]:
    """Read both files back."""
    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads((folder / "mean.json").read_text(encoding="utf-8")), map(json.loads, lines)


if __name__ == "__main__":
    contestant({"loop": mark}, result)

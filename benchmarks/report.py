"""Measure the HTML report of a run of 2,000 items, as the command writes it.

    python benchmarks/report.py [--items 2000] [--output report.html]

Ten runs are stored, so that there is a trend, and one of them is the baseline. The script prints
CPU seconds (user and system): of the whole command `markscheme report`; of writing alone, from the
judged run to the file; and of the work that no report can avoid, each part in a process of its own:
`markscheme gate` on the same run (start, read, judge), and reading the same rows as JSON and
writing them again (the floor). The ratio is the report against the sum of these two. The last
column is the size of the file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import traffic
from markscheme import load_exam, load_rubric
from markscheme.workflows.score import score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markscheme import Exam

ROUNDS = 3
RUNS = 10
FLOOR = """
import sys
from pathlib import Path
import orjson
rows = orjson.loads(Path(sys.argv[1]).read_bytes())
Path(sys.argv[2]).write_bytes(orjson.dumps(rows))
"""
WRITING = """
import sys, time
from pathlib import Path
from markscheme.workflows.gate import judge_run
from markscheme.workflows.report import build_full_report
from markscheme.workflows.find_run import RunFinder
with RunFinder(sys.argv[1]) as runs:
    report = build_full_report(runs, judge_run(runs, runs.find("latest")))
began = time.process_time()
from markscheme.cli.report_files import write_report
write_report(Path(sys.argv[2]), report)
print(time.process_time() - began)
"""


def build_exam(items: int, folder: Path) -> Exam:
    """Return an exam of so many items, three tags each."""
    lines = ["exam: large", "items:"]
    forms = traffic.forms()
    for i in range(items):
        verb, tense, person, english, spanish = forms[i % len(forms)]
        lines += [
            f"  - id: t-{i:05}",
            f"    prompt: Conjugate '{verb}' — {tense.label}, {person.label} ({i}).",
            f"    expected_contains: [{english}]",
            f"    gloss_contains: [{spanish}]",
            f"    tags: {{verb: {verb}, tense: {tense.value}, person: {person.value}}}",
        ]
    path = folder / "exam.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_exam(path, rubric=load_rubric("tutor-capstone"))


def generate_answers(items: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield one answer to each item, one in ten flawed, half of them slower than 250 ms."""
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    lines = traffic.answers(items, seed=seed)
    for i, line in enumerate(lines):
        row = json.loads(line)
        latency = round(rng.lognormvariate(5.4, 0.4), 1)
        yield {
            "item": f"t-{i:05}",
            "output": row["output"],
            "latency_ms": latency,
            "subject": "tutor",
        }


def measure_cpu(*words: str | Path) -> float:
    """Run a Python process and return the least CPU seconds that it took."""
    seconds = []
    for _ in range(ROUNDS):
        process = subprocess.Popen(
            [sys.executable, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, 1, 4}:
            raise SystemExit(f"{words} ended with {process.returncode}")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return min(seconds)


def measure_writing(store: Path, output: Path) -> float:
    """Return the least CPU seconds from the judged run to the file, in a process of its own."""
    command = [sys.executable, "-c", WRITING, str(store), str(output)]
    return min(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(ROUNDS)
    )


def main() -> None:
    """Store the runs, write the report, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--output", type=Path, help="Keep the report here.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place, rubric = folder / "store.db", load_rubric("tutor-capstone")
        exam = build_exam(options.items, folder)
        for number in range(RUNS):
            score(rubric, exam, generate_answers(options.items, number), store=place)
        on = ("--store", place)
        measure_cpu("-m", "markscheme", "baseline", "set", "latest~5", *on)
        output = options.output or folder / "report.html"
        report = measure_cpu("-m", "markscheme", "report", "latest", "-o", output, *on)
        gate = measure_cpu("-m", "markscheme", "gate", "latest", *on)
        kept = folder / "rows.json"
        measure_cpu("-m", "markscheme", "show", "latest", "--output", kept, *on)
        floor = measure_cpu("-c", FLOOR, kept, folder / "floor.json")
        alone, size = measure_writing(place, output), output.stat().st_size
    print("CPU seconds, the least of three processes each:\n")
    print("| items | runs | report | writing alone | gate | floor | ratio | size, MB |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    ratio = report / (gate + floor)
    numbers = " | ".join(f"{n:.2f}" for n in (report, alone, gate, floor, ratio))
    print(f"| {options.items:,} | {RUNS} | {numbers} | {size / 1e6:.2f} |")


if __name__ == "__main__":
    main()

"""The commands on a store with a thousand runs of a thousand answers.

    python benchmarks/history.py [--runs 1000] [--answers 1000] [--work FOLDER]

Every run is scored and stored as `markscheme score` does it. Then the real commands are run: CPU
seconds, those of the same command on a store with two runs beside them (what starting costs), how
much was read more than there, and a floor that is measured in the same run: sqlite3 and json alone
on the records that the command cannot do without. The ratio is of what the runs cost to the floor.
With --work the store is kept there and used again.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import traffic
from markscheme import load_exam, load_rubric
from markscheme.workflows.score import score

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 3
FEW = 2
NEW_WEIGHTS = (("weight: 0.60", "weight: 0.55"), ("weight: 0.25", "weight: 0.30"))
MARKS = "SELECT body FROM run_data WHERE part IN ('marks', 'measures')"
LAST = "run = (SELECT id FROM runs ORDER BY number DESC LIMIT 1)"
FRAMES = f"SELECT body FROM chunks JOIN blobs ON digest IN (answers, cells) WHERE {LAST}"  # noqa: S608
LISTED = "SELECT * FROM runs LEFT JOIN finished ON run = id ORDER BY number DESC LIMIT 20"
# Runs the command in a process of its own, and says at its end how many bytes it has read.
PROBE = """
import atexit, sys
from pathlib import Path

def read():
    lines = Path("/proc/self/io").read_text().splitlines() if Path("/proc/self/io").exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("rchar")), 0)

atexit.register(lambda: Path(sys.argv.pop(0)).write_text(str(read())))
sys.argv = [sys.argv[1], *sys.argv[1:]]
from markscheme.cli.main import run  # noqa: PLC0415 - the import is what this is about
sys.argv[1:] = sys.argv[2:]
run()
"""


class Cost(NamedTuple):
    """What a command cost: CPU and wall seconds, megabytes read."""

    cpu: float
    wall: float
    read: float


def build(place: Path, runs: int, answers: int) -> float:
    """Store the runs; return the CPU seconds that it took."""
    rubric = load_rubric("tutor-capstone")
    exam_file = place.with_suffix(".yaml")
    exam_file.write_text(traffic.exam_text(), encoding="utf-8")
    exam = load_exam(exam_file, rubric=rubric)
    lines, began = traffic.answers(runs * answers), time.process_time()
    for _ in range(runs):
        rows = [json.loads(line) for line in islice(lines, answers)]
        score(rubric, exam, rows, store=place)
    return time.process_time() - began


def cost(words: list[str], place: Path) -> Cost:
    """Run a command on a store and return the least that it cost."""
    said = place.with_suffix(".read")
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        command = [sys.executable, "-c", PROBE, said, *words, "--store", place]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, 1, 4}:
            raise SystemExit(f"{words} ended with {process.returncode}")
        wall = time.perf_counter() - began
        found.append(
            Cost(usage.ru_utime + usage.ru_stime, wall, int(said.read_text(encoding="ascii")) / 1e6)
        )
    return min(found)


def floor(place: Path, *queries: str) -> float:
    """Return the CPU seconds of sqlite3 and json on these records and nothing else."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        with closing(sqlite3.connect(place)) as plain:
            for query in queries:
                for row in plain.execute(query).fetchall():
                    if isinstance(row[0], str) and row[0].startswith("{"):
                        json.loads(row[0])
        found.append(time.process_time() - began)
    return min(found)


def jobs(work: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each command with the queries that it cannot do without."""
    rubric = load_rubric("tutor-capstone").source
    for old, new in NEW_WEIGHTS:
        rubric = rubric.replace(old, new)
    changed = work / "rubric.yaml"
    changed.write_text(rubric, encoding="utf-8")
    documents = "SELECT body FROM documents"
    yield ["runs"], [LISTED]
    yield ["show", "latest"], [LISTED, documents, FRAMES, f"{MARKS} AND {LAST}"]
    yield ["gate", "latest"], [LISTED, documents, f"{MARKS} AND {LAST}"]
    yield ["baseline", "show"], [LISTED, documents, f"{MARKS} LIMIT 40"]
    yield ["recalibrate", "-r", str(changed)], [documents, MARKS]


def sizes(place: Path) -> None:
    """Print how large the store is and what takes the room."""
    with closing(sqlite3.connect(place)) as plain:
        ((runs,),) = plain.execute("SELECT COUNT(*) FROM runs").fetchall()
        parts = {
            "answers and cells": "SELECT SUM(LENGTH(body)) FROM blobs",
            "marks": "SELECT SUM(LENGTH(body)) FROM run_data WHERE part = 'marks'",
            "measures": "SELECT SUM(LENGTH(body)) FROM run_data WHERE part = 'measures'",
            "summaries": "SELECT SUM(LENGTH(body)) FROM run_data WHERE part = 'summary'",
        }
        size = place.stat().st_size
        print(f"{runs:,} runs: {size / 1e6:,.1f} MB on disk, {size / runs / 1e3:,.1f} kB a run, of")
        for name, query in parts.items():
            ((total,),) = plain.execute(query).fetchall()
            print(f"  {total / runs / 1e3:,.1f} kB {name}")


def main() -> None:
    """Make both stores, print the sizes, then run every command on both."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        many = work / f"history-{options.runs}-{options.answers}.db"
        few = Path(folder) / "few.db"
        for place, runs in ((many, options.runs), (few, FEW)):
            if not place.exists():
                took = build(place, runs, options.answers)
                each = took / runs * 1000
                print(f"{runs:,} runs scored and stored: {took:,.1f} s CPU, {each:,.1f} ms each")
        sizes(many)
        for place in (many, few):
            cost(["baseline", "set", "latest~1"], place)
        print("\n| command | CPU s | wall s | start, CPU s | read, MB | floor, CPU s | ratio |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for words, queries in jobs(work):
            ours, start, least = cost(words, many), cost(words, few), floor(many, *queries)
            cells = f"{ours.cpu:.2f} | {ours.wall:.2f} | {start.cpu:.2f}"
            read, ratio = ours.read - start.read, max(0.0, ours.cpu - start.cpu) / least
            name = " ".join(words[:2])
            print(f"| `{name}` | {cells} | {read:,.1f} | {least:.3f} | {ratio:,.1f} |", flush=True)


if __name__ == "__main__":
    main()

"""Reading session logs beside plain line parsing of the same file.

    python benchmarks/transcripts.py [--mb 20,200] [--work FOLDER]

The floor is one pass of orjson over the lines. The contestant is `markscheme transcript`, the whole
command with start-up, recognition and its JSON. CPU seconds of both processes, one after the other,
best of a few rounds; the logs are synthetic, made from a seed. The target is 3 times the floor.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import sessions
from process_tree import best

FLOOR = """
import sys, orjson
with open(sys.argv[1], "rb") as file:
    for line in file:
        orjson.loads(line)
"""


def contest(name: str, size: int, work: Path, rounds: int) -> str:
    """Measure floor and contestant on one log; return a row of the table."""
    path = work / f"{name}.jsonl"
    sessions.write_log(name, size, path)
    mb = path.stat().st_size / 1_000_000
    floor = best([sys.executable, "-c", FLOOR, str(path)], rounds)
    command = [sys.executable, "-m", "markscheme", "transcript", str(path), "--format", "json"]
    ours = best(command, rounds)
    return (
        f"| {name} | {mb:,.0f} | {mb / floor['cpu']:,.0f} | {mb / ours['cpu']:,.0f} "
        f"| {ours['cpu'] / floor['cpu']:.1f} | {floor['mb']:.0f} | {ours['mb']:.0f} |"
    )


def main() -> None:
    """Measure every format at every size; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--mb", default="20,200")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    print("| log | MB | floor MB/s | markscheme MB/s | CPU ratio | floor peak MB | peak MB |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        for name in sessions.FORMATS:
            for size in options.mb.split(","):
                print(contest(name, int(size) * 1_000_000, work, options.rounds), flush=True)


if __name__ == "__main__":
    main()

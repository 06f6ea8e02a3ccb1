"""Measure bulk scoring and its floor, in one run.

    python benchmarks/bulk.py [--sizes 1000,100000,1000000] [--work FOLDER] [--document FILE]

The floor is what any tool must do: read the file, and parse each line and the JSON inside it once
(orjson, one pass). The contestant is the whole command, `markscheme score … -o out.parquet`, with
start-up, marking and writing, on as many processes as it chooses. Both are measured in CPU seconds
and peak memory of their whole process tree, one after the other, and the best of a few rounds
counts. The result is checked against the per-answer definition on a sample before its time counts.

    python benchmarks/bulk.py --sizes 1000,1000000,10000000 --kinds varied --rounds 1

shows memory at one and ten million answers side by side (the answers take 2.4 GB of disk).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

import documents
import traffic
from markscheme import load_exam, load_rubric
from markscheme.mark import mark_answer
from process_tree import best

FLOOR = """
import sys, orjson
with open(sys.argv[1], "rb") as file:
    for line in file:
        row = orjson.loads(line)
        try:
            orjson.loads(row["output"])
        except orjson.JSONDecodeError:
            pass
"""
CHECKED_ROWS = 2_000
OUTPUTS_PER_ITEM = 20
_KINDS = {"varied": None, "repeated": OUTPUTS_PER_ITEM}
# One size for the start-up, two for the slope.
_MIN_SIZES_TO_FIT = 3


def check_rows(answers: Path, exam: Path, written: Path) -> None:
    """Compare the first written rows with the definition, cell by cell."""
    rubric = load_rubric("tutor-capstone")
    items = {item.id: item for item in load_exam(exam, rubric=rubric).items}
    rows = pl.scan_parquet(written).head(CHECKED_ROWS).collect().iter_rows(named=True)
    with answers.open(encoding="utf-8") as file:
        for line, row in zip(islice(file, CHECKED_ROWS), rows, strict=False):
            answer = json.loads(line)
            expected = mark_answer(rubric, items[answer["item"]], answer["output"])
            cells = {name: cell.value for name, cell in expected.cells.items()}
            reasons = {name: cell.reason for name, cell in expected.cells.items()}
            if row["breakdown"] != cells or row["reason"] != reasons:
                raise SystemExit(f"wrong result: {line}{row}")


def measure_size(size: int, work: Path, rounds: int, said: int | None) -> dict[str, Any]:
    """Measure the floor and the command on `size` answers."""
    exam, answers = traffic.write(size, work, said=said)
    written = work / "out.parquet"
    python = [sys.executable, "-m", "markscheme", "score", "-r", "tutor-capstone"]
    command = [*python, "-e", str(exam), "-a", str(answers), "-o", str(written), "--no-store"]
    floor = best([sys.executable, "-c", FLOOR, str(answers)], rounds)
    ours = best(command, rounds)
    check_rows(answers, exam, written)
    return {
        "traffic": f"{said} outputs an item" if said else "varied",
        "answers": size,
        "floor": floor["cpu"],
        "cpu": ours["cpu"],
        "ratio": ours["cpu"] / floor["cpu"],
        "wall": ours["wall"],
        "mb": ours["mb"],
    }


def fit_exponent(rows: list[dict[str, Any]]) -> float:
    """Fit cost ~ answers^x through the two largest sizes, minus the start-up of the smallest."""
    start, small, large = rows[0]["cpu"], rows[-2], rows[-1]
    growth = (large["cpu"] - start) / (small["cpu"] - start)
    return math.log(growth) / math.log(large["answers"] / small["answers"])


def format_table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| traffic | answers | floor CPU s | markscheme CPU s | ratio | wall s | peak MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['traffic']} | {row['answers']:,} | {row['floor']:.2f} | {row['cpu']:.2f}"
        f" | {row['ratio']:.1f} | {row['wall']:.2f} | {row['mb']:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure every size with both kinds of traffic; print the table and write it to a document."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sizes", default="1000,100000,1000000")
    parser.add_argument("--kinds", default="varied,repeated")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--document", type=Path)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        for said in [_KINDS[kind] for kind in options.kinds.split(",")]:
            rows = [measure_size(size, work, options.rounds, said) for size in sizes]
            growth = (
                f"Cost grows as answers^{fit_exponent(rows):.2f}."
                if len(rows) >= _MIN_SIZES_TO_FIT
                else ""
            )
            tables.append(f"{format_table(rows)}\n\n{growth}")
            print(tables[-1])
    if options.document:
        documents.write(options.document, "bench", "\n\n".join(tables))


if __name__ == "__main__":
    main()

"""The local engine, Ray tasks and Ray Data on the same answers, in one run.

    python benchmarks/ray_tasks.py [--answers 1000000] [--work FOLDER]

Ray tasks are `markscheme score --engine ray`. Ray Data is the same marking function over its
batches of lines, written as Parquet by Ray Data; it needs pandas and pyarrow, and is left out
without them. What each has written is read back and compared before its time counts. CPU and wall
seconds and memory are those of the whole process tree, the start of Ray included.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

import traffic
from process_tree import measured

_BATCH = 16_384


def contest(count: int, work: Path) -> list[dict[str, Any]]:
    """Measure every contestant on so many answers."""
    exam, answers = traffic.write(count, work)
    start = [sys.executable, "-m", "markscheme", "score", "-r", "tutor-capstone", "-e", str(exam)]
    start += ["-a", str(answers), "-o"]
    data = [sys.executable, __file__, "--data", str(exam), str(answers)]
    contestants = {
        "local, one process": ([*start, "{}.parquet", "--workers", "1"], "{}.parquet"),
        "local, all cores": ([*start, "{}.parquet"], "{}.parquet"),
        "Ray tasks": ([*start, "{}", "--engine", "ray"], "{}/*.parquet"),
    }
    if all(map(importlib.util.find_spec, ("pandas", "pyarrow"))):
        contestants["Ray Data"] = ([*data, "{}"], "{}/*.parquet")
    rows: list[dict[str, Any]] = []
    for name, (command, written) in contestants.items():
        output = work / "contest"
        shutil.rmtree(output, ignore_errors=True)
        row = measured([part.format(output) for part in command])
        found = _totals(written.format(output))
        if rows and found != rows[0]["totals"]:
            raise SystemExit(f"{name}: wrote {found}, not {rows[0]['totals']}")
        rows.append({"name": name, "totals": found, **row})
    return rows


def _totals(written: str) -> list[Any]:
    """Return what must be equal: how many rows there are, and how many have each score."""
    return sorted(pl.scan_parquet(written).group_by("score").len().collect().rows())


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, each beside the first."""
    lines = ["| engine | CPU s | wall s | peak MB | CPU, ratio | wall, ratio |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    first = rows[0]
    lines += [
        f"| {row['name']} | {row['cpu']:.1f} | {row['wall']:.1f} | {row['mb']:.0f}"
        f" | {row['cpu'] / first['cpu']:.1f} | {row['wall'] / first['wall']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines)


class Marking:
    """The marking function for Ray Data: batches of lines in, columns out."""

    def __init__(self, exam: str) -> None:
        from markscheme import load_exam, load_rubric  # noqa: PLC0415 - in the worker
        from markscheme.workflows.scoring_session import ScoringSession  # noqa: PLC0415

        rubric = load_rubric("tutor-capstone")
        self._scoring = ScoringSession(rubric, load_exam(exam, rubric=rubric))

    def __call__(self, batch: Any) -> Any:
        """Score the lines of a batch."""
        from markscheme.read.answers import KnownItems, read_jsonl  # noqa: PLC0415
        from markscheme.workflows.scoring_session import ScoredChunk  # noqa: PLC0415 - in the worker

        known = KnownItems(item.id for item in self._scoring.exam.items)
        text = "\n".join(batch["text"].to_pylist()).encode()
        chunk = ScoredChunk()
        for found in read_jsonl([text], known=known):
            self._scoring.scorer.add_batch(chunk, found)
        return pl.concat(list(self._scoring.build_chunk_frames(chunk))).to_arrow()


def run_ray_data(exam: str, answers: str, output: str) -> None:
    """Be the contestant Ray Data."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # for the workers
    import ray  # noqa: PLC0415 - only this contestant
    import ray.data  # noqa: PLC0415

    ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    lines = ray.data.read_text(answers)
    cores = len(os.sched_getaffinity(0))
    marked = lines.map_batches(
        Marking,
        fn_constructor_args=(exam,),
        batch_format="pyarrow",
        batch_size=_BATCH,
        compute=ray.data.ActorPoolStrategy(size=max(1, cores - 1)),  # one is left to read and write
    )
    marked.write_parquet(output)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--data", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.data:
        run_ray_data(*options.data)
        return
    with tempfile.TemporaryDirectory() as folder:
        print(table(contest(options.answers, options.work or Path(folder))))


if __name__ == "__main__":
    main()

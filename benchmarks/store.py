"""The store with a thousand runs of a thousand answers, beside plain sqlite3 on the same bytes.

    python benchmarks/store.py [--runs 1000] [--answers 1000] [--work FOLDER]

Prints the size on disk, and for each job the CPU and wall milliseconds of the store beside a floor
that is measured in the same run: the same bytes written or read with sqlite3 and nothing else (JSON
parsed, frames decoded, because whoever asks needs them). The best of a few rounds counts.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import decompress

import polars as pl

import traffic
from markscheme import load_exam, load_rubric
from markscheme.keep import Document, DocumentKind, NewRun, Store, open_store
from markscheme.workflows.score import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 5
CELLS = ("score", "breakdown", "status", "reading", "reason", "near_miss")
_MILLI = 1000

Scored = tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]


def scored(runs: int, answers: int, work: Path) -> Iterator[Scored]:
    """Yield answers, cells and marks of each run, cut from one long scored traffic."""
    exam_file, file = traffic.write(runs * answers, work)
    rubric = load_rubric("tutor-capstone")
    exam = load_exam(exam_file, rubric=rubric)
    whole = score(rubric, exam, file).frame
    said = pl.read_ndjson(file)
    for start in range(0, runs * answers, answers):
        rows = whole.slice(start, answers)
        yield said.slice(start, answers), rows.select(CELLS), marks(rows)


def marks(rows: pl.DataFrame) -> dict[str, Any]:
    """Return how often each item got each set of values, as plain data."""
    items: dict[str, Any] = {}
    for item, breakdown, count in rows.group_by("item", "breakdown").len().iter_rows():
        values = [None if value is None else str(value) for value in breakdown.values()]
        items.setdefault(item, []).append([values, count])
    return {"items": items, "errors": 0}


def store_all(store: Store, new: NewRun, prepared: list[Scored]) -> None:
    """Store every run as the command does: begin, append, finish."""
    for answers, cells, decided in prepared:
        run = store.begin_run(new)
        store.append_chunk(run, answers, cells)
        summary = {"n": answers.height, "score": 0.9, "axes": dict.fromkeys("abcde", 0.9)}
        measures = {"latency_ms": {"values": {}, "n": 0}}
        store.finish_run(
            run, counts={"n": answers.height}, summary=summary, measures=measures, marks=decided
        )


def write_floor(source: Path, target: Path) -> None:
    """Write the same bytes with sqlite3: one table, one commit for each run."""
    query = "SELECT chunks.run, answers, cells FROM chunks"
    with closing(sqlite3.connect(source)) as kept, closing(sqlite3.connect(target)) as plain:
        plain.execute("PRAGMA journal_mode = WAL")
        plain.execute("PRAGMA synchronous = FULL")
        plain.execute("CREATE TABLE bytes (run TEXT, body BLOB)")
        for run, answers, cells in kept.execute(query).fetchall():
            blobs = "SELECT body FROM blobs WHERE digest IN (?, ?)"
            bodies = kept.execute(blobs, [answers, cells]).fetchall()
            bodies += kept.execute("SELECT body FROM run_data WHERE run = ?", [run]).fetchall()
            with plain:
                plain.executemany("INSERT INTO bytes VALUES (?, ?)", [(run, *b) for b in bodies])


def timed(job: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the least CPU and wall milliseconds of a job."""
    found = []
    for _ in range(rounds):
        cpu, wall = time.process_time(), time.perf_counter()
        job()
        found.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(c for c, _ in found) * _MILLI, min(w for _, w in found) * _MILLI


def rows_of(path: Path, query: str, *values: object) -> list[Any]:
    """Ask sqlite3 and nothing else."""
    with closing(sqlite3.connect(path)) as plain:
        return plain.execute(query, values).fetchall()


def frames_floor(path: Path, run: str) -> None:
    """Read and decode the frames of a run with sqlite3 and polars and nothing else."""
    query = "SELECT body FROM chunks JOIN blobs ON digest IN (answers, cells)"
    for (body,) in rows_of(path, f"{query} WHERE run = ?", run):
        pl.read_ipc_stream(BytesIO(body if body.startswith(b"\xff") else decompress(body)))


def jobs(path: Path) -> Iterator[tuple[str, Callable[[], object], Callable[[], object]]]:
    """Yield each question with how the store and how plain sqlite3 answer it."""

    def asked(question: Callable[[Store], object]) -> Callable[[], object]:
        def job() -> None:
            with open_store(path, create=False) as store:
                question(store)

        return job

    def parsed(query: str, *values: object) -> None:
        for (body,) in rows_of(path, query, *values):
            json.loads(body)

    with open_store(path, create=False) as store:
        run = store.find_run("latest~10").id
    listed = "SELECT * FROM runs LEFT JOIN finished ON run = id ORDER BY number DESC"
    data = "SELECT body FROM run_data"
    yield "open", asked(Store.place.fget), lambda: rows_of(path, "SELECT * FROM schema_versions")  # type: ignore[attr-defined]
    yield (
        "find a run",
        asked(lambda s: s.find_run(run[:6])),
        lambda: rows_of(path, f"{listed} LIMIT 1"),
    )
    yield (
        "the newest 20 runs with summaries",
        asked(lambda s: list(s.read_summaries(r.id for r in s.list_runs(limit=20)))),
        lambda: rows_of(path, f"{listed} LIMIT 20"),
    )
    yield "all runs", asked(lambda s: s.list_runs()), lambda: rows_of(path, listed)
    yield (
        "one run's data",
        asked(lambda s: list(s.read_run_data([run]))),
        lambda: parsed(f"{data} WHERE run = ?", run),
    )
    yield (
        "all runs' data",
        asked(lambda s: [None for _ in s.read_run_data(r.id for r in s.list_runs())]),
        lambda: parsed(data),
    )
    yield (
        "one run's answers and cells",
        asked(lambda s: [*s.read_answers(run), *s.read_cells(run)]),
        lambda: frames_floor(path, run),
    )


def report(name: str, ours: tuple[float, float], floor: tuple[float, float]) -> None:
    """Print one row."""
    cells = f"{ours[0]:,.1f} | {ours[1]:,.1f} | {floor[0]:,.1f} | {ours[0] / floor[0]:.1f}"
    print(f"| {name} | {cells} |", flush=True)


def sizes(path: Path) -> None:
    """Print how large the store is and what takes the room."""
    size = path.stat().st_size
    ((runs,),) = rows_of(path, "SELECT COUNT(*) FROM runs")
    print(f"{size / 1e6:,.1f} MB on disk, {size / runs / 1e3:,.1f} kB a run, of which")
    for name, query in {
        "answers": "SELECT SUM(LENGTH(body)) FROM blobs JOIN chunks ON digest = answers",
        "cells": "SELECT SUM(LENGTH(body)) FROM blobs JOIN chunks ON digest = cells",
        "marks": "SELECT SUM(LENGTH(body)) FROM run_data WHERE part = 'marks'",
    }.items():
        print(f"  {rows_of(path, query)[0][0] / runs / 1e3:,.1f} kB {name}")


def main() -> None:
    """Store the runs, print the sizes, then ask every question."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        path = Path(folder) / "store.db"
        prepared = list(scored(options.runs, options.answers, work))
        with open_store(path, create=True) as store:
            rubric, exam = (
                store.save_document(
                    Document(kind=kind, name="bench", version=1, fingerprint="f", body="{}")
                )
                for kind in DocumentKind
            )
            new = NewRun(
                subject="tutor", rubric=rubric, exam=exam, axis_versions={}, tool_version="0"
            )
            wrote = timed(lambda: store_all(store, new, prepared), rounds=1)
        print(f"{options.runs:,} runs of {options.answers:,} answers")
        sizes(path)
        print("\n| job | CPU ms | wall ms | floor CPU ms | ratio |\n|---|--:|--:|--:|--:|")
        floor = timed(lambda: write_floor(path, Path(folder) / "floor.db"), rounds=1)
        report("write all", wrote, floor)
        for name, ours, plain in jobs(path):
            report(name, timed(ours), timed(plain))


if __name__ == "__main__":
    main()

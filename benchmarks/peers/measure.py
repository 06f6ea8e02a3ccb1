"""What a command costs, what the floor costs, and whether a result is right."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import orjson
from tutor_axes import WEIGHTS, judged, recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from resource import struct_rusage

FLOOR_ROUNDS = 7
TOLERANCE = 1e-9  # a float of a sum of hundredths, in whatever order a tool added

Key = tuple[str, int]


class FailedError(Exception):
    """A contestant did not finish, or not with a right result; the message says which."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one command used: CPU of its whole process tree, wall time, its largest process."""

    cpu: float
    wall: float
    peak_mb: float


def used(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    patience: float,
    accepted: Iterable[int] = (0,),
) -> Usage:
    """Run a command in a folder, keep what it says there, and return what it used.

    Raises:
        FailedError: it ran out of time, or ended with a code that is not accepted.
    """
    with (folder / "stdout.txt").open("wb") as out, (folder / "stderr.txt").open("wb") as err:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        status, usage = _waited(process, patience)
        wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if wall >= patience:
        raise FailedError(f"stopped: not finished after {patience:g} s")
    if process.returncode not in accepted:
        raise FailedError(f"exit code {process.returncode}: {_last_line(folder / 'stderr.txt')}")
    cpu = usage.ru_utime + usage.ru_stime
    return Usage(cpu=cpu, wall=wall, peak_mb=usage.ru_maxrss / 1024)


def _waited(process: subprocess.Popen[bytes], patience: float) -> tuple[int, struct_rusage]:
    """Wait for the end without looking every so often, which would add to the time."""
    impatient = threading.Timer(patience, os.killpg, (process.pid, signal.SIGKILL))
    impatient.start()
    _, status, usage = os.wait4(process.pid, 0)
    impatient.cancel()
    return status, usage


def _last_line(file: Path) -> str:
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip()[:160] for line in reversed(lines) if line.strip()), "silent")


def floor(answers: Path) -> float:
    """Return the CPU seconds of parsing each line, and the JSON inside it, once: best of several.

    Measured inside this process, so that nothing starts up.
    """
    return min(_parsing(answers) for _ in range(FLOOR_ROUNDS))


def _parsing(answers: Path) -> float:
    started = time.process_time()
    with answers.open("rb") as lines:
        for line in lines:
            output = orjson.loads(line)["output"]
            try:
                orjson.loads(output)
            except orjson.JSONDecodeError:
                continue
    return time.process_time() - started


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """What the result must be: every cell of every answer, and the exact mean."""

    cells: Mapping[Key, Mapping[str, int]]
    mean: Fraction

    def check(self, file: Path) -> None:
        """Compare a result file of a contestant, cell by cell.

        Raises:
            FailedError: naming the first difference.
        """
        result = json.loads(file.read_bytes())
        rows = {(item, attempt): (cells, score) for item, attempt, cells, score in result["rows"]}
        if len(rows) != len(result["rows"]) or rows.keys() != self.cells.keys():
            raise FailedError(f"wrong: {len(result['rows'])} results for {len(self.cells)} answers")
        for key, (cells, score) in rows.items():
            if cells != self.cells[key] or abs(score - _hundredths(cells) / 100) > TOLERANCE:
                raise FailedError(f"wrong: {key[0]}, attempt {key[1]}: {cells}, score {score}")
        if abs(result["mean"] - self.mean) > TOLERANCE:
            raise FailedError(f"wrong: mean {result['mean']}, not {float(self.mean)}")


def oracle(exam: Path, answers: Path) -> Oracle:
    """Judge every answer, in integers."""
    cells = {
        (row.item, row.attempt): judged(row.output, row.expected, row.gloss)
        for row in recorded(exam, answers)
    }
    total = sum(map(_hundredths, cells.values()))
    return Oracle(cells=cells, mean=Fraction(total, 100 * len(cells)))


def _hundredths(cells: Mapping[str, int]) -> int:
    return sum(weight * int(cells[name]) for name, weight in WEIGHTS.items())

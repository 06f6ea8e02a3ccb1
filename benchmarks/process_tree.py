"""What a command costs with all the processes that it starts."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from threading import Event, Thread

_EVERY = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")


def measured(command: list[str], *, allowed: tuple[int, ...] = (0,)) -> dict[str, float]:
    """Run a command; return CPU and wall seconds and peak MB, summed over its process tree.

    Memory is the proportional set size, in which a page that processes share counts once.
    """
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    watch = _Watch(process.pid)
    watch.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    watch.ended.set()
    watch.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise SystemExit(f"{command} ended with {process.returncode}")
    reaped = usage.ru_utime + usage.ru_stime
    return {
        "cpu": max(reaped, sum(watch.seconds.values())),
        "wall": wall,
        "mb": max(watch.peak, usage.ru_maxrss) / 1024,
    }


def best(command: list[str], rounds: int) -> dict[str, float]:
    """Return the round with the least CPU."""
    return min((measured(command) for _ in range(rounds)), key=lambda found: found["cpu"])


class _Watch(Thread):
    """Looks at the tree of a process again and again."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.ended = Event()
        self.peak = 0
        self.seconds: dict[int, float] = {}
        self._root = root

    def run(self) -> None:
        """Look until it has ended."""
        while not self.ended.wait(_EVERY):
            tree = list(_tree(self._root))
            self.peak = max(self.peak, sum(map(_pss, tree)))
            self.seconds |= {pid: seconds for pid in tree if (seconds := _seconds(pid))}


def _tree(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    except OSError:
        return []
    return [pid, *(found for child in children for found in _tree(child))]


def _pss(pid: int) -> int:
    """Return the proportional set size of a process in KB."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in told if line.startswith("Pss:")), 0)


def _seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used itself."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / _TICKS

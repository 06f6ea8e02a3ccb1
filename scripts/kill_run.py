"""Kill a live run again and again, resume it, and count what was lost or asked twice.

    python scripts/kill_run.py [--kills 100] [--seed 1] [--items 1000] [--concurrency 50]

A server in another process answers after 100 ms and counts what it is asked. `markscheme run`
is killed (SIGKILL) at a random moment: after the server has heard a random number of questions
more, or, one time in five, while it starts. After each kill the store is read: what it holds was
completed, and must never be asked again. When a run comes to its end, every item must have exactly
one answer, and the next run begins with a new store. Ends with 1 if one is lost or asked twice.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

SERVER = Path(__file__).parent.parent / "tests" / "chat_server.py"
KILLS_WHILE_STARTING = 5  # one kill in so many comes while the command starts
LONGEST_START = 1.5  # seconds
LONGEST_DELAY = 0.05  # seconds between the wanted question and the kill
RUBRIC = """\
rubric: yes
axes: [{name: right, kind: contains_all, weight: 1, expects: expected_contains}]
"""


@dataclass(frozen=True, slots=True)
class KilledRun:
    """One run: its store, and the command that starts or resumes it."""

    store: Path
    command: list[str]

    def count_stored(self) -> Counter[str]:
        """Return how often the answer to each item is in the store.

        A copy is read, because opening the store itself would repair what the kill left behind.
        """
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "store.db")
            for ending in ("", "-wal"):
                if (file := Path(f"{self.store}{ending}")).exists():
                    shutil.copy(file, f"{copy}{ending}")
            with closing(sqlite3.connect(copy)) as opened:
                try:
                    rows = opened.execute("SELECT body FROM replies").fetchall()
                except sqlite3.OperationalError:  # killed before the tables were made
                    return Counter()
        bodies = [json.loads(body) for (body,) in rows]
        return Counter(body["item"] for body in bodies if "text" in body["reply"])


class Server:
    """The server in its process, and its counts."""

    def __init__(self) -> None:
        command = [sys.executable, str(SERVER), "0", "0.1"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
        assert self._process.stdout  # noqa: S101 - asked for above
        self.url = self._process.stdout.readline().strip()

    def read_counts(self) -> Counter[str]:
        """Return how often each prompt was asked; a prompt is `item RUN ITEM`."""
        with urllib.request.urlopen(f"{self.url}/counts") as response:  # noqa: S310 - our own
            return Counter(json.load(response)["counts"])

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()


def create_run(folder: Path, number: int, url: str, options: argparse.Namespace) -> KilledRun:
    """Write the exam of one run; no other run has its prompts."""
    rubric, exam = folder / "rubric.yaml", folder / f"exam-{number}.yaml"
    rubric.write_text(RUBRIC, encoding="utf-8")
    entries = (
        f"  - {{id: i{n}, prompt: item {number} i{n}, expected_contains: ['yes']}}\n"
        for n in range(options.items)
    )
    exam.write_text(f"exam: many\nitems:\n{''.join(entries)}", encoding="utf-8")
    store = folder / f"store-{number}.db"
    words = ["-r", rubric, "-e", exam, "-s", "openai:m", "--base-url", url, "--store", store]
    command = [sys.executable, "-m", "markscheme", "run", *map(str, words)]
    return KilledRun(store, [*command, "--concurrency", str(options.concurrency), "--resume"])


def kill_run(run: KilledRun, server: Server, chance: random.Random) -> bool:
    """Start the run and kill it; return whether it was killed before its end."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(run.command, stdout=quiet, stderr=quiet)  # noqa: S603
    if chance.randrange(KILLS_WHILE_STARTING):
        wanted = server.read_counts().total() + chance.randint(1, 200)
        while process.poll() is None and server.read_counts().total() < wanted:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, LONGEST_DELAY))
    else:
        time.sleep(chance.uniform(0, LONGEST_START))
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def count_asked(counts: Counter[str], number: int) -> Counter[str]:
    """Return how often each item of one run was asked."""
    parts = ((prompt.split(), n) for prompt, n in counts.items())
    return Counter({words[2]: n for words, n in parts if words[1] == str(number)})


def run_rounds(options: argparse.Namespace, folder: Path, server: Server) -> Counter[str]:
    """Kill so often, run after run; let the last run come to its end."""
    chance = random.Random(options.seed)  # noqa: S311 - moments, not secrets
    totals: Counter[str] = Counter()
    number = 0
    while totals["kills"] < options.kills:
        run = create_run(folder, number, server.url, options)
        done = False
        while not done:
            before, stored = count_asked(server.read_counts(), number), run.count_stored()
            if totals["kills"] < options.kills:
                done = not kill_run(run, server, chance)
                totals["kills"] += not done
            else:
                done = True
                subprocess.run(run.command, check=True, capture_output=True)  # noqa: S603
            after = count_asked(server.read_counts(), number)
            again = [item for item in stored if after[item] > before[item]]
            totals["completed and asked again"] += len(again)
        count_results(run, count_asked(server.read_counts(), number), options.items, totals)
        number += 1
    return totals


def count_results(run: KilledRun, asked: Counter[str], items: int, totals: Counter[str]) -> None:
    """Add up what a finished run holds."""
    stored = run.count_stored()
    totals["runs that came to their end"] += 1
    totals["items"] += items
    totals["answered exactly once"] += sum(n == 1 for n in stored.values())
    totals["answered twice"] += sum(n > 1 for n in stored.values())
    totals["lost"] += items - len(stored)
    totals["asked again, killed before the answer was on disk"] += asked.total() - len(asked)


def main() -> None:
    """Print the counts; end with 1 if something was lost or asked twice."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=50)
    options = parser.parse_args()
    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder:
            totals = run_rounds(options, Path(folder), server)
    finally:
        server.stop()
    for name, count in totals.items():
        print(f"{count:>9,} {name}")
    bad = ("completed and asked again", "answered twice", "lost")
    raise SystemExit(any(totals[name] for name in bad))


if __name__ == "__main__":
    main()

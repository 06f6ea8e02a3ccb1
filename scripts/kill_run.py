"""Kill a live run again and again, resume it, and count what was lost or asked twice.

    python scripts/kill_run.py [--kills 100] [--seed 1] [--items 1000] [--concurrency 50]

A server in a process of its own answers after 100 ms and counts what it is asked. `markscheme run`
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
STARTING = 5
LONGEST_START = 1.5
LONGEST = 0.05
RUBRIC = """\
rubric: yes
axes: [{name: right, kind: contains_all, weight: 1, expects: expected_contains}]
"""


@dataclass(frozen=True, slots=True)
class Place:
    """One run: its store, and how it is started."""

    store: Path
    command: list[str]

    def durable(self) -> Counter[str]:
        """Return how often the answer to each item is in the store.

        A copy is read: who opens the store itself would mend what the kill left behind.
        """
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "store.db")
            for ending in ("", "-wal"):
                if (left := Path(f"{self.store}{ending}")).exists():
                    shutil.copy(left, f"{copy}{ending}")
            with closing(sqlite3.connect(copy)) as opened:
                try:
                    rows = opened.execute("SELECT body FROM replies").fetchall()
                except sqlite3.OperationalError:  # killed before the tables were made
                    return Counter()
        bodies = [json.loads(body) for (body,) in rows]
        return Counter(body["item"] for body in bodies if "text" in body["reply"])


class Server:
    """The server, and what it says that it was asked."""

    def __init__(self) -> None:
        command = [sys.executable, str(SERVER), "0", "0.1"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
        assert self._process.stdout  # noqa: S101 - asked for above
        self.url = self._process.stdout.readline().strip()

    def counts(self) -> Counter[str]:
        """Return how often each prompt was asked; a prompt is `item RUN ITEM`."""
        with urllib.request.urlopen(f"{self.url}/counts") as response:  # noqa: S310 - our own
            return Counter(json.load(response)["counts"])

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()


def place(folder: Path, number: int, url: str, options: argparse.Namespace) -> Place:
    """Write the exam of one run; its prompts are its own."""
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
    return Place(store, [*command, "--concurrency", str(options.concurrency), "--resume"])


def killed(at: Place, server: Server, chance: random.Random) -> bool:
    """Start the run and kill it; return whether it was killed before its end."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(at.command, stdout=quiet, stderr=quiet)  # noqa: S603
    if chance.randrange(STARTING):
        wanted = server.counts().total() + chance.randint(1, 200)
        while process.poll() is None and server.counts().total() < wanted:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, LONGEST))
    else:
        time.sleep(chance.uniform(0, LONGEST_START))
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def asked_of(counts: Counter[str], number: int) -> Counter[str]:
    """Return how often each item of one run was asked."""
    parts = ((prompt.split(), n) for prompt, n in counts.items())
    return Counter({words[2]: n for words, n in parts if words[1] == str(number)})


def rounds(options: argparse.Namespace, folder: Path, server: Server) -> Counter[str]:
    """Kill so often, run after run; let the last run come to its end."""
    chance = random.Random(options.seed)  # noqa: S311 - moments, not secrets
    found: Counter[str] = Counter()
    number = 0
    while found["kills"] < options.kills:
        at = place(folder, number, server.url, options)
        done = False
        while not done:
            before, durable = asked_of(server.counts(), number), at.durable()
            if found["kills"] < options.kills:
                done = not killed(at, server, chance)
                found["kills"] += not done
            else:
                done = True
                subprocess.run(at.command, check=True, capture_output=True)  # noqa: S603
            after = asked_of(server.counts(), number)
            again = [item for item in durable if after[item] > before[item]]
            found["completed and asked again"] += len(again)
        check(at, asked_of(server.counts(), number), options.items, found)
        number += 1
    return found


def check(at: Place, asked: Counter[str], items: int, found: Counter[str]) -> None:
    """Count what a finished run holds."""
    durable = at.durable()
    found["runs that came to their end"] += 1
    found["items"] += items
    found["answered exactly once"] += sum(n == 1 for n in durable.values())
    found["answered twice"] += sum(n > 1 for n in durable.values())
    found["lost"] += items - len(durable)
    found["asked again, killed before the answer was on disk"] += asked.total() - len(asked)


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
            found = rounds(options, Path(folder), server)
    finally:
        server.stop()
    for name, count in found.items():
        print(f"{count:>9,} {name}")
    bad = ("completed and asked again", "answered twice", "lost")
    raise SystemExit(any(found[name] for name in bad))


if __name__ == "__main__":
    main()

"""Kill a judged run again and again, resume it, and count what was lost, asked twice or changed.

    python scripts/kill_judge.py [--kills 200] [--seed 1] [--answers 400] [--concurrency 20]

A server in another process replies like a judge after 100 ms and counts what it is asked.
`markscheme judge` is killed (SIGKILL) at a random moment: after the server has heard a random
number of questions more, or, one time in five, while it starts. When a run comes to its end, its
journal must hold exactly one reply to each call (one that was kept and asked for again would be
there twice), and its ratings must be, byte for byte, those of a run that nobody killed. The next
run begins with a new store. Ends with 1 if anything is lost, asked twice or scored differently.
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

SERVER = Path(__file__).parent.parent / "tests" / "judge_server.py"
KILLS_WHILE_STARTING = 5  # one kill in so many comes while the command starts
LONGEST_START = 1.5  # seconds
LONGEST_DELAY = 0.05  # seconds between the wanted question and the kill
RUBRIC = "rubric: facts\naxes: [{name: facts, kind: criteria, points: 1}]\n"
EXAM = """\
exam: many
items:
  - id: dose
    prompt: Tell the dose.
    criteria:
      - {id: c1, points: 2, says: Names the dose.}
      - {id: c2, points: -1, says: Invents a source.}
"""


@dataclass(frozen=True, slots=True)
class KilledRun:
    """One judged run: its store, its ratings, and the command that starts or resumes it."""

    store: Path
    ratings: Path
    command: list[str]

    def count_stored(self) -> Counter[str]:
        """Return how often the reply to each call is in the store.

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

    def count_asked(self) -> int:
        """Return how many calls came, each as often as it came."""
        with urllib.request.urlopen(f"{self.url}/counts") as response:  # noqa: S310 - our own
            return Counter(json.load(response)["counts"]).total()

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()


def write_documents(folder: Path, url: str, answers: int) -> list[str]:
    """Write rubric, exam, judge and answers; return the options that name them."""
    files = {
        "rubric.yaml": RUBRIC,
        "exam.yaml": EXAM,
        "judge.yaml": f"judge: strict\nsubject: openai:m\nbase_url: {url}\norders: 2\n",
        "answers.jsonl": "".join(
            f"{json.dumps({'item': 'dose', 'subject': f's{n}', 'output': f'{n} mg'})}\n"
            for n in range(answers)
        ),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    options = zip(("-r", "-e", "-j", "-a"), files, strict=True)
    return [word for option, name in options for word in (option, str(folder / name))]


def create_run(folder: Path, number: int, documents: list[str], concurrency: int) -> KilledRun:
    """Return the command of one run, with a store and a file of ratings of its own."""
    store, ratings = folder / f"store-{number}.db", folder / f"judged-{number}.csv"
    words = ["judge", *documents, "--store", str(store), "-o", str(ratings)]
    command = [sys.executable, "-m", "markscheme", *words, "--concurrency", str(concurrency)]
    return KilledRun(store, ratings, [*command, "--resume"])


def kill_run(run: KilledRun, server: Server, chance: random.Random) -> bool:
    """Start the run and kill it; return whether it was killed before its end."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(run.command, stdout=quiet, stderr=quiet)  # noqa: S603
    if chance.randrange(KILLS_WHILE_STARTING):
        wanted = server.count_asked() + chance.randint(1, 150)
        while process.poll() is None and server.count_asked() < wanted:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, LONGEST_DELAY))
    else:
        time.sleep(chance.uniform(0, LONGEST_START))
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def run_rounds(options: argparse.Namespace, folder: Path, server: Server) -> Counter[str]:
    """Kill so often, run after run; let the last run come to its end."""
    chance = random.Random(options.seed)  # noqa: S311 - moments, not secrets
    documents = write_documents(folder, server.url, options.answers)
    whole = create_run(folder, -1, documents, options.concurrency)
    subprocess.run(whole.command, check=True, capture_output=True)  # noqa: S603
    totals: Counter[str] = Counter()
    number = 0
    while totals["kills"] < options.kills:
        run = create_run(folder, number, documents, options.concurrency)
        asked = server.count_asked()
        done = False
        while not done:
            if totals["kills"] < options.kills:
                done = not kill_run(run, server, chance)
                totals["kills"] += not done
            else:
                done = True
                subprocess.run(run.command, check=True, capture_output=True)  # noqa: S603
        count_results(run, whole, server.count_asked() - asked, options.answers * 2, totals)
        number += 1
    return totals


def count_results(
    run: KilledRun, whole: KilledRun, asked: int, calls: int, totals: Counter[str]
) -> None:
    """Add up what a finished run holds, beside the run that nobody killed."""
    stored = run.count_stored()
    totals["runs that came to their end"] += 1
    totals["calls"] += calls
    totals["replies kept exactly once"] += sum(n == 1 for n in stored.values())
    # A reply that was kept and asked for again would be in the journal twice.
    totals["asked again after their reply was kept"] += sum(n > 1 for n in stored.values())
    totals["lost"] += calls - len(stored)
    totals["asked again, killed before the reply was on disk"] += asked - calls
    same = run.ratings.read_bytes() == whole.ratings.read_bytes()
    totals["runs with other ratings"] += not same


def main() -> None:
    """Print the counts; end with 1 if something was lost, asked twice or scored differently."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=20)
    options = parser.parse_args()
    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder:
            totals = run_rounds(options, Path(folder), server)
    finally:
        server.stop()
    for name, count in totals.items():
        print(f"{count:>9,} {name}")
    bad = ("asked again after their reply was kept", "lost", "runs with other ratings")
    raise SystemExit(any(totals[name] for name in bad))


if __name__ == "__main__":
    main()

"""Kill a storing process again and again; count records acknowledged, lost and stored twice.

    python scripts/kill_store.py [--kills 200] [--seed 1] [--postgres [URL]]
    python scripts/kill_store.py --tag [--kills 49] [--postgres [URL]]

Each round starts a process that stores runs and prints what the store acknowledged, kills it
(SIGKILL) at a random moment, then opens the store and compares. The moment is a random delay after
a random number of acknowledgements, so that it does not depend on the speed of the machine. One
kill in four waits for no acknowledgement and hits the opening of the store. Ten rounds share a
store, so that its creation is interrupted too. The exit code is 1 if a record is lost, stored twice
or out of order, or if nothing was acknowledged at all.

With --tag each round kills a `markscheme score --tag nightly` that follows a finished one. The
moments are spread evenly over the life of the process. The exit code is 1 if a kill leaves the tag
on the older run after the command has begun; before that, while Python starts, nothing can be done.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import polars as pl

from markscheme import load_exam, load_rubric
from markscheme.keep import Document, DocumentKind, NewRun, RunStatus, Store, open_store
from markscheme.vocabulary import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHARED = 10
OPENING = 4
MOST_HEARD = 25
LONGEST = 0.03
_APPENDS = 7
TAG = "nightly"
ATTEMPTS = 200
OLDER = "tag on the older run"


def write(place: str, subject: str) -> None:
    """Store runs until killed; print each record only after the store has acknowledged it."""
    if "://" in place:
        # Imported first, so that kills hit the store and not the import.
        importlib.import_module("psycopg")
    print("ready", flush=True)
    with open_store(place, create=True) as store:
        documents = [
            Document(kind=kind, name="kill", version=1, fingerprint="b2:0", body="{}")
            for kind in DocumentKind
        ]
        rubric, exam = map(store.save_document, documents)
        new = NewRun(subject=subject, rubric=rubric, exam=exam, axis_versions={}, tool_version="0")
        while True:
            write_run(store, new)


def write_run(store: Store, new: NewRun) -> None:
    """Store one run of a few appends, of one answer or several hundred."""
    run = store.begin_run(new)
    print("begun", run, flush=True)
    for number in range(_APPENDS):
        tokens = [uuid4().hex for _ in range(1 if number % 2 else 300)]
        cells = pl.DataFrame({"score": [1.0] * len(tokens)})
        store.append_chunk(run, pl.DataFrame({"output": tokens}), cells)
        print("kept", run, *tokens, flush=True)
    store.finish_run(run, counts={}, summary={"of": run}, measures={}, marks={"of": run})
    print("finished", run, flush=True)


@dataclass(slots=True)
class Told:
    """What one process was acknowledged before it died."""

    begun: list[str] = field(default_factory=list)
    kept: dict[str, list[str]] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)

    def hear(self, line: str) -> None:
        """Parse one line that the process printed."""
        match line.split():
            case ["begun", run]:
                self.begun.append(run)
                self.kept[run] = []
            case ["kept", run, *tokens]:
                self.kept[run] += tokens
            case ["finished", run]:
                self.finished.add(run)


def killed(place: str, subject: str, heard: int, delay: float) -> Told:
    """Kill a storing process `delay` seconds after `heard` lines; return all it printed."""
    command = [sys.executable, __file__, "--write", place, subject]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout  # noqa: S101 - asked for above
        process.stdout.readline()
        lines = [process.stdout.readline() for _ in range(heard)]
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
    if process.returncode != -signal.SIGKILL:
        raise SystemExit(f"{subject} ended by itself with {process.returncode}")
    told = Told()
    for line in lines:
        if line.endswith("\n"):
            told.hear(line)
    return told


def compare(store: Store, subject: str, told: Told, counts: Counter[str]) -> None:
    """Compare the store with what was acknowledged; the last record may be unacknowledged."""
    runs = {run.id: run for run in store.list_runs(subject=subject)}
    finished = {run for run, found in runs.items() if found.status is RunStatus.FINISHED}
    data = {found.run for found in store.read_run_data(runs) if found.marks == {"of": found.run}}
    for run in runs:
        tokens = [text for frame in store.read_answers(run) for text in frame["output"].to_list()]
        wanted = told.kept.get(run, [])
        cells = sum(frame.height for frame in store.read_cells(run))
        counts["acknowledged"] += len(wanted)
        counts["found"] += len(set(wanted) & set(tokens))
        counts["twice"] += len(tokens) - len(set(tokens))
        counts["found though unacknowledged"] += len(set(tokens) - set(wanted))
        counts["out of place"] += tokens[: len(wanted)] != wanted or cells != len(tokens)
    records = {"begun": set(told.begun) - set(runs), "finished": told.finished - finished}
    counts["acknowledged"] += len(told.begun) + len(told.finished)
    counts["found"] += len(set(told.begun) & set(runs)) + len(told.finished & finished)
    counts["out of place"] += len(finished ^ data)
    counts["lost"] = counts["acknowledged"] - counts["found"]
    if any(records.values()) or len(runs) > len(told.begun) + 1:
        print(f"{subject}: {records}, {len(runs)} runs for {len(told.begun)} begun")


@contextmanager
def places(postgres: str | None) -> Iterator[Callable[[], str]]:
    """Yield a function that returns a new store at each call: a file, or a database."""
    if postgres is None:
        with tempfile.TemporaryDirectory() as folder:
            yield lambda: str(Path(folder) / f"{uuid4().hex}.db")
    elif postgres:
        yield lambda: new_database(postgres)
    else:
        script = Path(__file__).with_name("postgres_server.py")
        with subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout  # noqa: S101 - asked for above
            url = server.stdout.readline().strip()
            yield lambda: new_database(url)


def new_database(url: str) -> str:
    """Make an empty database; return its URL."""
    psycopg = importlib.import_module("psycopg")
    name = f"kill_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{url.rpartition('/')[0]}/{name}"


def rounds(kills: int, seed: int, new_place: Callable[[], str]) -> Counter[str]:
    """Kill so often; compare after each kill, and everything once more at the end."""
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    counts: Counter[str] = Counter()
    again: Counter[str] = Counter()
    done: list[tuple[str, str, Told]] = []
    place = ""
    for number in range(kills):
        place = place if number % SHARED else new_place()
        subject = f"round-{number}"
        heard = chance.randint(1, MOST_HEARD) if number % OPENING else 0
        told = killed(place, subject, heard, chance.uniform(0, LONGEST))
        done.append((place, subject, told))
        counts["kills"] += 1
        counts["kills before anything was acknowledged"] += not told.begun
        counts["runs left open"] += len(told.begun) - len(told.finished)
        with open_store(place, create=True) as store:
            compare(store, subject, told, counts)
    for place, subject, told in done:
        with open_store(place, create=False) as store:
            compare(store, subject, told, again)
    counts["changed by later kills"] = sum(
        abs(again[name] - counts[name]) for name in ("acknowledged", "found", "twice")
    )
    return counts


_SCORE_TAGGED = """
import sys
from contextlib import contextmanager
import markscheme.keep as keep
from markscheme.cli.main import main
hold = keep.hold_tag
@contextmanager
def hold_and_tell(*arguments):
    with hold(*arguments):
        print("taken", flush=True)
        yield
keep.hold_tag = hold_and_tell
main()
"""
# Runs `markscheme` with the arguments that follow; prints a line as soon as the tag is taken.


def kill_tagged_scores(kills: int, new_place: Callable[[], str]) -> Counter[str]:
    """Kill so many commands at moments that are spread evenly; count what the tag names then."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        answers = write_answers(Path(folder) / "answers.jsonl", ATTEMPTS)
        few = write_answers(Path(folder) / "few.jsonl", 1)
        begun = time.monotonic()
        kill_tagged_score(new_place(), answers, None)
        life = time.monotonic() - begun
        for number in range(kills):
            place = new_place()
            kill_tagged_score(place, few, None)
            with open_store(place, create=False) as store:
                older = store.find_run(TAG).id
            taken = kill_tagged_score(place, answers, life * (number + 1) / (kills + 1))
            counts["kills"] += 1
            counts[name_tagged_run(place, older, taken=taken)] += 1
    return counts


def write_answers(path: Path, attempts: int) -> str:
    """Write so many answers to each item."""
    items = load_exam("capstone", rubric=load_rubric("tutor-capstone")).items
    rows = [
        json.dumps({"item": item.id, "attempt": attempt, "output": f"He ate {attempt}."})
        for attempt in range(attempts)
        for item in items
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    return str(path)


def kill_tagged_score(place: str, answers: str, delay: float | None) -> bool:
    """Run the command and kill it after a delay; return whether it had taken the tag by then."""
    inputs = ["-r", "tutor-capstone", "-e", "capstone", "-a", answers, "--store", place]
    command = [sys.executable, "-c", _SCORE_TAGGED, "score", *inputs, "--tag", TAG]
    command += ["--format", "json"]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout  # noqa: S101 - asked for above
        if delay is not None:
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        return process.stdout.readline() == "taken\n"


def name_tagged_run(place: str, older: str, *, taken: bool) -> str:
    """Say in words what the tag names after a kill."""
    with open_store(place, create=False) as store:
        try:
            run = store.find_run(TAG)
        except UsageError:
            return "tag on no run"
    if run.id != older:
        return f"tag on the new run, {run.status.value}"
    return OLDER if taken else "tag on the older run, killed while Python starts"


def main() -> None:
    """Print the counts; end with 1 unless everything acknowledged is there exactly once."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", nargs="?", const="", metavar="URL")
    parser.add_argument("--tag", action="store_true")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(*options.write)
    with places(options.postgres) as new_place:
        if options.tag:
            counts = kill_tagged_scores(options.kills or 49, new_place)
        else:
            counts = rounds(options.kills or 200, options.seed, new_place)
    print("PostgreSQL" if options.postgres is not None else "SQLite")
    if options.tag:
        for name in ("kills", *sorted(set(counts) - {"kills", OLDER}), OLDER):
            print(f"{counts[name]:>9,} {name}")
        raise SystemExit(bool(counts[OLDER]))
    bad = ("lost", "twice", "out of place", "changed by later kills")
    for name in ("kills", *sorted(set(counts) - {"kills", *bad}), *bad):
        print(f"{counts[name]:>9,} {name}")
    raise SystemExit(any(counts[name] for name in bad) or not counts["acknowledged"])


if __name__ == "__main__":
    main()

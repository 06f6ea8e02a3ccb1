"""A live run beside others: in its store, in the list, and before gates."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from commands import RUBRIC, here, prepared
from markscheme.keep import open_store
from sittings import faults, noted

if TYPE_CHECKING:
    from sittings import Sitting


def test_a_run_without_any_answer_is_still_that_of_its_subject(sitting: Sitting) -> None:
    sitting.asks("down 1").run("--retries", "0")
    (run,) = here("runs", "--store", sitting.store, "--format", "json").json["runs"]
    assert run["subject"] == "openai:m"


def test_a_live_run_is_a_run_like_any_other(sitting: Sitting) -> None:
    done = sitting.asks("fine 1", "fine 2").run("--tag", "first")
    assert done.code == 0
    where = ("--store", sitting.store)
    assert here("baseline", "set", "first", *where).code == 0
    assert here("gate", "first", *where).code == 0
    assert "openai:m" in here("show", "first", *where).out
    assert len(here("runs", *where, "--format", "json").json["runs"]) == 1


def test_the_latency_gate_sees_what_was_measured(sitting: Sitting) -> None:
    gate = "  - {name: fast, level: hard, metric: latency_p50, at_most: 20}\n"
    sitting.write("rubric.yaml", RUBRIC + gate)
    sitting.server.delay = 0.05
    sitting.asks("fine 1", "fine 2").run("--tag", "slow")
    judged = here("gate", "slow", "--store", sitting.store)
    assert judged.code == 1
    assert "fast" in judged.out


def test_a_stored_live_run_is_shown_as_it_was_told(sitting: Sitting) -> None:
    told = sitting.asks("fine 1", "down 2").run("--retries", "0", "--tag", "seen")
    shown = here("show", "seen", "--store", sitting.store)
    latency = next(line for line in told.out.splitlines() if line.startswith("latency, ms: p50"))
    assert latency in shown.out
    assert "errors: server-error 1" in shown.out
    document = here("show", "seen", "--store", sitting.store, "--format", "json").json
    assert faults(document) == {"server-error": 1}


def test_a_run_that_broke_off_is_in_the_list_and_is_the_latest(sitting: Sitting) -> None:
    sitting.asks("fine 1")
    assert sitting.run().code == 0
    sitting.asks("hang 2")
    process = subprocess.Popen([sys.executable, "-m", "markscheme", *map(str, sitting.words())])
    while not sitting.server.counts["hang 2"] or len(stored(sitting)) < 2:
        time.sleep(0.01)
    process.kill()
    process.wait()
    newest, oldest = stored(sitting)
    assert (newest["status"], oldest["status"]) == ("open", "finished")
    gate = here("gate", "latest", "--store", sitting.store)
    assert gate.code == 4
    assert "the run is not finished" in gate.out


def test_a_tag_names_the_run_that_broke_off_and_no_older_one(sitting: Sitting) -> None:
    assert sitting.asks("fine 1").run("--tag", "nightly").code == 0
    words = [*map(str, sitting.asks("hang 2").words("--tag", "nightly"))]
    process = subprocess.Popen([sys.executable, "-m", "markscheme", *words])
    while not sitting.server.counts["hang 2"] or len(stored(sitting)) < 2:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert here("gate", "nightly", "--store", sitting.store).code == 4


def stored(sitting: Sitting) -> list[dict[str, str]]:
    found: list[dict[str, str]] = here("runs", "--store", sitting.store, "--format", "json").json[
        "runs"
    ]
    return found


def test_nobody_is_asked_while_the_store_takes_no_answer(sitting: Sitting) -> None:
    many = 500
    sitting.asks("fine 0").run()
    sitting.asks(*(f"fine {n}" for n in range(many)))
    command = prepared("import markscheme.keep as k; k.open_store.__kwdefaults__['patience'] = 2")
    sitting.server.delay = 0.005
    words = map(str, sitting.words("--resume", "--concurrency", "5"))
    process = subprocess.Popen([*command, *words], stderr=subprocess.PIPE)
    while len(noted(sitting.store)) < 10:
        time.sleep(0.01)
    with closing(sqlite3.connect(sitting.store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        _, err = process.communicate(timeout=60)
    kept = noted(sitting.store)
    assert process.returncode == 2
    assert b"is locked by another process" in err
    assert b"markscheme run" in err
    assert b"Traceback" not in err
    assert sum(sitting.server.counts.values()) <= len(kept) + 5 * 3
    asked = sitting.server.counts.copy()
    assert sitting.run("--resume").code == 0
    assert not {prompt for prompt in kept if sitting.server.counts[prompt] > asked[prompt]}


def test_what_another_process_is_asking_is_not_asked_by_a_second(place: str) -> None:
    words = ("run", "-r", "tutor-capstone", "-e", "capstone-extra", "-s", "tutor", "--store", place)
    first = here(*words, "--format", "json").json["live"]["sitting"]
    with open_store(place, create=False) as other:
        other.journal.lock_session(first)
        done = here(*words, "--resume")
        assert done.code == 2
        assert f"another process asks the same just now (sitting {first})" in done.err
        assert here(*words).code == 0  # anew is another sitting
    assert here(*words, "--resume").code == 0


def test_nothing_is_left_beside_a_store_and_a_killed_run_holds_nobody_off(
    sitting: Sitting,
) -> None:
    words = [*map(str, sitting.asks("fine 1", "hang 2").words())]
    process = subprocess.Popen([sys.executable, "-m", "markscheme", *words])
    while len(sitting.server.counts) < 2:
        time.sleep(0.01)
    assert sitting.run("--resume").code == 2
    process.kill()
    process.wait()
    sitting.asks("fine 1")
    assert sitting.run("--resume").code == 0
    assert [path.name for path in sitting.folder.glob("store.db*")] == ["store.db"]


def test_a_full_disk_is_told_and_loses_nothing(sitting: Sitting) -> None:
    sitting.asks(*(f"fine {n}" for n in range(3)))
    assert sitting.run().code == 0
    sitting.asks(*(f"fine {n}" for n in range(3)), "huge 4")
    limited = (
        "import markscheme.keep.sqlite as s\n"
        "old = s.SqliteDatabase._configure_connection\n"
        "def limit(self, patience):\n"
        "    old(self, patience)\n"
        "    self.fetch_rows('PRAGMA max_page_count = 200')\n"
        "s.SqliteDatabase._configure_connection = limit"
    )
    done = subprocess.run(
        [*prepared(limited), *map(str, sitting.words("--resume"))],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 4
    assert b"the disk is full; what was stored before is kept\nthen go on with: " in done.stderr
    assert done.stderr.rstrip().endswith(b" --resume")
    assert sitting.run("--resume").code == 0
    assert {sitting.server.counts[f"fine {n}"] for n in range(3)} == {1}


def test_where_nothing_can_be_said_any_more_the_exit_code_is_no_verdict(tmp_path: Path) -> None:
    words = ("run", "-r", "tutor-capstone", "-e", "capstone-extra", "-s", "tutor", "--store")
    command = [sys.executable, "-m", "markscheme", *words, str(tmp_path / "store.db")]
    with Path("/dev/full").open("wb") as full:  # like a terminal that is gone
        done = subprocess.run(command, stdout=full, stderr=full, check=False)
    assert done.returncode == 4
